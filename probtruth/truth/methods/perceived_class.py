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
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods import ability

# The probability with which an annotator sees another class of a hard item, and the share of hard items of each level.
# Annotations do not tell a level from its complement, in the other class: the shares are fixed (docs/validity-methods).
LEVELS = (0.2, 0.4, 0.6, 0.8)
LEVEL_SHARES = (0.34, 0.23, 0.18, 0.15)
SURE_SHARE = 0.1  # Share of hard items of which everybody sees one other class

DIFFUSE_SHARE = 0.3  # Share of hard items of which annotators see several other classes, not one

# Prior share of items that are hard, over 1 - 1/K: the more labels there are, the more an item can be mistaken for.
HARD_SHARE = 0.6

HARD_WEIGHT = 0.1  # Pseudo-items that the prior counts as for each item: errors of everybody stay unseen at any number

CONFUSABLE_FLOOR = 0.01  # Added to the pooled confusion before it tells which classes are mistaken for which

MOST_PAIRS = 40  # Pairs of classes between which hard items lie: those that divide the annotators of most items

BLOCK = 1 << 22  # Likelihoods (items times appearances) that are in memory at once


@dataclass(frozen=True, eq=False)
class Appearances:
    """What an item can look like: clear ones first, one for each class."""

    seen: Float[np.ndarray, "appearance class"]  # P(an annotator sees the class)
    hard: Float[np.ndarray, "class appearance"]  # P(the appearance | the true class, hard)

    def shares(self, hard: Float[np.ndarray, ""]) -> Float[np.ndarray, "class appearance"]:
        """P(the appearance | the true class), where a share of the items is hard."""
        shares: np.ndarray = hard * self.hard
        n_labels = len(shares)
        shares[:, :n_labels] += (1 - hard) * np.eye(n_labels)
        return shares


def perceived_class(
    request: MethodRequest, *, hard: float | None = None, max_iterations: int = 500, tolerance: float = 1e-3
) -> MethodFit:
    """P(y | z = k) = sum_u P(u | k) prod_n sum_s P(s | u) theta_j[s, y_n], u what it looks like, s what is seen."""
    flat = flatten(request)
    limits = em.EmLimits(max_iterations, tolerance)
    class_counts = ability.anchored_counts(flat)
    start = ability.fit_ability(request, flat, limits, class_counts)
    fitted = fit_perceived(request, flat, start, class_counts, hard, limits)
    item_results = {"difficulty": fitted.difficulty}
    return em.as_fit(request, flat, fitted.run, fitted.confusion, {}, item_results)


class Perceived(NamedTuple):
    """The fit, and what follows from it for annotators and items."""

    run: em.EmRun
    confusion: Float[np.ndarray, "annotator label label"]
    difficulty: Float[np.ndarray, " item"]


