r"""Units that many items share, annotators or training seeds: their bias does not average out over the items.

x_iu is the loss on item i as unit u sees it, m_i the number of units on the item, w_i what the item counts for. With
residuals r_iu = w_i (x_iu - mean_i) / m_i (of an item with one unit: from the mean of such items in its group) the
units add to the variance of the mean what they have in common over items, beyond what chance gives:

    size * max(0, sum_u (sum_i r_iu)^2 - sum_iu r_iu^2)

`size` makes that unbiased. With W_u = sum_i w_i/m_i and V_u = sum_i w_i/m_i (1 - 1/m_i) it is the ratio of
sum_u W_u^2 to sum_u V_u^2 + sum_{u,v} A_uv^2, each less the part of single cells. A_uv, what u and v share, is taken
for V_u V_v over the other units' V: exact for two units, and where all see the same. A unit without votes has no weight
in any of these sums, so that the first vote of a new unit moves them by one vote's worth.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.estimation.design import Design, spread_out
from probtruth.kernels.shapes import UnitFloats
from probtruth.types.index import positions

BLOCK = 1 << 16  # Cells worked on at once
NEAR = 1e-4  # Below this part of the models' squares that of their difference is taken from the cells: rounding
RESOLVED = 1e-9  # Coefficients below this part of the weights are rounding
NOISY = 10.0  # Times the items' part of answers by which noise in the units' part halves what is counted
SLOWLY = 1.5  # Power of the effective number less one by which the units' standard deviation comes in
SKEWED_FROM = 3  # Effective units from which on a skewness starts to count; from one more on it counts in full

PerRow = Float[np.ndarray, " row"]
PerGroup = Float[np.ndarray, " group"]
PerStratum = Float[np.ndarray, " stratum"]
CellInts = Int[np.ndarray, " cell"]
Models = Int[np.ndarray, " model"]
LossesOf = Callable[[slice], Float[np.ndarray, "model cell"]]


@dataclass(frozen=True, eq=False)
class Excess:
    """What the units add to the variance of means: `raw` as their totals vary, `chance` what noise alone gives.

    `effective` is the number of units of equal weight that would tell as much, and `counted` the part of their standard
    deviation that counts: 0 of one unit, of which nothing tells how others differ, 1 from two of equal weight on.
    """

    totals: Float[np.ndarray, "row unit"]  # what each unit adds to every mean
    chance: PerRow
    df: PerRow | float
    least_df: float
    effective: float
    counted: float

    @property
    def raw(self) -> PerRow:
        return np.square(self.totals).sum(1)

    @property
    def extra(self) -> PerRow:
        """The variance of new units like these, at least 0."""
        return np.asarray(np.maximum(self.raw - self.chance, 0.0))

    @property
    def skewness(self) -> PerRow:
        """That of the units' sum, from the third moment and the variance without bias."""
        n = self.least_df + 1.0
        counts = min(max(n - SKEWED_FROM, 0.0), 1.0)
        third = (self.totals**3).sum(1)
        if counts <= RESOLVED:
            return np.zeros_like(third)
        skewness = np.divide(third, self.raw**1.5, out=np.zeros_like(third), where=self.raw > 0)
        return np.asarray(counts * math.sqrt(n * (n - 1)) / (n - 2) * skewness)


@dataclass(frozen=True, eq=False)
class _Spread:
    """What the weights of units tell, whatever the losses: see `Excess`."""

    scale: PerStratum
    factor: PerStratum
    size: float
    df: float
    effective: float
    counted: float


