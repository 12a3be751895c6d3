"""What is unsure about mean differences though the items are held fixed: their labels, or answers given again.

Where all votes on an item agree, or all answers, it seems certain. What they could hide is that of one more, on one
such item, which differs, and else comes at random from all that were given; it counts by the share of items where all
agree.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from probtruth.comparison.estimation.design import rows_of
from probtruth.comparison.estimation.estimate import MANY, Part, rows_from_models
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import moments_around_mean, ratio, to_host
from probtruth.kernels.host import ROUNDING
from probtruth.kernels.shapes import FiniteInts, ItemFloats, ModelItem
from probtruth.types import LabelsBehind, Replicates, Scores

BLOCK = 1 << 12  # Items whose losses by label are in memory at once

# Variance and third central moment of a mean, and the sum of its squared variances over their degrees of freedom; then
# what one answer more would add to the variance of the mean over all items: the sums over items of this times their
# degrees of freedom, of the same where all answers agree, and of its square times these
MeanMoments = Float[np.ndarray, " 6"]
# Of some items' means over labels, or answers: variance, third central moment, degrees of freedom of the variance, and
# what one answer more at random would add to it
ItemMoments = Iterator[tuple[slice, ItemFloats, ItemFloats, np.ndarray, ItemFloats]]


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


def fixed_part(
    scores: Scores,
    item_weights: ItemFloats,
    influence: ModelItem | None,
    correlation: float | None,
    order: FiniteInts,
) -> Part:
    """What the labels of the items, or the answers on them, leave unsure of the means of the models and pairs.

    Classes that were inferred by fitted weights are as unsure as they are given these, and as the weights.
    """
    moments = []
    for pair in rows_of(order).tolist():
        models = [model for model in pair if model >= 0]  # of one model its own, of two the first less the second
        moments.append(_moments(scores, item_weights, models, correlation))
    variance, third, spread, of_all, of_agreed, of_square = np.array(moments).reshape(-1, 6, 1).swapaxes(0, 1)
    df_of_one = ratio(of_all**2, of_square)
    of_one = ratio(of_agreed, df_of_one)
    variance = variance + of_one
    if influence is not None:
        moved = rows_from_models(influence[order])
        variance = variance + (moved**2 @ item_weights**2)[:, None]
    spread = spread + ratio(of_one**2, df_of_one)
    df = ratio(variance**2, spread, MANY)
    return Part(variance, third, np.minimum(df, MANY))


def _moments(scores: Scores, item_weights: ItemFloats, models: Sequence[int], correlation: float | None) -> MeanMoments:
    """Those of a model's mean loss, or of a difference of two, over the labels, or over answers given again."""
    if scores.labels is None and scores.replicates is not None:
        moments = _over_replicates(scores, scores.replicates, models, correlation)
    else:
        moments = _over_labels(scores, models)
    total = np.zeros(6)
    for items, variance, third, df, of_one in moments:
        weight = item_weights[items]
        of_variance = weight**2 * variance
        of_third = weight**3 * third
        spread = of_variance**2 / df
        more = weight**2 * of_one
        counts = np.where(more > 0, df, 0.0) * more
        total[:3] += [of_variance.sum(), of_third.sum(), spread.sum()]
        total[3:] += [counts.sum(), counts[variance == 0].sum(), (counts * more).sum()]
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
    of_votes = None  # the share of each label among all votes, and one more of each, as none is impossible
    if behind.shares is not None and behind.n_votes is not None:
        given = behind.n_votes @ behind.shares + 1.0
        of_votes = given / given.sum()
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
        of_labels = to_host(behind.losses_of(np.array(models), rows))
        losses = np.where(probs > 0, of_labels, 0.0)
        if not np.isfinite(losses).all():
            model, item, _ = np.argwhere(~np.isfinite(losses))[0]
            raise PosteriorError(
                f"model {scores.models[models[model]]!r} has an infinite loss under a label that item "
                f"{scores.items[start + item]!r} may have: the variance due to labels is infinite. "
                "Hint: score with a floor, or with another rule."
            )
        difference = np.subtract.reduce(losses)
        second, third = moments_around_mean(difference, probs)
        df = np.full(len(probs), np.inf)
        of_one = np.zeros(len(probs))
        counted = np.isfinite(n_votes) & (n_votes > 1)  # moments of the mean over the votes, without bias
        n = n_votes[counted]
        df[counted] = n - 1
        second[counted] /= n - 1
        third[counted] = ratio(third[counted], (n - 1) * (n - 2))
        if of_votes is not None:
            mean = (difference * probs).sum(1)
            with np.errstate(invalid="ignore"):  # of infinite losses, whose labels are left out
                apart = np.subtract.reduce(of_labels) - mean[:, None]
            square = np.where(np.isfinite(apart), apart, 0.0) ** 2
            differs = 1 - probs @ of_votes
            of_one[counted] = ratio(square @ of_votes, differs)[counted] / (n * (n - 1))
        yield rows, second, third, df, of_one


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
        residual[np.abs(residual) <= ROUNDING * np.abs(answers).max()] = 0.0
        df = n - 1
        variance = np.bincount(item, residual**2, n_items) / df
        apart = mean - answers.mean()
        of_one = (answers.var() + apart**2) / df
        of_mean = 1 / n + shared
        yield slice(None), variance * of_mean, np.zeros(n_items), df, of_one * of_mean
