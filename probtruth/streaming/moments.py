"""Sufficient statistics of scores that lie in parts: the numbers that the same scores give in memory, bit for bit."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.companions.size_counts import SizeCounts
from probtruth.comparison.evidence.model_order import by_content
from probtruth.comparison.evidence.moments import (
    ROUNDING,
    HeldRows,
    Moments,
    Structure,
    all_pairs,
    joined,
    means_from,
    pseudo_items,
    squares,
    unit_powers,
)
from probtruth.kernels.exact_sums import exact_sum
from probtruth.streaming.parts import Parts
from probtruth.streaming.soundness import Soundness
from probtruth.streaming.sweeps import ALONE, Extremes, Pairs, Terms, extremes, size_counts, sums, unit_sums

HELD = 1 << 26
"""Numbers that the totals of clusters may take at once; more rows are summed in several passes."""


@dataclass(frozen=True, eq=False)
class PartRows:
    """Rows whose numbers lie in parts; see `comparison.evidence.moments.Rows`."""

    parts: Parts
    rows: Pairs

    @property
    def n_items(self) -> Int[np.ndarray, " group"]:
        """Items of each group."""
        return self.parts.n_items

    @property
    def n_units(self) -> Int[np.ndarray, " group"]:
        """Units of each group."""
        groups = self.parts.unit_group
        return self.n_items if groups is None else np.bincount(groups, minlength=len(self.n_items))

    @cached_property
    def extremes(self) -> Extremes:
        """The least and the largest of every row."""
        return extremes(self.parts, self.rows)

    def of_rows(self, chosen: np.ndarray, centre: np.ndarray | None = None) -> tuple[Terms, Float[np.ndarray, " row"]]:
        """The terms of some rows, and the largest size among them."""
        terms = Terms(self.rows[chosen], len(self.n_items), centre)
        found = self.extremes
        some = Extremes(*(values[chosen] for values in (found.low, found.high, found.differ, found.least, found.most)))
        return terms, terms.bounds(some)

    def totals(self) -> Float[np.ndarray, "row group"]:
        """The total of each row in each group."""
        everything = np.arange(len(self.rows))
        if self.units is not None:
            return self.within.group_totals(self.units)
        total: np.ndarray = sums(self.parts, *self.of_rows(everything), 1)[0]
        return total

    @property
    def within(self) -> Structure:
        """The units as the items of a structure."""
        groups = self.parts.unit_group
        return Structure(self.n_items, None, np.zeros(0, np.int64) if groups is None else groups)

    @cached_property
    def units(self) -> Float[np.ndarray, "row unit"] | None:
        """The totals of clusters; None where items are the units."""
        groups = self.parts.unit_group
        if groups is None:
            return None
        return unit_sums(self.parts, *self.of_rows(np.arange(len(self.rows))), len(groups))

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the units' residuals; 0 where all that is left is rounding."""
        terms, peak = self.of_rows(chosen, centre)
        still = (peak <= ROUNDING * largest)[:, None]
        groups = self.parts.unit_group
        if groups is None:
            _, square, cube = sums(self.parts, terms, peak, 3)
            return np.where(still, 0.0, square), np.where(still, 0.0, cube)
        return unit_powers(np.where(still, 0.0, unit_sums(self.parts, terms, peak, len(groups))), self.within)

    def pseudo(self, reach: float) -> Float[np.ndarray, " row"]:
        """Where the pseudo-items of each row lie."""
        if self.units is not None:
            return HeldRows(self.units, Structure(self.n_units, None, self.within.group)).pseudo(reach)
        found = self.extremes
        return pseudo_items(found.differ, found.least, found.most, int(self.n_items.sum()), reach)

    def weighted(
        self, centre: Float[np.ndarray, "row group"], weight: Float[np.ndarray, " group"]
    ) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
        """The sum of squares of the units' weighted residuals, and the largest size of one."""
        terms = Terms(self.rows, len(self.n_items), centre, weight)
        peak, groups = terms.bounds(self.extremes), self.parts.unit_group
        if groups is None:
            return exact_sum(sums(self.parts, terms, peak, 2)[1]), peak
        return squares(unit_sums(self.parts, terms, peak, len(groups)), self.within)

    def size_counts(self) -> list[SizeCounts]:
        """How many numbers of each row lie in narrow bins of their size."""
        return size_counts(self.parts, self.rows)


def _alone(models: Int[np.ndarray, " model"]) -> Pairs:
    return np.array([(model, ALONE) for model in models], np.int64).reshape(-1, 2)


def moments_of(parts: Parts, order: Int[np.ndarray, " finite"], largest: np.ndarray, reach: float) -> Moments:
    """As `comparison.evidence.moments.moments`; `largest` is the size of every model's scores."""
    pairs = order[np.array(all_pairs(len(order)), np.int64).reshape(-1, 2)]
    step = len(pairs) or 1
    if parts.unit_group is not None:
        step = max(1, HELD // (4 * len(parts.unit_group)))
    of_pairs = [
        means_from(PartRows(parts, some), largest[some].max(1), reach)
        for some in (pairs[start : start + step] for start in range(0, len(pairs), step))
    ]
    of_models = [
        means_from(PartRows(parts, _alone(some)), largest[some], None)
        for some in (order[start : start + step] for start in range(0, len(order), step))
    ]
    n_groups = len(parts.n_items)
    n_units = PartRows(parts, pairs).n_units
    return Moments(parts.n_items, n_units, joined(of_pairs, n_groups), joined(of_models, n_groups))


def order_of(parts: Parts, whole: Int[np.ndarray, " finite"]) -> Int[np.ndarray, " finite"]:
    """The models with finite scores, by content; see `comparison.ordering`."""
    own = PartRows(parts, _alone(whole))

    def describe(first: int | None) -> list[list[float]]:
        pairs = _alone(whole) if first is None else np.array([(whole[first], model) for model in whole], np.int64)
        rows = PartRows(parts, pairs)
        terms, peak = rows.of_rows(np.arange(len(pairs)))
        units = rows.units
        if units is None:
            powers = list(sums(parts, terms, peak, 3))
        else:
            square = units * units
            powers = [rows.within.group_totals(power) for power in (units, square, square * units)]
            powers += list(sums(parts, Terms(pairs, 1), peak, 3)[1:])
        listed: list[list[float]] = np.concatenate(powers, axis=1).tolist()
        return listed

    _, peak = own.of_rows(np.arange(len(whole)))
    totals = sums(parts, Terms(own.rows, 1), peak, 1)[0, :, 0]
    order: np.ndarray = whole[by_content(totals.tolist(), [parts.models[model] for model in whole], describe)]
    return order


def weighted_means(parts: Parts, found: Soundness, weights: Float[np.ndarray, " group"]) -> Float[np.ndarray, " model"]:
    """Each model's mean under the weights of the groups, as `kernels.exact_sums.weighted_mean` has it."""
    share = weights / parts.n_items
    used = share > 0
    up, down = (np.asarray(counts[:, used].any(1)) for counts in (found.positive, found.negative))
    means = np.where(up & down, np.nan, np.where(up, np.inf, -np.inf))
    finite = np.nonzero(~(up | down))[0]
    if len(finite):
        rows = PartRows(parts, _alone(finite))
        terms = Terms(rows.rows, 1, None, share)
        means[finite] = sums(parts, terms, terms.bounds(rows.extremes), 1)[0, :, 0]
    return means
