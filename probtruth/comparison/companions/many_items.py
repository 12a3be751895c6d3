"""Model-free tests of more items than are ranked and resampled: from sums and counts, each with a bound of its error.

With so many units the sign-flipped total, and the total under the Bayesian bootstrap's weights, are normal but for what
the theorem of Berry and Esseen bounds: at most 0.56 times the sum of the absolute third moments over the 3/2 power of
the variance. Third moments are bounded by the largest unit.

Source: Shevtsova 2010, "An improvement of convergence rate estimates in the Lyapunov theorem",
doi:10.1134/S1064562410060062; for the tests themselves see `paired_tests`.

Wilcoxon's signed-rank test counts the differences by sign in narrow bins of their size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr

from probtruth.comparison.companions.paired_tests import (
    EXACT,
    Companion,
    companions,
    sign_test_p,
    student,
    two_sided_p,
)
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.parts import Part, Parts, gathered
from probtruth.comparison.evidence.sweeps import Pairs, RowSums, differences, pairs_of

BERRY_ESSEEN = 0.56
CUBE = 12 / math.e - 2
"""The third absolute central moment of a standard exponential weight, whose variance is 1."""
MOST = 200_000
"""Beyond so many items they are not ranked and resampled one by one."""
PAIRS = 32
"""Pairs whose counts are held at once."""
KEPT = 12
"""Bits of the mantissa that distinguish bins: sizes in one bin differ by less than 2^-12 of themselves."""
WIDE = 1 << 20
"""Beyond this many bins between the smallest and the largest size, only non-empty bins are visited."""
_BELOW = np.finfo(np.float64).nmant - KEPT
_SIZE = (1 << 63) - 1
"""All bits of a float64 except its sign: whole numbers in the order of the sizes."""
AT_ONCE = 1 << 14
"""Differences worked on at once, so that what is held stays in the processor's cache."""
_UNSEEN = -1
"""In place of the size that all differences in a bin have, while it holds none."""
TOGETHER = 16
"""Parts whose counts are joined at once."""


