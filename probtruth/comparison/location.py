"""From items to means: sums over the items, from these every mean's variance and third moment, the whole over groups.

A row is a model's own mean or a pair's difference, a minus b; `rows_of` has their order.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped

from probtruth.comparison.design import Design

BLOCK = 1 << 17  # Numbers worked on at once: they stay in the processor's cache
RARE = 30  # Sizes are looked at one by one where fewer numbers than this differ from 0
# Differences that spread by less than this, relative to the scores, are one constant difference.
ROUNDING = 8 * np.finfo(np.float64).eps
# Above this share of ties, all others of at least this share of the largest in size, pseudo-items are added.
TIES, ALIKE = 0.2, 0.5

PerRow = Float[np.ndarray, " row"]
PerGroup = Float[np.ndarray, "row group"]


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of rows (scores, or their differences) over the items of each cell: a group, or a cluster in it.

    `powers` are the mean and, where cells are groups, the sums of squared and of cubed residuals; `ends` the least and
    the largest value; `sizes` how many numbers of a row are not 0 and, of few, their least and largest size.
    """

    n: Int[np.ndarray, " cell"]
    powers: Float[np.ndarray, "power row cell"]
    ends: Float[np.ndarray, "end row group"]
    sizes: Float[np.ndarray, "size row"]

    @classmethod
    def of(cls, values: Float[np.ndarray, "model item"], plan: Design, pairs: np.ndarray | None = None) -> "Sums":
        """Those of the rows of values, or of them and the differences of these pairs."""
        n_rows, n_items = len(values) + (0 if pairs is None else len(pairs)), values.shape[1]
        cell, n_cells = plan.group if plan.unit is None else plan.unit, plan.n_clusters or plan.n_groups
        if cell is None:
            cells = groups = starts = group_starts = np.zeros(1, np.int64)
        else:
            order = np.lexsort((cell, plan.of_item()))
            values = np.take(values, order, axis=1) if (np.diff(order) != 1).any() else values  # rows stay contiguous
            ordered, of_group = cell[order], plan.of_item()[order]
            starts, group_starts = (np.flatnonzero(np.diff(codes, prepend=-1)) for codes in (ordered, of_group))
            cells, groups = ordered[starts], of_group[group_starts]
        counts, made, step = np.diff(starts, append=n_items), [], max(1, BLOCK // max(n_items, 1))
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, n_rows, step):
                rows = values[start : start + step]
                if pairs is not None and start + step > len(values):
                    first, second = pairs[max(0, start - len(values)) : start + step - len(values)].T
                    rows = np.concatenate([rows, values[first] - values[second]])
                powers = [np.add.reduceat(rows, starts, axis=1) / counts]
                if plan.n_clusters is None:
                    residual = rows - (powers[0] if cell is None else np.repeat(powers[0], counts, axis=1))
                    raised = residual * residual
                    powers.append(np.add.reduceat(raised, starts, axis=1))
                    raised *= residual
                    powers.append(np.add.reduceat(raised, starts, axis=1))
                ends = [end.reduceat(rows, group_starts, axis=1) for end in (np.minimum, np.maximum)]
                made.append((np.stack(powers), np.stack(ends), few_sizes(rows)))
        all_powers, all_ends, sizes = (np.concatenate(part, axis=1) for part in zip(*made, strict=True))
        made_of = cls(counts, all_powers, all_ends, sizes)
        return made_of if cell is None else made_of.among(cells, n_cells, groups, plan.n_groups)

    def of_rows(self, rows: Int[np.ndarray, " chosen"]) -> "Sums":
        return Sums(self.n, self.powers[:, rows], self.ends[:, rows], self.sizes[:, rows])

    def among(
        self, cells: Int[np.ndarray, " cell"], n_cells: int, groups: Int[np.ndarray, " group"], n_groups: int
    ) -> "Sums":
        """The same where the cells and groups are some of more."""
        ends = [wide(end, groups, n_groups, empty) for end, empty in zip(self.ends, (np.inf, -np.inf), strict=True)]
        return Sums(wide(self.n, cells, n_cells), wide(self.powers, cells, n_cells), np.stack(ends), self.sizes)

    def __add__(self, other: "Sums") -> "Sums":
        """Those of both parts, of the same cells (Chan, Golub and LeVeque 1983, doi:10.2307/2683386)."""
        one, two = self.n.astype(np.float64), other.n.astype(np.float64)
        n = np.maximum(one + two, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            merged = self.powers + other.powers
            apart = np.where((one > 0) & (two > 0), other.powers[0] - self.powers[0], 0.0)
            merged[0] = np.where(one > 0, self.powers[0], other.powers[0]) + apart * two / n
            if len(merged) > 1:
                merged[1] += apart**2 * one * two / n
                merged[2] += apart**3 * one * two * (one - two) / n**2
                merged[2] += 3 * apart * (one * other.powers[1] - two * self.powers[1]) / n
        differ = self.sizes[0] + other.sizes[0]
        least, most = np.minimum(self.sizes[1], other.sizes[1]), np.maximum(self.sizes[2], other.sizes[2])
        sizes = np.stack([differ, np.where(differ < RARE, least, np.inf), np.where(differ < RARE, most, 0.0)])
        low, high = np.minimum(self.ends[0], other.ends[0]), np.maximum(self.ends[1], other.ends[1])
        return Sums(self.n + other.n, merged, np.stack([low, high]), sizes)


def few_sizes(rows: Float[np.ndarray, "row unit"]) -> Float[np.ndarray, "size row"]:
    """How many numbers of each row are not 0, and the least and the largest size of those, where they are few."""
    differ = np.array([np.count_nonzero(row) for row in rows], np.int64)
    least, most = np.full(len(rows), np.inf), np.zeros(len(rows))
    for row in np.flatnonzero((differ > 0) & (differ < RARE)):
        sizes = np.abs(rows[row][rows[row] != 0])
        least[row], most[row] = sizes.min(), sizes.max()
    return np.stack([differ, least, most])


def wide(
    part: Shaped[np.ndarray, "*rows some"], places: Int[np.ndarray, " some"], size: int, empty: float = 0
) -> np.ndarray:
    """The same where its columns are some of more."""
    wide = np.full((*part.shape[:-1], size), empty, part.dtype)
    wide[..., places] = part
    return wide


@dataclass(frozen=True, eq=False)
class Means:
    """Means of each group with their estimated variance (NaN where a group has one unit) and third central moment.

    `df` are the degrees of freedom of the design, `row_df` those of each row.
    """

    n_items: Num[np.ndarray, " group"]
    n_units: Int[np.ndarray, " group"]
    df: Float[np.ndarray, " group"]
    mean: PerGroup
    plain_variance: PerGroup
    centre: PerGroup
    variance: PerGroup
    third: PerGroup
    row_df: PerGroup
    low: PerRow
    high: PerRow

    def of(self, rows: slice) -> "Means":
        return Means(self.n_items, self.n_units, self.df, *(getattr(self, one.name)[rows] for one in fields(self)[3:]))


def means_from(sums: Sums, plan: Design, largest: PerRow, pseudo: float | None = None, n_own: int = 0) -> Means:
    """The means of the rows; with clusters, those of the item-weighted ratio estimator, linearised.

    `largest` is the size of the scores behind each row. Where nearly all units agree, the variance would miss what is
    rare: one unit more is counted whose difference is as large as those that occur (as `pseudo`, the largest that can
    occur, where all agree), of either sign. None, and the first `n_own` rows, leave this alone.
    """
    n_items, n, (low, high), unit_sums = plan.group_sizes, plan.group_units, sums.ends, None
    rounding = np.maximum(high, -low).max(1) <= ROUNDING * largest
    mean, low, high = (np.where(rounding[:, None], 0.0, some) for some in (sums.powers[0], low, high))
    sums = replace(sums, powers=np.concatenate([mean[None], sums.powers[1:]]))
    if plan.n_clusters is not None:
        unit_sums = sums.n * mean
        mean = plan.group_totals(unit_sums) / n_items
    constant = np.maximum(high - mean, mean - low).max(1) <= ROUNDING * largest
    plain, third = spread_of(*_residual_powers(sums, plan, mean, constant), n, n_items)
    row_df = np.broadcast_to(plan.df, mean.shape)
    means = Means(n_items, n, plan.df, mean, plain, mean, plain, third, row_df, low.min(1), high.max(1))
    if pseudo is None or plan.grouped:
        return means
    size = float(n_items[0] / n[0])
    differ, least, most = sums.sizes if unit_sums is None else few_sizes(unit_sums)
    same = (low == high).all(1) | (differ == 0)
    rare = (differ < (1 - TIES) * n[0]) & (differ < RARE) & (least >= ALIKE * most)
    out = np.where(same, pseudo * size, np.where(rare, most, 0.0))
    out[rounding & ~same] = 0.0
    out[:n_own] = 0.0
    few = np.flatnonzero(out)
    if not len(few):
        return means
    centre, variance, out = mean.copy(), plain.copy(), out[few, None]
    centre[few] = mean[few] * n_items / (n_items + size)
    square, cube = _residual_powers(sums.of_rows(few), plan, centre[few], constant[few])
    shift = size * centre[few]
    square, cube = square + out**2 + shift**2, cube - (3 * out**2 + shift**2) * shift
    variance[few], third[few] = spread_of(square, cube, n + 1, n_items + size)
    return replace(means, centre=centre, variance=variance)


def _residual_powers(
    sums: Sums, plan: Design, centre: PerGroup, constant: Bool[np.ndarray, " row"]
) -> tuple[PerGroup, PerGroup]:
    """Sums of squares and of cubes of the units' residuals about centres; 0 of a constant about itself."""
    mean = sums.powers[0]
    if plan.n_clusters is not None:
        residual = sums.n * (mean - centre[:, plan.of_unit()])
        residual[constant & (np.abs(residual).max(1) <= ROUNDING * np.abs(sums.n * mean).max(1))] = 0.0
        square = residual**2 * plan.leverage
        return plan.group_totals(square), plan.group_totals(square * residual)
    square, cube = np.where(constant[:, None], 0.0, sums.powers[1:])
    shift = mean - centre
    shift[np.abs(shift) <= ROUNDING * np.abs(centre)] = 0.0
    return square + sums.n * shift**2, cube + 3 * square * shift + sums.n * shift**3


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

    def of(self, rows: slice | Int[np.ndarray, " chosen"]) -> "Location":
        return Location(self.n_units, *(getattr(self, one.name)[rows] for one in fields(self)[1:]))

    @property
    def total_df(self) -> float:
        """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
        total = float(self.variance.sum())
        return float((self.variance / total * self.df).sum()) if total > 0 else float(self.df.max(initial=0.0))


def combine(means: Means, weights: Float[np.ndarray, " group"]) -> Location:
    """The stratified mean: sum of weight times group mean, variances from the groups' own, no shrinkage."""
    size, known, df = means.n_items.astype(np.float64), means.df > 0, means.row_df
    shares = weights[known] ** 2 * means.variance[:, known]
    total, spread = shares.sum(1), (shares**2 / df[:, known]).sum(1)
    if not known.all():
        pooled, pooled_df = pool(means)
        rest = float((weights[~known] ** 2 / size[~known]).sum()) * pooled
        total, spread = total + rest, spread + rest**2 / pooled_df
    with np.errstate(invalid="ignore", divide="ignore"):
        rows_df = np.where(spread > 0, total**2 / spread, df.sum(-1))
    return Location(
        int(means.n_units.sum()),
        means.mean @ weights,
        means.plain_variance[:, 0] if len(size) == 1 else total,
        means.centre @ weights,
        total,
        means.third @ weights**3,
        rows_df,
    )


def correlated_folds(means: Means, correlation: float) -> Means:
    r"""The moments of each group whose items are folds: every variance times $1 + n \rho/(1 - \rho)$."""
    factor = 1 + means.n_items * correlation / (1 - correlation)
    return replace(
        means,
        n_items=means.n_items / factor,
        plain_variance=means.plain_variance * factor,
        variance=means.variance * factor,
        third=np.zeros_like(means.third),
    )


def pool(means: Means) -> tuple[PerRow, float]:
    """The pooled within-group variance of one item, for each row, and its degrees of freedom."""
    known = means.df > 0
    if not known.any():
        return np.full(len(means.mean), np.nan), 0
    df = float(means.df.sum())
    return means.variance[:, known] @ (means.df[known] * means.n_items[known]) / df, df
