"""Expectation-maximisation for models in which every item has one class, on sparse flat arrays, in log space.

A method gives its M step, the log likelihood of an annotation under each class, and its log prior; starts, the class
marginals, the E step, convergence, restarts, diagnostics and the form of the result are the same for all.

All of it takes NumPy and JAX arrays: small data climb in NumPy, for which nothing is compiled, the rest in JAX.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.ops import segment_sum
from jax.typing import ArrayLike
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment

from probtruth import check, check_arrays
from probtruth.kernels.precision import float64_on_cpu
from probtruth.truth.annotators.quality import Values, annotator_columns
from probtruth.truth.fit import MethodFit, MethodRequest, class_draws
from probtruth.truth.flat import FlatAnnotations

SAME_TOP = 1e-6
"""Runs that end within this many nats of the best reached the same top; the first of them counts."""

RISE = 100
"""A climb goes on where the objective rises by more nats than so many tolerances: 1e-4 of them move a parameter by
about a hundredth of its standard error. A class probability that is certain, or known, says nothing of parameters."""

SMALL = 1 << 12
"""Numbers in the largest table, times starts, up to which NumPy is done before XLA has compiled."""

Parameters = tuple[Values, ...]
"""The parameters of a method, without the class marginals."""

Number = np.floating | Float[Values, ""]

Priors = tuple[Values, ...]
"""What a method's M step and log prior need to know of its priors."""


class SparseAnnotations(NamedTuple):
    """Annotations for kernels, sorted by item, with indices of 32 bits where those suffice (twice as fast on a CPU).

    `cell` is annotator * n_labels + label; `known` is 0, and -inf for the classes that a known answer rules out.
    """

    item: Int[Values, " annotation"]
    annotator: Int[Values, " annotation"]
    label: Int[Values, " annotation"]
    cell: Int[Values, " annotation"]
    weight: Float[Values, " annotation"]
    known: Float[Values, "item label"]


@dataclass(frozen=True)
class EmModel:
    """What a method adds to the scaffold: pure functions.

    `maximise(probs, parameters, data, priors)` makes parameters from class probabilities and the parameters before;
    `log_terms(parameters, data)` is each annotation's log probability under each class; `log_prior(parameters, priors)`
    is that of the parameters, up to a constant. `uniform_classes`: class marginals are uniform unless they have
    pseudo-counts.
    """

    maximise: Callable[[Values, Parameters, SparseAnnotations, Priors], Parameters]
    log_terms: Callable[[Parameters, SparseAnnotations], Values]
    log_prior: Callable[[Parameters, Priors], Number]
    uniform_classes: bool = False


@dataclass(frozen=True)
class EmLimits:
    """When a climb ends, and from how many starts it is tried."""

    max_iterations: int
    tolerance: float
    restarts: int = 1

    def __post_init__(self) -> None:
        """Checks the values."""
        check.whole(self.max_iterations, 1, "max_iterations")
        check.number(self.tolerance, "tolerance", least=0)
        check.whole(self.restarts, 1, "restarts")


class EmRun(NamedTuple):
    """One climb: class probabilities given the parameters, the parameters, and how the climb went."""

    probs: Float[Values, "item label"]
    log_marginals: Float[Values, " label"]
    parameters: Parameters
    objective: Number
    log_likelihood: Number
    smallest_gain: Number
    n_iterations: np.integer | Int[Values, ""]
    converged: np.bool | Bool[Values, ""]


@dataclass(frozen=True, eq=False)
class EmSolution:
    """The best run, on the host."""

    probs: Float[np.ndarray, "item label"]
    log_marginals: Float[np.ndarray, " label"]
    parameters: tuple[np.ndarray, ...]
    diagnostics: dict[str, object]


def sparse(flat: FlatAnnotations) -> SparseAnnotations:
    """The flat arrays, in NumPy."""
    most = max(flat.n_items, flat.n_annotators * flat.n_labels)
    kind = np.int32 if most < 2**31 else np.int64
    item, annotator, label, cell = (part.astype(kind) for part in (flat.item, flat.annotator, flat.label, flat.cell))
    return SparseAnnotations(item, annotator, label, cell, flat.weight, flat.known)


def step(
    model: EmModel,
    run: EmRun,
    data: SparseAnnotations,
    priors: Priors,
    class_counts: Float[Values, " label"],
    tolerance: float | Number,
) -> EmRun:
    """The M step, the E step, and how far both went."""
    xp = run.probs.__array_namespace__()
    parameters = model.maximise(run.probs, run.parameters, data, priors)
    log_marginals, _ = log_normalised(run.probs.sum(0) + class_counts, 0, 1.0)
    if model.uniform_classes:
        log_marginals = xp.where(class_counts.sum() > 0, log_marginals, -np.log(run.probs.shape[1]))
    probs, log_likelihood = classes(log_marginals, model.log_terms(parameters, data), data)
    log_prior = model.log_prior(parameters, priors) + log_pseudo(class_counts, log_marginals)
    objective = log_likelihood + log_prior
    gain = objective - run.objective
    # parameters may still climb while certain classes stay where they are
    settled = (xp.abs(probs - run.probs).max() <= tolerance) & ~(gain > RISE * tolerance)
    least = xp.minimum(run.smallest_gain, gain)
    return EmRun(probs, log_marginals, parameters, objective, log_likelihood, least, run.n_iterations + 1, settled)


