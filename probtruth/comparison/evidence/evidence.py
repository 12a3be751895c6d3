"""All that a comparison takes from the items: the facts, what was summed up over them, which scores are infinite."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.crossed import Crossed
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.moments import Location, Moments
from probtruth.comparison.evidence.parts import Part, Parts, over_blocks
from probtruth.comparison.evidence.rectified import Rectified
from probtruth.comparison.evidence.sweeps import RowSums, alone
from probtruth.comparison.evidence.unseen import Outcomes
from probtruth.errors import InputError
from probtruth.types import Audit, RuleFacts, Scores


def single_votes_only(estimand: str, n_votes: Int[np.ndarray, " item"] | None) -> bool:
    """Whether every label is an opinion of which there is no second: what annotators differ by cannot be told then."""
    return estimand != "class" and n_votes is not None and bool((n_votes == 1).all())


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the scores say of themselves; see `Scores`.

    `single_votes`: some label rests on one vote alone; `no_second_vote`: all of them do. `of_means`: each model's
    number is the mean of its scores, not a metric of all items together.
    """

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    known: RuleFacts = field(default_factory=RuleFacts)
    n_replicates: int = 1
    audit: Audit = field(default_factory=Audit)
    from_labels: bool = False
    single_votes: bool = False
    no_second_vote: bool = False
    of_means: bool = True

    @classmethod
    def of(cls, scores: Scores) -> "Facts":
        """Those of scores in memory."""
        return cls(
            models=scores.models,
            rule=scores.rule,
            higher_is_better=scores.higher_is_better,
            known=scores.known,
            n_replicates=scores.n_replicates,
            audit=scores.audit,
            from_labels=scores.labels is not None,
            single_votes=scores.labels is not None and scores.labels.forecast is not None,
            no_second_vote=scores.labels is not None and single_votes_only(scores.labels.estimand, scores.n_votes),
        )


@runtime_checkable
class FixedItems(Protocol):
    """What is unsure though the items are held fixed: their labels, or answers that would be given again."""

    def variance(self, a: int, b: int) -> float | None:
        """Its part of the variance of the difference of two models; None where that is not known."""

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """The posterior of the pairs' mean differences and of the models' mean scores, the items held fixed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The facts, and what was summed up over the items; nothing but `parts` grows with their number.

    `parts` are None where the items are no longer at hand, only their sums. `means` are the models' weighted mean
    scores: infinite where a score is, NaN where infinities of both signs meet; `infinite_items` names the first items
    of infinite score.
    `order` are the models with finite scores, by content, and `moments` what is known of their means and differences.
    `gold` are the scores as experts' answers correct them; `parts` and `moments` are then of these.
    `crossed` are units that items share (annotators, seeds); `notes` is what must be said of repeated scores.
    `outcomes` are the losses under labels that did not come, and `reach` is the largest difference of two scores of an
    item, 0 where that is not known.
    """

    facts: Facts
    design: Design
    parts: Parts | None
    means: Float[np.ndarray, " model"]
    n_infinite: Int[np.ndarray, " model"]
    infinite_items: Sequence[Sequence[str]]
    order: Int[np.ndarray, " finite"]
    moments: Moments | None
    fixed_items: FixedItems
    gold: Rectified | None = None
    crossed: Crossed | None = None
    notes: tuple[str, ...] = ()
    outcomes: Outcomes | None = None
    reach: float = 0.0

    @property
    def names(self) -> list[str]:
        """The models with finite scores, in their order."""
        return [self.facts.models[row] for row in self.order]


SMALLEST, LARGEST = 1e-75, 1e75
"""Powers of scores that are all below this in size would be lost, and those of scores beyond this overflow."""
SHOWN = 3
"""Items of infinite score that a warning names."""

NOWHERE = int(np.iinfo(np.int64).max)
"""In place of an item, where there is none."""


type Steps = tuple[int, int]
"""The least and the largest of scores that are all -1, 0 or 1."""


