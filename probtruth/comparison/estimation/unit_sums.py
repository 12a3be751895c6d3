r"""Units that many items share, annotators or training seeds: their bias does not average out over the items.

x_iu is the loss on item i as unit u sees it, m_i the number of units on the item, w_i what the item counts for. With
residuals r_iu = w_i (x_iu - mean_i) / m_i (of an item with one unit: from the mean of such items in its group) the
units add to the variance of the mean what they have in common over items, beyond what chance gives:

    size * max(0, sum_u (sum_i r_iu)^2 - sum_iu r_iu^2)

`size` makes that unbiased. With W_u = sum_i w_i/m_i, V_u = sum_i w_i/m_i (1 - 1/m_i) and, what u and v share,
A_uv = sum_i w_i/m_i^2, it is the ratio of sum_u W_u^2 to sum_u V_u^2 + sum_{u,v} A_uv^2, each less the part of single
cells. A unit without votes has no weight in any of these sums, so that the first vote of a new unit moves them by one
vote's worth.

A cell is what one unit says of one item, or of one cluster: what a unit has in common over the items of a cluster is in
the variance between clusters (Cameron, Gelbach and Miller 2011).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from probtruth.comparison.estimation.design import Design, spread_out, square_of, totals
from probtruth.comparison.estimation.design import effective as effective_number
from probtruth.comparison.estimation.estimate import UnitsInGroups, power_sums
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
    in_groups: UnitsInGroups


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
    "contrast": ("unit", "group"),
    "total": ("model", "unit", "kind", "group"),
    "square": ("model", "model", "kind", "group"),
    "chance": ("group",),
    "alone": ("unit", "group"),
    "crossed": ("model", "group"),
    "inverse": ("group",),
    "sized": ("unit", "group"),
    "sizes": ("group",),
    "clusters": ("group",),
}


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums over the items of several units of each group, and over those of one, which add up over parts of the items.

    The sums are of r = (x - mean)/m over the cells of the former, and of x itself over those of the latter. A cell has
    the items that its unit has of one cluster, which must not be in two parts; without clusters, of one item.
    """

    names: tuple[str, ...]
    weight: Float[np.ndarray, "unit kind group"]  # of 1/m
    contrast: Float[np.ndarray, "unit group"]  # of (1 - 1/m)/m over items of several units
    beside: csr_array  # of 1/m^2 over the items of two units: a row for each unit, a column for each unit and group
    total: Float[np.ndarray, "model unit kind group"]
    # squares of cells' sums of differences of two models; of a model itself on the diagonal
    square: Float[np.ndarray, "model model kind group"]
    chance: GroupFloats  # of the squares of what units of bias 1 give cells
    alone: Float[np.ndarray, "unit group"]  # of the squares of cells' weights, over items of one unit
    crossed: Float[np.ndarray, "model group"]  # of cells' weights times their sums, over items of one unit
    inverse: GroupFloats  # of the squares of the weights of cells of both kinds
    sized: Float[np.ndarray, "unit group"]  # of 1/m times the size of the item's cluster
    sizes: GroupFloats  # of the squares of the sizes of clusters
    clusters: GroupFloats  # their number

    @classmethod
    @np.errstate(invalid="ignore")  # of infinite losses, whose models are left out
    def of(cls, names: Sequence[str], item: CellInts, unit: CellInts, losses: ModelCell, plan: Design) -> "UnitSums":
        """From votes by item, no two of one item and one unit, and every model's loss of each."""
        n_units = len(names)
        n_models = len(losses)
        n_groups = plan.n_groups
        share, kind, parts = _parts(item, losses)
        group = plan.of_item()[item]
        cluster = item if plan.unit is None else plan.unit[item]
        items = np.flatnonzero(np.diff(item, prepend=-1))  # the first vote of each
        n_in = np.bincount(cluster[items])
        used = np.flatnonzero(n_in)
        group_of = np.zeros(len(n_in), np.int64)
        group_of[cluster] = group
        stratum = kind * n_groups + group
        n_strata = 2 * n_groups
        votes = np.stack([share, share * (1 - share), share * n_in[cluster], *parts])
        of_units = totals(votes, unit * n_strata + stratum, n_units * n_strata).reshape(-1, n_units, 2, n_groups)
        seen = csr_array((share, (item, unit)), (plan.n_items, n_units))
        of_groups = csr_array((share, (item, unit * n_groups + group)), (plan.n_items, n_units * n_groups))
        first = np.arange(len(item))
        cells = votes
        weights = share[None]
        at = group
        if plan.unit is not None:
            of_cluster = cluster * n_units + unit
            first, weights = in_cells(of_cluster, weights)
            at = group[first]
            first, cells = in_cells(2 * of_cluster + kind, votes)
        inverse = np.bincount(at, weights[0] ** 2, n_groups)
        weight, contrast, _ = cells[:3]
        of_models = cells[3:]
        stratum = stratum[first]
        square = np.zeros((n_models, n_models, n_strata))
        for at in np.unique(stratum):
            square[..., at] = squares_apart(of_models[:, stratum == at])
        biased = _biased(contrast, cluster[first])
        of_one = np.flatnonzero(kind[first])
        one = first[of_one]
        alone = totals(weight[None, of_one] ** 2, unit[one] * n_groups + group[one], n_units * n_groups)
        return cls(
            names=tuple(names),
            weight=of_units[0],
            contrast=of_units[1, :, 0],
            beside=seen.T @ of_groups,
            total=of_units[3:],
            square=square.reshape(n_models, n_models, 2, n_groups),
            chance=np.bincount(group[first], biased, n_groups),
            alone=alone.reshape(n_units, n_groups),
            crossed=totals(weight[of_one] * of_models[:, of_one], group[one], n_groups),
            inverse=inverse,
            sized=of_units[2].sum(1),
            sizes=np.bincount(group_of[used], n_in[used] ** 2.0, n_groups),
            clusters=np.bincount(group_of[used], minlength=n_groups).astype(np.float64),
        )

    @property
    def n_units(self) -> int:
        return int(self.weight.any((1, 2)).sum())

    @property
    def most_in_group(self) -> int:
        """The number of units of the group that has most."""
        return int(self.weight.any(1).sum(0).max(initial=0))

    def __add__(self, other: "UnitSums") -> "UnitSums":
        """Those of both parts, of the same units."""
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in (*AXES, "beside")})

    def of_models(self, models: FiniteInts) -> "UnitSums":
        """The same of some models."""
        square = self.square[np.ix_(models, models)]
        return replace(self, total=self.total[models], square=square, crossed=self.crossed[models])

    def among(self, names: tuple[str, ...], places: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> "UnitSums":
        """The same where units and groups are some of more."""
        arrays: dict[str, Any] = {}
        for name, axes in AXES.items():
            arrays[name] = spread_out(getattr(self, name), axes, places, sizes)
        entries = self.beside.tocoo()
        unit, group = np.divmod(entries.col, self.weight.shape[2])
        n_units = len(names)
        n_groups = sizes["group"]
        place = places["unit"]
        at = place[entries.row], place[unit] * n_groups + places["group"][group]
        beside = csr_array((entries.data, at), (n_units, n_units * n_groups))
        return UnitSums(names=names, beside=beside, **arrays)

    def spread(self, weights: GroupFloats) -> Spread:
        """How far the units tell how others like them differ."""
        in_strata = self.weight.sum(0)
        n_items = in_strata.sum(0)
        scale = ratio(weights, n_items)
        square_scale = scale**2
        # each unit's contrast with the others of its items; on items of one unit, with the others' items
        n_of_one = in_strata[1]
        of_one = self.weight[:, 1]
        share = ratio(of_one, n_of_one)
        contrasts = self.contrast + of_one * (1 - share)
        of_bias = 1 - 2 * share + (share**2).sum(0)
        noise = np.stack([self.chance, (self.alone * of_bias).sum(0)])
        # squares about a mean, those of the items of one unit, count for this as chance moves the totals
        factor = np.ones_like(noise)
        of_totals = n_of_one - (of_one * share).sum(0)
        factor[1] = ratio(of_totals, n_of_one - ratio(self.alone.sum(0), n_of_one))
        of_group = self.weight.sum(1)
        weight = of_group @ scale
        contrast = contrasts @ scale
        total_square = float((weight**2).sum())
        share_of_group = ratio(of_group, n_items)
        effective = float(ratio(weight.sum() ** 2, total_square, 1.0))
        of_chance = float((factor * noise @ square_scale).sum())
        square = float((contrast**2).sum())
        moved = square + self._shared(scale)
        signal = moved - of_chance
        size = 0.0
        df = 1.0
        counted = 0.0
        if signal > RESOLVED * total_square:
            # one is lost to what all units have in common; where teams share no items, one to each team's
            n_like = float(effective_number(contrast**2))
            df = max(min(n_like - 1, n_like * square / moved), 1.0)
            # of the variance between clusters the units have what they do not share within a group
            even = 2 * (self.sized * share_of_group).sum(0) - self.sizes * (share_of_group**2).sum(0)
            between = ratio(self.clusters, self.clusters - 1) * (self.inverse - even)
            size = max(total_square - float(square_scale @ between), 0.0) / signal
            inverse = float(square_scale @ self.inverse)
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
        return Spread(
            scale=scale * np.sqrt(size),
            of_chance=size * factor * square_scale,
            contrast=contrast,
            df=df,
            effective=effective,
            counted=counted,
            in_groups=UnitsInGroups.of(share_of_group, weights),
        )

    def units(self, weights: GroupFloats) -> UnitTotals:
        """What the units add to the means of all models and of their differences."""
        spread = self.spread(weights)
        mean = self._means()  # of items of one unit; residuals on items of several are about the items' own means
        residual = self.total.sum(2) - self.weight[:, 1] * mean[:, None]
        # axes: model, other model, kind, group; a model itself on the diagonal
        apart = _differences(mean)
        crossed = _differences(self.crossed)
        about_mean = self.square.copy()
        about_mean[:, :, 1] += apart * (apart * self.alone.sum(0) - 2 * crossed)
        chance = (np.maximum(about_mean, 0.0) * spread.of_chance).sum((2, 3))
        return UnitTotals(residual @ spread.scale, chance, [spread] * len(mean))

    def noise(
        self, weights: GroupFloats, item: CellInts, losses: ModelCell, plan: Design
    ) -> Float[np.ndarray, "model kind cell"]:
        """What chance gives as each of these votes varies: the squares of its cells add up to that of `units`."""
        _, kind, parts = _parts(item, losses)
        group = plan.of_item()[item]
        weight = np.sqrt(self.spread(weights).of_chance)[kind, group]
        of_mean = np.where(kind, self._means()[:, group], 0.0)
        found = np.zeros((len(parts), 2, len(item)))
        found[:, kind, np.arange(len(item))] = weight * (parts - of_mean)
        return found

    def _shared(self, scale: GroupFloats) -> float:
        """The sum of the squares of what two units share: how far the bias of one moves the totals of the other."""
        n_units = len(self.names)
        n_groups = self.weight.shape[2]
        entries = self.beside.tocoo()
        unit, group = np.divmod(entries.col, n_groups)
        several = csr_array((entries.data * scale[group], (entries.row, unit)), (n_units, n_units))
        of_one = self.weight[:, 1]  # of whose items all units share what their mean has of each
        each = ratio(scale, of_one.sum(0))
        itself = several.diagonal() + of_one**2 @ each
        of_both = float(each @ (of_one * (several @ of_one)).sum(0))
        of_ones = float(each @ np.square(of_one.T @ of_one) @ each)
        return float((several.data**2).sum()) + 2 * of_both + of_ones - float((itself**2).sum())

    def _means(self) -> Float[np.ndarray, "model group"]:
        """Of the items of one unit."""
        return np.asarray(ratio(self.total[:, :, 1].sum(1), self.weight[:, 1].sum(0)))


def _differences(rows: Float[np.ndarray, "model group"]) -> Float[np.ndarray, "model model group"]:
    """Of every two models, and of a model itself on the diagonal."""
    found = rows[:, None] - rows
    itself = np.arange(len(rows))
    found[itself, itself] = rows
    return found


def in_cells(
    code: CellInts, votes: Float[np.ndarray, "row cell"]
) -> tuple[Int[np.ndarray, " sum"], Float[np.ndarray, "row sum"]]:
    """The first vote of each cell, by its code, and the sums of the rows over its votes."""
    _, first, cell = np.unique(code, return_index=True, return_inverse=True)
    return first, votes[:, first] if len(first) == len(code) else totals(votes, cell, len(first))


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


def _biased(contrast: CellFloats, cluster: CellInts) -> CellFloats:
    """The squares of what units of bias 1 give cells; what two units share goes by what they share with all others."""
    square = contrast**2
    others = np.bincount(cluster, contrast)[cluster] - contrast
    others[others <= RESOLVED * contrast] = 0.0
    squares = np.bincount(cluster, square)[cluster] - square
    return square * (1 + ratio(squares, others**2))
