"""The part of a variance that more items do not lower: few annotators, or seeds, that stand behind all items."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.crossed import (
    Cells,
    annotator_cells,
    excess,
    joined_df,
    replicate_cells,
    skewness_of,
)
from probtruth.errors import InputError
from probtruth.types import Annotations, Comparison, Scores

DRAWN = 4000
"""Studies whose units are drawn for one number of them."""
MOST_DRAWN = 100
"""Units beyond which a study's are drawn as so many: what they differ by is then known."""


@dataclass(frozen=True)
class Drawn:
    """Units of many studies, from a normal distribution of variance 1: their mean, its variance and skewness."""

    mean: Float[np.ndarray, " study"]
    variance: Float[np.ndarray, " study"]
    skewness: Float[np.ndarray, " study"]


@dataclass(frozen=True)
class JudgedStudies:
    """What studies show of a mean: the estimate, its variance, third moment and degrees of freedom."""

    mean: Float[np.ndarray, " study"]
    variance: Float[np.ndarray, " study"]
    third: Float[np.ndarray, " study"]
    df: Float[np.ndarray, " study"]


@dataclass(frozen=True, eq=False)
class Leanings:
    """What units (annotators or replicates) that stand behind all items add to the variance of a mean difference.

    `variances` are those of one unit's leaning: one where both models have the same units, else one for each model.
    `rest` is the variance of one unit's score of an item beyond its leaning, `per_item` how many an item has and
    `spread` how many units there are for each of these (1 if every unit sees every item). `raw` and `df` are what the
    pilot's interval rests on.
    """

    what: str
    variances: Sequence[float]
    rest: float
    per_item: float
    spread: float
    extra: float
    raw: float
    df: float
    seed: int = 0
    known: dict[int, Sequence[Drawn]] = field(default_factory=dict)

    @property
    def variance(self) -> float:
        """The variance of one unit's leaning in the difference."""
        return sum(self.variances)

    def units(self, per_item: float) -> float:
        """How many units stand behind all items, if an item has so many."""
        return per_item * self.spread

    def part(self, per_item: float) -> float:
        """What they add to the variance of the mean."""
        return self.variance / self.units(per_item)

    def joined(
        self,
        mean: Float[np.ndarray, " study"],
        variance: Float[np.ndarray, " study"],
        third: Float[np.ndarray, " study"],
        df: float | Float[np.ndarray, " study"],
        per_item: float,
        n_items: float,
    ) -> JudgedStudies:
        """Studies of items with units that are drawn anew: what `compare` then makes of both."""
        units = self.units(per_item)
        chance = self.rest / (n_items * per_item * len(self.variances))
        rows = np.arange(DRAWN) % len(mean)
        centre, extra, bent = mean[rows].copy(), np.zeros(DRAWN), third[rows].copy()
        raw, spread = np.zeros(DRAWN), np.zeros(DRAWN)
        for at, (one, drawn) in enumerate(zip(self.variances, self._drawn(units), strict=True)):
            found = (one / units + chance) * drawn.variance
            more = np.maximum(found - chance, 0.0)
            centre += (one / units) ** 0.5 * drawn.mean
            extra, raw, spread = extra + more, raw + found, spread + found**2
            bent += (1 - 2 * at) * drawn.skewness * more**1.5
        of_items, freedom = variance[rows], max(units - 1.0, 1.0)
        own_df = np.broadcast_to(df, mean.shape)[rows]
        with np.errstate(invalid="ignore", divide="ignore"):
            unit_df = np.where(spread > 0, raw**2 / spread, 1.0) * freedom
        joined = np.where(raw > 0, joined_df(of_items, own_df, raw, unit_df), own_df)
        return JudgedStudies(centre, of_items + extra, bent, joined)

    def _drawn(self, units: float) -> Sequence[Drawn]:
        """What the units of studies show, for each of the models' own."""
        count = int(min(max(round(units), 2), MOST_DRAWN))
        if count not in self.known:
            rng = np.random.default_rng([self.seed, count, len(self.variances)])
            self.known[count] = [_of_units(rng.standard_normal((DRAWN, count))) for _ in self.variances]
        return self.known[count]


def _of_units(unit: Float[np.ndarray, "study unit"]) -> Drawn:
    centre = unit.mean(1)
    bent = np.array([skewness_of(row) for row in unit - centre[:, None]])
    count = unit.shape[1]
    return Drawn(centre * count**0.5, unit.var(1, ddof=1), bent)


def leanings_of(cells: Cells, first: int, second: int, item_weights: Float[np.ndarray, " item"], seed: int) -> Leanings:
    """What a pilot shows of its units."""
    one, other = cells.of(first), cells.of(second)
    tables = [one - other] if cells.paired(first, second) else [one, other]
    parts = [excess(table, item_weights) for table in tables]
    counts: list[Int[np.ndarray, " item"]] = [(~np.isnan(table)).sum(1) for table in tables]
    per_item = float(np.mean([np.mean(1 / np.maximum(count, 1)) for count in counts])) ** -1
    units = float(np.mean([part.df for part in parts])) + 1
    variances = [part.extra * (part.df + 1) for part in parts]
    within = sum(map(_within, tables, counts))
    raw, spread = sum(part.raw for part in parts), sum(part.raw**2 / part.df for part in parts)
    return Leanings(
        cells.what, variances, max(within - sum(variances), 0.0), per_item, max(units / per_item, 1.0),
        sum(part.extra for part in parts), raw, raw**2 / spread if spread > 0 else 1.0, seed,
    )  # fmt: skip


def _within(table: Float[np.ndarray, "item unit"], count: Int[np.ndarray, " item"]) -> float:
    """The variance of one unit's score around the item's mean."""
    df = int(np.maximum(count - 1, 0).sum())
    mean = np.where(count > 0, np.nansum(table, 1) / np.maximum(count, 1), 0.0)
    return float(np.nansum((table - mean[:, None]) ** 2)) / max(df, 1)


def cells_behind(scores: Scores, comparison: Comparison | None, annotations: object, held: object) -> Cells | None:
    """The table of units that stand behind all items, where a comparison or the caller says so; None else.

    Arguments: `annotations` are those that the caller gives, `held` those that a result has.

    Errors: `InputError` for a comparison of shared annotators whose annotations are not at hand, and of folds.
    """
    settings = {} if comparison is None else comparison.settings
    if settings.get("replicates_are") == "folds":
        raise InputError(
            "a comparison of folds that share training data", "one whose uncertainty falls with the number of items",
            "Plan from the scores (result.scores) for what more items alone would bring.",
        )  # fmt: skip
    if annotations is not None:
        return annotator_cells(scores, annotations)
    if settings.get("crossed") == "replicate":
        return replicate_cells(scores)
    if settings.get("crossed") != "annotator":
        return None
    if not isinstance(held, Annotations):
        raise InputError(
            "a comparison of the same annotators on many items, without their annotations",
            "the annotations, whose leanings more items do not average out", "Give annotations=...",
        )  # fmt: skip
    return annotator_cells(scores, held)
