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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.comparison.estimation.design import Design, spread_out, totals
from probtruth.comparison.estimation.design import effective as effective_number
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import (
    CellFloats,
    CellInts,
    GroupFloats,
    GroupInts,
    ModelCell,
    ModelFloats,
    ModelInts,
    ModelModel,
    ModelUnit,
    RowFloats,
    RowInts,
    RowUnit,
    UnitFloats,
)
from probtruth.types.index import positions

NEAR = 1e-4  # Below this part of the models' squares that of their difference is taken from the cells: rounding
RESOLVED = 1e-9  # Coefficients below this part of the weights are rounding
NOISY = 10.0  # Times the items' part of answers by which noise in the units' part halves what is counted
SLOWLY = 1.5  # Power of the effective number less one by which the units' standard deviation comes in
SKEWED_FROM = 3  # Effective units from which on a skewness starts to count; from one more on it counts in full

PerStratum = Float[np.ndarray, " stratum"]


@dataclass(frozen=True, eq=False)
class Excess:
    """What the units add to the variance of means: `raw` as their totals vary, `chance` what noise alone gives.

    `counted` is the part of their standard deviation that counts: 0 of one unit, of which nothing tells how others
    differ, 1 from two of equal weight on.
    """

    totals: RowUnit  # what each unit adds to every mean
    chance: RowFloats
    df: RowFloats
    least_df: RowFloats
    counted: RowFloats

    @property
    def raw(self) -> RowFloats:
        return np.square(self.totals).sum(1)

    @property
    def extra(self) -> RowFloats:
        """The variance of new units like these, at least 0."""
        return np.maximum(self.raw - self.chance, 0.0)

    @property
    def skewness(self) -> RowFloats:
        """That of the units' sum, from the third moment and the variance without bias."""
        n = self.least_df + 1.0
        counts = np.clip(n - SKEWED_FROM, 0.0, 1.0)
        counts[counts <= RESOLVED] = 0.0
        third = (self.totals**3).sum(1)
        skewness = ratio(third, self.raw**1.5)
        divisor = np.maximum(n - 2, 1.0)  # n - 2 is at least 1 where it counts
        unbiased = np.sqrt(n * (n - 1)) / divisor
        return counts * unbiased * skewness


@dataclass(frozen=True, eq=False)
class _Spread:
    """What the weights of units tell, whatever the losses: see `Excess`.

    `effective` is the number of units of equal weight that would tell as much.
    """

    scale: PerStratum  # what a residual counts for in the units' totals
    of_chance: PerStratum  # what a square of a cell counts for in what chance gives
    contrast: UnitFloats
    df: float
    effective: float
    counted: float


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """What units add to the mean of every model, which may be of other cells than those of the other models."""

    totals: ModelUnit
    chance: ModelModel  # what noise adds to differences; to a model by itself on the diagonal
    contrast: ModelUnit  # what tells a unit from the others, by its votes alone
    df: ModelFloats
    effective: ModelFloats
    counted: ModelFloats

    @classmethod
    def joined(cls, sets: Sequence["UnitTotals"], chance: ModelModel) -> "UnitTotals":
        """Of models of several sets, whose units have the same names."""
        joined = {}
        for name in ("totals", "contrast", "df", "effective", "counted"):
            joined[name] = np.concatenate([getattr(one, name) for one in sets])
        return cls(chance=chance, **joined)

    def excess(self, first: ModelInts, second: ModelInts) -> Excess:
        """What they add to the means of models' differences, or of a model by itself (-1 stands for none)."""
        by_itself = second < 0
        other = np.where(by_itself, first, second)
        of_others = np.where(by_itself[:, None], 0.0, self.totals[other])
        totals = self.totals[first] - of_others
        raw = np.square(self.totals).sum(1)
        # Welch's rule between models of different units; of the same units, these count once
        square = self.contrast**2
        length = np.linalg.norm(square, axis=1, keepdims=True)
        direction = ratio(square, length)
        alike = np.minimum(direction @ direction.T, 1.0)[first, other]
        of_model = raw / np.sqrt(self.df)
        one = of_model[first]
        two = of_model[other]
        spread = one**2 + two**2 + 2 * alike * one * two
        both = raw[first] + raw[other]
        least = np.minimum(self.df[first], self.df[other])
        df = ratio(both**2, spread, least)
        counted = np.minimum(self.counted[first], self.counted[other])
        chance = self.chance[first, other]
        return Excess(
            totals=totals,
            chance=chance,
            df=df,
            least_df=least,
            counted=counted,
        )


