"""Expectation-maximisation for models in which every item has one class, in log space.

A method gives its M step, the log likelihood of every item's annotations under each class, and its log prior; starts,
class marginals, the E step, convergence, restarts, diagnostics and the form of the result are the same for all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment

from probtruth import check, check_arrays
from probtruth.truth.annotators import annotator_columns
from probtruth.truth.fit import MethodFit, MethodRequest, class_draws
from probtruth.truth.flat import FlatAnnotations

SAME_TOP = 1e-6  # Runs that end within this many nats of the best reached the same top; the first of them counts

# A climb goes on where the objective rises by more nats than so many tolerances: 1e-4 of them move a parameter by about
# a hundredth of its standard error. A class probability that is certain, or known, says nothing of parameters.
RISE = 100

PLAIN, PLAIN_MANY = 100, 60  # Iterations after which a climb is extrapolated; the second of many items

LONGEST = 16.0  # Step length of an extrapolation at most

# Items from which on a climb goes on with those whose classes still move, where these are at most half; the others
# count as prior knowledge until they have settled.
MANY = 10_000

LEAST_LEFT = 0.01  # Share of a class probability that an extrapolation leaves: what is 0 stays 0

LOWEST = np.finfo(np.float64).min  # In place of the log of 0: its product with 0 is 0

Parameters = tuple[np.ndarray, ...]  # The parameters of a method, without the class marginals

Priors = tuple[np.ndarray, ...]  # What a method's M step and log prior need to know of its priors


@dataclass(frozen=True)
class EmModel:
    """What a method adds to the scaffold: pure functions; `counts` are what its M step adds to the first prior."""

    maximise: Callable[[np.ndarray, Parameters, FlatAnnotations, Priors], Parameters]
    log_joint: Callable[[Parameters, FlatAnnotations], np.ndarray]
    log_prior: Callable[[Parameters, Priors], float]
    uniform_classes: bool = False
    counts: Callable[[np.ndarray, FlatAnnotations], np.ndarray] | None = None  # None: it needs the parameters before it


@dataclass(frozen=True)
class EmLimits:
    """When a climb ends, and from how many starts it is tried."""

    max_iterations: int
    tolerance: float
    restarts: int = 1

    def __post_init__(self) -> None:
        check.whole(self.max_iterations, 1, "max_iterations")
        check.number(self.tolerance, "tolerance", least=0)
        check.whole(self.restarts, 1, "restarts")


class EmRun(NamedTuple):
    """One climb: class probabilities given the parameters, the parameters, and how the climb went."""

    probs: Float[np.ndarray, "item label"]
    log_marginals: Float[np.ndarray, " label"]
    parameters: Parameters
    objective: float
    log_likelihood: float
    smallest_gain: float
    n_iterations: int
    converged: bool
    diagnostics: Mapping[str, object] = {}


def solve(
    request: MethodRequest,
    flat: FlatAnnotations,
    model: EmModel,
    parameters: Parameters,
    priors: Priors,
    class_counts: Float[np.ndarray, " label"],
    limits: EmLimits,
    first: Float[np.ndarray, "item label"] | None = None,
    fixed: Float[np.ndarray, " label"] | None = None,
) -> EmRun:
    """Climbs from every start (from `first`, if there is one), and returns the best run.

    `fixed` are log class marginals that stay; the objective is then without their prior.
    """
    if model.uniform_classes and not class_counts.any():
        fixed = np.full(flat.n_labels, -np.log(flat.n_labels))

    def step(run: EmRun, flat: FlatAnnotations, priors: Priors, class_counts: np.ndarray) -> EmRun:
        parameters = model.maximise(run.probs, run.parameters, flat, priors)
        log_marginals = fixed
        if log_marginals is None:
            class_totals = run.probs.sum(0) + class_counts
            log_marginals = log_normalised(class_totals, 0, 1.0)
        joint = log_marginals + model.log_joint(parameters, flat) + flat.known
        evidence = log_total(joint, 1)
        probs = np.exp(joint - evidence)
        log_likelihood = float(evidence.sum())
        objective = log_likelihood + model.log_prior(parameters, priors)
        objective += log_pseudo(class_counts, log_marginals)
        gain = objective - run.objective
        change = np.abs(probs - run.probs).max()
        # parameters may still climb while certain classes stay where they are
        climbs = gain > RISE * limits.tolerance
        return EmRun(
            probs,
            log_marginals,
            parameters,
            objective,
            log_likelihood,
            smallest_gain=min(run.smallest_gain, gain),
            n_iterations=run.n_iterations + 1,
            converged=bool(change <= limits.tolerance and not climbs),
        )

    def climb(run: EmRun, *problem: Any) -> EmRun:
        while not run.converged and run.n_iterations < limits.max_iterations:
            before = run
            run = step(run, *problem)
            many = len(run.probs) >= MANY
            plain = PLAIN_MANY if many else PLAIN
            if model.counts is None or run.n_iterations < plain or run.converged:
                continue
            moving = (run.probs != before.probs).any(1)
            if not many or moving.mean() > 0.5:
                run = _extrapolated(before.probs, run, lambda one: step(one, *problem))
                continue
            flat, priors, class_counts = problem
            some, annotators = flat.of_items(moving)
            others = np.where(moving[:, None], 0.0, run.probs)
            counts = model.counts(others, flat) + priors[0]
            part = run._replace(probs=run.probs[moving], objective=-np.inf)
            part = climb(part, some, (counts[annotators],), class_counts + others.sum(0))
            others[moving] = part.probs
            run = run._replace(
                probs=others,
                n_iterations=part.n_iterations,
                smallest_gain=part.smallest_gain,
            )
            run = step(run, *problem)
        return run

    runs = []
    tables = starts(flat, limits.restarts, request.seed) if first is None else [first]
    with np.errstate(all="ignore"):  # the log of 0 is -inf
        for start in tables:
            run = EmRun(
                start,
                start[0],
                parameters,
                objective=-np.inf,
                log_likelihood=-np.inf,
                smallest_gain=np.inf,
                n_iterations=0,
                converged=False,
            )
            runs.append(climb(run, flat, priors, class_counts))
    reached = np.array([run.objective for run in runs])
    at_top = reached >= reached.max() - SAME_TOP
    best = int(at_top.argmax())
    chosen = runs[best]
    diagnostics: dict[str, object] = {
        "log_likelihood": chosen.log_likelihood,
        "log_posterior": chosen.objective,
        "n_iterations": chosen.n_iterations,
        "converged": chosen.converged,
        "smallest_gain": chosen.smallest_gain,
        "label_switching": label_switching(chosen.probs, flat),
    }
    if len(runs) > 1:
        diagnostics |= {"restarts_log_posterior": reached.tolist(), "best_restart": best}
    return chosen._replace(diagnostics=diagnostics)


def _extrapolated(before: Float[np.ndarray, "item label"], run: EmRun, step: Callable[[EmRun], EmRun]) -> EmRun:
    """A cycle of SQUAREM, every item with a step length of its own, kept where the objective climbs."""
    # Varadhan and Roland (2008), doi:10.1111/j.1467-9469.2007.00585.x
    after = step(run)
    change = run.probs - before
    bend = after.probs - run.probs - change
    length_of_change = np.linalg.norm(change, axis=1, keepdims=True)
    length_of_bend = np.linalg.norm(bend, axis=1, keepdims=True)
    ratio = np.nan_to_num(length_of_change / length_of_bend, nan=1.0)
    length = np.clip(ratio, 1.0, LONGEST)
    further = before + 2 * length * change + length**2 * bend
    further = np.maximum(further, LEAST_LEFT * after.probs)
    further /= further.sum(1, keepdims=True)
    tried = step(after._replace(probs=further))
    if tried.objective >= after.objective:
        return tried
    return after._replace(n_iterations=tried.n_iterations)


def answers_by_class(
    probs: Float[np.ndarray, "item label"], flat: FlatAnnotations
) -> Float[np.ndarray, "annotator label label"]:
    """Expected annotations by (annotator, label given, true class)."""
    return np.asarray(flat.by_cell @ probs).reshape(flat.n_annotators, flat.n_labels, flat.n_labels)


def right_and_wrong(probs: Float[np.ndarray, "item label"], flat: FlatAnnotations) -> tuple[np.ndarray, np.ndarray]:
    """Expected annotations that name the class, and that do not, by (annotator, label given)."""
    counts = answers_by_class(probs, flat)
    label = np.arange(flat.n_labels)
    right = counts[:, label, label].copy()
    counts[:, label, label] = 0.0
    return right, counts.sum(2)


def answers_of(right: np.ndarray, wrong: np.ndarray, n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Values by (annotator, label given, true class): one where the label names the class, another where not."""
    names_the_class = np.eye(n_labels, dtype=bool)
    return np.where(names_the_class, right[:, :, None], wrong[:, :, None])