@partial(jax.jit, static_argnames="model")
def climb(
    model: EmModel,
    start: Float[Values, "item label"],
    data: SparseAnnotations,
    parameters: Parameters,
    priors: Priors,
    class_counts: Float[Values, " label"],
    tolerance: float | Number,
    max_iterations: int | Int[Values, ""],
) -> EmRun:
    """Alternates both steps until no class probability moves by more than `tolerance`, and the objective hardly rises.

    Arguments: `start` are class probabilities, `parameters` what the first M step begins from; `class_counts` are
    pseudo-counts of the class marginals.
    """
    low = jnp.full((), -jnp.inf, start.dtype)
    before = EmRun(start, start[0], parameters, low, low, -low, jnp.zeros((), int), jnp.zeros((), bool))
    return jax.lax.while_loop(
        lambda run: ~run.converged & (run.n_iterations < max_iterations),
        lambda run: step(model, run, data, priors, class_counts, tolerance),
        before,
    )


def climb_in_numpy(
    model: EmModel,
    start: Float[np.ndarray, "item label"],
    data: SparseAnnotations,
    parameters: Parameters,
    priors: Priors,
    class_counts: Float[np.ndarray, " label"],
    tolerance: float,
    max_iterations: int,
) -> EmRun:
    """As `climb`, without a compilation."""
    low = np.float64(-np.inf)
    run = EmRun(start, start[0], parameters, low, low, -low, np.int64(0), np.bool(False))
    with np.errstate(all="ignore"):  # as XLA: the log of 0 is -inf
        while not run.converged and run.n_iterations < max_iterations:
            run = step(model, run, data, priors, class_counts, tolerance)
    return run


def classes(
    log_marginals: Float[Values, " label"], log_terms: Float[Values, "annotation label"], data: SparseAnnotations
) -> tuple[Float[Values, "item label"], Number]:
    """The E step: P(class | labels) of every item and the log likelihood, from log P(label | class) of annotations."""
    weighted = log_terms * data.weight[:, None]
    joint = log_marginals + totals(weighted, data.item, len(data.known), in_order=True)
    joint = joint + data.known
    evidence = log_total(joint, 1)
    return evidence.__array_namespace__().exp(joint - evidence), evidence.sum()


def answers_by_class(
    probs: Float[Values, "item label"], data: SparseAnnotations, n_annotators: int
) -> Float[Values, "annotator label label"]:
    """Expected annotations by (annotator, label given, true class).

    In the items' order: reading probabilities one after the other saves more than scattered additions cost.
    """
    n_labels = probs.shape[1]
    counts = totals(probs[data.item] * data.weight[:, None], data.cell, n_annotators * n_labels)
    return counts.reshape(n_annotators, n_labels, n_labels)


def right_or_wrong(
    log_right: Float[Values, " annotation"], log_wrong: Float[Values, " annotation"], data: SparseAnnotations
) -> Float[Values, "annotation label"]:
    """An annotation's log probability under each class: `log_right` where it names the class, else `log_wrong`."""
    hit = data.label[:, None] == np.arange(data.known.shape[1])
    right_or_not: Values = log_right.__array_namespace__().where(hit, log_right[:, None], log_wrong[:, None])
    return right_or_not


def totals(
    values: Float[Values, "row ..."], index: Int[Values, " row"], n: int, *, in_order: bool = False
) -> Float[Values, "{n} ..."]:
    """Sums of the rows that have each of the indices 0 to n - 1; `in_order` says that the indices ascend."""
    if not isinstance(values, np.ndarray):
        return segment_sum(values, index, n, indices_are_sorted=in_order)
    if values.ndim == 1:
        return np.bincount(index, values, n)
    return np.stack([np.bincount(index, column, n) for column in values.T], axis=1)


def log_total(logs: Float[Values, "..."], axis: int) -> Float[Values, "..."]:
    """Log of the sum of exponentials along an axis, which stays."""
    xp = logs.__array_namespace__()
    top = logs.max(axis, keepdims=True)
    top = xp.where(top > -np.inf, top, 0.0)
    total: Values = top + xp.log(xp.exp(logs - top).sum(axis, keepdims=True))
    return total


def repeated(times: int, change: Callable[[Parameters], Parameters], parameters: Parameters) -> Parameters:
    """The parameters after so many changes."""
    if not isinstance(parameters[0], np.ndarray):
        parameters = jax.lax.fori_loop(0, times, lambda _, now: change(now), parameters)
        return parameters
    for _ in range(times):
        parameters = change(parameters)
    return parameters