@dataclass(frozen=True, eq=False)
class SizeCounts:
    """How many differences of each sign each bin holds, and the bits of their size if all are equal (else 0).

    Only non-empty bins are listed, by size; a difference of 0 is in no bin. Merging in any order gives the same
    result.
    """

    bins: Int[np.ndarray, " bin"]
    positive: Int[np.ndarray, " bin"]
    negative: Int[np.ndarray, " bin"]
    tie: Int[np.ndarray, " bin"]

    @classmethod
    def of(cls, differences: Float[np.ndarray, " item"]) -> "SizeCounts":
        """Those of some finite differences."""
        values = differences if differences.all() else differences[differences != 0]
        bits = np.ascontiguousarray(values, np.float64).view(np.int64)
        sizes = bits & _SIZE
        low, high = (int(end) >> _BELOW for end in (sizes.min(), sizes.max())) if len(bits) else (0, -1)
        narrow = high - low < WIDE
        known = np.arange(low, high + 1) if narrow else np.unique(sizes >> _BELOW)
        place, tie = np.empty(len(bits), np.int64), np.full(len(known), _UNSEEN)
        for start in range(0, len(bits), AT_ONCE):
            block = slice(start, start + AT_ONCE)
            size, position = sizes[block], place[block]
            np.right_shift(size, _BELOW, out=position)
            position[:] = position - low if narrow else np.searchsorted(known, position)
            _tie(tie, position, size)
            position += len(known) & (bits[block] >> 63)  # negative ones behind the positive
        number = np.bincount(place, minlength=2 * len(known)).reshape(2, -1)
        held = number.any(0)
        return cls(known[held], number[0, held], number[1, held], tie[held])

    @classmethod
    def joined(cls, parts: Sequence["SizeCounts"]) -> "SizeCounts":
        """Those of all parts (at least one)."""
        bins = np.concatenate([part.bins for part in parts])
        order = np.argsort(bins, kind="stable")  # which finds that each part is sorted
        bins = bins[order]
        first = np.flatnonzero(np.diff(bins, prepend=-1))
        if not len(first):
            return parts[0]
        positive = np.concatenate([part.positive for part in parts])[order]
        negative = np.concatenate([part.negative for part in parts])[order]
        tie = np.concatenate([part.tie for part in parts])[order]
        same = np.minimum.reduceat(tie, first) == np.maximum.reduceat(tie, first)
        return cls(
            bins[first],
            np.add.reduceat(positive, first),
            np.add.reduceat(negative, first),
            np.where(same, tie[first], 0),
        )

    @property
    def tied(self) -> Bool[np.ndarray, " bin"]:
        """Which bins hold only one size."""
        return self.tie > 0

    @property
    def largest(self) -> float:
        """An upper bound of the sizes: the largest, or the end of its bin."""
        if not len(self.bins):
            return 0.0
        bits = self.tie[-1:] if self.tie[-1] else (self.bins[-1:] + 1) << _BELOW
        return float(bits.view(np.float64)[0])

    def signed_rank_p(self) -> tuple[float | None, float | None]:
        """Two-sided p-value for a pseudo-median of zero, and a bound of its distance from the p-value of the unrounded
        sizes.

        All differences in a bin get its mean rank. This is the test of sizes rounded to the bins; it is as valid as
        the test of the exact sizes, because under symmetry signs do not depend on sizes. The bound holds for every
        order inside the bins; it is 0 if each bin holds one size. None without a difference.
        """
        number = self.positive + self.negative
        n = int(number.sum())
        if n == 0:
            return None, None
        doubled = 2 * (np.cumsum(number) - number) + number + 1
        observed = int((self.positive * doubled).sum())
        p = two_sided_p(doubled, number, observed)
        if self.tied.all():
            return p, 0.0
        if n <= EXACT:
            return p, max(p, 1 - p)
        loose = ~self.tied
        slack = int((self.positive * self.negative)[loose].sum())
        wide = number.astype(np.float64)
        least = float((wide * doubled.astype(np.float64) ** 2).sum()) / 4
        largest = least + float((wide**3 - wide)[loose].sum()) / 12
        off = abs(observed - n * (n + 1) / 2)
        low = _normal_p(off + slack, least)
        high = _normal_p(max(off - slack, 0.0), largest)
        return p, max(high - p, p - low)


def _tie(tie: Int[np.ndarray, " bin"], position: Int[np.ndarray, " item"], size: Int[np.ndarray, " item"]) -> None:
    """Notes the sizes (bits) of some differences at their bins: 0 where one holds several.

    Of the bins that hold several, as most do soon, nothing is written again.
    """
    held = tie[position]
    news = np.flatnonzero((held != size) & (held != 0))
    if len(news):
        at, size = position[news], size[news]
        unseen = tie[at] == _UNSEEN
        tie[at[unseen]] = size[unseen]  # of several, any: it is seen next whether there are several
        tie[at[tie[at] != size]] = 0


def _normal_p(distance: float, variance: float) -> float:
    return float(2 * ndtr(-distance / np.sqrt(variance)))


def size_counts(parts: Parts, rows: Pairs) -> list[SizeCounts]:
    """Those of each row."""
    waiting: list[list[SizeCounts]] = []
    for counted in parts.each(partial(_size_counts, rows)):
        waiting.append(counted)
        if len(waiting) == TOGETHER:
            waiting = [_joined_counts(waiting)]
    return _joined_counts(waiting)


def _size_counts(rows: Pairs, part: Part) -> list[SizeCounts]:
    return [SizeCounts.of(differences(part.values, row[None])[0]) for row in rows]


def _joined_counts(parts: list[list[SizeCounts]]) -> list[SizeCounts]:
    return [SizeCounts.joined(of_row) for of_row in zip(*parts, strict=True)]


