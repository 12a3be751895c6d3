"""What the sums say of every mean: its variance and third moment in each group, and under the weights of the groups."""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from probtruth.comparison.design import Structure
from probtruth.comparison.pairs import pairs_of
from probtruth.comparison.sums import RARE, PerGroup, PerRow, Sums, few_sizes

# Differences that spread by less than this, relative to the scores, are one constant difference.
ROUNDING = 8 * np.finfo(np.float64).eps
# Above this share of ties, all others of at least this share of the largest in size, pseudo-items are added.
TIES, ALIKE = 0.2, 0.5


@dataclass(frozen=True, eq=False)
class Means:
    """Means of each group with their estimated variance (NaN where a group has one unit) and third central moment."""

    mean: PerGroup
    plain_variance: PerGroup
    centre: PerGroup
    variance: PerGroup
    third: PerGroup
    low: PerRow
    high: PerRow
    df: PerGroup | None = None


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """The means of every pair's difference (a < b, a minus b) and of every model's own score, in every group."""

    n_items: Num[np.ndarray, " group"]
    n_units: Int[np.ndarray, " group"]
    df: Float[np.ndarray, " group"]
    pairs: Means
    levels: Means

    @classmethod
    def of(cls, within: Structure, pairs: Means, levels: Means) -> "GroupMeans":
        return cls(within.n_items, within.n_units, within.df, pairs, levels)


def moments(values: Float[np.ndarray, "model item"], within: Structure, pseudo: float = 0.0) -> GroupMeans:
    """The means of scores in memory and of all pairs."""
    pairs, largest = pairs_of(np.arange(len(values))), np.maximum(values.max(1), -values.min(1))
    sums, own = Sums.of(values, within, pairs), np.arange(len(values))
    of_pairs = means_from(sums.of_rows(len(values) + np.arange(len(pairs))), within, largest[pairs].max(1), pseudo)
    return GroupMeans.of(within, of_pairs, means_from(sums.of_rows(own), within, largest, None))


def means_of(
    rows: Float[np.ndarray, "row item"], largest: PerRow, within: Structure, pseudo: float | None = None
) -> Means:
    """The means of rows in memory; see `means_from`."""
    return means_from(Sums.of(rows, within), within, largest, pseudo)


def means_from(sums: Sums, within: Structure, largest: PerRow, pseudo: float | None) -> Means:
    """The means of the rows; with clusters, those of the item-weighted ratio estimator, linearised.

    `largest` is the size of the scores behind each row. Where nearly all units agree, the variance would miss what is
    rare: one unit more is counted whose difference is as large as those that occur (as `pseudo`, the largest that can
    occur, where all agree), of either sign. None leaves such rows alone.
    """
    n_items, n = within.n_items, within.n_units
    low, high, totals = sums.low, sums.high, None
    rounding = np.maximum(high, -low).max(1) <= ROUNDING * largest
    mean, low, high = (np.where(rounding[:, None], 0.0, some) for some in (sums.mean, low, high))
    sums = replace(sums, mean=mean)
    if sums.square is None:
        totals = sums.n * sums.mean
        mean = within.group_totals(totals) / n_items
    constant = np.maximum(high - mean, mean - low).max(1) <= ROUNDING * largest
    square, cube = _powers(sums, within, mean, constant)
    plain, third = spread_of(square, cube, n, n_items)
    means = Means(mean, plain, mean, plain, third, low.min(1), high.max(1))
    if pseudo is None or len(n_items) > 1:
        return means
    size = float(n_items[0] / n[0])
    differ, least, most = (sums.differ, sums.least, sums.most) if totals is None else few_sizes(totals)
    same = (low == high).all(1) | (differ == 0)
    at = np.where(same, pseudo * size, np.where(rare(differ, int(n[0])) & (least >= ALIKE * most), most, 0.0))
    at[rounding & ~same] = 0.0
    few = np.flatnonzero(at)
    if not len(few):
        return means
    centre, variance = mean.copy(), plain.copy()
    centre[few] = mean[few] * n_items / (n_items + size)
    square, cube = _powers(sums.of_rows(few), within, centre[few], constant[few])
    out, shift = at[few, None], size * centre[few]
    variance[few], third[few] = spread_of(
        square + out**2 + shift**2, cube - (3 * out**2 + shift**2) * shift, n + 1, n_items + size
    )
    return Means(mean, plain, centre, variance, third, means.low, means.high)


