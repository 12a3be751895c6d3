"""Label sets from a mixture of prototypes, seen through annotators' errors: EM on flat arrays, in log space."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import expit, logsumexp

from probtruth.truth.fit import affordable, categorical, draw_tables

MOST_KINDS = 8
"""Prototypes at most, where their number is chosen."""

RESTARTS = 4
"""Starts for every number of prototypes above one."""

OWN_COUNTS = 10.0
"""Pseudo-counts that pull an annotator's sensitivity and specificity to those of the label."""

SHARED_COUNTS = (6.0, 2.0)
"""Prior pseudo-counts, right and wrong, of each label's sensitivity and specificity."""

KIND_COUNTS = 1.0
"""Prior pseudo-counts of each prototype's weight, and of each of its labels towards the label's frequency."""

SETTLED, MOST_STEPS = 1e-6, 1000
"""EM ends when no probability moves by more than this, or after so many steps."""

SURE = 1e6
"""Log evidence of a known label: large, finite, so that differences stay defined."""


@dataclass(frozen=True, eq=False)
class JointFit:
    """The fitted mixture, P(label applies), and draws of label sets."""

    probs: Float[np.ndarray, "item label"]
    weights: Float[np.ndarray, " prototype"]
    prototypes: Float[np.ndarray, "prototype label"]
    sensitivity: Float[np.ndarray, "annotator label"]
    specificity: Float[np.ndarray, "annotator label"]
    draws: Float[np.ndarray, "draw item label"] | None
    diagnostics: dict[str, object]


@dataclass(frozen=True, eq=False)
class _Selectors:
    """Selectors that sum pairs into items and into annotators, and what the pairs say."""

    of_item: csr_array
    of_annotator: csr_array
    answers: Float[np.ndarray, "pair label"]
    known: Int[np.ndarray, "item label"]


@dataclass(frozen=True, eq=False)
class _PrototypeRun:
    """One point of the climb."""

    kind: Float[np.ndarray, "item prototype"]
    applies: Float[np.ndarray, "item label"]
    weights: Float[np.ndarray, " prototype"]
    rho: Float[np.ndarray, "prototype label"]
    sensitivity: Float[np.ndarray, "annotator label"]
    specificity: Float[np.ndarray, "annotator label"]
    log_odds: Float[np.ndarray, "item label"]
    log_likelihood: float
    n_steps: int
    converged: bool


def fit_joint(
    item: Int[np.ndarray, " pair"],
    annotator: Int[np.ndarray, " pair"],
    answers: Bool[np.ndarray, "pair label"],
    known: Int[np.ndarray, "item label"],
    n_annotators: int,
    kinds: int | None,
    draws: int,
    seed: int,
) -> JointFit:
    """The mixture of the given number of prototypes, or of the number with the best AIC."""
    n_items = len(known)
    pair, ones = np.arange(len(item)), np.ones(len(item))
    data = _Selectors(
        csr_array((ones, (item, pair)), (n_items, len(item))),
        csr_array((ones, (annotator, pair)), (n_annotators, len(item))),
        answers.astype(np.float64),
        known,
    )
    generator = np.random.default_rng([seed, 3])
    shares = (data.of_item @ data.answers + 0.5) / (data.of_item @ ones + 1)[:, None]
    single = _climb(data, np.ones((n_items, 1)), np.where(known < 0, shares, known))
    tried = {1: single}
    for many in range(2, MOST_KINDS + 1) if kinds is None else [kinds] * (kinds > 1):
        runs = [_climb(data, _kinds(single.applies, many, generator), single.applies) for _ in range(RESTARTS)]
        tried[many] = max(runs, key=lambda run: run.log_likelihood)
        if kinds is None and _aic(tried[many]) > min(_aic(run) for run in tried.values()):
            break
    chosen = min(tried, key=lambda many: _aic(tried[many])) if kinds is None else kinds
    run = tried[chosen]
    order = np.argsort(-run.weights, kind="stable")
    diagnostics = {
        "n_prototypes": chosen,
        "aic": {many: _aic(run) for many, run in tried.items()},
        "log_likelihood": run.log_likelihood,
        "n_iterations": run.n_steps,
        "converged": run.converged,
        "label_switching": bool((run.sensitivity + run.specificity).mean(0).min() < 1),
    }
    drawn = _draws(run, draws, generator)
    return JointFit(
        run.applies,
        run.weights[order],
        run.rho[order],
        run.sensitivity,
        run.specificity,
        drawn,
        diagnostics,
    )


