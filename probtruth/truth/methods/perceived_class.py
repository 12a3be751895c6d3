"""Items that look like another class: errors that annotators make together, on the same hard items.

An item is clear, and annotators see its class, or it is hard, and each of them sees another class with a probability
that is the item's own. They answer what they see as the method `ability` has it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators import annotator_columns
from probtruth.truth.fit import MethodFit, MethodRequest, class_draws
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods import ability

# The probability with which an annotator sees another class of a hard item, and the share of hard items of each level.
# Annotations do not tell a level from its complement, in the other class: the shares are fixed (docs/validity-methods).
LEVELS = (0.2, 0.4, 0.6, 0.8)
LEVEL_SHARES = (0.34, 0.23, 0.18, 0.15)
SURE_SHARE = 0.1  # Share of hard items of which everybody sees one other class

DIFFUSE_SHARE = 0.3  # Share of hard items of which annotators see several other classes, not one

# Prior share of items that are hard, and how many pseudo-items it counts as for each item: errors of everybody stay
# unseen however many items there are.
HARD_SHARE, HARD_WEIGHT = 0.3, 0.1

CONFUSABLE_FLOOR = 0.01  # Added to the pooled confusion before it tells which classes are mistaken for which

MOST_PAIRS = 40  # Pairs of classes between which hard items lie: those that divide the annotators of most items

BLOCK = 1 << 22  # Likelihoods (items times appearances) that are in memory at once


@dataclass(frozen=True, eq=False)
class Appearances:
    """What an item can look like: clear ones first, one for each class."""

    seen: Float[np.ndarray, "appearance class"]  # P(an annotator sees the class)
    hard: Float[np.ndarray, "class appearance"]  # P(the appearance | the true class, hard)

    def shares(self, hard: float) -> Float[np.ndarray, "class appearance"]:
        """P(the appearance | the true class), where a share of the items is hard."""
        shares: np.ndarray = hard * self.hard
        n_labels = len(shares)
        shares[:, :n_labels] += (1 - hard) * np.eye(n_labels)
        return shares


def perceived_class(
    request: MethodRequest, *, hard: float = HARD_SHARE, max_iterations: int = 500, tolerance: float = 1e-3
) -> MethodFit:
    """P(y | z = k) = sum_u P(u | k) prod_n sum_s P(s | u) theta_j[s, y_n], u what it looks like, s what is seen."""
    flat = flatten(request)
    counts = ability.anchored_counts(flat)
    settings = PerceptionSettings(hard, max_iterations, tolerance)
    start = ability.fit_ability(request, flat, counts, max_iterations, tolerance)
    fitted = fit_perceived(request, flat, start, counts, settings)
    probs = fitted.run.probs
    return MethodFit(
        probs,
        class_draws(probs, request.draws, request.seed),
        fitted.marginals,
        fitted.confusion,
        {**fitted.run.diagnostics, "hard_items": fitted.hard},
        annotator_columns(probs, fitted.marginals, fitted.confusion, flat),
        {"difficulty": fitted.difficulty},
    )


@dataclass(frozen=True)
class PerceptionSettings:
    """The prior share of hard items, and when the fit ends."""

    hard: float = HARD_SHARE
    max_iterations: int = 500
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        check.number(self.hard, "hard", above=0, below=1, hint="The default is 0.3.")
        em.EmLimits(self.max_iterations, self.tolerance)

    def pseudo(self, n_items: int) -> Float[np.ndarray, "2"]:
        """Pseudo-items that are hard, and that are clear."""
        return HARD_WEIGHT * n_items * np.array([self.hard, 1 - self.hard])


class Perceived(NamedTuple):
    """The fit, and what follows from it for annotators and items."""

    run: em.EmRun
    hard: float
    marginals: Float[np.ndarray, " label"]
    confusion: Float[np.ndarray, "annotator label label"]
    difficulty: Float[np.ndarray, " item"]


def fit_perceived(
    request: MethodRequest,
    flat: FlatAnnotations,
    start: em.EmRun,
    class_counts: Float[np.ndarray, " label"],
    settings: PerceptionSettings,
) -> Perceived:
    """Climbs from the solution of `ability` under the same pseudo-counts of the marginals."""
    looks = appearances_of(flat, start)
    hard_counts = settings.pseudo(flat.n_items)

    def maximise(
        probs: np.ndarray, parameters: em.Parameters, flat: FlatAnnotations, priors: em.Priors
    ) -> em.Parameters:
        *skills, hard = parameters
        shares = looks.shares(float(hard))
        hard_shares = float(hard) * looks.hard
        answers = _answers(parameters)
        mixed = answers @ looks.seen.T
        log_mixed = np.log(mixed)
        by_cell = np.zeros_like(mixed)
        n_hard = 0.0
        for rows in _blocks(flat, looks):
            table = flat.table[rows]
            likelihood, _ = _likelihood(table @ log_mixed)
            weight = _ratio(probs[rows], likelihood @ shares.T)
            by_cell += table.T @ (likelihood * (weight @ shares))
            n_hard += float((weight * (likelihood @ hard_shares.T)).sum())
        seen = answers * ((by_cell / mixed) @ looks.seen)
        counts = seen.reshape(-1, flat.n_labels, flat.n_labels).transpose(2, 1, 0)
        new_hard = (n_hard + hard_counts[0]) / (flat.n_items + hard_counts.sum())
        return *ability.climb(np.ascontiguousarray(counts), tuple(skills)), np.asarray(new_hard)

    def log_joint(parameters: em.Parameters, flat: FlatAnnotations) -> np.ndarray:
        shares = looks.shares(float(parameters[-1]))
        log_mixed = np.log(_answers(parameters) @ looks.seen.T)
        joint = np.empty((flat.n_items, flat.n_labels))
        for rows in _blocks(flat, looks):
            likelihood, top = _likelihood(flat.table[rows] @ log_mixed)
            joint[rows] = np.log(likelihood @ shares.T) + top
        return joint

    def log_prior(parameters: em.Parameters, priors: em.Priors) -> float:
        *skills, hard = parameters
        log_hard = np.log([hard, 1 - hard])
        return ability.log_prior(tuple(skills), priors) + em.log_pseudo(hard_counts, log_hard)

    model = em.EmModel(maximise, log_joint, log_prior)
    limits = em.EmLimits(settings.max_iterations, settings.tolerance)
    first = (*start.parameters, np.asarray(settings.hard))
    run = em.solve(request, flat, model, first, (), class_counts, limits, start.probs)
    shares = looks.shares(float(run.parameters[-1]))
    answers = _answers(run.parameters).reshape(flat.n_annotators, flat.n_labels, flat.n_labels)
    seen_of_class = shares @ looks.seen
    confusion = np.einsum("ks,jls->jkl", seen_of_class, answers)
    difficulty = _difficulty(flat, looks, run, shares)
    return Perceived(run, float(run.parameters[-1]), np.exp(run.log_marginals), confusion, difficulty)


def appearances_of(flat: FlatAnnotations, start: em.EmRun) -> Appearances:
    """Clear items of every class, items between two classes at every level, and diffuse ones of every class."""
    n_labels = flat.n_labels
    clear = np.eye(n_labels)
    mistaken = _mistaken(flat, ability.confusion_of(start))
    seen = [clear]
    hard = [(1 - DIFFUSE_SHARE) * SURE_SHARE * mistaken + np.finfo(float).tiny * clear]
    for one, other in _pairs(flat):
        for level, share, reverse in zip(LEVELS, LEVEL_SHARES, LEVEL_SHARES[::-1], strict=True):
            column = np.zeros((n_labels, 1))
            column[one] = (1 - DIFFUSE_SHARE) * share * mistaken[one, other]
            column[other] = (1 - DIFFUSE_SHARE) * reverse * mistaken[other, one]
            hard.append(column)
            seen.append((1 - level) * clear[[one]] + level * clear[[other]])
    if n_labels > 2:  # of two labels there is one other class
        for level, share in zip(LEVELS, LEVEL_SHARES, strict=True):
            hard.append(DIFFUSE_SHARE * share / (1 - SURE_SHARE) * clear)
            seen.append((1 - level) * clear + level * mistaken)
    shares = np.concatenate(hard, 1)
    return Appearances(np.concatenate(seen), shares / shares.sum(1, keepdims=True))


def _mistaken(
    flat: FlatAnnotations, confusion: Float[np.ndarray, "annotator label label"]
) -> Float[np.ndarray, "label label"]:
    """Which classes are mistaken for which: the pooled confusion off the diagonal, rows made to sum to 1."""
    votes = flat.n_annotations
    pooled = np.tensordot(votes / votes.sum(), confusion, 1) + CONFUSABLE_FLOOR
    np.fill_diagonal(pooled, 0.0)
    return np.asarray(pooled / np.maximum(pooled.sum(1, keepdims=True), np.finfo(float).tiny))


def _pairs(flat: FlatAnnotations) -> Int[np.ndarray, "pair 2"]:
    """The pairs of classes that divide the annotators of most items."""
    voted = (flat.votes() > 0).astype(float)
    together = voted.T @ voted
    pairs = np.argwhere(np.triu(np.ones_like(together), 1))
    order = np.argsort(-together[pairs[:, 0], pairs[:, 1]], kind="stable")
    return pairs[order[:MOST_PAIRS]]


def _answers(parameters: em.Parameters) -> Float[np.ndarray, "cell class"]:
    """P(label | annotator, the class that they see), by (annotator, label) and class."""
    logs = ability.log_confusion(parameters[:-1]).transpose(2, 1, 0)
    return np.asarray(np.exp(logs).reshape(-1, logs.shape[2]))


def _blocks(flat: FlatAnnotations, looks: Appearances) -> Iterator[slice]:
    """Runs of items."""
    step = max(BLOCK // len(looks.seen), 1)
    for start in range(0, flat.n_items, step):
        yield slice(start, start + step)


def _likelihood(
    logs: Float[np.ndarray, "item appearance"],
) -> tuple[Float[np.ndarray, "item appearance"], Float[np.ndarray, "item 1"]]:
    """Likelihoods over their largest, and the log of the latter."""
    top = logs.max(1, keepdims=True)
    return np.exp(logs - top), top


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """A quotient that is 0 where the denominator is."""
    quotient = np.zeros_like(numerator)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient


def _difficulty(
    flat: FlatAnnotations, looks: Appearances, run: em.EmRun, shares: Float[np.ndarray, "class appearance"]
) -> Float[np.ndarray, " item"]:
    """The expected probability that an annotator sees another class than the item's."""
    missed = shares * (1 - looks.seen.T)
    log_mixed = np.log(_answers(run.parameters) @ looks.seen.T)
    difficulty = np.empty(flat.n_items)
    for rows in _blocks(flat, looks):
        likelihood, _ = _likelihood(flat.table[rows] @ log_mixed)
        weight = _ratio(run.probs[rows], likelihood @ shares.T)
        difficulty[rows] = (weight * (likelihood @ missed.T)).sum(1)
    return difficulty
