"""Sufficient statistics: what the data say about the mean score vector of each group, free of order and names.

Sums are correctly rounded (`math.fsum`), so the order of items changes no bit of the result; models are put in an order
of their scores, so that their names change nothing either.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Moments:
    """One group: its items, the mean score vector on zero-sum contrasts, the covariance of that mean, and its df.

    `n_units` are the independent ones (clusters or items); `df` is n_units - 1; where it is 0 the covariance is NaN.
    `level_mean` and `level_variance` are each model's own mean score and the variance of that mean.
    """

    n_items: int
    n_units: int
    mean: Float[np.ndarray, " model"]
    covariance: Float[np.ndarray, "model model"]
    level_mean: Float[np.ndarray, " model"]
    level_variance: Float[np.ndarray, " model"]

    @property
    def df(self) -> int:
        """Degrees of freedom of the covariance."""
        return self.n_units - 1


def model_order(values: Float[np.ndarray, "model item"]) -> Int[np.ndarray, " model"]:
    """An order of the models that depends on their scores only: by mean, then by the sums of higher powers."""
    keys = [tuple(math.fsum(row**power) for power in (1, 2, 3)) for row in values]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def moments(values: Float[np.ndarray, "model item"], clusters: Int[np.ndarray, " item"] | None = None) -> Moments:
    """Mean contrasts and their covariance; with clusters, the linearised variance of the item-weighted ratio estimator.

    Source: Cochran 1977, Sampling Techniques, section 9A.2 (clusters of unequal size), with the factor C/(C-1).
    """
    centred = values - values.mean(0)
    if clusters is not None:
        order = np.lexsort((*values, clusters))
        centred, values, clusters = centred[:, order], values[:, order], clusters[order]
    mean, residual = _residuals(centred)
    level, level_residual = _residuals(values)
    if clusters is not None:
        residual, level_residual = _cluster_sums(residual, clusters), _cluster_sums(level_residual, clusters)
    n_items, n_units = values.shape[1], residual.shape[1]
    factor = n_units / (n_units - 1) / n_items**2 if n_units > 1 else math.nan
    scatter = np.empty((len(values), len(values)))
    for a in range(len(values)):
        for b in range(a + 1):
            scatter[a, b] = scatter[b, a] = math.fsum((residual[a] * residual[b]).tolist())
    level_scatter = np.array([math.fsum((row * row).tolist()) for row in level_residual])
    return Moments(n_items, n_units, mean, factor * scatter, level, factor * level_scatter)


def _residuals(values: Float[np.ndarray, "model item"]) -> tuple[np.ndarray, np.ndarray]:
    mean = np.array([math.fsum(row.tolist()) / len(row) for row in values])
    return mean, values - mean[:, None]


def _cluster_sums(residual: Float[np.ndarray, "model item"], clusters: Int[np.ndarray, " item"]) -> np.ndarray:
    _, place = np.unique(clusters, return_inverse=True)
    return np.stack([np.bincount(place, row) for row in residual])


@dataclass(frozen=True, eq=False)
class Location:
    """The mean contrast vector under an estimand, its covariance, and the degrees of freedom in any direction."""

    mean: Float[np.ndarray, " model"]
    covariance: Float[np.ndarray, "model model"]
    parts: Float[np.ndarray, "group model model"]
    part_df: Float[np.ndarray, " group"]

    def df(self, direction: Float[np.ndarray, " model"] | None = None) -> float:
        """Satterthwaite degrees of freedom of a contrast's variance (of the trace where no contrast is given).

        Source: Satterthwaite 1946, doi:10.2307/3002019. With one group they are its own, n - 1.
        """
        if direction is None:
            variances = np.trace(self.parts, axis1=1, axis2=2)
        else:
            variances = np.einsum("a,gab,b->g", direction, self.parts, direction)
        spread = math.fsum((variances**2 / self.part_df).tolist())
        return math.fsum(variances.tolist()) ** 2 / spread if spread > 0 else math.fsum(self.part_df.tolist())

    def variance(self, direction: Float[np.ndarray, " model"]) -> float:
        """Posterior scale squared of a contrast of the models' means."""
        support = np.nonzero(direction)[0]
        if len(support) == 2:  # exactly 0 for identical models, which a product over all models would round
            a, b = support
            return max(float(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]), 0.0)
        return max(float(direction @ self.covariance @ direction), 0.0)


def combine(groups: Sequence[Moments], weights: Float[np.ndarray, " group"]) -> Location:
    """The stratified mean: sum of weight times group mean, variance from the groups' own variances, no shrinkage.

    A group with no degrees of freedom of its own takes the pooled within-group variance.
    """
    pooled, pooled_df = within(groups)
    own = [group.covariance if group.df > 0 else pooled / group.n_items for group in groups]
    df = [float(group.df) if group.df > 0 else float(pooled_df) for group in groups]
    parts = np.stack([weight**2 * covariance for weight, covariance in zip(weights, own, strict=True)])
    means = np.stack([weight * group.mean for weight, group in zip(weights, groups, strict=True)])
    return Location(_exact_sum(means), _exact_sum(parts), parts, np.array(df))


def within(groups: Sequence[Moments]) -> tuple[Float[np.ndarray, "model model"], int]:
    """The pooled within-group covariance of one item's contrasts, and its degrees of freedom."""
    df = sum(group.df for group in groups)
    known = [group.df * group.n_items * group.covariance for group in groups if group.df > 0]
    if not known:
        return np.full_like(groups[0].covariance, math.nan), 0
    return _exact_sum(np.stack(known)) / df, df


def _exact_sum(stack: Float[np.ndarray, "part ..."]) -> np.ndarray:
    flat = stack.reshape(len(stack), -1)
    return np.array([math.fsum(column.tolist()) for column in flat.T]).reshape(stack.shape[1:])