OF_ROW = ("weight", "contrast", "total")
OF_STRATUM = ("inverse", "chance", "square")


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums over items of each unit in each stratum (a row), and of each stratum, which add up over parts of the items.

    The strata are the items of several units in each group, then the items of one unit in each. The sums are of
    r = (x - mean)/m over the cells of the former, and of x itself over those of the latter.
    """

    names: tuple[str, ...]
    stratum: RowInts
    unit: RowInts
    weight: RowFloats  # of 1/m
    contrast: RowFloats  # of (1 - 1/m)/m
    total: Float[np.ndarray, "row model"]
    inverse: PerStratum  # of 1/m
    chance: PerStratum  # of (1 - 1/m)/m^2 over the cells
    square: Float[np.ndarray, "stratum model model"]  # of differences of two models; of a model itself on the diagonal

    @classmethod
    def of(cls, names: Sequence[str], item: CellInts, unit: CellInts, losses: ModelCell, plan: Design) -> "UnitSums":
        """From cells by item, no two of one item and one unit, and every model's loss of each."""
        n_strata = 2 * plan.n_groups
        share, stratum, parts = _parts(item, losses, plan)
        rows, row_of = np.unique(stratum * len(names) + unit, return_inverse=True)
        square = np.zeros((n_strata, len(losses), len(losses)))
        for at in np.unique(stratum):
            square[at] = squares_apart(parts[:, stratum == at])
        contrast = share * (1 - share)
        return cls(
            names=tuple(names),
            stratum=rows // len(names),
            unit=rows % len(names),
            weight=np.bincount(row_of, share, len(rows)),
            contrast=np.bincount(row_of, contrast, len(rows)),
            total=totals(parts, row_of, len(rows)).T,
            inverse=np.bincount(stratum, share**2, n_strata),
            chance=np.bincount(stratum, contrast * share, n_strata),
            square=square,
        )

    @property
    def n_units(self) -> int:
        return len(np.unique(self.unit))

    def __add__(self, other: "UnitSums") -> "UnitSums":
        """Those of both parts, units by name."""
        names = tuple(sorted({*self.names, *other.names}))
        keys: list[np.ndarray] = []
        for part in (self, other):
            unit = positions(names, part.names)[part.unit]
            keys.append(part.stratum * len(names) + unit)
        rows, row_of = np.unique(np.concatenate(keys), return_inverse=True)
        summed: dict[str, np.ndarray] = {}
        for name in OF_STRATUM:
            summed[name] = getattr(self, name) + getattr(other, name)
        for name in OF_ROW:
            values = np.concatenate([getattr(self, name), getattr(other, name)])
            of_rows = np.zeros((len(rows), *values.shape[1:]))
            np.add.at(of_rows, row_of, values)
            summed[name] = of_rows
        return UnitSums(names, rows // len(names), rows % len(names), **summed)

    def among(self, groups: GroupInts, n_groups: int) -> "UnitSums":
        """The same where the groups are some of more."""
        strata = np.concatenate([groups, n_groups + groups])
        parts: dict[str, Any] = {}
        for name in OF_STRATUM:
            parts[name] = spread_out(getattr(self, name), strata, 2 * n_groups, axis=0)
        return replace(self, stratum=strata[self.stratum], **parts)

    def spread(self, weights: GroupFloats) -> _Spread:
        """How far the units tell how others like them differ."""
        n_groups = len(weights)
        n_units = len(self.names)
        of_one = np.arange(2 * n_groups) >= n_groups  # the strata of the items of one unit
        in_strata = self._in_strata()
        n_items = in_strata[:n_groups] + in_strata[n_groups:]
        scale = np.tile(ratio(weights, n_items), 2)
        square_scale = scale**2
        # each unit's contrast with the others of its items; on items of one unit, with the others' items
        share = self.weight / in_strata[self.stratum]
        among_all = self.weight * (1 - share)
        contrast_of_row = self.contrast + of_one[self.stratum] * among_all
        of_strata = np.bincount(self.stratum, contrast_of_row, 2 * n_groups)
        noise = self.chance + of_one * of_strata
        # squares about a mean, those of the items of one unit, count for this as chance moves the totals
        factor = np.where(of_one, noise / np.maximum(in_strata - 1, 1), 1.0)
        of_row = scale[self.stratum]
        weight = np.bincount(self.unit, of_row * self.weight, n_units)
        contrast = np.bincount(self.unit, of_row * contrast_of_row, n_units)
        total_square = float((weight**2).sum())
        effective = float(ratio(weight.sum() ** 2, total_square, 1.0))
        of_chance = float(square_scale @ (factor * noise))
        signal = _signal(contrast) - of_chance
        size = 0.0
        df = 1.0
        counted = 0.0
        if signal > RESOLVED * total_square:
            df = max(float(effective_number(contrast**2)) - 1.0, 1.0)
            # of the variance between items the units have what they do not share within a group
            group = self.stratum % n_groups
            cells, cell = np.unique(group * n_units + self.unit, return_inverse=True)
            of_cell = np.bincount(cell, self.weight)
            of_group = np.bincount(cells // n_units, of_cell**2, n_groups)
            mean = ratio(of_group, n_items)
            even = float(square_scale[:n_groups] @ mean)
            inverse = float(square_scale @ self.inverse)
            size = max(total_square - inverse + even, 0.0) / signal
            # noise in the estimate averages out over units
            of_noise = float(square_scale @ noise)
            resolved = signal / (signal + of_noise / math.sqrt(df))
            # and the estimate tells little where its noise is many times that of the mean over the items (1: all see
            # all)
            noisy = size * of_noise / inverse
            more_noise = max(noisy - 1.0, 0.0) / NOISY
            resolved /= 1 + more_noise**2
            effective += (df - 1.0) * resolved**2
            counted = min(effective - 1.0, 1.0) ** SLOWLY * resolved
        return _Spread(scale * np.sqrt(size), size * factor * square_scale, contrast, df, effective, counted)

    def units(self, weights: GroupFloats) -> UnitTotals:
        """What the units add to the means of all models and of their differences."""
        spread = self.spread(weights)
        mean = self._means()
        residual = self.total - self.weight[:, None] * mean[self.stratum]
        weight = spread.scale[self.stratum]
        n_models = mean.shape[1]
        of_unit = np.zeros((len(self.names), n_models))
        np.add.at(of_unit, self.unit, weight[:, None] * residual)
        # axes: stratum, model, other model; a model itself on the diagonal
        apart = mean[:, :, None] - mean[:, None, :]
        diagonal = np.arange(n_models)
        apart[:, diagonal, diagonal] = mean
        of_means = self._in_strata()[:, None, None] * apart**2
        about_mean = np.maximum(self.square - of_means, 0.0)
        return UnitTotals(
            totals=of_unit.T,
            chance=np.tensordot(spread.of_chance, about_mean, 1),
            contrast=np.tile(spread.contrast, (n_models, 1)),
            df=np.full(n_models, spread.df),
            effective=np.full(n_models, spread.effective),
            counted=np.full(n_models, spread.counted),
        )

    def noise(self, weights: GroupFloats, item: CellInts, losses: ModelCell, plan: Design) -> ModelCell:
        """What chance gives as each of these cells varies: the squares add up to that of `units`."""
        _, stratum, parts = _parts(item, losses, plan)
        weight = np.sqrt(self.spread(weights).of_chance)
        return np.asarray(weight[stratum] * (parts - self._means().T[:, stratum]))

    def _in_strata(self) -> PerStratum:
        return np.bincount(self.stratum, self.weight, len(self.inverse))

    def _means(self) -> Float[np.ndarray, "stratum model"]:
        """Of the items of one unit; residuals on items of several are about the items' own means."""
        mean = np.zeros((len(self.inverse), self.total.shape[1]))
        np.add.at(mean, self.stratum, self.total)
        mean /= np.maximum(self._in_strata(), 1)[:, None]
        mean[: len(mean) // 2] = 0.0
        return mean


def _parts(item: CellInts, losses: ModelCell, plan: Design) -> tuple[CellFloats, CellInts, ModelCell]:
    """What of its item each cell is, its stratum, and what it adds up as: r, or x of an item of one unit."""
    starts = np.flatnonzero(np.diff(item, prepend=-1))  # the first cell of each item
    count = np.diff(starts, append=len(item))
    n_units = np.repeat(count, count)
    share = 1.0 / n_units
    of_one = n_units == 1
    mean = np.add.reduceat(losses, starts, axis=1) / count
    residual = losses - np.repeat(mean, count, axis=1)
    stratum = plan.of_item()[item] + plan.n_groups * of_one
    return share, stratum, np.where(of_one, losses, residual * share)


def squares_apart(parts: ModelCell) -> ModelModel:
    """Sums of squared differences of two models, and of a model itself on the diagonal."""
    product = parts @ parts.T
    of_model = np.diag(product)
    both = of_model[:, None] + of_model
    square = both - 2 * product
    near = np.triu(square < NEAR * both, 1)
    for one, other in np.argwhere(near).tolist():
        apart = parts[one] - parts[other]
        square[one, other] = apart @ apart
        square[other, one] = square[one, other]
    np.fill_diagonal(square, of_model)
    return square


def _signal(contrast: UnitFloats) -> float:
    """What a unit's variance of 1 gives in the sum of the squared totals of all units."""
    square = contrast**2
    others = contrast.sum() - contrast
    others[others <= RESOLVED * contrast.max()] = 0.0
    shared = ratio(square.sum() - square, others**2)
    return float(square @ (1 + shared))