def log_normalised(
    counts: Float[Values, "..."], axis: int, empty: float
) -> tuple[Float[Values, "..."], Float[Values, "..."]]:
    """Log of counts over their total along an axis (log `empty` where the total is 0), and the totals."""
    xp, sums = counts.__array_namespace__(), counts.sum(axis, keepdims=True)
    share = xp.where(sums > 0, counts / xp.where(sums > 0, sums, 1.0), empty)
    return xp.log(share), sums


def log_pseudo(counts: Float[Values, "..."], log_probs: Float[Values, "..."]) -> Number:
    """Log density (up to a constant) of prior pseudo-counts: sum of counts * log probs, 0 where the count is 0."""
    terms: Values = log_probs.__array_namespace__().where(counts > 0, counts * log_probs, 0.0)
    return terms.sum()


def starts(flat: FlatAnnotations, restarts: int, seed: int) -> Iterator[Float[np.ndarray, "item label"]]:
    """The vote shares, then tables in which every smoothed share is multiplied by an exponential variate."""
    votes, possible = flat.votes(), np.exp(flat.known)
    votes = np.where((votes * possible).sum(1, keepdims=True) > 0, votes, 1.0) * possible
    shares = votes / votes.sum(1, keepdims=True)
    yield shares
    generator = np.random.default_rng([seed, 1])
    for _ in range(restarts - 1):
        noisy = (shares + 1 / flat.n_labels) * generator.standard_exponential(shares.shape) * possible
        yield noisy / noisy.sum(1, keepdims=True)


def class_counts(prior: ArrayLike | None, n_labels: int) -> Float[np.ndarray, " label"]:
    """Pseudo-counts of the class marginals: none without a prior."""
    return np.zeros(n_labels) if prior is None else check_arrays.positive_row(prior, n_labels, "prior")


def solve(
    request: MethodRequest,
    flat: FlatAnnotations,
    model: EmModel,
    parameters: tuple[np.ndarray, ...],
    priors: tuple[ArrayLike, ...],
    class_counts: Float[np.ndarray, " label"],
    limits: EmLimits,
) -> EmSolution:
    """Climbs in float64 from every start, and returns the best run."""
    fixed = sparse(flat), parameters, jax.tree.map(np.asarray, priors), class_counts, limits.tolerance
    each = ((model, start, *fixed, limits.max_iterations) for start in starts(flat, limits.restarts, request.seed))
    rows = max(len(flat.item), flat.n_items, flat.n_annotators * flat.n_labels)
    if rows * flat.n_labels * limits.restarts <= SMALL:
        runs = [climb_in_numpy(*one) for one in each]
    else:
        with float64_on_cpu():
            runs = [climb(*one) for one in each]
    reached = [float(run.objective) for run in runs]
    best = next(run for run in range(len(runs)) if reached[run] >= max(reached) - SAME_TOP)
    chosen = runs[best]
    probs = np.array(chosen.probs)
    diagnostics: dict[str, object] = {
        "log_likelihood": float(chosen.log_likelihood),
        "log_posterior": float(chosen.objective),
        "n_iterations": int(chosen.n_iterations),
        "converged": bool(chosen.converged),
        "smallest_gain": float(chosen.smallest_gain),
        "label_switching": label_switching(probs, flat),
    }
    if len(runs) > 1:
        diagnostics |= {"restarts_log_posterior": reached, "best_restart": best}
    parameters = tuple(np.array(part) for part in chosen.parameters)
    return EmSolution(probs, np.array(chosen.log_marginals), parameters, diagnostics)


def as_fit(
    request: MethodRequest,
    flat: FlatAnnotations,
    solution: EmSolution,
    confusion: Float[np.ndarray, "annotator label label"],
    columns: Mapping[str, np.ndarray],
    item_results: Mapping[str, np.ndarray] | None = None,
    evidence: Mapping[str, np.ndarray] | None = None,
) -> MethodFit:
    """The solution as a fit, with draws of the class given the point estimate; `columns` are the method's own."""
    marginals = np.exp(solution.log_marginals)
    return MethodFit(
        solution.probs,
        class_draws(solution.probs, request.draws, request.seed),
        marginals,
        confusion,
        solution.diagnostics,
        annotator_columns(solution.probs, marginals, confusion, flat) | dict(columns),
        item_results or {},
        evidence or {},
    )


def label_switching(probs: Float[np.ndarray, "item label"], flat: FlatAnnotations) -> bool:
    """Whether another naming of the classes would agree with more annotations than this one."""
    agree = np.zeros((flat.n_labels, flat.n_labels))
    np.add.at(agree, flat.label, probs[flat.item] * flat.weight[:, None])
    rows, columns = linear_sum_assignment(agree, maximize=True)
    return bool(agree[rows, columns].sum() > np.trace(agree) + 1e-9 * agree.sum())
