"""Expectation-maximisation for models in which every item has one class, on sparse flat arrays, in log space."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import logsumexp
from jax.ops import segment_sum
from jaxtyping import Array, Bool, Float, Int
from scipy.optimize import linear_sum_assignment

from probtruth.truth.fit import Request
from probtruth.truth.flat import Flat, non_negative, whole

SAME_TOP = 1e-6
"""Runs that end within this many nats of the best found the same top; the first of them counts."""

Parameters = Any
"""A tuple of arrays: the parameters of one model."""


class Sparse(NamedTuple):
    """Annotations for kernels, sorted by item, with indices of 32 bits where those suffice (twice as fast on a CPU).

    `cell` is annotator * n_labels + label; `known` is 0, and -inf for the classes that a known answer rules out.
    """

    item: Int[Array, " annotation"]
    annotator: Int[Array, " annotation"]
    label: Int[Array, " annotation"]
    cell: Int[Array, " annotation"]
    weight: Float[Array, " annotation"]
    known: Float[Array, "item label"]


class Climb(NamedTuple):
    """An EM run: class probabilities given the parameters, the parameters, and how the climb went."""

    probs: Float[Array, "item label"]
    parameters: Parameters
    objective: Float[Array, ""]
    log_likelihood: Float[Array, ""]
    smallest_gain: Float[Array, ""]
    n_iterations: Int[Array, ""]
    converged: Bool[Array, ""]


def sparse(flat: Flat) -> Sparse:
    """The flat arrays on the device."""
    most = max(flat.n_items, flat.n_annotators * flat.n_labels)
    kind = np.int32 if most < 2**31 else np.int64
    parts = *(part.astype(kind) for part in (flat.item, flat.annotator, flat.label, flat.cell)), flat.weight, flat.known
    return Sparse(*(jnp.asarray(part) for part in parts))


def climb(
    start: Float[Array, "item label"],
    parameters: Parameters,
    maximise: Callable[[Array, Parameters], Parameters],
    expect: Callable[[Parameters], tuple[Array, Array, Array]],
    tolerance: Float[Array, ""],
    max_iterations: Int[Array, ""],
) -> Climb:
    """Alternates both steps until no class probability moves by more than `tolerance`.

    Arguments: `maximise` makes parameters from class probabilities and the parameters before; `expect` makes class
    probabilities, the log likelihood of the labels, and the log prior from parameters.
    """

    def step(state: Climb) -> Climb:
        found = maximise(state.probs, state.parameters)
        probs, log_likelihood, log_prior = expect(found)
        objective = log_likelihood + log_prior
        gain = jnp.minimum(state.smallest_gain, objective - state.objective)
        settled = jnp.abs(probs - state.probs).max() <= tolerance
        return Climb(probs, found, objective, log_likelihood, gain, state.n_iterations + 1, settled)

    low = jnp.full_like(start, -jnp.inf, shape=())
    blank = Climb(start, parameters, low, low, -low, jnp.zeros((), int), jnp.zeros((), bool))
    return jax.lax.while_loop(lambda state: ~state.converged & (state.n_iterations < max_iterations), step, blank)


def classes(
    log_marginals: Float[Array, " label"], log_terms: Float[Array, "annotation label"], data: Sparse
) -> tuple[Float[Array, "item label"], Float[Array, ""]]:
    """P(class | labels) of every item, and the log likelihood, from each annotation's log P(said | class)."""
    weighted = log_terms * data.weight[:, None]
    joint = log_marginals + segment_sum(weighted, data.item, data.known.shape[0], indices_are_sorted=True)
    joint = joint + data.known
    evidence = logsumexp(joint, axis=1, keepdims=True)
    return jnp.exp(joint - evidence), evidence.sum()


