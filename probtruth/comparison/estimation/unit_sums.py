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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from probtruth.comparison.estimation.design import Design, spread_out, square_of, totals
from probtruth.comparison.estimation.design import effective as effective_number
from probtruth.comparison.estimation.estimate import power_sums
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import (
    CellFloats,
    CellInts,
    FiniteInts,
    GroupFloats,
    ModelCell,
    ModelInts,
    ModelModel,
    ModelUnit,
    RowFloats,
    RowUnit,
    UnitFloats,
)

RESOLVED = 1e-9  # Coefficients below this part of the weights are rounding
NOISY = 10.0  # Times the items' part of answers by which noise in the units' part halves what is counted
SLOWLY = 1.5  # Power of the effective number less one by which the units' standard deviation comes in
SKEWED_FROM = 3  # Effective units from which on a skewness starts to count; from one more on it counts in full

KindGroup = Float[np.ndarray, "kind group"]


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
class Spread:
    """What the weights of units tell, whatever the losses: see `Excess`.

    `effective` is the number of units of equal weight that would tell as much.
    """

    scale: GroupFloats  # what a residual counts for in the units' totals
    of_chance: KindGroup  # what a square of a cell counts for in what chance gives
    contrast: UnitFloats
    df: float
    effective: float
    counted: float


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """What units add to the mean of every model, which may be of other cells than those of the other models."""

    totals: ModelUnit
    chance: ModelModel  # what noise adds to differences; to a model by itself on the diagonal
    spreads: Sequence[Spread]  # of each model

    def excess(self, first: ModelInts, second: ModelInts) -> Excess:
        """What they add to the means of models' differences, or of a model by itself (-1 stands for none)."""
        by_itself = second < 0
        other = np.where(by_itself, first, second)
        of_others = np.where(by_itself[:, None], 0.0, self.totals[other])
        totals = self.totals[first] - of_others
        raw = np.square(self.totals).sum(1)
        # Welch's rule between models of different units; of the same units, these count once
        square = np.square([spread.contrast for spread in self.spreads])
        length = np.linalg.norm(square, axis=1, keepdims=True)
        direction = ratio(square, length)
        alike = np.minimum(direction @ direction.T, 1.0)[first, other]
        all_df, all_counted = np.array([[spread.df, spread.counted] for spread in self.spreads]).T
        of_model = raw / np.sqrt(all_df)
        one = of_model[first]
        two = of_model[other]
        spread = one**2 + two**2 + 2 * alike * one * two
        both = raw[first] + raw[other]
        least = np.minimum(all_df[first], all_df[other])
        df = ratio(both**2, spread, least)
        counted = np.minimum(all_counted[first], all_counted[other])
        return Excess(totals, self.chance[first, other], df, least, counted)