def fit_perceived(
    request: MethodRequest,
    flat: FlatAnnotations,
    start: em.EmRun,
    class_counts: Float[np.ndarray, " label"],
    hard: float | None,
    limits: em.EmLimits,
    fixed: Float[np.ndarray, " label"] | None = None,
) -> Perceived:
    """Climbs from a solution of `ability`; `class_counts` are pseudo-items of the marginals, `hard` a prior mean."""
    usual = HARD_SHARE * (1 - 1 / max(flat.n_labels, 2))
    prior_hard = usual if hard is None else check.number(hard, "hard", above=0, below=1, hint="Leave it out.")
    hard_counts = HARD_WEIGHT * flat.n_items * np.array([prior_hard, 1 - prior_hard])
    looks = appearances_of(flat, start)
    of_skills = ability.model_of(flat)

    def blocks(parameters: em.Parameters) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Runs of items: likelihoods of appearances and of classes, over the largest of the former, and its log."""
        shares = looks.shares(parameters[-1])
        log_mixed = np.log(_answers(parameters) @ looks.seen.T)
        step = max(BLOCK // len(looks.seen), 1)
        for start in range(0, flat.n_items, step):
            rows = slice(start, start + step)
            logs = flat.table[rows] @ log_mixed
            top = logs.max(1, keepdims=True)
            likelihood = np.exp(logs - top)
            yield rows, likelihood, likelihood @ shares.T, top

    def expect(probs: np.ndarray, parameters: em.Parameters) -> em.Expected:
        """Answers by the class that annotators see, then the number of clear items."""
        hard = parameters[-1]
        shares = looks.shares(hard)
        answers = _answers(parameters)
        mixed = answers @ looks.seen.T
        by_cell = np.zeros_like(mixed)
        n_clear = 0.0
        for rows, likelihood, of_class, _ in blocks(parameters):
            weight = probs[rows] / (of_class + em.TINY)
            by_cell += flat.table[rows].T @ (likelihood * (weight @ shares))
            clear = weight * likelihood[:, : flat.n_labels]
            n_clear += (1 - hard) * clear.sum()
        seen = answers * ((by_cell / mixed) @ looks.seen)
        return np.append(seen, n_clear)

    def maximise(counts: em.Expected, parameters: em.Parameters) -> em.Parameters:
        climbed = of_skills.maximise(counts[:-1], parameters[:-1])
        hard = 1 - (counts[-1] + hard_counts[1]) / (flat.n_items + hard_counts.sum())
        return *climbed, np.asarray(hard)

    def log_joint(parameters: em.Parameters) -> np.ndarray:
        joint = np.empty((flat.n_items, flat.n_labels))
        for rows, _, of_class, top in blocks(parameters):
            joint[rows] = np.log(of_class) + top
        return joint

    def log_prior(parameters: em.Parameters) -> float:
        hard = parameters[-1]
        log_hard = np.log([hard, 1 - hard])
        return ability.log_prior(parameters[:-1]) + em.log_pseudo(hard_counts, log_hard)

    model = em.EmModel(expect, maximise, log_joint, log_prior)
    first = (*start.parameters, np.asarray(prior_hard))
    run = em.solve(request, flat, model, first, class_counts, limits, start.probs, fixed)

    hard_items = run.parameters[-1]
    shares = looks.shares(hard_items)
    answers = _answers(run.parameters)
    of_annotator = answers.reshape(flat.n_annotators, flat.n_labels, flat.n_labels)
    confusion = np.einsum("ks,jls->jkl", shares @ looks.seen, of_annotator)
    misread = shares * (1 - looks.seen.T)
    difficulty = np.empty(flat.n_items)  # the expected probability that an annotator sees another class
    for rows, likelihood, of_class, _ in blocks(run.parameters):
        weight = run.probs[rows] / (of_class + em.TINY)
        difficulty[rows] = (weight * (likelihood @ misread.T)).sum(1)
    diagnostics = {**run.diagnostics, "hard_items": float(hard_items)}
    return Perceived(run._replace(diagnostics=diagnostics), confusion, difficulty)


def appearances_of(flat: FlatAnnotations, start: em.EmRun) -> Appearances:
    """Clear items of every class, items between two classes at every level, and diffuse ones of every class."""
    clear = np.eye(flat.n_labels)
    mistaken = _mistaken(flat, ability.confusion_of(start))
    between = (1 - DIFFUSE_SHARE) * mistaken
    seen = [clear]
    hard = [SURE_SHARE * between + em.TINY * clear]
    for one, other in _pairs(flat):
        for level, share, reverse in zip(LEVELS, LEVEL_SHARES, LEVEL_SHARES[::-1], strict=True):
            of_one = share * between[one, other] * clear[one]
            of_other = reverse * between[other, one] * clear[other]
            hard.append((of_one + of_other)[:, None])
            row = (1 - level) * clear[one] + level * clear[other]
            seen.append(row[None])
    if flat.n_labels > 2:  # of two labels there is one other class
        for level, share in zip(LEVELS, LEVEL_SHARES, strict=True):
            diffuse = DIFFUSE_SHARE * share / (1 - SURE_SHARE)
            hard.append(diffuse * clear)
            seen.append((1 - level) * clear + level * mistaken)
    shares = np.concatenate(hard, 1)
    total = shares.sum(1, keepdims=True)
    return Appearances(np.concatenate(seen), shares / total)


def _mistaken(
    flat: FlatAnnotations, confusion: Float[np.ndarray, "annotator label label"]
) -> Float[np.ndarray, "label label"]:
    """Which classes are mistaken for which: the pooled confusion off the diagonal, rows made to sum to 1."""
    votes = flat.n_annotations
    pooled = np.tensordot(votes / votes.sum(), confusion, 1)
    pooled += CONFUSABLE_FLOOR
    np.fill_diagonal(pooled, 0.0)
    total = pooled.sum(1, keepdims=True)
    return pooled / np.maximum(total, em.TINY)


def _pairs(flat: FlatAnnotations) -> Int[np.ndarray, "pair 2"]:
    """The pairs of classes that divide the annotators of most items."""
    voted = (flat.votes() > 0).astype(float)
    together = voted.T @ voted
    one, other = np.triu_indices(flat.n_labels, 1)
    order = np.argsort(-together[one, other], kind="stable")
    pairs = np.stack([one, other], 1)
    return pairs[order[:MOST_PAIRS]]


def _answers(parameters: em.Parameters) -> Float[np.ndarray, "cell class"]:
    """P(label | annotator, the class that they see), by (annotator, label) and class."""
    logs = ability.log_confusion(parameters[:-1])
    by_cell = logs.transpose(2, 1, 0).reshape(-1, len(logs))
    return np.exp(by_cell)
