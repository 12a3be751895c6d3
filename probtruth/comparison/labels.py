"""What the labels leave unsure about a mean difference on these very items: few votes, or an uncertain class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.location import Location
from probtruth.comparison.pairs import all_pairs
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import Table, moments_around_mean, to_host
from probtruth.types import Scores

LARGE_DF = 1e6  # Degrees of freedom where a variance is known rather than estimated
BLOCK = 1 << 12  # Items whose losses by label are in memory at once


@dataclass(frozen=True, eq=False)
class Labels:
    """The losses if the label were k, the weight of each label, and the votes behind it."""

    loss: Float[np.ndarray, "model item label"]
    weight: Float[np.ndarray, "item label"]
    votes: Int[np.ndarray, " item"] | None

    def first_infinite(self, models: Sequence[int]) -> tuple[int, int] | None:
        """The first of these models (its position among them) and its item with an infinite loss under a label that
        may be; None where there is none."""
        odd = ~np.isfinite(self.loss[[*models]])
        return (int(np.nonzero(odd)[0][0]), int(np.nonzero(odd)[1][0])) if odd.any() else None

    def moments(
        self, model: int, minus: int | None, item_weights: Float[np.ndarray, " item"]
    ) -> tuple[float, float, float]:
        """Variance, third central moment and degrees of freedom, over the labels, of a model's mean loss."""
        loss = self.loss[model] if minus is None else self.loss[model] - self.loss[minus]
        of_items = item_moments(loss, self.weight, self.votes)
        second, third, df = of_items
        second, third = second * item_weights**2, third * item_weights**3
        variance, spread = float(second.sum(-1)), float((second**2 / df).sum(-1))
        return variance, float(third.sum(-1)), min(variance**2 / spread, LARGE_DF) if spread > 0 else LARGE_DF


def item_moments(
    loss: Float[np.ndarray, "item label"],
    weight: Float[np.ndarray, "item label"],
    votes: Int[np.ndarray, " item"] | None,
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """Variance, third central moment and degrees of freedom of each item's mean loss, over the labels."""
    return _with_votes(*moments_around_mean(loss, weight), votes)


def _with_votes(
    second: Float[np.ndarray, " item"], third: Float[np.ndarray, " item"], votes: Int[np.ndarray, " item"] | None
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """GroupMeans of one label's loss as those of the mean over the votes, unbiased, and their degrees of freedom."""
    df = np.full(len(second), np.inf)
    if votes is not None:
        m = votes.astype(np.float64)
        df = np.where(m > 1, m - 1, np.inf)
        second = np.where(m > 1, second / np.maximum(m - 1, 1), second)
        third = np.where(m > 2, third / np.maximum((m - 1) * (m - 2), 1), np.where(m == 2, 0.0, third))
    return second, third, df


def label_weights(
    estimand: str,
    truth: Float[Table, "item label"],
    shares: Float[np.ndarray, "item label"] | None,
    n_votes: Int[np.ndarray, " item"] | None,
    forecast: Float[np.ndarray, "item label"] | None,
) -> tuple[Float[Table, "item label"], Int[np.ndarray, " item"] | None] | None:
    """The weight of each label and the votes behind it; None where nothing is known of how unsure the labels are."""
    if estimand == "class":
        return truth, None
    if shares is None or n_votes is None:
        return None
    single = n_votes == 1
    if not single.any():
        return shares, n_votes
    return None if forecast is None else (np.where(single[:, None], forecast, shares), n_votes)


def labels_of(scores: Scores) -> Labels | None:
    """What the scores know about the labels behind them; None where that says nothing about their variance."""
    behind = scores.labels
    if behind is None:
        return None
    known = label_weights(behind.estimand, behind.truth, behind.shares, behind.n_votes, behind.forecast)
    if known is None:
        return None
    weight, votes = known
    weight = to_host(weight)
    return Labels(np.where(weight > 0, to_host(behind.losses), 0.0), weight, votes)


def label_variance(scores: Scores, a: int, b: int, item_weights: Float[np.ndarray, " item"]) -> float | None:
    """The labels' part of the variance of the mean difference of two models; None where it is not known."""
    behind = scores.labels
    known = (
        None
        if behind is None
        else label_weights(behind.estimand, behind.truth, behind.shares, behind.n_votes, behind.forecast)
    )
    if behind is None or known is None:
        return None
    (weight, votes), variance = known, 0.0
    for start in range(0, len(item_weights), BLOCK):  # of two models, so that all losses are never in memory
        rows = slice(start, start + BLOCK)
        own = to_host(weight[rows])
        loss = np.where(own > 0, behind.losses_of([a, b], rows), 0.0)
        if not np.isfinite(loss).all():
            return None
        second, _, _ = item_moments(loss[0] - loss[1], own, None if votes is None else votes[rows])
        variance += float((second * item_weights[rows] ** 2).sum())
    return variance


@dataclass(frozen=True, eq=False)
class FixedLabels:
    """What the labels leave unsure, the items held fixed; `influence` is what each does through fitted weights."""

    scores: Scores
    item_weights: Float[np.ndarray, " item"]
    influence: Float[np.ndarray, "model item"] | None = None

    def variance(self, a: int, b: int) -> float | None:
        """The labels' part of the variance of a mean difference; see `label_variance`."""
        within = label_variance(self.scores, a, b, self.item_weights)
        if within is None or self.influence is None:
            return within
        expected = self.scores.losses[a] - self.scores.losses[b]
        moved = expected + self.influence[a] - self.influence[b]
        spread = [_variance(row, self.item_weights) for row in (moved, expected)]
        return max(spread[0] - spread[1] - within, 0.0)

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """The posterior of the pairs' mean differences and of the models' mean scores, the items held fixed."""
        scores, labels = self.scores, labels_of(self.scores)
        if labels is None:
            raise InputError(
                "scores without votes or class probabilities behind them",
                "labels whose uncertainty is known, for population='these-items'",
                "Score against a truth inferred from annotations, or leave population out for new items.",
            )
        models, means = [int(model) for model in order], scores.losses[order]
        odd = labels.first_infinite(models)
        if odd is not None:
            raise PosteriorError(
                f"model {scores.models[models[odd[0]]]!r} has an infinite loss under a label that item "
                f"{scores.items[odd[1]]!r} may have: the variance due to labels is infinite. "
                "Hint: score with a floor, or with another rule."
            )
        places = all_pairs(len(order))
        pairs = [labels.moments(models[a], models[b], self.item_weights) for a, b in places]
        levels = [labels.moments(model, None, self.item_weights) for model in models]
        differences = [means[a] - means[b] for a, b in places]
        return _location(differences, pairs, self.item_weights), _location(list(means), levels, self.item_weights)


def _variance(row: Float[np.ndarray, " item"], item_weights: Float[np.ndarray, " item"]) -> float:
    return float(((row - row @ item_weights) ** 2) @ item_weights**2)


def _location(
    rows: Sequence[np.ndarray], moments: Sequence[tuple[float, float, float]], item_weights: np.ndarray
) -> Location:
    mean = np.array([float((row * item_weights).sum(-1)) for row in rows])
    variance, third, df = np.array(moments, np.float64).reshape(-1, 3).T
    return Location(len(item_weights), mean, variance, mean, variance, third, df)