def companions_of(
    parts: Parts, order: Int[np.ndarray, " finite"], weights: Float[np.ndarray, " group"], location: Location
) -> list[Companion]:
    """The tests of every pair of these models; of more items than can be ranked those that need no item by itself."""
    within = parts.structure
    if int(within.n_items.sum()) > MOST:
        return many_companions(parts, order, weights, location)
    part = gathered(parts)
    whole = Structure(within.n_items, part.group, part.unit, within.unit_group)
    return companions(part.values[order], whole, weights, location)


def many_companions(
    parts: Parts, order: Int[np.ndarray, " finite"], weights: Float[np.ndarray, " group"], location: Location
) -> list[Companion]:
    """As `companions`, from sums and counts of the differences alone."""
    pairs = pairs_of(order)
    made: list[Companion] = []
    for start in range(0, len(pairs), PAIRS):
        rows = RowSums(parts, pairs[start : start + PAIRS])
        chosen = slice(start, start + PAIRS)
        counts = size_counts(parts, rows.rows)
        alone = int(rows.within.n_items.sum()) == location.n_units and len(weights) == 1
        spreads = _alone(location, chosen, counts) if alone else _together(rows, weights, location, chosen)
        for row, (count, *spread) in enumerate(zip(counts, *spreads, strict=True)):
            made.append(_tests(location, start + row, count, [float(part) for part in spread], alone))
    return made


def _alone(location: Location, rows: slice, counts: list[SizeCounts]) -> tuple[np.ndarray, ...]:
    """What `_together` finds where every item stands for itself: known from the variance of the mean.

    There a residual with its share of the mean is the difference itself, over n.
    """
    n = location.n_units
    square = location.plain_variance[rows] * (n - 1) / n + location.mean[rows] ** 2 / n
    peak = np.array([count.largest / n for count in counts])
    return square, peak, square, peak


def _together(
    rows: RowSums, weights: Float[np.ndarray, " group"], location: Location, chosen: slice
) -> tuple[np.ndarray, ...]:
    """Sum of squares and largest size of what the units add to the mean, and of that less their group's mean.

    To the latter each unit's share of the mean is added again, so that the bootstrap's mean is below 0 when the sum of
    them, times the weights, is.
    """
    share = weights / rows.within.n_items
    centre = rows.totals() / rows.within.n_items
    square, peak = rows.weighted(np.zeros_like(centre), share)
    residual, highest = rows.weighted(centre, share)
    own = location.mean[chosen] / location.n_units
    return square, peak, residual + location.n_units * own**2, highest + np.abs(own)


def _tests(location: Location, row: int, count: SizeCounts, spread: list[float], alone: bool) -> Companion:
    square, peak, residual, highest = spread
    mean = float(location.mean[row])
    statistic, df, p = student(location, row)
    ranks, ranks_error = count.signed_rank_p()
    flips = flips_error = below = below_error = None
    if square > 0:
        z = abs(mean) / math.sqrt(square)
        flips = float(2 * ndtr(-z))
        off = 2 * BERRY_ESSEEN * peak / math.sqrt(square)
        most = min(flips + off, 2 * math.exp(-(z**2) / 2), 1.0)  # Hoeffding's bound, for the far tail
        flips_error = max(most - flips, min(off, flips))
    if alone and len(count.bins) == 1 and count.tied.all():
        right, wrong = int(count.positive[0]), int(count.negative[0])
        flips, flips_error = sign_test_p(right, right + wrong), 0.0
    if location.plain_variance[row] > 0:
        below = float(ndtr(-mean / math.sqrt(residual)))
        off = BERRY_ESSEEN * CUBE * highest / math.sqrt(residual)
        below_error = min(off, max(below, 1 - below))
    return Companion(statistic, df, p, ranks, flips, below, ranks_error, flips_error, below_error)
