"""Dawid-Skene by expectation-maximisation: one confusion matrix an annotator, on sparse flat arrays, in log space."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import logsumexp
from jax.ops import segment_sum
from jaxtyping import Array, Bool, Float, Int
from scipy.optimize import linear_sum_assignment

from probtruth.truth.fit import Fit, class_draws
from probtruth.truth.flat import Flat, flatten, non_negative, positive_row, vote_shares, whole
from probtruth.types import Annotations

KNOWN_MASS = 1e-10
"""Expected annotations on items of a class below which an annotator's row of confusion is unknown (NaN)."""


def dawid_skene_em(
    annotations: Annotations,
    draws: int,
    seed: int,
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
    flat = flatten(annotations)
    shares, n_votes = vote_shares(annotations)
    class_counts = np.zeros(flat.n_labels) if prior is None else positive_row(prior, flat.n_labels, "prior")
    off, on = non_negative(off_diagonal, "off_diagonal"), non_negative(diagonal, "diagonal")
    pseudo = np.full((flat.n_labels, flat.n_labels), off)
    np.fill_diagonal(pseudo, on)
    runs, most = whole(restarts, 1, "restarts"), whole(max_iterations, 1, "max_iterations")
    settled = non_negative(tolerance, "tolerance")
    first = np.where(n_votes[:, None] > 0, shares, 1 / flat.n_labels)
    with jax.enable_x64(True):
        arrays = [jnp.asarray(part) for part in (flat.item, flat.cell, flat.weight, flat.by_annotator)]
        priors = jnp.asarray(pseudo), jnp.asarray(class_counts)
        found = [
            climb(jnp.asarray(start), *arrays, *priors, jnp.asarray(settled), flat.n_annotators, most)
            for start in _starts(first, runs, seed)
        ]
    best = max(range(runs), key=lambda run: found[run].objective)
    chosen = found[best]
    confusion, n_unknown = _confusion(chosen, flat)
    moved = _label_switching(chosen, flat)
    diagnostics: dict[str, object] = {
        "log_likelihood": float(chosen.log_likelihood),
        "log_posterior": float(chosen.objective),
        "n_iterations": int(chosen.n_iterations),
        "converged": bool(chosen.converged),
        "smallest_gain": float(chosen.smallest_gain),
        "label_switching": moved,
        "n_unidentified_rows": n_unknown,
    }
    if runs > 1:
        diagnostics["restarts_log_posterior"] = [float(run.objective) for run in found]
        diagnostics["best_restart"] = best
    probs = np.array(chosen.probs)
    return Fit(probs, class_draws(probs, draws, seed), np.exp(np.asarray(chosen.log_marginals)), confusion, diagnostics)


class Climb(NamedTuple):
    """An EM run: class probabilities given the parameters, parameters in logs, and how the climb went."""

    probs: Float[Array, "item label"]
    log_marginals: Float[Array, " label"]
    log_confusion: Float[Array, "cell label"]
    objective: Float[Array, ""]
    log_likelihood: Float[Array, ""]
    smallest_gain: Float[Array, ""]
    n_iterations: Int[Array, ""]
    converged: Bool[Array, ""]


@partial(jax.jit, static_argnames=("n_annotators", "max_iterations"))
def climb(
    start: Float[Array, "item label"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    by_annotator: Int[Array, " annotation"],
    pseudo: Float[Array, "label label"],
    class_counts: Float[Array, " label"],
    tolerance: Float[Array, ""],
    n_annotators: int,
    max_iterations: int,
) -> Climb:
    """Expectation-maximisation from class probabilities.

    `cell` is annotator * n_labels + label; `log_confusion` has one row for each cell and one column for each true
    class. `item` and `cell[by_annotator]` are sorted. `pseudo[k, l]` are prior counts of saying l where k is true.
    """
    n_items, n_labels = start.shape
    their_item, their_cell, their_weight = item[by_annotator], cell[by_annotator], weight[by_annotator]
    pseudo_said = pseudo.T  # (said, true), as the rows of a cell are

    def maximise(probs: Array) -> tuple[Array, Array]:
        marginals = probs.sum(0) + class_counts
        counts = segment_sum(
            probs[their_item] * their_weight[:, None], their_cell, n_annotators * n_labels, indices_are_sorted=True
        ).reshape(n_annotators, n_labels, n_labels)
        counts = counts + pseudo_said
        totals = counts.sum(1, keepdims=True)
        confusion = jnp.where(totals > 0, counts / jnp.where(totals > 0, totals, 1.0), 1 / n_labels)
        return jnp.log(marginals / marginals.sum()), jnp.log(confusion).reshape(-1, n_labels)

    def expect(log_marginals: Array, log_confusion: Array) -> tuple[Array, Array]:
        terms = log_confusion[cell] * weight[:, None]
        joint = log_marginals + segment_sum(terms, item, n_items, indices_are_sorted=True)
        evidence = logsumexp(joint, axis=1, keepdims=True)
        return jnp.exp(joint - evidence), evidence.sum()

    def step(state: Climb) -> Climb:
        log_marginals, log_confusion = maximise(state.probs)
        probs, log_likelihood = expect(log_marginals, log_confusion)
        said = log_confusion.reshape(n_annotators, n_labels, n_labels)
        prior = jnp.where(pseudo_said > 0, pseudo_said * said, 0.0).sum()
        prior += jnp.where(class_counts > 0, class_counts * log_marginals, 0.0).sum()
        change = log_likelihood + prior - state.objective
        return Climb(
            probs,
            log_marginals,
            log_confusion,
            log_likelihood + prior,
            log_likelihood,
            jnp.minimum(state.smallest_gain, change),
            state.n_iterations + 1,
            jnp.abs(probs - state.probs).max() <= tolerance,
        )

    unset = jnp.full_like(start, -jnp.inf, shape=())
    blank = Climb(
        start,
        jnp.zeros_like(start, shape=n_labels),
        jnp.zeros_like(start, shape=(n_annotators * n_labels, n_labels)),
        unset,
        unset,
        -unset,
        jnp.zeros((), int),
        jnp.zeros((), bool),
    )
    return jax.lax.while_loop(lambda state: ~state.converged & (state.n_iterations < max_iterations), step, blank)


def _starts(shares: Float[np.ndarray, "item label"], restarts: int, seed: int) -> Iterator[np.ndarray]:
    """The vote shares, then tables in which every smoothed share is multiplied by an exponential variate."""
    yield shares
    generator = np.random.default_rng([seed, 1])
    for _ in range(restarts - 1):
        noisy = (shares + 1 / shares.shape[1]) * generator.standard_exponential(shares.shape)
        yield noisy / noisy.sum(1, keepdims=True)


def _confusion(found: Climb, flat: Flat) -> tuple[np.ndarray, int]:
    """Confusion with the axes (annotator, truth, said); rows without any evidence are NaN, and how many those are."""
    shape = (flat.n_annotators, flat.n_labels, flat.n_labels)
    confusion = np.exp(np.asarray(found.log_confusion)).reshape(shape).transpose(0, 2, 1)
    mass = np.zeros((flat.n_annotators, flat.n_labels))
    np.add.at(mass, flat.annotator, np.asarray(found.probs)[flat.item] * flat.weight[:, None])
    confusion = np.where((mass < KNOWN_MASS)[:, :, None], np.nan, confusion)
    return confusion, int((mass < KNOWN_MASS).sum())


def _label_switching(found: Climb, flat: Flat) -> bool:
    """Whether another naming of the classes would agree with more annotations than the one found."""
    agree = np.zeros((flat.n_labels, flat.n_labels))
    np.add.at(agree, flat.label, np.asarray(found.probs)[flat.item] * flat.weight[:, None])
    rows, columns = linear_sum_assignment(agree, maximize=True)
    return bool(agree[rows, columns].sum() > np.trace(agree) + 1e-9 * agree.sum())
