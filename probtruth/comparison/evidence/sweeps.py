"""What one pass over the parts finds out: extremes of rows, then exact sums of them, which no cut into parts changes.

A row is one model's scores, or the differences of two. Rounding is monotone, so that the largest term of a sum (its
exponent is needed first) follows from the extremes of the row, without another pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from operator import iadd
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part, Parts, over_blocks
from probtruth.kernels.exact_sums import exact_sum, exponent, part_sum, part_totals, settled

RARE = 30
"""Sizes are looked at one by one where fewer numbers than this differ from 0."""
ALONE = -1
"""In place of the second model: the row is the first model's own scores."""

Pairs = Int[np.ndarray, "row 2"]


LEADING = 25
"""Models of which every pair is looked at by itself: tests without a model, draws, the prior's part. Of more models,
those of so many lowest mean scores; every pair has its posterior."""


def all_pairs(n_models: int) -> list[tuple[int, int]]:
    """The pairs (a, b) with a < b, in the order in which statistics of pairs are kept."""
    return list(combinations(range(n_models), 2))


def pairs_of(models: Int[np.ndarray, " model"]) -> Pairs:
    """The rows that are the differences of all pairs of these models."""
    return models[np.stack(np.triu_indices(len(models), 1), axis=1)]


def pair_rows_of(pairs: Pairs, n_models: int) -> Int[np.ndarray, " row"]:
    """Where pairs (a, b), a < b, stand in the order of `all_pairs`."""
    first, second = pairs.T
    return np.asarray(first * (2 * n_models - first - 1) // 2 + second - first - 1)


def pair_row(first: int, second: int, n_models: int) -> int:
    """The same of one pair."""
    return int(pair_rows_of(np.array([[first, second]]), n_models)[0])


def leading(means: Float[np.ndarray, " model"]) -> Int[np.ndarray, " leading"]:
    """The models of the `LEADING` lowest means, in their order; all where there are no more."""
    return np.sort(np.argsort(means, kind="stable")[:LEADING])


def alone(models: Int[np.ndarray, " model"]) -> Pairs:
    """The rows that are these models' own scores."""
    return np.stack([models, np.full_like(models, ALONE)], axis=1)


def differences(values: Float[np.ndarray, "model item"], rows: Pairs) -> Float[np.ndarray, "row item"]:
    """The rows of a block, newly made."""
    first, second = rows.T
    taken: np.ndarray = values[first]
    two = second != ALONE
    if two.all():
        taken -= values[second]
    elif two.any():
        taken[two] -= values[second[two]]
    return taken


PerRow = Float[np.ndarray, " row"]
PerGroup = Float[np.ndarray, "row group"]


@dataclass(frozen=True, eq=False)
class Extremes:
    """The least and the largest term of each row in each group, how many are not 0, and the sizes of those if few."""

    low: PerGroup
    high: PerGroup
    differ: Int[np.ndarray, " row"]
    least: PerRow
    most: PerRow

    def merged(self, other: "Extremes") -> "Extremes":
        """Those of both."""
        differ = self.differ + other.differ
        few = differ < RARE
        return Extremes(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            differ,
            np.where(few, np.minimum(self.least, other.least), np.inf),
            np.where(few, np.maximum(self.most, other.most), 0.0),
        )

    def of(self, chosen: Int[np.ndarray, " chosen"]) -> "Extremes":
        """Those of some rows."""
        return Extremes(*(values[chosen] for values in (self.low, self.high, self.differ, self.least, self.most)))


def _extremes(rows: Pairs, n_groups: int, part: Part) -> Extremes:
    taken = differences(part.values, rows)
    low, high = np.full((len(rows), n_groups), np.inf), np.full((len(rows), n_groups), -np.inf)
    if part.group is None:
        low[:, 0], high[:, 0] = taken.min(1), taken.max(1)
    else:
        order = np.argsort(part.group, kind="stable")
        groups, first = np.unique(part.group[order], return_index=True)
        ordered = taken[:, order]
        low[:, groups], high[:, groups] = (ends.reduceat(ordered, first, axis=1) for ends in (np.minimum, np.maximum))
    return Extremes(low, high, *nonzero(taken))


def nonzero(rows: Float[np.ndarray, "row unit"]) -> tuple[Int[np.ndarray, " row"], PerRow, PerRow]:
    """How many numbers of each row are not 0, and the least and the largest size of those, where they are few."""
    differ = np.array([np.count_nonzero(row) for row in rows != 0], np.int64)
    least, most = np.full(len(rows), np.inf), np.zeros(len(rows))
    few = np.nonzero((differ > 0) & (differ < RARE))[0]
    sizes = np.abs(rows[few])
    least[few], most[few] = np.where(sizes > 0, sizes, np.inf).min(1, initial=np.inf), sizes.max(1, initial=0.0)
    return differ, least, most


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a sum: the row's numbers, less the centre of their group or times its weight.

    With `n_groups` 1 they are summed over all items, whatever groups there are.
    """

    rows: Pairs
    n_groups: int
    centre: PerGroup | None = None
    weight: Float[np.ndarray, " group"] | None = None

    def of(self, part: Part) -> Float[np.ndarray, "row item"]:
        """Those of a part."""
        taken = differences(part.values, self.rows)
        if self.centre is not None:
            taken -= self.centre if part.group is None or self.n_groups == 1 else self.centre[:, part.group]
        if self.weight is not None:
            weight = self.weight if part.group is None else self.weight[part.group]
            with np.errstate(invalid="ignore"):
                taken = np.where(weight > 0, taken * weight, 0.0)
        return taken

    def bounds(self, ends: Extremes) -> PerRow:
        """The largest size of a term, from the extremes of the rows."""
        low, high = ends.low, ends.high
        if self.centre is not None:
            low, high = low - self.centre, high - self.centre
        if self.weight is not None:
            with np.errstate(invalid="ignore"):
                low, high = (np.where(self.weight > 0, ends * self.weight, 0.0) for ends in (low, high))
        return np.asarray(np.maximum(high, -low).max(1, initial=0.0))


def sums(parts: Parts, terms: Terms, peak: PerRow, powers: Sequence[int]) -> Float[np.ndarray, "power row group"]:
    """Exact sums of rising powers (1 to 3) of the terms in each group; `peak` is the largest size of a term."""
    n = int(parts.structure.n_items.sum())
    tops = np.stack([exponent(_power(peak, peak, power - 1), n)[0] for power in powers])
    work = partial(_sums, terms, tuple(powers), tops, exponent(peak, n)[1])
    return settled(over_blocks(parts, len(terms.rows), work, np.add))


def _sums(terms: Terms, powers: Sequence[int], tops: Int[np.ndarray, "power row"], bits: int, part: Part) -> np.ndarray:
    first = raised = terms.of(part)
    reached, totals = 1, []
    for power, top in zip(powers, tops, strict=True):
        raised, reached = _power(raised, first, power - reached), power
        if part.group is None or terms.n_groups == 1:
            totals.append(part_sum(raised, top, bits)[..., None])
        else:
            totals.append(part_totals(raised, part.group, terms.n_groups, top, bits))
    return np.stack(totals, axis=1)


def _power(raised: np.ndarray, values: np.ndarray, more: int) -> np.ndarray:
    """A power of the values times so many more of them: multiplication, whose rounding is monotone."""
    for _ in range(more):
        raised = raised * values
    return raised


def unit_sums(parts: Parts, terms: Terms, peak: PerRow) -> Float[np.ndarray, "row unit"]:
    """Exact totals of the terms of each unit."""
    top, bits = exponent(peak, int(parts.structure.n_items.sum()))
    work = partial(_unit_sums, terms, top, bits, int(parts.structure.n_units.sum()))
    return settled(over_blocks(parts, len(terms.rows), work, iadd))


def _unit_sums(terms: Terms, top: Int[np.ndarray, " row"], bits: int, n_units: int, part: Part) -> np.ndarray:
    unit = part.item if part.unit is None else part.unit
    return part_totals(terms.of(part), unit, n_units, top, bits)


ROUNDING = 8 * np.finfo(np.float64).eps
"""Differences that spread by less than this, relative to the scores, are one constant difference."""
TIES, ALIKE = 0.2, 0.5
"""Above this share of ties, all others of at least this share of the largest in size: see `moments_of`."""


@runtime_checkable
class Summed(Protocol):
    """Rows of which the sums are known; see `RowSums`."""

    @property
    def within(self) -> Structure:
        """Which items belong together."""

    @property
    def extremes(self) -> Extremes:
        """The least and the largest number of every row."""

    def totals(self) -> PerGroup:
        """The total of each row in each group."""

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the units' residuals."""

    def pseudo(self, reach: float) -> PerRow:
        """Where the pseudo-items of each row lie."""


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
        work = partial(_extremes, self.rows, self.within.n_groups)
        return over_blocks(self.parts, len(self.rows), work, Extremes.merged)

    @cached_property
    def units(self) -> Float[np.ndarray, "row unit"] | None:
        """The totals of clusters; None where items are the units."""
        return None if self.within.unit_group is None else unit_sums(self.parts, *self._terms())

    def totals(self) -> PerGroup:
        """The total of each row in each group."""
        if self.units is not None:
            return self.within.group_totals(self.units)
        total: np.ndarray = sums(self.parts, *self._terms(), (1,))[0]
        return total

    def totals_over_groups(self, weight: Float[np.ndarray, " group"] | None = None) -> PerRow:
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
        units = np.where(constant, 0.0, unit_sums(self.parts, terms, peak))
        square = units * units * self.within.leverage
        return self.within.group_totals(square), self.within.group_totals(square * units)

    def described(self) -> Float[np.ndarray, "row sum"]:
        """Sums of powers of the units, and of the items where these are not the units: what tells rows apart."""
        terms, peak = self._terms()
        if self.units is None:
            return np.concatenate(list(sums(self.parts, terms, peak, (1, 2, 3))), axis=1)
        square = self.units * self.units
        own = [self.within.group_totals(power) for power in (self.units, square, square * self.units)]
        return np.concatenate([*own, *sums(self.parts, Terms(self.rows, 1), peak, (2, 3))], axis=1)

    def pseudo(self, reach: float) -> PerRow:
        """Where the pseudo-items of each row lie, 0 where it needs none; see `moments_of`."""
        return pseudo_items(self.extremes, int(self.within.n_units.sum()), reach, self.units)

    def weighted(self, centre: PerGroup, weight: Float[np.ndarray, " group"]) -> tuple[PerRow, PerRow]:
        """The sum of squares of the units' weighted residuals, and the largest size of one."""
        terms = Terms(self.rows, self.within.n_groups, centre, weight)
        peak = terms.bounds(self.extremes)
        if self.within.unit_group is None:
            return exact_sum(sums(self.parts, terms, peak, (2,))[0]), peak
        units = unit_sums(self.parts, terms, peak)
        return exact_sum(self.within.group_totals(units * units)), np.maximum(units.max(1), -units.min(1))

    def _terms(
        self, chosen: Int[np.ndarray, " chosen"] | None = None, centre: np.ndarray | None = None
    ) -> tuple[Terms, PerRow]:
        """The terms of some rows, and the largest size among them."""
        rows, ends = (self.rows, self.extremes) if chosen is None else (self.rows[chosen], self.extremes.of(chosen))
        terms = Terms(rows, self.within.n_groups, centre)
        return terms, terms.bounds(ends)


def pseudo_items(
    ends: Extremes, n_units: int, reach: float, units: Float[np.ndarray, "row unit"] | None = None
) -> PerRow:
    """See `RowSums.pseudo`; `units` are the totals of clusters, None where items are the units."""
    differ, least, most = (ends.differ, ends.least, ends.most) if units is None else nonzero(units)
    same = (ends.low == ends.high).all(1) | (differ == 0)  # of no spread at all
    return np.where(same, reach, np.where(rare(differ, n_units) & (least >= ALIKE * most), most, 0.0))


def rare(differ: Int[np.ndarray, " row"], n_units: int) -> Bool[np.ndarray, " row"]:
    """Whether so few units differ from 0 that what is rarer still would be missed."""
    return np.asarray((differ < (1 - TIES) * n_units) & (differ < RARE))
