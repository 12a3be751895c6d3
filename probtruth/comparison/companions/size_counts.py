"""Wilcoxon's signed-rank test for very many differences: counts them by sign in narrow bins of their size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr

from probtruth.comparison.companions.signed_rank import EXACT, two_sided_p

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
