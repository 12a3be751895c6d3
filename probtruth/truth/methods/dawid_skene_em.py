"""Dawid-Skene by expectation-maximisation: one confusion matrix an annotator."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from probtruth.truth import em
from probtruth.truth.annotators.quality import annotator_columns
from probtruth.truth.earlier import evidence, from_truth, nothing_earlier
from probtruth.truth.fit import Fit, Request, class_draws
from probtruth.truth.flat import flatten, non_negative, positive_row
from probtruth.types import Truth

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

    Arguments: `prior` are pseudo-counts of the class marginals (none without it), or an earlier `Truth` whose posterior
    is taken as prior: its expected counts of annotators and classes are added, its items keep what they had, and
    annotators not seen before start from all earlier ones together. `diagonal` and `off_diagonal` are pseudo-counts of
    every confusion matrix, which make it a maximum of the posterior; `restarts` above 1 adds starts
    drawn around the vote shares and keeps the best; it stops when no class probability moves by more than `tolerance`
    in an iteration. Starts from the vote shares. Draws are of the class given the point estimate.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806.
    """
    earlier = (
        from_truth(prior, request.annotations) if isinstance(prior, Truth) else nothing_earlier(request.annotations)
    )
    flat = earlier.extend(flatten(request))
    class_counts = earlier.class_counts
    if prior is not None and not isinstance(prior, Truth):
        class_counts = positive_row(prior, flat.n_labels, "prior")
    own = np.full((flat.n_labels, flat.n_labels), non_negative(off_diagonal, "off_diagonal"))
    np.fill_diagonal(own, non_negative(diagonal, "diagonal"))
    pseudo = own + earlier.counts + earlier.newcomers()
    probs, found, diagnostics = em.solve(
        request, flat, climb, (pseudo, class_counts), restarts, max_iterations, tolerance
    )
    learned = evidence(probs, flat, earlier)
    log_marginals, log_said = found[0], found[1][: request.annotations.n_annotators]
    flat = flatten(request)
    confusion, n_unknown = _confusion(log_said, learned["annotations"] + earlier.newcomers())
    diagnostics["n_unidentified_rows"] = n_unknown
    draws = class_draws(probs, request.draws, request.seed)
    marginals = np.exp(log_marginals)
    columns = annotator_columns(probs, marginals, confusion, flat)
    return Fit(probs, draws, marginals, confusion, diagnostics, columns, evidence=learned)


@partial(jax.jit, static_argnames="n_annotators")
def climb(
    start: Float[Array, "item label"],
    data: em.Sparse,
    pseudo: Float[Array, "annotator label label"],
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
    n_annotators: int,
) -> em.Climb:
    """EM from class probabilities; the parameters are log marginals and log P(said | true), (annotator, said, true).

    `pseudo[j, k, l]` are annotator j's prior counts of saying l where k is true.
    """
    n_labels = start.shape[1]
    prior_said = pseudo.transpose(0, 2, 1)

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


def _confusion(log_said: np.ndarray, heard: np.ndarray) -> tuple[np.ndarray, int]:
    """Confusion with the axes (annotator, truth, said); rows without any evidence are NaN, and how many those are."""
    unknown = heard[: len(log_said)].sum(2) < KNOWN_MASS
    return np.where(unknown[:, :, None], np.nan, np.exp(log_said).transpose(0, 2, 1)), int(unknown.sum())