def said_given_class(
    probs: Float[Array, "item label"], data: Sparse, n_annotators: int
) -> Float[Array, "annotator label label"]:
    """Expected annotations by (annotator, label said, true class).

    In the items' order: reading probabilities one after the other saves more than scattered additions cost.
    """
    n_labels = probs.shape[1]
    counts = segment_sum(probs[data.item] * data.weight[:, None], data.cell, n_annotators * n_labels)
    return counts.reshape(n_annotators, n_labels, n_labels)


def log_normalised(
    counts: Float[Array, "..."], axis: int, empty: float
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Log of counts over their total along an axis (log `empty` where the total is 0), and the totals."""
    totals = counts.sum(axis, keepdims=True)
    share = jnp.where(totals > 0, counts / jnp.where(totals > 0, totals, 1.0), empty)
    return jnp.log(share), totals


def log_pseudo(counts: Float[Array, "..."], log_probs: Float[Array, "..."]) -> Float[Array, ""]:
    """Log density (up to a constant) of prior pseudo-counts: sum of counts * log probs, 0 where the count is 0."""
    return jnp.where(counts > 0, counts * log_probs, 0.0).sum()


def starts(flat: Flat, restarts: int, seed: int) -> Iterator[Float[np.ndarray, "item label"]]:
    """The vote shares, then tables in which every smoothed share is multiplied by an exponential variate."""
    votes = np.zeros((flat.n_items, flat.n_labels))
    np.add.at(votes, (flat.item, flat.label), flat.weight)
    open_to = np.exp(flat.known)
    votes = np.where((votes * open_to).sum(1, keepdims=True) > 0, votes, 1.0) * open_to
    shares = votes / votes.sum(1, keepdims=True)
    yield shares
    generator = np.random.default_rng([seed, 1])
    for _ in range(restarts - 1):
        noisy = (shares + 1 / flat.n_labels) * generator.standard_exponential(shares.shape) * open_to
        yield noisy / noisy.sum(1, keepdims=True)


def solve(
    request: Request,
    flat: Flat,
    kernel: Callable[..., Climb],
    priors: Sequence[object],
    restarts: object,
    max_iterations: object,
    tolerance: object,
) -> tuple[Float[np.ndarray, "item label"], Parameters, dict[str, object]]:
    """Runs a kernel in float64 from every start; the best run's class probabilities, parameters and diagnostics."""
    many, most = whole(restarts, 1, "restarts"), whole(max_iterations, 1, "max_iterations")
    settled = non_negative(tolerance, "tolerance")
    with jax.enable_x64(True):
        data, fixed = sparse(flat), [jnp.asarray(part) for part in priors]
        limits = jnp.asarray(settled), jnp.asarray(most)
        runs = [
            kernel(jnp.asarray(start), data, *fixed, *limits, flat.n_annotators)
            for start in starts(flat, many, request.seed)
        ]
    reached = [float(run.objective) for run in runs]
    place = next(run for run in range(many) if reached[run] >= max(reached) - SAME_TOP)
    chosen = runs[place]
    probs = np.array(chosen.probs)
    diagnostics: dict[str, object] = {
        "log_likelihood": float(chosen.log_likelihood),
        "log_posterior": float(chosen.objective),
        "n_iterations": int(chosen.n_iterations),
        "converged": bool(chosen.converged),
        "smallest_gain": float(chosen.smallest_gain),
        "label_switching": label_switching(probs, flat),
    }
    if many > 1:
        diagnostics["restarts_log_posterior"] = reached
        diagnostics["best_restart"] = place
    return probs, jax.tree.map(np.asarray, chosen.parameters), diagnostics


def label_switching(probs: Float[np.ndarray, "item label"], flat: Flat) -> bool:
    """Whether another naming of the classes would agree with more annotations than the one found."""
    agree = np.zeros((flat.n_labels, flat.n_labels))
    np.add.at(agree, flat.label, probs[flat.item] * flat.weight[:, None])
    rows, columns = linear_sum_assignment(agree, maximize=True)
    return bool(agree[rows, columns].sum() > np.trace(agree) + 1e-9 * agree.sum())
