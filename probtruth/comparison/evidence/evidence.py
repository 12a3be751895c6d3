"""All that a comparison takes from the items, so that it can be had from scores in memory or from many batches."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.companions.paired_tests import Companion
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.evidence.moments import Location, Moments
from probtruth.types import Audit, Scores


@dataclass(frozen=True)
class Facts:
    """What the scores say of themselves; see `Scores`. `single_votes`: some label rests on one vote alone."""

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    floor: float | None
    proper: bool | None
    entropy: float | None
    n_replicates: int
    audit: Audit
    from_labels: bool
    single_votes: bool
    baseline: float | None = None
    label_order: tuple[str, ...] | None = None

    @classmethod
    def of(cls, scores: Scores) -> "Facts":
        """Those of scores in memory."""
        return cls(
            scores.models,
            scores.rule,
            scores.higher_is_better,
            scores.floor,
            scores.proper,
            scores.entropy,
            scores.n_replicates,
            scores.audit,
            scores.label_values is not None,
            scores.forecast is not None,
            scores.baseline,
            scores.label_order,
        )


@dataclass(frozen=True, eq=False)
class Strata:
    """How many groups (with their weights) and clusters there are; None clusters: every item stands for itself."""

    weights: Float[np.ndarray, " group"]
    n_items: int
    n_clusters: int | None
    notes: tuple[str, ...] = ()
    group_names: tuple[str, ...] = ()

    @property
    def n_groups(self) -> int:
        """Number of groups, 1 without any."""
        return len(self.weights)

    @property
    def grouped(self) -> bool:
        """Whether there are at least two groups."""
        return self.n_groups > 1

    @property
    def n_units(self) -> int:
        """Independent units: clusters, or items."""
        return self.n_items if self.n_clusters is None else self.n_clusters

    @classmethod
    def of(cls, plan: Design, n_items: int) -> "Strata":
        """Those of a design."""
        clusters = None if plan.clusters is None else len(np.unique(plan.clusters))
        return cls(plan.weights, n_items, clusters, plan.notes, plan.group_names)


@dataclass(frozen=True, eq=False)
class Repeats:
    """What replicates, or annotators who label many items, do to the comparison; empty without any.

    `what` names the units of a two-way variance, which `widened` adds to the posteriors of pairs and of single models;
    `variance` is the replicates' part of the variance of the difference of two models.
    """

    what: str | None = None
    widened: Callable[[Location, Location], tuple[Location, Location]] | None = None
    variance: Callable[[int, int], float | None] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """The facts, and what was summed up over the items; nothing here grows with their number.

    `means` are the models' weighted means (infinite where a loss is, NaN where infinities of both signs meet);
    `infinite_items` names the first items of infinite score; `order` are the models with finite scores, by content,
    and `parts` their moments. The functions are asked for what only some comparisons need: the labels' variance of the
    difference of two models, the posterior with the items held fixed, and the model-free tests of the pairs.
    """

    facts: Facts
    strata: Strata
    means: Float[np.ndarray, " model"]
    n_infinite: Int[np.ndarray, " model"]
    infinite_items: tuple[tuple[str, ...], ...]
    order: Int[np.ndarray, " finite"]
    parts: Moments | None
    label_variance: Callable[[int, int], float | None]
    label_locations: Callable[[], tuple[Location, Location]]
    tests: Callable[[Location], list[Companion]]
    repeats: Repeats = Repeats()
    differences: Callable[[int, int], Float[np.ndarray, " item"]] | None = None