def steps_of(
    values: Float[np.ndarray, "model item"], sizes: Float[np.ndarray, "model item"] | None = None
) -> Steps | None:
    """The least and the largest score (0 at most and at least) if every one is -1, 0 or 1; None for other scores."""
    sizes = np.abs(values) if sizes is None else sizes
    if not ((sizes == 0) | (sizes == 1)).all():
        return None
    return int(values.min(initial=0.0)), int(values.max(initial=0.0))


def joined_steps(one: Steps | None, other: Steps | None) -> Steps | None:
    """Those of both."""
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


@dataclass(frozen=True, eq=False)
class Soundness:
    """Of each model: infinite scores of either sign in each group, the lowest items with one and with NaN, its size.

    `steps` are the least and the largest score of all if every one is -1, 0 or 1; see `steps_of`.
    """

    positive: Int[np.ndarray, "model group"]
    negative: Int[np.ndarray, "model group"]
    infinite: Int[np.ndarray, "model first"]
    unknown: Int[np.ndarray, " model"]
    largest: Float[np.ndarray, " model"]
    steps: Steps | None

    def merged(self, other: "Soundness") -> "Soundness":
        """That of both."""
        both = np.sort(np.concatenate([self.infinite, other.infinite], axis=1), axis=1)
        return Soundness(
            self.positive + other.positive,
            self.negative + other.negative,
            both[:, : self.infinite.shape[1]],
            np.minimum(self.unknown, other.unknown),
            np.maximum(self.largest, other.largest),
            joined_steps(self.steps, other.steps),
        )

    @property
    def whole(self) -> Bool[np.ndarray, " model"]:
        """Which models have finite scores only."""
        return np.asarray((self.positive.sum(1) == 0) & (self.negative.sum(1) == 0))


def check_size(largest: float, smallest: float = SMALLEST) -> None:
    """Raises `InputError` where the largest score is too large to be cubed, or so small that all would count as 0."""
    if largest > LARGEST:
        raise InputError(f"a score of size {largest:g}", f"finite scores up to {LARGEST:g}", "Rescale the scores.")
    if 0 < largest < smallest:
        raise InputError(f"scores of size {largest:g} at most", f"some of at least {smallest:g}", "Rescale the scores.")


def soundness(parts: Parts) -> Soundness:
    """Infinite and unknown scores of all parts, and their sizes."""
    work = partial(_soundness, parts.structure.n_groups)
    return over_blocks(parts, len(parts.models), work, Soundness.merged)


def _soundness(n_groups: int, part: Part) -> Soundness:
    values = part.values
    n_models = len(values)
    signs = np.zeros((2, n_models, n_groups), np.int64)
    infinite, unknown = np.full((n_models, SHOWN), NOWHERE), np.full(n_models, NOWHERE)
    sizes = np.abs(values)
    largest = sizes.max(1, initial=0.0)
    for row in np.nonzero(~np.isfinite(largest))[0]:
        for sign, kind in enumerate((values[row] == np.inf, values[row] == -np.inf)):
            of_group = np.zeros(int(kind.sum()), np.int64) if part.group is None else part.group[kind]
            signs[sign, row] = np.bincount(of_group, minlength=n_groups)
        at = np.sort(part.item[np.isinf(values[row])])[:SHOWN]
        infinite[row, : len(at)] = at
        unknown[row] = part.item[np.isnan(values[row])].min(initial=NOWHERE)
        largest[row] = sizes[row, np.isfinite(values[row])].max(initial=0.0)
    return Soundness(signs[0], signs[1], infinite, unknown, largest, steps_of(values, sizes))


def weighted_means(
    parts: Parts, soundness: Soundness, weights: Float[np.ndarray, " group"]
) -> Float[np.ndarray, " model"]:
    """Each model's mean under the weights of the groups: infinite where a score that counts is, NaN for both signs."""
    share = weights / parts.structure.n_items
    used = share > 0
    up, down = (np.asarray(counts[:, used].any(1)) for counts in (soundness.positive, soundness.negative))
    means = np.where(up & down, np.nan, np.where(up, np.inf, -np.inf))
    finite = np.nonzero(~(up | down))[0]
    if len(finite):
        means[finite] = RowSums(parts, alone(finite)).totals_over_groups(share)
    return means