def _climb(data: _Selectors, kind: np.ndarray, applies: np.ndarray) -> _PrototypeRun:
    """EM from responsibilities of the prototypes and P(label applies)."""
    n_items = len(applies)
    both, settled, steps = kind.T @ applies, False, 0
    while not settled and steps < MOST_STEPS:
        steps += 1
        sensitivity, specificity = _errors_of_annotators(data, applies)
        evidence, floor = _evidence(data, sensitivity, specificity)
        mass = kind.sum(0)
        base = (applies.sum(0) + 0.5) / (n_items + 1)
        weights = (mass + KIND_COUNTS) / (n_items + KIND_COUNTS * len(mass))
        rho = (both + KIND_COUNTS * base) / (mass[:, None] + KIND_COUNTS)
        before = applies
        kind, both, applies, log_likelihood = _expect(weights, rho, evidence)
        settled = bool(np.abs(before - applies).max() <= SETTLED)
    total = log_likelihood + floor
    return _PrototypeRun(kind, applies, weights, rho, sensitivity, specificity, evidence, total, steps, settled)


def _errors_of_annotators(data: _Selectors, applies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sensitivity and specificity of every annotator for every label, pulled to those of the label."""
    rates = []
    true = data.of_item.T @ applies
    for holds, agrees in ((true, data.answers), (1 - true, 1 - data.answers)):
        right, total = data.of_annotator @ (holds * agrees), data.of_annotator @ holds
        shared = (right.sum(0) + SHARED_COUNTS[0]) / (total.sum(0) + sum(SHARED_COUNTS))
        rates.append((right + OWN_COUNTS * shared) / (total + OWN_COUNTS))
    return rates[0], rates[1]


def _evidence(data: _Selectors, sensitivity: np.ndarray, specificity: np.ndarray) -> tuple[np.ndarray, float]:
    """Log odds of the annotations if a label applies against if not, and the part of the log likelihood in neither."""
    where = data.of_annotator.T
    applies = data.answers * (where @ np.log(sensitivity)) + (1 - data.answers) * (where @ np.log1p(-sensitivity))
    absent = data.answers * (where @ np.log1p(-specificity)) + (1 - data.answers) * (where @ np.log(specificity))
    one, zero = data.of_item @ applies, data.of_item @ absent
    odds = np.where(data.known < 0, one - zero, np.where(data.known == 1, SURE, -SURE))
    return odds, float(np.where(data.known == 1, one - SURE, zero).sum())


def _expect(
    weights: np.ndarray, rho: np.ndarray, evidence: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """P(prototype), expected labels by prototype, P(label applies), and the log likelihood above the floor."""
    log_yes, log_no = np.log(rho), np.log1p(-rho)
    log_kind = np.stack(
        [np.logaddexp(yes + evidence, no).sum(1) for yes, no in zip(log_yes, log_no, strict=True)], 1
    ) + np.log(weights)
    total = logsumexp(log_kind, axis=1, keepdims=True)
    kind = np.exp(log_kind - total)
    both, applies = np.empty_like(rho), np.zeros_like(evidence)
    for prototype in range(len(weights)):
        share = kind[:, prototype, None] * expit(log_yes[prototype] - log_no[prototype] + evidence)
        both[prototype] = share.sum(0)
        applies += share
    applies[evidence == SURE] = 1  # as sums of the shares of prototypes they would be so up to rounding
    return kind, both, np.minimum(applies, 1.0), float(total.sum())


def _kinds(applies: np.ndarray, many: int, generator: np.random.Generator) -> np.ndarray:
    """Responsibilities near centres that are items far from each other (k-means++)."""
    centres = applies[[generator.integers(len(applies))]]
    while len(centres) < many:
        gaps = ((applies[:, None] - centres) ** 2).sum(2).min(1) + 1e-9
        centres = np.concatenate([centres, applies[[generator.choice(len(applies), p=gaps / gaps.sum())]]])
    closeness = np.exp(-2 * ((applies[:, None] - centres) ** 2).sum(2)) + 1e-6
    shares: np.ndarray = closeness / closeness.sum(1, keepdims=True)
    return shares


def _aic(run: _PrototypeRun) -> float:
    """-2 log likelihood + 2 parameters of the mixture; those of the annotators are the same for all."""
    return -2 * run.log_likelihood + 2 * (run.rho.size + len(run.weights) - 1)


def _draws(
    run: _PrototypeRun, draws: int, generator: np.random.Generator
) -> Float[np.ndarray, "draw item label"] | None:
    """A prototype for each item by its posterior probability, then every label given it."""
    n_items, n_labels = run.applies.shape
    log_odds, cumulative = np.log(run.rho) - np.log1p(-run.rho), np.cumsum(run.kind, axis=1)

    def draw(generator: np.random.Generator) -> np.ndarray:
        chances = expit(log_odds[categorical(generator, cumulative)] + run.log_odds)
        return np.asarray(generator.random(chances.shape) < chances)

    return draw_tables(draw, (n_items, n_labels), affordable(draws, n_items, 3 * n_labels), generator)
