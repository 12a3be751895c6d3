"""Sufficient statistics: what the data say about the mean difference of every pair, free of order and names.

Each pair is summed up by itself, so a further model changes no bit of the answer about two others; identical models
have a variance of exactly 0. Sums do not depend on the order of the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from probtruth.comparison.companions.size_counts import SizeCounts
from probtruth.kernels.exact_sums import exact_sum, exact_totals

BLOCK = 1 << 20
"""Numbers held at once while the pairs' differences are summed up."""
ROUNDING = 8 * np.finfo(np.float64).eps
"""Differences that spread by less than this, relative to the scores, are one constant difference."""


TIES, RARE, ALIKE = 0.2, 30, 0.5
"""Above this share of ties, below so many units that differ, all of at least this share of the largest in size."""


@dataclass(frozen=True, eq=False)
class Means:
    """Means of each group with their estimated variance (NaN where a group has one unit) and third central moment.

    Where pseudo-items stand for differences that are too rare to be seen, `centre`, `variance` and `third` include
    them; `mean` and `plain_variance` never do.
    """

    mean: Float[np.ndarray, "row group"]
    plain_variance: Float[np.ndarray, "row group"]
    centre: Float[np.ndarray, "row group"]
    variance: Float[np.ndarray, "row group"]
    third: Float[np.ndarray, "row group"]


@dataclass(frozen=True, eq=False)
class Moments:
    """The means of every pair's difference (a < b, a minus b) and of every model's own score, in every group.

    `n_units` are the independent ones (clusters or items); `df` is n_units - 1.
    """

    n_items: Num[np.ndarray, " group"]
    n_units: Int[np.ndarray, " group"]
    pairs: Means
    levels: Means

    @property
    def df(self) -> Int[np.ndarray, " group"]:
        """Degrees of freedom of the variances."""
        return self.n_units - 1


@dataclass(frozen=True, eq=False)
class Structure:
    """Which items and which units belong together: each item's unit (None: it is one itself), each unit's group."""

    n_items: Int[np.ndarray, " group"]
    unit: Int[np.ndarray, " item"] | None
    group: Int[np.ndarray, " unit"]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.n_items)

    @property
    def n_units(self) -> Int[np.ndarray, " group"]:
        """Units of each group."""
        return np.bincount(self.group, minlength=self.n_groups)

    def of_item(self) -> Int[np.ndarray, " item"]:
        """Each item's group."""
        return self.group if self.unit is None else self.group[self.unit]

    def unit_totals(self, rows: Float[np.ndarray, "row item"]) -> Float[np.ndarray, "row unit"]:
        """The total of each unit."""
        return rows if self.unit is None else exact_totals(rows, self.unit, len(self.group))

    def group_totals(self, rows: Float[np.ndarray, "row unit"]) -> Float[np.ndarray, "row group"]:
        """The total of each group."""
        return exact_sum(rows)[:, None] if self.n_groups == 1 else exact_totals(rows, self.group, self.n_groups)

    @classmethod
    def of(cls, groups: Int[np.ndarray, " item"], clusters: Int[np.ndarray, " item"] | None) -> "Structure":
        """From each item's group and cluster; a cluster's items lie in one group."""
        n_items = np.bincount(groups)
        if clusters is None:
            return cls(n_items, None, groups)
        _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
        return cls(n_items, unit, groups[first])


def all_pairs(n_models: int) -> list[tuple[int, int]]:
    """The pairs (a, b) with a < b, in the order in which statistics of pairs are kept."""
    return list(combinations(range(n_models), 2))