OF_ROW = ("weight", "contrast", "total")
OF_STRATUM = ("inverse", "chance", "square")


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums over items of each unit in each stratum (a row), and of each stratum, which add up over parts of the items.

    The strata are the items of several units in each group, then the items of one unit in each. The sums are of
    r = (x - mean)/m over the cells of the former, and of x itself over those of the latter.
    """

    names: tuple[str, ...]
    stratum: Int[np.ndarray, " row"]
    unit: Int[np.ndarray, " row"]
    weight: PerRow  # of 1/m
    contrast: PerRow  # of (1 - 1/m)/m
    total: Float[np.ndarray, "row model"]
    inverse: PerStratum  # of 1/m
    chance: PerStratum  # of (1 - 1/m)/m^2 over the cells
    square: Float[np.ndarray, "stratum model model"]  # of differences of two models; of a model itself on the diagonal

    @classmethod
    def of(cls, names: Sequence[str], item: CellInts, unit: CellInts, values: LossesOf, plan: Design) -> "UnitSums":
        """From cells by item, no two of one item and one unit, of which `values` gives every model's loss."""
        n_models = len(values(slice(0, 0)))
        n_strata = 2 * plan.n_groups
        first = np.flatnonzero(np.diff(item, prepend=-1))  # the first cell of each item
        count = np.diff(first, append=len(item))
        share = np.repeat(1.0 / count, count)
        several = np.repeat(count > 1, count)
        stratum = plan.of_item()[item] + np.where(several, 0, plan.n_groups)
        rows, row_of = np.unique(stratum * len(names) + unit, return_inverse=True)
        total = np.zeros((n_models, len(rows)))
        square = np.zeros((n_strata, n_models, n_models))
        starts = np.searchsorted(first, np.arange(0, len(item), BLOCK))
        cuts = np.unique(np.append(first[starts[starts < len(first)]], len(item)))
        for start, stop in pairwise(cuts.tolist()):
            cells = slice(start, stop)
            losses = values(cells)
            inside = slice(*np.searchsorted(first, (start, stop)))
            mean = np.add.reduceat(losses, first[inside] - start, axis=1) / count[inside]
            residual = losses - np.repeat(mean, count[inside], axis=1)
            parts = np.where(several[cells], residual * share[cells], losses)
            for model in range(n_models):
                total[model] += np.bincount(row_of[cells], parts[model], len(rows))
            for at in np.unique(stratum[cells]):
                square[at] += squares_apart(parts[:, stratum[cells] == at])
        contrast = share * (1 - share)
        return cls(
            names=tuple(names),
            stratum=rows // len(names),
            unit=rows % len(names),
            weight=np.bincount(row_of, share, len(rows)),
            contrast=np.bincount(row_of, contrast, len(rows)),
            total=total.T,
            inverse=np.bincount(stratum, share**2, n_strata),
            chance=np.bincount(stratum, contrast * share, n_strata),
            square=square,
        )

    def __add__(self, other: "UnitSums") -> "UnitSums":
        """Those of both parts, units by name."""
        names = tuple(sorted({*self.names, *other.names}))
        keys = [one.stratum * len(names) + positions(names, one.names)[one.unit] for one in (self, other)]
        rows, row_of = np.unique(np.concatenate(keys), return_inverse=True)
        summed: dict[str, np.ndarray] = {}
        for name in OF_STRATUM:
            summed[name] = getattr(self, name) + getattr(other, name)
        for name in OF_ROW:
            values = np.concatenate([getattr(self, name), getattr(other, name)])
            summed[name] = np.zeros((len(rows), *values.shape[1:]))
            np.add.at(summed[name], row_of, values)
        return UnitSums(names, rows // len(names), rows % len(names), **summed)

    def among(self, groups: Int[np.ndarray, " group"], n_groups: int) -> "UnitSums":
        """The same where the groups are some of more."""
        strata = np.concatenate([groups, n_groups + groups])
        parts: dict[str, Any] = {}
        for name in OF_STRATUM:
            parts[name] = spread_out(getattr(self, name).T, strata, 2 * n_groups).T
        return replace(self, stratum=strata[self.stratum], **parts)

    def spread(self, weights: PerGroup) -> _Spread:
        """How far the units tell how others like them differ."""
        n_groups = len(weights)
        of_one = np.arange(2 * n_groups) >= n_groups  # the strata of the items of one unit
        in_strata = np.bincount(self.stratum, self.weight, 2 * n_groups)
        n_items = in_strata[:n_groups] + in_strata[n_groups:]
        divisor = np.maximum(n_items, 1e-9)
        scale = np.tile(np.where(n_items > 0, weights / divisor, 0.0), 2)
        square_scale = scale**2
        # each unit's contrast with the others of its items; on items of one unit, with the others' items
        among_all = self.weight * (1 - self.weight / in_strata[self.stratum])
        own = self.contrast + of_one[self.stratum] * among_all
        noise = self.chance + of_one * np.bincount(self.stratum, own, 2 * n_groups)
        # squares about a mean, those of the items of one unit, count for this as chance moves the totals
        factor = np.where(of_one, noise / np.maximum(in_strata - 1, 1), 1.0)
        of_row = scale[self.stratum]
        weight = np.bincount(self.unit, of_row * self.weight, len(self.names))
        contrast = np.bincount(self.unit, of_row * own, len(self.names))
        total_square = float((weight**2).sum())
        effective = float(weight.sum()) ** 2 / total_square if total_square > 0 else 1.0
        signal = _signal(contrast) - float(square_scale @ (factor * noise))
        if signal <= RESOLVED * total_square:
            return _Spread(scale, factor, 0.0, 1.0, effective, 0.0)
        square = contrast**2
        participating = float(square.sum()) ** 2 / float((square**2).sum())
        df = max(participating - 1.0, 1.0)
        # of the variance between items the units have what they do not share within a group
        group = self.stratum % n_groups
        cells, cell = np.unique(group * len(self.names) + self.unit, return_inverse=True)
        of_cell = np.bincount(cell, self.weight)
        of_group = np.bincount(cells // len(self.names), of_cell**2, n_groups)
        even = float(square_scale[:n_groups] @ (of_group / divisor))
        inverse = float(square_scale @ self.inverse)
        size = max(total_square - inverse + even, 0.0) / signal
        # noise in the estimate averages out over units
        of_noise = float(square_scale @ noise)
        resolved = signal / (signal + of_noise / math.sqrt(df))
        # and the estimate tells little where its noise is many times that of the mean over the items (1: all see all)
        noisy = size * of_noise / inverse
        resolved /= 1 + (max(noisy - 1.0, 0.0) / NOISY) ** 2
        effective += (df - 1.0) * resolved**2
        counted = min(effective - 1.0, 1.0) ** SLOWLY * resolved
        return _Spread(scale, factor, size, df, effective, counted)

    def excess(self, weights: PerGroup, first: Models, second: Models) -> Excess:
        """What the units add to the means of models' differences, or of a model by itself (-1 stands for none)."""
        spread = self.spread(weights)
        in_strata = np.bincount(self.stratum, self.weight, len(self.inverse))[:, None]
        total = np.pad(self.total, ((0, 0), (0, 1)))  # the last column is of no model
        mean = np.zeros((len(in_strata), total.shape[1]))
        np.add.at(mean, self.stratum, total)
        mean /= np.maximum(in_strata, 1)
        mean[: len(weights)] = 0.0  # residuals on items of several units are about the items' own means
        residual = total - self.weight[:, None] * mean[self.stratum]
        weight = math.sqrt(spread.size) * spread.scale[self.stratum]
        of_unit = np.zeros((len(self.names), total.shape[1]))
        np.add.at(of_unit, self.unit, weight[:, None] * residual)
        apart = mean[:, first] - mean[:, second]
        other = np.where(second < 0, first, second)
        about_zero = self.square[:, first, other]
        about_mean = np.maximum(about_zero - in_strata * apart**2, 0.0)
        chance = spread.size * (spread.scale**2 * spread.factor @ about_mean)
        totals = (of_unit[:, first] - of_unit[:, second]).T
        return Excess(totals, chance, spread.df, spread.df, spread.effective, spread.counted)

    def apart(self, weights: PerGroup, first: Models, other: "UnitSums", second: Models) -> Excess:
        """What the units, of the same names, add to the differences of models that have them on other items."""
        none = np.full(len(first), -1)
        one = self.excess(weights, first, none)
        two = other.excess(weights, second, none)
        spread = one.raw**2 / one.df + two.raw**2 / two.df
        fewest = min(one.least_df, two.least_df)
        df = np.divide((one.raw + two.raw) ** 2, spread, out=np.full_like(spread, fewest), where=spread > 0)
        effective = min(one.effective, two.effective)
        counted = min(one.counted, two.counted)
        return Excess(one.totals - two.totals, one.chance + two.chance, df, fewest, effective, counted)


def squares_apart(parts: Float[np.ndarray, "model cell"]) -> Float[np.ndarray, "model model"]:
    """Sums of squared differences of two models, and of a model itself on the diagonal."""
    product = parts @ parts.T
    of_one = np.diag(product)
    both = of_one[:, None] + of_one
    square = both - 2 * product
    for a, b in np.argwhere(np.triu(square < NEAR * both, 1)).tolist():
        apart = parts[a] - parts[b]
        square[a, b] = square[b, a] = apart @ apart
    np.fill_diagonal(square, of_one)
    return np.asarray(square)


def _signal(contrast: UnitFloats) -> float:
    """What a unit's variance of 1 gives in the sum of the squared totals of all units."""
    square = contrast**2
    others = contrast.sum() - contrast
    others_square = square.sum() - square
    shared = np.divide(others_square, others**2, out=np.zeros_like(others), where=others > RESOLVED * contrast.max())
    return float(square @ (1 + shared))
