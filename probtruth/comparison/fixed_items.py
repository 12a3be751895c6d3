"""What is unsure about mean differences though the items are held fixed: their labels, or answers given again."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.estimate import MANY, Part
from probtruth.comparison.pairs import rows_of
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import moments_around_mean, to_host
from probtruth.types import LabelsBehind, Scores

BLOCK = 1 << 12  # Items whose losses by label are in memory at once

ItemWeights = Float[np.ndarray, " item"]
Influence = Float[np.ndarray, "model item"]  # What each item does through fitted weights
# Variance and third central moment of a mean, and the sum of its squared variances over their degrees of freedom
MeanMoments = tuple[float, float, float]


def fixed_variance(
    scores: Scores, item_weights: ItemWeights, influence: Influence | None, a: int, b: int
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
    one, other = (float(((row - row @ item_weights) ** 2) @ item_weights**2) for row in (shifted, expected))
    return max(one - other - within, 0.0)


def fixed_estimate(
    scores: Scores, item_weights: ItemWeights, correlation: float | None, order: Int[np.ndarray, " finite"]
) -> tuple[Float[np.ndarray, "row group"], Part]:
    """The means of the models and pairs, in one column, and what their labels, or answers, leave unsure of them."""
    losses = scores.losses
    mean: list[float] = []
    moments: list[MeanMoments] = []
    for a, b in rows_of(order).tolist():
        alone = b < 0
        values = losses[a] if alone else losses[a] - losses[b]
        mean.append(float((values * item_weights).sum()))
        moments.append(_moments(scores, item_weights, [a] if alone else [a, b], correlation))
    columns = np.array(moments, np.float64).reshape(-1, 3).T[..., None]
    variance, third, spread = columns
    estimated = spread > 0
    df = np.full_like(variance, MANY)
    df[estimated] = np.minimum(variance[estimated] ** 2 / spread[estimated], MANY)
    return np.array(mean)[:, None], Part(variance, third, df)


def _moments(
    scores: Scores, item_weights: ItemWeights, models: Sequence[int], correlation: float | None
) -> MeanMoments:
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


def _over_labels(scores: Scores, item_weights: ItemWeights, models: Sequence[int]) -> MeanMoments:
    behind, total = scores.labels, np.zeros(3)
    if behind is None or not _is_known(behind):
        raise InputError(
            "scores without votes or class probabilities behind them",
            "labels whose uncertainty is known, for population='these-items'",
            "Score against a truth inferred from annotations, or leave population out for new items.",
        )
    for start in range(0, len(item_weights), BLOCK):
        rows = slice(start, start + BLOCK)
        share, votes = item_weights[rows], None
        if behind.estimand == "class" or behind.shares is None or behind.n_votes is None:
            own = to_host(behind.truth[rows])
        else:
            own, votes = behind.shares[rows], behind.n_votes[rows]
            if (single := votes == 1).any() and behind.log_probs is not None:
                own = np.where(single[:, None], np.nanmean(np.exp(to_host(behind.log_probs[:, rows])), 0), own)
        loss = np.where(own > 0, to_host(behind.losses_of(np.array(models), rows)), 0.0)
        if not np.isfinite(loss).all():
            model, item, _ = np.argwhere(~np.isfinite(loss))[0]
            raise PosteriorError(
                f"model {scores.models[models[model]]!r} has an infinite loss under a label that item "
                f"{scores.items[start + item]!r} may have: the variance due to labels is infinite. "
                "Hint: score with a floor, or with another rule."
            )
        second, third = moments_around_mean(loss[0] if len(models) == 1 else loss[0] - loss[1], own)
        df: float | np.ndarray = np.inf
        if votes is not None:  # of the mean over the votes, without bias
            m = votes.astype(np.float64)
            df = np.where(m > 1, m - 1, np.inf)
            second = np.where(m > 1, second / np.maximum(m - 1, 1), second)
            third = np.where(m > 2, third / np.maximum((m - 1) * (m - 2), 1), np.where(m == 2, 0.0, third))
        second, third = second * share**2, third * share**3
        total += [second.sum(), third.sum(), (second**2 / df).sum()]
    variance, third, spread = total.tolist()
    return variance, third, spread


def _over_replicates(
    scores: Scores, item_weights: ItemWeights, models: Sequence[int], correlation: float | None
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
        rows = rows if len(models) == 1 else rows[:1] - rows[1:]
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
