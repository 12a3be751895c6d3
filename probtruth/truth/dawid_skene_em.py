"""Dawid-Skene by expectation-maximisation: one confusion matrix an annotator."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from probtruth.truth import em
from probtruth.truth.fit import Fit, Request, class_draws
from probtruth.truth.flat import Flat, flatten, non_negative, positive_row
from probtruth.truth.quality import annotator_columns

KNOWN_MASS = 1e-10
"""Expected annotations on items of a class below which an annotator's row of confusion is unknown (NaN)."""


def dawid_skene_em(
    request: Request,
    *,
    prior: object = None,
    diagonal: object = 0,
    off_diagonal: object = 0,
    restarts: object = 1,
    max_iterations: object = 2000,
    tolerance: object = 1e-9,
) -> Fit:
    """y_n | z_i = k ~ theta_j[k, .], z_i ~ pi; theta and pi at their maximum, q_i = P(z_i | labels, theta, pi).

    Arguments: `prior` are pseudo-counts of the class marginals (none without it), `diagonal` and `off_diagonal`
    pseudo-counts of every confusion matrix, which make it a maximum of the posterior; `restarts` above 1 adds starts
    drawn around the vote shares and keeps the best; it stops when no class probability moves by more than `tolerance`
    in an iteration. Starts from the vote shares. Draws are of the class given the point estimate.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806.
    """
    flat = flatten(request)
    class_counts = np.zeros(flat.n_labels) if prior is None else positive_row(prior, flat.n_labels, "prior")
    pseudo = np.full((flat.n_labels, flat.n_labels), non_negative(off_diagonal, "off_diagonal"))
    np.fill_diagonal(pseudo, non_negative(diagonal, "diagonal"))
    probs, found, diagnostics = em.solve(
        request, flat, climb, (pseudo, class_counts), restarts, max_iterations, tolerance
    )
    log_marginals, log_said = found
    confusion, n_unknown = _confusion(probs, log_said, flat)
    diagnostics["n_unidentified_rows"] = n_unknown
    draws = class_draws(probs, request.draws, request.seed)
    marginals = np.exp(log_marginals)
    columns = annotator_columns(probs, marginals, confusion, flat)
    return Fit(probs, draws, marginals, confusion, diagnostics, columns)


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    pseudo: Float[Array, "label label"],
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """EM from class probabilities; the parameters are log marginals and log P(said | true), (annotator, said, true).

    `pseudo[k, l]` are prior counts of saying l where k is true.
    """
    n_labels = start.shape[1]
    prior_said = pseudo.T

    def maximise(probs: Array, _: em.Parameters) -> em.Parameters:
        log_marginals, _ = em.log_normalised(probs.sum(0) + class_counts, 0, 1.0)
        counts = em.said_given_class(probs, data, n_annotators) + prior_said
        return log_marginals, em.log_normalised(counts, 1, 1 / n_labels)[0]

    def expect(parameters: em.Parameters) -> tuple[Array, Array, Array]:
        log_marginals, log_said = parameters
        probs, log_likelihood = em.classes(log_marginals, log_said.reshape(-1, n_labels)[data.cell], data)
        log_prior = em.log_pseudo(prior_said, log_said) + em.log_pseudo(class_counts, log_marginals)
        return probs, log_likelihood, log_prior

    blank = jnp.zeros_like(start, shape=n_labels), jnp.zeros_like(start, shape=(n_annotators, n_labels, n_labels))
    return em.climb(start, blank, maximise, expect, tolerance, max_iterations)


def _confusion(probs: np.ndarray, log_said: np.ndarray, flat: Flat) -> tuple[np.ndarray, int]:
    """Confusion with the axes (annotator, truth, said); rows without any evidence are NaN, and how many those are."""
    mass = np.zeros((flat.n_annotators, flat.n_labels))
    np.add.at(mass, flat.annotator, probs[flat.item] * flat.weight[:, None])
    unknown = mass < KNOWN_MASS
    return np.where(unknown[:, :, None], np.nan, np.exp(log_said).transpose(0, 2, 1)), int(unknown.sum())
