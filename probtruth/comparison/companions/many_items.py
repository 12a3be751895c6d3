"""Model-free tests of more items than are ranked and resampled: from sums and counts, each with a bound of its error.

With so many units the sign-flipped total, and the total under the Bayesian bootstrap's weights, are normal but for what
the theorem of Berry and Esseen bounds: at most 0.56 times the sum of the absolute third moments over the 3/2 power of
the variance. Third moments are bounded by the largest unit.

Source: Shevtsova 2010, "An improvement of convergence rate estimates in the Lyapunov theorem",
doi:10.1134/S1064562410060062; for the tests themselves see `size_counts` and `resampling`.
"""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

from probtruth.comparison.companions.paired_tests import Companion, companions, sign_test_p, student
from probtruth.comparison.companions.size_counts import SizeCounts
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.parts import Parts, gathered
from probtruth.comparison.evidence.sweeps import RowSums, pairs_of

BERRY_ESSEEN = 0.56
CUBE = 12 / math.e - 2
"""The third absolute central moment of a standard exponential weight, whose variance is 1."""
MOST = 200_000
"""Beyond so many items they are not ranked and resampled one by one."""
PAIRS = 32
"""Pairs whose counts are held at once."""


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
        counts = rows.size_counts()
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
