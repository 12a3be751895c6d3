"""Sufficient statistics: what the data say about the mean difference of every pair, free of order and names.

Each pair is summed up by itself, so a further model changes no bit of the answer about two others; identical models
have a variance of exactly 0. Sums do not depend on the order of the items, nor on how they are cut into parts.
"""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int, Num

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Parts, held, rows_at_once
from probtruth.comparison.evidence.sweeps import Pairs, PerGroup, PerRow, RowSums, Summed, alone, pairs_of
from probtruth.kernels.exact_sums import exact_sum

UNIT_TOTALS = 1 << 24
"""Totals of units that are held at once; more rows are summed in several passes."""


@dataclass(frozen=True, eq=False)
class Means:
    """Means of each group with their estimated variance (NaN where a group has one unit) and third central moment.

    Where pseudo-items stand for differences that are too rare to be seen, `centre`, `variance` and `third` include
    them; `mean` and `plain_variance` never do. `low` and `high` are the extremes over the items of all groups. `df` are
    the variances' own degrees of freedom, where they are not one less than the units.
    """

    mean: PerGroup
    plain_variance: PerGroup
    centre: PerGroup
    variance: PerGroup
    third: PerGroup
    low: PerRow
    high: PerRow
    df: PerGroup | None = None


@dataclass(frozen=True, eq=False)
class Moments:
    """The means of every pair's difference (a < b, a minus b) and of every model's own score, in every group.

    `n_units` are the independent ones (clusters or items); `df` are the degrees of freedom of the variances.
    """

    n_items: Num[np.ndarray, " group"]
    n_units: Int[np.ndarray, " group"]
    df: Float[np.ndarray, " group"]
    pairs: Means
    levels: Means

    @classmethod
    def of(cls, within: Structure, pairs: Means, levels: Means) -> "Moments":
        """Those of items that belong together in this way."""
        return cls(within.n_items, within.n_units, within.df, pairs, levels)


def moments(values: Float[np.ndarray, "model item"], within: Structure, reach: float = 0.0) -> Moments:
    """As `moments_of`, of scores in memory."""
    largest = np.maximum(values.max(1), -values.min(1))
    return moments_of(held(values, within), np.arange(len(values)), largest, reach)


def moments_of(
    parts: Parts, order: Int[np.ndarray, " finite"], largest: Float[np.ndarray, " model"], reach: float
) -> Moments:
    """Means, variances and third moments; with clusters, those of the item-weighted ratio estimator, linearised.

    A cluster pulls the mean towards itself, a large one most: its residual is divided by the root of its leverage
    1 - n_c/n (CR2), and the degrees of freedom are those of Bell and McCaffrey for independent items. With clusters of
    one size, or items as units, that is the factor C/(C - 1), and C - 1.

    Without groups, where more than a fifth of a pair's differences are ties and fewer than 30 are not, all of about one
    size, half an item is added at plus and at minus the largest of them (at `reach`, the largest that there can be, if
    all are ties and it is known), because the spread of what is too rare to be seen would be missed.

    Arguments: `order` are the models, whose scores are finite; `largest` is the size of every model's scores.

    Source: Cochran 1977, Sampling Techniques, section 9A.2 (clusters of unequal size); Bell and McCaffrey 2002, "Bias
    reduction in standard errors for linear regression with multi-stage samples", Survey Methodology 28, 169-181;
    Agresti and Min 2005, "Simple improved confidence intervals for comparing matched proportions",
    doi:10.1002/sim.1781.
    """
    within, pairs, own = parts.structure, pairs_of(order), alone(order)
    of_pairs = _means(parts, pairs, largest[pairs].max(1), reach)
    return Moments.of(within, of_pairs, _means(parts, own, largest[order], None))


def means_of(rows: Float[np.ndarray, "row item"], largest: PerRow, within: Structure, reach: float | None) -> Means:
    """The means of rows in memory; see `means_from`."""
    return _means(held(rows, within), alone(np.arange(len(rows))), largest, reach)


