"""What is summed up of rows (models' scores, or differences of two) over items that lie in parts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.companions.size_counts import SizeCounts
from probtruth.comparison.evidence.parts import Parts
from probtruth.comparison.evidence.structure import Structure
from probtruth.comparison.evidence.sweeps import (
    RARE,
    Extremes,
    Pairs,
    Terms,
    extremes,
    nonzero,
    size_counts,
    sums,
    unit_sums,
)
from probtruth.kernels.exact_sums import exact_sum

ROUNDING = 8 * np.finfo(np.float64).eps
"""Differences that spread by less than this, relative to the scores, are one constant difference."""
TIES, ALIKE = 0.2, 0.5
"""Above this share of ties, all others of at least this share of the largest in size: see `moments_of`."""


@dataclass(frozen=True, eq=False)
class RowSums:
    """Some rows over all items; a unit is a cluster, or an item."""

    parts: Parts
    rows: Pairs

    @property
    def within(self) -> Structure:
        """Which items belong together."""
        return self.parts.structure

    @cached_property
    def extremes(self) -> Extremes:
        """The least and the largest number of every row."""
        return extremes(self.parts, self.rows)

    @cached_property
    def units(self) -> Float[np.ndarray, "row unit"] | None:
        """The totals of clusters; None where items are the units."""
        return None if self.within.unit_group is None else unit_sums(self.parts, *self._terms())

    def totals(self) -> Float[np.ndarray, "row group"]:
        """The total of each row in each group."""
        if self.units is not None:
            return self.within.group_totals(self.units)
        total: np.ndarray = sums(self.parts, *self._terms(), (1,))[0]
        return total

    def totals_over_groups(self, weight: Float[np.ndarray, " group"] | None = None) -> Float[np.ndarray, " row"]:
        """The total of each row over all items, which count for what their group has as its weight."""
        terms = Terms(self.rows, 1, None, weight)
        total: np.ndarray = sums(self.parts, terms, terms.bounds(self.extremes), (1,))[0, :, 0]
        return total

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the units' residuals; 0 where all that is left is rounding."""
        terms, peak = self._terms(chosen, centre)
        constant = (peak <= ROUNDING * largest)[:, None]
        if self.within.unit_group is None:
            square, cube = sums(self.parts, terms, peak, (2, 3))
            return np.where(constant, 0.0, square), np.where(constant, 0.0, cube)
        _, square, cube = self._powers_of(np.where(constant, 0.0, unit_sums(self.parts, terms, peak)))
        return square, cube

    def described(self) -> Float[np.ndarray, "row sum"]:
        """Sums of powers of the units, and of the items where these are not the units: what tells rows apart."""
        terms, peak = self._terms()
        if self.units is None:
            return np.concatenate(list(sums(self.parts, terms, peak, (1, 2, 3))), axis=1)
        of_items = sums(self.parts, Terms(self.rows, 1), peak, (2, 3))
        return np.concatenate([*self._powers_of(self.units), *of_items], axis=1)

    def pseudo(self, reach: float) -> Float[np.ndarray, " row"]:
        """Where the pseudo-items of each row lie, 0 where it needs none; see `moments_of`."""
        ends = self.extremes
        found = (ends.differ, ends.least, ends.most) if self.units is None else nonzero(self.units)
        differ, least, most = found
        few = rare(differ, int(self.within.n_units.sum()))
        return np.where(few & (differ == 0), reach, np.where(few & (least >= ALIKE * most), most, 0.0))

    def weighted(
        self, centre: Float[np.ndarray, "row group"], weight: Float[np.ndarray, " group"]
    ) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
        """The sum of squares of the units' weighted residuals, and the largest size of one."""
        terms = Terms(self.rows, self.within.n_groups, centre, weight)
        peak = terms.bounds(self.extremes)
        if self.within.unit_group is None:
            return exact_sum(sums(self.parts, terms, peak, (2,))[0]), peak
        units = unit_sums(self.parts, terms, peak)
        return exact_sum(self.within.group_totals(units * units)), np.maximum(units.max(1), -units.min(1))

    def size_counts(self) -> list[SizeCounts]:
        """How many numbers of each row lie in narrow bins of their size."""
        return size_counts(self.parts, self.rows)

    def _terms(
        self, chosen: Int[np.ndarray, " chosen"] | None = None, centre: np.ndarray | None = None
    ) -> tuple[Terms, Float[np.ndarray, " row"]]:
        """The terms of some rows, and the largest size among them."""
        rows, ends = (self.rows, self.extremes) if chosen is None else (self.rows[chosen], self.extremes.of(chosen))
        terms = Terms(rows, self.within.n_groups, centre)
        return terms, terms.bounds(ends)

    def _powers_of(self, units: Float[np.ndarray, "row unit"]) -> list[Float[np.ndarray, "row group"]]:
        """Sums of the units, of their squares and of their cubes in each group."""
        square = units * units
        return [self.within.group_totals(power) for power in (units, square, square * units)]


def rare(differ: Int[np.ndarray, " row"], n_units: int) -> Bool[np.ndarray, " row"]:
    """Whether so few units differ from 0 that what is rarer still would be missed."""
    return np.asarray((differ < (1 - TIES) * n_units) & (differ < RARE))