# The axes of what adds up; the kinds of items are those of several units and those of one
AXES = {
    "weight": ("unit", "kind", "group"),
    "contrast": ("unit", "kind", "group"),
    "total": ("model", "unit", "kind", "group"),
    "inverse": ("kind", "group"),
    "chance": ("kind", "group"),
    "square": ("model", "model", "kind", "group"),
}


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums over the items of several units of each group, and over those of one, which add up over parts of the items.

    The sums are of r = (x - mean)/m over the cells of the former, and of x itself over those of the latter.
    """

    names: tuple[str, ...]
    weight: Float[np.ndarray, "unit kind group"]  # of 1/m
    contrast: Float[np.ndarray, "unit kind group"]  # of (1 - 1/m)/m
    total: Float[np.ndarray, "model unit kind group"]
    inverse: KindGroup  # of 1/m
    chance: KindGroup  # of (1 - 1/m)/m^2 over the cells
    # of differences of two models; of a model itself on the diagonal
    square: Float[np.ndarray, "model model kind group"]

    @classmethod
    @np.errstate(invalid="ignore")  # of infinite losses, whose models are left out
    def of(cls, names: Sequence[str], item: CellInts, unit: CellInts, losses: ModelCell, plan: Design) -> "UnitSums":
        """From cells by item, no two of one item and one unit, and every model's loss of each."""
        n_units = len(names)
        n_models = len(losses)
        share, kind, parts = _parts(item, losses)
        stratum = kind * plan.n_groups + plan.of_item()[item]
        n_strata = 2 * plan.n_groups
        contrast = share * (1 - share)
        summed = totals(np.stack([share, contrast, *parts]), unit * n_strata + stratum, n_units * n_strata)
        of_units = summed.reshape(-1, n_units, 2, plan.n_groups)
        of_strata = totals(np.stack([share**2, contrast * share]), stratum, n_strata).reshape(2, 2, plan.n_groups)
        by_stratum = np.zeros((n_models, n_models, n_strata))
        for at in np.unique(stratum):
            by_stratum[..., at] = squares_apart(parts[:, stratum == at])
        inverse, chance = of_strata
        square = by_stratum.reshape(n_models, n_models, 2, plan.n_groups)
        return cls(tuple(names), of_units[0], of_units[1], of_units[2:], inverse, chance, square)

    @property
    def n_units(self) -> int:
        return int(self.weight.any((1, 2)).sum())

    def __add__(self, other: "UnitSums") -> "UnitSums":
        """Those of both parts, of the same units."""
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in AXES})

    def of_models(self, models: FiniteInts) -> "UnitSums":
        """The same of some models."""
        return replace(self, total=self.total[models], square=self.square[np.ix_(models, models)])

    def among(self, names: tuple[str, ...], places: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> "UnitSums":
        """The same where units and groups are some of more."""
        return UnitSums(
            names, **{name: spread_out(getattr(self, name), axes, places, sizes) for name, axes in AXES.items()}
        )

    def spread(self, weights: GroupFloats) -> Spread:
        """How far the units tell how others like them differ."""
        in_strata = self.weight.sum(0)
        n_items = in_strata.sum(0)
        scale = ratio(weights, n_items)
        square_scale = scale**2
        # each unit's contrast with the others of its items; on items of one unit, with the others' items
        share = ratio(self.weight, in_strata)
        contrasts = self.contrast.copy()
        contrasts[:, 1] += self.weight[:, 1] * (1 - share[:, 1])
        noise = self.chance.copy()
        noise[1] += contrasts[:, 1].sum(0)
        # squares about a mean, those of the items of one unit, count for this as chance moves the totals
        factor = np.ones_like(noise)
        factor[1] = noise[1] / np.maximum(in_strata[1] - 1, 1)
        of_group = self.weight.sum(1)
        weight = of_group @ scale
        contrast = contrasts.sum(1) @ scale
        total_square = float((weight**2).sum())
        effective = float(ratio(weight.sum() ** 2, total_square, 1.0))
        of_chance = float((factor * noise @ square_scale).sum())
        signal = _signal(contrast) - of_chance
        size = 0.0
        df = 1.0
        counted = 0.0
        if signal > RESOLVED * total_square:
            df = max(float(effective_number(contrast**2)) - 1.0, 1.0)
            # of the variance between items the units have what they do not share within a group
            mean = ratio((of_group**2).sum(0), n_items)
            even = float(square_scale @ mean)
            inverse = float((self.inverse @ square_scale).sum())
            size = max(total_square - inverse + even, 0.0) / signal
            # noise in the estimate averages out over units
            of_noise = float((noise @ square_scale).sum())
            resolved = signal / (signal + of_noise / math.sqrt(df))
            # and the estimate tells little where its noise is many times that of the mean over the items (1: all see
            # all)
            noisy = size * of_noise / inverse
            more_noise = max(noisy - 1.0, 0.0) / NOISY
            resolved /= 1 + more_noise**2
            effective += (df - 1.0) * resolved**2
            counted = min(effective - 1.0, 1.0) ** SLOWLY * resolved
        return Spread(scale * np.sqrt(size), size * factor * square_scale, contrast, df, effective, counted)

    def units(self, weights: GroupFloats) -> UnitTotals:
        """What the units add to the means of all models and of their differences."""
        spread = self.spread(weights)
        mean = self._means()
        residual = self.total - self.weight * mean[:, None]
        # axes: model, other model, kind, group; a model itself on the diagonal
        apart = mean[:, None] - mean
        n_models = len(mean)
        diagonal = np.arange(n_models)
        apart[diagonal, diagonal] = mean
        of_means = self.weight.sum(0) * apart**2
        about_mean = np.maximum(self.square - of_means, 0.0)
        chance = (about_mean * spread.of_chance).sum((2, 3))
        return UnitTotals(residual.sum(2) @ spread.scale, chance, [spread] * n_models)

    def noise(self, weights: GroupFloats, item: CellInts, losses: ModelCell, plan: Design) -> ModelCell:
        """What chance gives as each of these cells varies: the squares add up to that of `units`."""
        _, kind, parts = _parts(item, losses)
        group = plan.of_item()[item]
        weight = np.sqrt(self.spread(weights).of_chance)
        return np.asarray(weight[kind, group] * (parts - self._means()[:, kind, group]))

    def _means(self) -> Float[np.ndarray, "model kind group"]:
        """Of the items of one unit; residuals on items of several are about the items' own means."""
        mean = self.total.sum(1) / np.maximum(self.weight.sum(0), 1)
        mean[:, 0] = 0.0
        return np.asarray(mean)


def _parts(item: CellInts, losses: ModelCell) -> tuple[CellFloats, CellInts, ModelCell]:
    """What of its item each cell is, whether it is all of it (1, else 0), and what it adds up as: r, or x."""
    starts = np.flatnonzero(np.diff(item, prepend=-1))  # the first cell of each item
    count = np.diff(starts, append=len(item))
    n_units = np.repeat(count, count)
    share = 1.0 / n_units
    of_one = n_units == 1
    mean = np.add.reduceat(losses, starts, axis=1) / count
    residual = losses - np.repeat(mean, count, axis=1)
    return share, of_one.astype(np.int64), np.where(of_one, losses, residual * share)


def squares_apart(parts: ModelCell) -> ModelModel:
    """Sums of squared differences of two models, and of a model itself on the diagonal."""
    n_models = len(parts)
    squares, _ = power_sums(parts)
    found = square_of(squares[n_models:, 0], n_models)
    np.fill_diagonal(found, squares[:n_models, 0])
    return found


def _signal(contrast: UnitFloats) -> float:
    """What a unit's variance of 1 gives in the sum of the squared totals of all units."""
    square = contrast**2
    others = contrast.sum() - contrast
    others[others <= RESOLVED * contrast.max()] = 0.0
    shared = ratio(square.sum() - square, others**2)
    return float(square @ (1 + shared))