def _means(parts: Parts, rows: Pairs, largest: PerRow, reach: float | None) -> Means:
    """The means of the rows, of which some are summed up in one pass over the parts."""
    within, step = parts.structure, rows_at_once(parts)
    if within.unit_group is not None:
        step = max(1, min(step, UNIT_TOTALS // len(within.unit_group)))
    cuts = [slice(start, start + step) for start in range(0, max(len(rows), 1), step)]
    blocks = [means_from(RowSums(parts, rows[cut]), largest[cut], reach) for cut in cuts]
    names = [field.name for field in fields(Means) if field.name != "df"]
    return Means(*(np.concatenate([getattr(some, name) for some in blocks]) for name in names))


def means_from(rows: Summed, largest: PerRow, reach: float | None) -> Means:
    """The means of the rows; `largest` is the size of the scores behind each, `reach` None leaves rare ones alone."""
    n_items, n = rows.within.n_items, rows.within.n_units
    total = rows.totals()
    mean = total / n_items
    square, cube = rows.powers(np.arange(len(mean)), mean, largest)
    plain, third = spread_of(square, cube, n, n_items)
    ends = rows.extremes
    low, high = ends.low.min(1), ends.high.max(1)
    means = Means(mean, plain, mean, plain, third, low, high)
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
    variance[thin], third[thin] = spread_of(
        square + at**2 + shift**2, cube - (3 * at**2 + shift**2) * shift, n + 1, n_items + size
    )
    return Means(mean, plain, centre, variance, third, low, high)


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
        total = float(exact_sum(self.variance))
        return float(exact_sum(self.variance / total * self.df)) if total > 0 else float(self.df.max(initial=0.0))


def combine(parts: Moments, means: Means, weights: Float[np.ndarray, " group"]) -> Location:
    """The stratified mean: sum of weight times group mean, variances from the groups' own, no shrinkage.

    Groups with no degrees of freedom of their own take, together, the pooled within-group variance.

    Source (degrees of freedom): Satterthwaite 1946, doi:10.2307/3002019; with one group they are n - 1.
    """
    df = parts.df if means.df is None else means.df
    size, known = parts.n_items.astype(np.float64), parts.df > 0
    shares = weights[known] ** 2 * means.variance[:, known]
    total, spread = exact_sum(shares), exact_sum(shares**2 / df[..., known])
    if not known.all():
        pooled, pooled_df = pool(parts, means)
        rest = float(exact_sum(weights[~known] ** 2 / size[~known])) * pooled
        total, spread = total + rest, spread + rest**2 / pooled_df
    with np.errstate(invalid="ignore", divide="ignore"):
        rows_df = np.where(spread > 0, total**2 / spread, df.sum(-1))
    return Location(
        int(parts.n_units.sum()),
        exact_sum(weights * means.mean),
        means.plain_variance[:, 0] if len(size) == 1 else total,
        exact_sum(weights * means.centre),
        total,
        exact_sum(weights**3 * means.third),
        rows_df,
    )


def pool(parts: Moments, means: Means) -> tuple[PerRow, float]:
    """The pooled within-group variance of one item, for each row, and its degrees of freedom."""
    known = parts.df > 0
    if not known.any():
        return np.full(len(means.mean), np.nan), 0
    weight = parts.df[known] * parts.n_items[known]
    df = float(parts.df.sum())
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
    pair_at, sign = square(np.arange(float(n_pairs)), n_models).astype(int), square(np.ones(n_pairs), n_models, -1.0)
    return np.stack([(difference[..., pair] * of).mean(-1) for pair, of in zip(pair_at, sign, strict=True)], axis=-1)


def contrast_covariance(variance: Float[np.ndarray, " pair"], n_models: int) -> Float[np.ndarray, "model model"]:
    """The covariance of the contrasts whose differences have these variances (minus half of them, doubly centred)."""
    half = -0.5 * square(variance, n_models)
    return half - half.mean(0) - half.mean(1)[:, None] + half.mean()


def directions(
    covariance: Float[np.ndarray, "model model"],
) -> tuple[Float[np.ndarray, " direction"], Float[np.ndarray, "model direction"]]:
    """The variances of a covariance along its directions of some variance (at most K - 1: contrasts sum to zero)."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > len(values) * np.finfo(np.float64).eps * max(float(values.max()), 0.0)
    return values[keep], vectors[:, keep]
