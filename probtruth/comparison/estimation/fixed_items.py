"""What is unsure about mean differences though the items are held fixed: their labels, or answers given again."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from probtruth.comparison.estimation.design import rows_of
from probtruth.comparison.estimation.estimate import MANY, Part
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import moments_around_mean, ratio, to_host
from probtruth.kernels.shapes import FiniteInts, ItemFloats, ModelItem
from probtruth.types import LabelsBehind, Replicates, Scores

BLOCK = 1 << 12  # Items whose losses by label are in memory at once

# Variance and third central moment of a mean, and the sum of its squared variances over their degrees of freedom
MeanMoments = Float[np.ndarray, " 3"]
# Of some items' means over labels, or answers: variance, third central moment, degrees of freedom of the variance
ItemMoments = Iterator[tuple[slice, ItemFloats, ItemFloats, np.ndarray]]


def fixed_variance(
    scores: Scores, item_weights: ItemFloats, influence: ModelItem | None, a: int, b: int
) -> float | None:
    """The part of labels, or of answers, in the variance of a mean difference; None where not known, or infinite."""
    try:
        within = float(_moments(scores, item_weights, [a, b], None)[0])
    except (InputError, PosteriorError):
        return None
    if influence is None:
        return within
    expected = scores.losses[a] - scores.losses[b]
    shifted = expected + influence[a] - influence[b]
    rows = np.stack([shifted, expected])
    mean = rows @ item_weights
    deviation = rows - mean[:, None]
    with_weights, without = deviation**2 @ item_weights**2
    return max(float(with_weights - without) - within, 0.0)


def fixed_part(scores: Scores, item_weights: ItemFloats, correlation: float | None, order: FiniteInts) -> Part:
    """What the labels of the items, or the answers on them, leave unsure of the means of the models and pairs."""
    moments = []
    for pair in rows_of(order).tolist():
        models = [model for model in pair if model >= 0]  # of one model its own, of two the first less the second
        moments.append(_moments(scores, item_weights, models, correlation))
    variance, third, spread = np.array(moments).reshape(-1, 3, 1).swapaxes(0, 1)
    df = ratio(variance**2, spread, MANY)
    return Part(variance, third, np.minimum(df, MANY))


def _moments(scores: Scores, item_weights: ItemFloats, models: Sequence[int], correlation: float | None) -> MeanMoments:
    """Those of a model's mean loss, or of a difference of two, over the labels, or over answers given again."""
    if scores.labels is None and scores.replicates is not None:
        moments = _over_replicates(scores, scores.replicates, models, correlation)
    else:
        moments = _over_labels(scores, models)
    total = np.zeros(3)
    for items, variance, third, df in moments:
        weight = item_weights[items]
        of_variance = weight**2 * variance
        of_third = weight**3 * third
        spread = of_variance**2 / df
        total += [of_variance.sum(), of_third.sum(), spread.sum()]
    return total


def _is_known(behind: LabelsBehind) -> bool:
    """Whether it is known how unsure the labels are."""
    if behind.estimand == "class":
        return True
    if behind.shares is None or behind.n_votes is None:
        return False
    return behind.log_probs is not None or not (behind.n_votes == 1).any()


def _over_labels(scores: Scores, models: Sequence[int]) -> ItemMoments:
    behind = scores.labels
    if behind is None or not _is_known(behind):
        raise InputError(
            "scores without votes or class probabilities behind them",
            "labels whose uncertainty is known, for population='these-items'",
            "Score against a truth inferred from annotations, or leave population out for new items.",
        )
    for start in range(0, len(scores.items), BLOCK):
        rows = slice(start, start + BLOCK)
        probs = to_host(behind.truth[rows])
        n_votes = np.full(len(probs), np.inf)  # of classes that are known with these probabilities
        if behind.estimand != "class" and behind.shares is not None and behind.n_votes is not None:
            probs = behind.shares[rows]
            n_votes = behind.n_votes[rows].astype(np.float64)
            if behind.log_probs is not None:
                log_probs = to_host(behind.log_probs[:, rows])
                predicted = np.nanmean(np.exp(log_probs), 0)
                probs = np.where(n_votes[:, None] == 1, predicted, probs)
        losses = to_host(behind.losses_of(np.array(models), rows))
        losses = np.where(probs > 0, losses, 0.0)
        if not np.isfinite(losses).all():
            model, item, _ = np.argwhere(~np.isfinite(losses))[0]
            raise PosteriorError(
                f"model {scores.models[models[model]]!r} has an infinite loss under a label that item "
                f"{scores.items[start + item]!r} may have: the variance due to labels is infinite. "
                "Hint: score with a floor, or with another rule."
            )
        second, third = moments_around_mean(np.subtract.reduce(losses), probs)
        df = np.full(len(probs), np.inf)
        counted = np.isfinite(n_votes) & (n_votes > 1)  # moments of the mean over the votes, without bias
        n = n_votes[counted]
        df[counted] = n - 1
        second[counted] /= n - 1
        third[counted] = ratio(third[counted], (n - 1) * (n - 2))
        yield rows, second, third, df


def _over_replicates(
    scores: Scores, repeated: Replicates, models: Sequence[int], correlation: float | None
) -> ItemMoments:
    n_items = len(scores.items)
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
        rows = np.subtract.reduce(rows)[None]
    for row in rows:
        there = ~np.isnan(row)
        item = repeated.item[there]
        n = np.bincount(item, minlength=n_items)
        if (n < 2).any():
            wanted = "the same folds for every model"
            raise InputError("folds that the two models do not share", wanted, "Name folds alike.")
        answers = row[there]
        mean = np.bincount(item, answers, n_items) / n
        residual = answers - mean[item]
        df = n - 1
        variance = np.bincount(item, residual**2, n_items) / df
        yield slice(None), variance * (1 / n + shared), np.zeros(n_items), df
