"""What is unsure about mean differences though the items are held fixed: their labels, or answers given again."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.estimation.estimate import MANY, Part
from probtruth.comparison.estimation.pairs import rows_of
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import moments_around_mean, to_host
from probtruth.kernels.shapes import ItemFloats, ModelItem
from probtruth.types import LabelsBehind, Scores

BLOCK = 1 << 12  # Items whose losses by label are in memory at once

# Variance and third central moment of a mean, and the sum of its squared variances over their degrees of freedom
MeanMoments = tuple[float, float, float]


def fixed_variance(
    scores: Scores, item_weights: ItemFloats, influence: ModelItem | None, a: int, b: int
) -> float | None:
    """The part of labels, or of answers, in the variance of a mean difference; None where not known, or infinite."""
    if scores.labels is None and scores.replicates is not None:
        if (scores.replicates.counts(len(scores.items))[[a, b]] < 2).any():
            return None
    elif not _is_known(scores.labels):
        return None
    try:
        within = _moments(scores, item_weights, [a, b], None)[0]
    except PosteriorError:
        return None
    if influence is None:
        return within
    expected = scores.losses[a] - scores.losses[b]
    shifted = expected + influence[a] - influence[b]
    rows = np.stack([shifted, expected])
    deviation = rows - (rows @ item_weights)[:, None]
    with_weights, without = deviation**2 @ item_weights**2
    return max(float(with_weights - without) - within, 0.0)


def fixed_estimate(
    scores: Scores, item_weights: ItemFloats, correlation: float | None, order: Int[np.ndarray, " finite"]
) -> tuple[Float[np.ndarray, "row group"], Part]:
    """The means of the models and pairs, in one column, and what their labels, or answers, leave unsure of them."""
    losses = scores.losses
    mean: list[float] = []
    moments: list[MeanMoments] = []
    for a, b in rows_of(order).tolist():
        models = [a] if b < 0 else [a, b]
        mean.append(float((_difference(losses[models]) * item_weights).sum()))
        moments.append(_moments(scores, item_weights, models, correlation))
    variance, third, spread = np.array(moments, np.float64).reshape(-1, 3, 1).swapaxes(0, 1)
    estimated = spread > 0
    df = np.full_like(variance, MANY)
    df[estimated] = np.minimum(variance[estimated] ** 2 / spread[estimated], MANY)
    return np.array(mean)[:, None], Part(variance, third, df)


def _difference(rows: np.ndarray) -> np.ndarray:
    """What a single model has, or a first one more than a second."""
    return np.asarray(rows[0] if len(rows) == 1 else rows[0] - rows[1])


def _moments(scores: Scores, item_weights: ItemFloats, models: Sequence[int], correlation: float | None) -> MeanMoments:
    """Those of a model's mean loss, or of a difference of two, over the labels, or over answers given again."""
    if scores.labels is None and scores.replicates is not None:
        return _over_replicates(scores, item_weights, models, correlation)
    return _over_labels(scores, item_weights, models)


def _is_known(behind: LabelsBehind | None) -> bool:
    """Whether it is known how unsure the labels are."""
    if behind is None or behind.estimand == "class":
        return behind is not None
    if behind.shares is None or behind.n_votes is None:
        return False
    return behind.log_probs is not None or not (behind.n_votes == 1).any()


def _over_labels(scores: Scores, item_weights: ItemFloats, models: Sequence[int]) -> MeanMoments:
    behind = scores.labels
    if behind is None or not _is_known(behind):
        raise InputError(
            "scores without votes or class probabilities behind them",
            "labels whose uncertainty is known, for population='these-items'",
            "Score against a truth inferred from annotations, or leave population out for new items.",
        )
    total = np.zeros(3)
    for start in range(0, len(item_weights), BLOCK):
        rows = slice(start, start + BLOCK)
        share = item_weights[rows]
        n_votes = None
        if behind.estimand == "class" or behind.shares is None or behind.n_votes is None:
            probs = to_host(behind.truth[rows])
        else:
            probs = behind.shares[rows]
            n_votes = behind.n_votes[rows].astype(np.float64)
            single = n_votes == 1
            if single.any() and behind.log_probs is not None:
                predicted = np.nanmean(np.exp(to_host(behind.log_probs[:, rows])), 0)
                probs = np.where(single[:, None], predicted, probs)
        losses = np.where(probs > 0, to_host(behind.losses_of(np.array(models), rows)), 0.0)
        if not np.isfinite(losses).all():
            model, item, _ = np.argwhere(~np.isfinite(losses))[0]
            raise PosteriorError(
                f"model {scores.models[models[model]]!r} has an infinite loss under a label that item "
                f"{scores.items[start + item]!r} may have: the variance due to labels is infinite. "
                "Hint: score with a floor, or with another rule."
            )
        second, third = moments_around_mean(_difference(losses), probs)
        df: float | np.ndarray = np.inf
        if n_votes is not None:  # of the mean over the votes, without bias
            df = np.where(n_votes > 1, n_votes - 1, np.inf)
            second = second / np.maximum(n_votes - 1, 1)
            third = third / np.maximum((n_votes - 1) * (n_votes - 2), 1)
            third[n_votes == 2] = 0.0
        second = second * share**2
        third = third * share**3
        total += [second.sum(), third.sum(), (second**2 / df).sum()]
    variance, third_moment, spread = total.tolist()
    return variance, third_moment, spread


def _over_replicates(
    scores: Scores, item_weights: ItemFloats, models: Sequence[int], correlation: float | None
) -> MeanMoments:
    repeated = scores.replicates
    assert repeated is not None
    n_items = len(item_weights)
    seen = repeated.counts(n_items)[models]
    if (seen < 2).any():
        model, item = np.argwhere(seen < 2)[0]
        raise InputError(
            "one replicate",
            "at least two of every item, for population='these-items'",
            "Repeat it, or leave population out for new items.",
            f"model {scores.models[models[model]]!r}, item {scores.items[item]!r}",
        )
    rows = repeated.values[models]
    shared = 0.0
    if correlation is not None:  # that of folds
        shared = correlation / (1 - correlation)
        rows = _difference(rows)[None]
    variance = 0.0
    spread = 0.0
    for row in rows:
        there = ~np.isnan(row)
        item = repeated.item[there]
        n = np.bincount(item, minlength=n_items)
        if (n < 2).any():
            wanted = "the same folds for every model"
            raise InputError("folds that the two models do not share", wanted, "Name folds alike.")
        mean = np.bincount(item, row[there], n_items) / n
        residual = row[there] - mean[item]
        square = np.bincount(item, residual**2, n_items) / (n - 1)
        part = item_weights**2 * square * (1 / n + shared)
        variance += float(part.sum())
        spread += float((part**2 / (n - 1)).sum())
    return variance, 0.0, spread