def moments(values: Float[np.ndarray, "model item"], within: Structure, reach: float = 0.0) -> Moments:
    """Means, variances and third moments; with clusters, those of the item-weighted ratio estimator, linearised.

    Without groups, where more than a fifth of a pair's differences are ties and fewer than 30 are not, all of about one
    size, half an item is added at plus and at minus the largest of them (at `reach`, the largest that there can be, if
    all are ties and it is known), because the spread of what is too rare to be seen would be missed.

    Source: Cochran 1977, Sampling Techniques, section 9A.2 (clusters of unequal size), with the factor C/(C-1); Agresti
    and Min 2005, "Simple improved confidence intervals for comparing matched proportions", doi:10.1002/sim.1781.
    """
    pairs = np.array(all_pairs(len(values)), np.int64).reshape(-1, 2)
    largest = np.maximum(values.max(1), -values.min(1))
    step = max(1, BLOCK // values.shape[1])
    parts = [
        means_of(values[pair[:, 0]] - values[pair[:, 1]], largest[pair].max(1), within, reach)
        for pair in (pairs[start : start + step] for start in range(0, len(pairs), step))
    ]
    own = [
        means_of(values[start : start + step], largest[start : start + step], within, None)
        for start in range(0, len(values), step)
    ]
    return Moments(within.n_items, within.n_units, joined(parts, within.n_groups), joined(own, within.n_groups))


@runtime_checkable
class Rows(Protocol):
    """Rows with a number for each item, of which only sums over the items are asked, wherever they lie."""

    @property
    def n_items(self) -> Int[np.ndarray, " group"]:
        """Items of each group."""

    @property
    def n_units(self) -> Int[np.ndarray, " group"]:
        """Units (clusters or items) of each group."""

    def totals(self) -> Float[np.ndarray, "row group"]:
        """The total of each row in each group."""

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the units' residuals; 0 where all that is left is rounding."""

    def pseudo(self, reach: float) -> Float[np.ndarray, " row"]:
        """Where the pseudo-items of each row lie, 0 where it needs none."""

    def weighted(
        self, centre: Float[np.ndarray, "row group"], weight: Float[np.ndarray, " group"]
    ) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
        """The sum of squares of the units' weighted residuals, and the largest size of one."""

    def size_counts(self) -> list[SizeCounts]:
        """How many numbers of each row lie in narrow bins of their size."""


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows that are held in memory."""

    rows: Float[np.ndarray, "row item"]
    within: Structure

    @property
    def n_items(self) -> Int[np.ndarray, " group"]:
        """Items of each group."""
        return self.within.n_items

    @property
    def n_units(self) -> Int[np.ndarray, " group"]:
        """Units of each group."""
        return self.within.n_units

    @cached_property
    def units(self) -> Float[np.ndarray, "row unit"]:
        """The units' totals."""
        return self.within.unit_totals(self.rows)

    def totals(self) -> Float[np.ndarray, "row group"]:
        """The total of each row in each group."""
        return self.within.group_totals(self.units)

    def powers(
        self, chosen: Int[np.ndarray, " chosen"], centre: Float[np.ndarray, "chosen group"], largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares and of cubes of the units' residuals; 0 where all that is left is rounding."""
        rows = self.rows if len(chosen) == len(self.rows) else self.rows[chosen]
        residual = rows - (centre if self.within.n_groups == 1 else centre[:, self.within.of_item()])
        peak = np.maximum(residual.max(1), -residual.min(1))
        if (peak <= ROUNDING * largest).any():
            residual = np.where((peak <= ROUNDING * largest)[:, None], 0.0, residual)
        return unit_powers(self.within.unit_totals(residual), self.within)

    def pseudo(self, reach: float) -> Float[np.ndarray, " row"]:
        """Where the pseudo-items of each row lie."""
        n_units = self.units.shape[1]
        differ = np.count_nonzero(self.units, axis=1)
        least, most = np.zeros(len(differ)), np.zeros(len(differ))
        for row in np.nonzero(rare(differ, n_units) & (differ > 0))[0]:
            sizes = np.abs(self.units[row, self.units[row] != 0])
            least[row], most[row] = sizes.min(), sizes.max()
        return pseudo_items(differ, least, most, n_units, reach)

    def weighted(
        self, centre: Float[np.ndarray, "row group"], weight: Float[np.ndarray, " group"]
    ) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
        """The sum of squares of the units' weighted residuals, and the largest size of one."""
        group = self.within.of_item()
        residual = np.where(weight[group] > 0, (self.rows - centre[:, group]) * weight[group], 0.0)
        return squares(self.within.unit_totals(residual), self.within)

    def size_counts(self) -> list[SizeCounts]:
        """How many numbers of each row lie in narrow bins of their size."""
        return [SizeCounts.of(row) for row in self.rows]


def means_of(
    rows: Float[np.ndarray, "row item"], largest: Float[np.ndarray, " row"], within: Structure, reach: float | None
) -> Means:
    """The means of rows in memory; see `means_from`."""
    return means_from(HeldRows(rows, within), largest, reach)


def means_from(rows: Rows, largest: Float[np.ndarray, " row"], reach: float | None) -> Means:
    """The means of the rows; `largest` is the size of the scores behind each, `reach` None leaves rare ones alone."""
    n_items, n = rows.n_items, rows.n_units
    total = rows.totals()
    mean = total / n_items
    square, cube = rows.powers(np.arange(len(mean)), mean, largest)
    plain, third = _spread(square, cube, n, n_items)
    means = Means(mean, plain, mean, plain, third)
    if reach is None or len(n_items) > 1:
        return means
    size = float(n_items[0] / n[0])
    pseudo = rows.pseudo(reach * size)
    thin = np.nonzero(pseudo)[0]
    if not len(thin):
        return means
    centre, variance = mean.copy(), plain.copy()
    centre[thin] = total[thin] / (n_items + size)
    square, cube = rows.powers(thin, centre[thin], np.zeros(len(thin)))
    at, shift = pseudo[thin, None], size * centre[thin]
    variance[thin], third[thin] = _spread(
        square + at**2 + shift**2, cube - (3 * at**2 + shift**2) * shift, n + 1, n_items + size
    )
    return Means(mean, plain, centre, variance, third)


def unit_powers(residual: Float[np.ndarray, "row unit"], within: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares and of cubes in each group."""
    square = residual * residual
    of_square = within.group_totals(square)
    square *= residual
    return of_square, within.group_totals(square)


def squares(
    units: Float[np.ndarray, "row unit"], within: Structure
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """The sum of the units' squares, and the largest size of a unit."""
    return exact_sum(within.group_totals(units * units)), np.maximum(units.max(1), -units.min(1))


def _spread(
    square: Float[np.ndarray, "row group"],
    cube: Float[np.ndarray, "row group"],
    n: Int[np.ndarray, " group"],
    weight: Num[np.ndarray, " group"],
) -> tuple[np.ndarray, np.ndarray]:
    """Variance and third central moment of a mean, from the sums of powers of n units that weigh so many items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(n > 1, n / (n - 1) / weight**2 * square, np.nan)
        third = np.where(n > 2, n**2 / ((n - 1) * (n - 2)) / weight**3.0 * cube, 0.0)
    return variance, third


def pseudo_items(
    differ: Int[np.ndarray, " row"],
    least: Float[np.ndarray, " row"],
    most: Float[np.ndarray, " row"],
    n_units: int,
    reach: float,
) -> Float[np.ndarray, " row"]:
    """Where the pseudo-items of each row lie, 0 where it needs none.

    Arguments: how many units differ from 0, and the least and the largest size among those, for each row.
    """
    few = rare(differ, n_units)
    return np.where(few & (differ == 0), reach, np.where(few & (least >= ALIKE * most), most, 0.0))


def rare(differ: Int[np.ndarray, " row"], n_units: int) -> Bool[np.ndarray, " row"]:
    """Whether so few units differ from 0 that what is rarer still would be missed."""
    return np.asarray((differ < (1 - TIES) * n_units) & (differ < RARE))


def joined(parts: Sequence[Means], n_groups: int) -> Means:
    """Means of some rows, then of others, as one."""
    names = [field.name for field in fields(Means)]
    if not parts:
        return Means(*(np.zeros((0, n_groups)) for _ in names))
    return Means(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True, eq=False)
class Location:
    """Means under the estimand, with variance, third central moment and degrees of freedom of each."""

    n_units: int
    mean: Float[np.ndarray, " row"]
    plain_variance: Float[np.ndarray, " row"]
    centre: Float[np.ndarray, " row"]
    variance: Float[np.ndarray, " row"]
    third: Float[np.ndarray, " row"]
    df: Float[np.ndarray, " row"]

    @property
    def total_df(self) -> float:
        """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
        total = float(exact_sum(self.variance))
        return float(exact_sum(self.variance / total * self.df)) if total > 0 else float(self.df.max(initial=0.0))


def combine(parts: Moments, means: Means, weights: Float[np.ndarray, " group"]) -> Location:
    """The stratified mean: sum of weight times group mean, variances from the groups' own, no shrinkage.

    Groups with no degrees of freedom of their own take, together, the pooled within-group variance.

    Source (degrees of freedom): Satterthwaite 1946, doi:10.2307/3002019; with one group they are n - 1.
    """
    df, size = parts.df.astype(np.float64), parts.n_items.astype(np.float64)
    known = df > 0
    shares = weights[known] ** 2 * means.variance[:, known]
    total, spread = exact_sum(shares), exact_sum(shares**2 / df[known])
    if not known.all():
        pooled, pooled_df = pool(parts, means)
        rest = float(exact_sum(weights[~known] ** 2 / size[~known])) * pooled
        total, spread = total + rest, spread + rest**2 / pooled_df
    with np.errstate(invalid="ignore", divide="ignore"):
        rows_df = np.where(spread > 0, total**2 / spread, df.sum())
    return Location(
        int(parts.n_units.sum()),
        exact_sum(weights * means.mean),
        means.plain_variance[:, 0] if len(df) == 1 else total,
        exact_sum(weights * means.centre),
        total,
        exact_sum(weights**3 * means.third),
        rows_df,
    )


def pool(parts: Moments, means: Means) -> tuple[Float[np.ndarray, " row"], int]:
    """The pooled within-group variance of one item, for each row, and its degrees of freedom."""
    known = parts.df > 0
    if not known.any():
        return np.full(len(means.mean), np.nan), 0
    weight = parts.df[known] * parts.n_items[known]
    df = int(parts.df.sum())
    return exact_sum(weight * means.variance[:, known]) / df, df


def square(pairs: Float[np.ndarray, " pair"], n_models: int, sign: float = 1.0) -> Float[np.ndarray, "model model"]:
    """A matrix with the pairs' values above its diagonal and `sign` times them below."""
    matrix = np.zeros((n_models, n_models))
    above = np.triu_indices(n_models, 1)
    matrix[above] = pairs
    matrix.T[above] = sign * pairs
    return matrix


def contrasts(difference: Float[np.ndarray, "*batch pair"], n_models: int) -> Float[np.ndarray, "*batch model"]:
    """Each model's mean minus the mean of all models, from the pairs' differences."""
    n_pairs = difference.shape[-1]
    place, sign = square(np.arange(float(n_pairs)), n_models).astype(int), square(np.ones(n_pairs), n_models, -1.0)
    return np.stack([(difference[..., pair] * of).mean(-1) for pair, of in zip(place, sign, strict=True)], axis=-1)


def contrast_covariance(variance: Float[np.ndarray, " pair"], n_models: int) -> Float[np.ndarray, "model model"]:
    """The covariance of the contrasts whose differences have these variances (minus half of them, doubly centred)."""
    half = -0.5 * square(variance, n_models)
    return half - half.mean(0) - half.mean(1)[:, None] + half.mean()