def _powers(
    sums: Sums, within: Structure, centre: PerGroup, constant: Bool[np.ndarray, " row"]
) -> tuple[PerGroup, PerGroup]:
    """Sums of squares and of cubes of the units' residuals about centres; 0 of a constant about itself."""
    if sums.square is None or sums.cube is None:
        group = within.of_unit()
        residual = sums.n * (sums.mean - centre[:, group])
        residual[constant & (np.abs(residual).max(1) <= ROUNDING * np.abs(sums.n * sums.mean).max(1))] = 0.0
        square = residual**2 * within.leverage
        return within.group_totals(square), within.group_totals(square * residual)
    square, cube = (np.where(constant[:, None], 0.0, power) for power in (sums.square, sums.cube))
    shift = sums.mean - centre
    shift[np.abs(shift) <= ROUNDING * np.abs(centre)] = 0.0
    return square + sums.n * shift**2, cube + 3 * square * shift + sums.n * shift**3


def rare(differ: Int[np.ndarray, " row"], n_units: int) -> Bool[np.ndarray, " row"]:
    """Whether so few units differ from 0 that what is rarer still would be missed."""
    return np.asarray((differ < (1 - TIES) * n_units) & (differ < RARE))


def spread_of(
    square: PerGroup, cube: PerGroup, n: Int[np.ndarray, " group"], weight: Num[np.ndarray, " group"]
) -> tuple[np.ndarray, np.ndarray]:
    """Variance and third central moment of a mean, from the sums of powers of n units that weigh so many items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(n > 1, n / (n - 1) / weight**2 * square, np.nan)
        third = np.where(n > 2, n**2 / ((n - 1) * (n - 2)) / weight**3.0 * cube, 0.0)
    return variance, third


@dataclass(frozen=True, eq=False)
class Location:
    """Means under the estimand, with variance, third central moment and degrees of freedom of each."""

    n_units: int
    mean: PerRow
    plain_variance: PerRow
    centre: PerRow
    variance: PerRow
    third: PerRow
    df: PerRow

    def of(self, rows: Int[np.ndarray, " chosen"]) -> "Location":
        """Those of some rows."""
        return Location(self.n_units, *(getattr(self, field.name)[rows] for field in fields(self)[1:]))

    @property
    def total_df(self) -> float:
        """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
        total = float(self.variance.sum())
        return float((self.variance / total * self.df).sum()) if total > 0 else float(self.df.max(initial=0.0))


def combine(parts: GroupMeans, means: Means, weights: Float[np.ndarray, " group"]) -> Location:
    """The stratified mean: sum of weight times group mean, variances from the groups' own, no shrinkage."""
    df = parts.df if means.df is None else means.df
    size, known = parts.n_items.astype(np.float64), parts.df > 0
    shares = weights[known] ** 2 * means.variance[:, known]
    total, spread = shares.sum(1), (shares**2 / df[..., known]).sum(1)
    if not known.all():
        pooled, pooled_df = pool(parts, means)
        rest = float((weights[~known] ** 2 / size[~known]).sum()) * pooled
        total, spread = total + rest, spread + rest**2 / pooled_df
    with np.errstate(invalid="ignore", divide="ignore"):
        rows_df = np.where(spread > 0, total**2 / spread, df.sum(-1))
    return Location(
        int(parts.n_units.sum()),
        means.mean @ weights,
        means.plain_variance[:, 0] if len(size) == 1 else total,
        means.centre @ weights,
        total,
        means.third @ weights**3,
        rows_df,
    )


def correlated_folds(parts: GroupMeans, correlation: float) -> GroupMeans:
    r"""The moments of each group whose items are folds: every variance times $1 + n \rho/(1 - \rho)$."""
    factor = 1 + parts.n_items * correlation / (1 - correlation)
    pairs, levels = (
        replace(
            means,
            plain_variance=means.plain_variance * factor,
            variance=means.variance * factor,
            third=np.zeros_like(means.third),
        )
        for means in (parts.pairs, parts.levels)
    )
    return replace(parts, n_items=parts.n_items / factor, pairs=pairs, levels=levels)


def pool(parts: GroupMeans, means: Means) -> tuple[PerRow, float]:
    """The pooled within-group variance of one item, for each row, and its degrees of freedom."""
    known = parts.df > 0
    if not known.any():
        return np.full(len(means.mean), np.nan), 0
    weight = parts.df[known] * parts.n_items[known]
    df = float(parts.df.sum())
    return means.variance[:, known] @ weight / df, df
