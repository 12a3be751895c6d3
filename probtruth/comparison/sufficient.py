"""Sufficient statistics: what the data say about the mean difference of every pair, free of order and names.

Each pair is summed up by itself, so a further model changes no bit of the answer about two others; identical models
have a variance of exactly 0. Sums do not depend on the order of the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.sums import exact_mean, exact_sum, exact_totals

BLOCK = 1 << 20
"""Numbers held at once while the pairs' differences are summed up."""
ROUNDING = 8 * np.finfo(np.float64).eps
"""Differences that spread by less than this, relative to the scores, are one constant difference."""


@dataclass(frozen=True, eq=False)
class Means:
    """Sample means with their estimated variance and third central moment (NaN and 0 where they cannot be known)."""

    mean: Float[np.ndarray, " row"]
    variance: Float[np.ndarray, " row"]
    third: Float[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class Moments:
    """One group: the means of every pair's difference (a < b, a minus b) and of every model's own score.

    `n_units` are the independent ones (clusters or items); `df` is n_units - 1; where it is 0 the variances are NaN.
    """

    n_items: int
    n_units: int
    pairs: Means
    levels: Means

    @property
    def df(self) -> int:
        """Degrees of freedom of the variances."""
        return self.n_units - 1


def all_pairs(n_models: int) -> list[tuple[int, int]]:
    """The pairs (a, b) with a < b, in the order in which statistics of pairs are kept."""
    return list(combinations(range(n_models), 2))


def moments(values: Float[np.ndarray, "model item"], clusters: Int[np.ndarray, " item"] | None = None) -> Moments:
    """Means, variances and third moments; with clusters, those of the item-weighted ratio estimator, linearised.

    Source: Cochran 1977, Sampling Techniques, section 9A.2 (clusters of unequal size), with the factor C/(C-1).
    """
    place = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    pairs = np.array(all_pairs(len(values)), np.int64).reshape(-1, 2)
    largest = np.abs(values).max(1)
    step = max(1, BLOCK // values.shape[1])
    parts = [
        _means(values[pair[:, 0]] - values[pair[:, 1]], largest[pair].max(1), place)
        for pair in (pairs[start : start + step] for start in range(0, len(pairs), step))
    ]
    n_units = values.shape[1] if place is None else int(place.max()) + 1
    return Moments(values.shape[1], n_units, _joined(parts), _means(values, largest, place))


def _means(
    rows: Float[np.ndarray, "row item"], largest: Float[np.ndarray, " row"], place: Int[np.ndarray, " item"] | None
) -> Means:
    mean = exact_mean(rows)
    residual = rows - mean[:, None]
    spread = np.sqrt(exact_mean(residual**2))
    residual = np.where((spread <= ROUNDING * largest)[:, None], 0.0, residual)
    if place is not None:
        residual = exact_totals(residual, place)
    n_items, n = rows.shape[1], residual.shape[1]
    variance, third = np.full(len(rows), np.nan), np.zeros(len(rows))
    if n > 1:
        variance = n / (n - 1) / n_items**2 * exact_sum(residual**2)
    if n > 2:
        third = n**2 / ((n - 1) * (n - 2)) / n_items**3 * exact_sum(residual**3)
    return Means(mean, variance, third)


def _joined(parts: Sequence[Means]) -> Means:
    fields = ("mean", "variance", "third")
    if not parts:
        return Means(*(np.zeros(0) for _ in fields))
    return Means(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


@dataclass(frozen=True, eq=False)
class Location:
    """Means under the estimand, with variance, third central moment and degrees of freedom of each."""

    mean: Float[np.ndarray, " row"]
    variance: Float[np.ndarray, " row"]
    third: Float[np.ndarray, " row"]
    df: Float[np.ndarray, " row"]

    @property
    def total_df(self) -> float:
        """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
        total = float(exact_sum(self.variance))
        return float(exact_sum(self.variance / total * self.df)) if total > 0 else float(self.df.max(initial=0.0))


def combine(
    parts: Sequence[Means], df: Sequence[int], sizes: Sequence[int], weights: Float[np.ndarray, " group"]
) -> Location:
    """The stratified mean: sum of weight times group mean, variances from the groups' own, no shrinkage.

    Groups with no degrees of freedom of their own take, together, the pooled within-group variance.

    Source (degrees of freedom): Satterthwaite 1946, doi:10.2307/3002019; with one group they are n - 1.
    """
    own_df = np.array(df, np.float64)
    mean, variance, third = (
        np.stack([getattr(part, name) for part in parts]) for name in ("mean", "variance", "third")
    )
    known = own_df > 0
    shares = weights[known, None] ** 2 * variance[known]
    spread = exact_sum((shares**2 / own_df[known, None]).T)
    total = exact_sum(shares.T)
    if not known.all():
        pooled_df = own_df[known].sum()
        size = np.array(sizes, np.float64)
        pooled = exact_sum((own_df[known, None] * size[known, None] * variance[known]).T) / pooled_df
        rest = float(exact_sum(weights[~known] ** 2 / size[~known])) * pooled
        total, spread = total + rest, spread + rest**2 / pooled_df
    with np.errstate(invalid="ignore", divide="ignore"):
        rows_df = np.where(spread > 0, total**2 / spread, own_df.sum())
    return Location(
        exact_sum((weights[:, None] * mean).T), total, exact_sum((weights[:, None] ** 3 * third).T), rows_df
    )


def within(groups: Sequence[Moments]) -> tuple[Float[np.ndarray, " pair"], int]:
    """The pooled within-group variance of one item's difference, for each pair, and its degrees of freedom."""
    df = sum(group.df for group in groups)
    known = [group.df * group.n_items * group.pairs.variance for group in groups if group.df > 0]
    if not known:
        return np.full_like(groups[0].pairs.variance, np.nan), 0
    return exact_sum(np.stack(known).T) / df, df


def square(pairs: Float[np.ndarray, " pair"], n_models: int, sign: float = 1.0) -> Float[np.ndarray, "model model"]:
    """A matrix with the pairs' values above its diagonal and `sign` times them below."""
    matrix = np.zeros((n_models, n_models))
    above = np.triu_indices(n_models, 1)
    matrix[above] = pairs
    matrix.T[above] = sign * pairs
    return matrix


def contrasts(difference: Float[np.ndarray, " pair"], n_models: int) -> Float[np.ndarray, " model"]:
    """Each model's mean minus the mean of all models, from the pairs' differences."""
    return square(difference, n_models, -1.0).mean(1)


def contrast_covariance(variance: Float[np.ndarray, " pair"], n_models: int) -> Float[np.ndarray, "model model"]:
    """The covariance of the contrasts whose differences have these variances (minus half of them, doubly centred)."""
    half = -0.5 * square(variance, n_models)
    return half - half.mean(0) - half.mean(1)[:, None] + half.mean()
