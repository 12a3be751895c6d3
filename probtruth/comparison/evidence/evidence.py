"""All that a comparison takes from the items: the facts, and what was summed up over parts of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.crossed import Crossed
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.moments import Location, Moments
from probtruth.comparison.evidence.parts import Parts
from probtruth.types import Audit, RuleFacts, Scores


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the scores say of themselves; see `Scores`. `single_votes`: some label rests on one vote alone."""

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    known: RuleFacts
    n_replicates: int
    audit: Audit
    from_labels: bool
    single_votes: bool

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
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelMeans:
    """The models' weighted mean scores, and where these are infinite.

    `means` are infinite where a score is, NaN where infinities of both signs meet; `infinite_items` names the first
    items of infinite score.
    """

    means: Float[np.ndarray, " model"]
    n_infinite: Int[np.ndarray, " model"]
    infinite_items: Sequence[Sequence[str]]


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

    `order` are the models with finite scores, by content, and `moments` what is known of their means and differences.
    `crossed` are units that items share (annotators, seeds); `notes` is what must be said of repeated scores.
    """

    facts: Facts
    design: Design
    parts: Parts
    totals: ModelMeans
    order: Int[np.ndarray, " finite"]
    moments: Moments | None
    fixed_items: FixedItems
    crossed: Crossed | None = None
    notes: tuple[str, ...] = ()

    @property
    def means(self) -> Float[np.ndarray, " model"]:
        """The models' weighted mean scores."""
        return self.totals.means
