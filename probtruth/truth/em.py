"""Expectation-maximisation for models in which every item has one class, in log space.

A method gives what its M step needs to expect, that M step, the log likelihood of every item's annotations under each
class, and its log prior; starts, class marginals, the E step, acceleration, convergence, restarts, diagnostics and the
form of the result are the same for all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

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

PLAIN = 10  # Iterations after which a climb is extrapolated

MEMORY = 8  # Iterations that an extrapolation looks back to at most

MEMORY_CELLS = 1 << 22  # Expected counts of all of them at most

SINGULAR = 1e-10  # Share of the largest eigenvalue below which a direction of change counts as none

LEAST_LEFT = 0.01  # Share of an expected count that an extrapolation leaves: what is 0 stays 0

TINY = np.finfo(np.float64).tiny  # Added to denominators that may be 0 where what they divide is

LOWEST = np.finfo(np.float64).min  # In place of the log of 0: its product with 0 is 0

Parameters = tuple[np.ndarray, ...]  # The parameters of a method, without the class marginals

Expected = Float[np.ndarray, " count"]  # What the M step needs to know of the classes: no number is negative


@dataclass(frozen=True)
class EmModel:
    """What a method adds to the scaffold: pure functions."""

    expect: Callable[[np.ndarray, Parameters], Expected]
    maximise: Callable[[Expected, Parameters], Parameters]
    log_joint: Callable[[Parameters], np.ndarray]
    log_prior: Callable[[Parameters], float]
    uniform_classes: bool = False


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
    objective: float = -np.inf
    log_likelihood: float = -np.inf
    smallest_gain: float = np.inf
    n_iterations: int = 0
    converged: bool = False
    diagnostics: Mapping[str, object] = {}


def solve(
    request: MethodRequest,
    flat: FlatAnnotations,
    model: EmModel,
    parameters: Parameters,
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

    def expected(run: EmRun) -> Expected:
        of_method = model.expect(run.probs, run.parameters)
        return np.concatenate([of_method, run.probs.sum(0)])

    def step(run: EmRun, counts: Expected) -> EmRun:
        of_method, class_totals = np.split(counts, [-flat.n_labels])
        parameters = model.maximise(of_method, run.parameters)
        log_marginals = fixed
        if log_marginals is None:
            log_marginals = log_normalised(class_totals + class_counts, 0, 1.0)
        joint = log_marginals + model.log_joint(parameters) + flat.known
        evidence = log_total(joint, 1)
        probs = np.exp(joint - evidence)
        log_likelihood = float(evidence.sum())
        objective = log_likelihood + model.log_prior(parameters)
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

    def climb(run: EmRun) -> EmRun:
        counts = expected(run)
        run = step(run, counts)
        memory = min(MEMORY, MEMORY_CELLS // len(counts))
        history: list[tuple[Expected, Expected]] = []  # what was maximised, and what was expected after it
        while not run.converged and run.n_iterations < limits.max_iterations:
            found = expected(run)
            if run.n_iterations >= PLAIN:
                history = [*history, (counts, found)][-1 - memory :]
            counts = found
            if len(history) > 1:
                counts = _extrapolated(np.array(history))
            tried = step(run, counts)
            if tried.objective < run.objective and counts is not found:
                counts = found
                history = []
                tried = step(run._replace(n_iterations=tried.n_iterations), found)
            run = tried
        return run

    runs = []
    tables = starts(flat, limits.restarts, request.seed) if first is None else [first]
    with np.errstate(all="ignore"):  # the log of 0 is -inf
        for start in tables:
            runs.append(climb(EmRun(start, start[0], parameters)))
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


def _extrapolated(history: Float[np.ndarray, "iteration 2 count"]) -> Expected:
    """Anderson's mixture of iterations, in which what an iteration changes is least."""
    # Walker and Ni (2011), doi:10.1137/10078356X; with the safeguard of Henderson and Varadhan (2019),
    # doi:10.1080/10618600.2019.1594835
    after = history[:, 1]
    change = after - history[:, 0]
    bends = np.diff(change, axis=0)
    products = bends @ bends.T
    weights = np.linalg.lstsq(products, bends @ change[-1], rcond=SINGULAR)[0]
    steps = np.diff(after, axis=0)
    mixed = after[-1] - weights @ steps
    least = LEAST_LEFT * after[-1]
    return np.maximum(mixed, least)


def expected_answers(probs: Float[np.ndarray, "item label"], flat: FlatAnnotations) -> Expected:
    """Expected annotations, annotator after annotator, by (label given, true class)."""
    return (flat.by_cell @ probs).ravel()


def by_class(counts: Expected, flat: FlatAnnotations) -> Float[np.ndarray, "annotator label label"]:
    """Expected annotations by (annotator, label given, true class)."""
    return counts.reshape(-1, flat.n_labels, flat.n_labels)


def right_and_wrong(probs: Float[np.ndarray, "item label"], flat: FlatAnnotations) -> tuple[np.ndarray, np.ndarray]:
    """Expected annotations that name the class, and that do not, by (annotator, label given)."""
    counts = by_class(expected_answers(probs, flat), flat)
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
    return flat.table @ log_answers.reshape(-1, flat.n_labels)


def log_total(logs: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    """Log of the sum of exponentials along an axis, which stays."""
    highest = reduce(np.maximum, np.moveaxis(logs, axis, 0))
    finite = np.where(highest > -np.inf, highest, 0.0)
    top = np.expand_dims(finite, axis)
    total = _summed(np.exp(logs - top), axis)
    return top + np.log(total)


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
    return check_arrays.positive_row(prior, n_labels)


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