def log_joint(
    log_answers: Float[np.ndarray, "annotator label label"], flat: FlatAnnotations
) -> Float[np.ndarray, "item label"]:
    """The log likelihood of every item's annotations under each class, from log P(label given | true class)."""
    return np.asarray(flat.table @ log_answers.reshape(-1, flat.n_labels))


def log_total(logs: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    """Log of the sum of exponentials along an axis, which stays."""
    highest = reduce(np.maximum, np.moveaxis(logs, axis, 0))
    finite = np.where(highest > -np.inf, highest, 0.0)
    top = np.expand_dims(finite, axis)
    total = _summed(np.exp(logs - top), axis)
    return np.asarray(top + np.log(total))


def _summed(table: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    """Sums along an axis, which stays; NumPy's own is slow along a short one."""
    axes = list(range(table.ndim))
    others = axes.copy()
    others.remove(axis % table.ndim)
    sums = np.einsum(table, axes, others)
    return np.expand_dims(sums, axis)


def log_normalised(counts: Float[np.ndarray, "..."], axis: int, empty: float) -> Float[np.ndarray, "..."]:
    """Log of counts, which it overwrites, over their total along an axis; log `empty` where the total is 0."""
    total = np.log(_summed(counts, axis))
    logs = np.log(counts, out=counts)
    logs -= total
    logs[np.isnan(logs)] = np.log(empty)
    return logs


def log_pseudo(counts: Float[np.ndarray, "..."], log_probs: Float[np.ndarray, "..."]) -> float:
    """Log density (up to a constant) of prior pseudo-counts: sum of counts * log probs, 0 where the count is 0."""
    if not np.any(counts):
        return 0.0
    finite = np.maximum(log_probs, LOWEST)
    return float((counts * finite).sum())


def starts(flat: FlatAnnotations, restarts: int, seed: int) -> Iterator[Float[np.ndarray, "item label"]]:
    """The vote shares, then tables in which every smoothed share is multiplied by an exponential variate."""
    possible = np.exp(flat.known)
    votes = flat.votes() * possible
    voted = votes.sum(1, keepdims=True) > 0
    votes = np.where(voted, votes, possible)
    shares = votes / votes.sum(1, keepdims=True)
    yield shares
    generator = np.random.default_rng([seed, 1])
    for _ in range(restarts - 1):
        smoothed = shares + 1 / flat.n_labels
        noise = generator.standard_exponential(shares.shape)
        noisy = smoothed * noise * possible
        yield noisy / noisy.sum(1, keepdims=True)


def class_counts(prior: ArrayLike | None, n_labels: int) -> Float[np.ndarray, " label"]:
    """Pseudo-counts of the class marginals: none without a prior."""
    if prior is None:
        return np.zeros(n_labels)
    return check_arrays.positive_row(prior, n_labels, "prior")


def as_fit(
    request: MethodRequest,
    flat: FlatAnnotations,
    solution: EmRun,
    confusion: Float[np.ndarray, "annotator label label"],
    columns: Mapping[str, np.ndarray],
    item_results: Mapping[str, np.ndarray] | None = None,
) -> MethodFit:
    """The solution as a fit, with draws of the class given the point estimate; `columns` are the method's own."""
    marginals = np.exp(solution.log_marginals)
    usual = annotator_columns(solution.probs, marginals, confusion, flat)
    return MethodFit(
        solution.probs,
        class_draws(solution.probs, request.draws, request.seed),
        marginals,
        confusion,
        solution.diagnostics,
        usual | dict(columns),
        item_results or {},
    )


def label_switching(probs: Float[np.ndarray, "item label"], flat: FlatAnnotations) -> bool:
    """Whether another naming of the classes would agree with more annotations than this one."""
    agree = flat.votes().T @ probs
    rows, columns = linear_sum_assignment(agree, maximize=True)
    best = agree[rows, columns].sum()
    rounding = 1e-9 * agree.sum()
    return bool(best > np.trace(agree) + rounding)
