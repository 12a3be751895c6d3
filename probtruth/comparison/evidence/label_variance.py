"""What the labels leave unsure about a mean difference on these very items: few votes, or an uncertain class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.exact_sums import exact_sum
from probtruth.types import Scores

LARGE_DF = 1e6
"""Degrees of freedom where a variance is known rather than estimated."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The losses if the label were k (0 where k has no weight), the weight of each label, and the votes behind it.

    `votes` is None where the weights are a posterior; an item with a single vote has the models' average prediction.
    """

    loss: Float[np.ndarray, "model item label"]
    weight: Float[np.ndarray, "item label"]
    votes: Int[np.ndarray, " item"] | None

    def moments(
        self, loss: Float[np.ndarray, "item label"], item_weights: Float[np.ndarray, " item"]
    ) -> tuple[float, float, float]:
        """Variance, third central moment and degrees of freedom of the mean of one row of losses, over the labels."""
        second, third, df = item_moments(loss, self.weight, self.votes)
        second, third = second * item_weights**2, third * item_weights**3
        variance, spread = float(exact_sum(second)), float(exact_sum(second**2 / df))
        return variance, float(exact_sum(third)), min(variance**2 / spread, LARGE_DF) if spread > 0 else LARGE_DF


def item_moments(
    loss: Float[np.ndarray, "item label"],
    weight: Float[np.ndarray, "item label"],
    votes: Int[np.ndarray, " item"] | None,
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """Variance, third central moment and degrees of freedom of each item's mean loss, over the labels."""
    centred = loss - (weight * loss).sum(1)[:, None]
    second, third = (weight * centred**2).sum(1), (weight * centred**3).sum(1)
    df = np.full(len(second), np.inf)
    if votes is not None:
        m = votes.astype(np.float64)
        df = np.where(m > 1, m - 1, np.inf)
        second = np.where(m > 1, second / np.maximum(m - 1, 1), second)
        third = np.where(m > 2, third / np.maximum((m - 1) * (m - 2), 1), np.where(m == 2, 0.0, third))
    return second, third, df


def label_weights(
    estimand: str,
    truth: Float[np.ndarray, "item label"],
    shares: Float[np.ndarray, "item label"] | None,
    n_votes: Int[np.ndarray, " item"] | None,
    forecast: Float[np.ndarray, "item label"] | None,
) -> tuple[Float[np.ndarray, "item label"], Int[np.ndarray, " item"] | None] | None:
    """The weight of each label and the votes behind it; None where nothing is known of how unsure the labels are.

    An item with a single vote has the forecast's.
    """
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
    return None if known is None else Labels(np.where(known[0] > 0, behind.losses, 0.0), *known)


def label_variance(scores: Scores, a: int, b: int, item_weights: Float[np.ndarray, " item"]) -> float | None:
    """The labels' part of the variance of the mean difference of two models; None where it is not known."""
    labels = labels_of(scores)
    if labels is None or not np.isfinite(labels.loss[[a, b]]).all():
        return None
    return labels.moments(labels.loss[a] - labels.loss[b], item_weights)[0]


def label_locations(
    scores: Scores, order: np.ndarray, item_weights: Float[np.ndarray, " item"]
) -> tuple[Location, Location]:
    r"""The posterior of the pairs' mean differences and of the models' mean scores, the items held fixed.

    Under the estimand `distribution`, with m votes of shares y on an item and L_k the loss (or the difference of two
    models' losses) if the label were k, the item's mean has the unbiased variance
    [sum y_k L_k^2 - (sum y_k L_k)^2]/(m - 1); for an item with a single vote the label is taken to be as uncertain as
    the models' average prediction says. Under `class` the variance is that of L under the item's posterior. Items add
    up with their weights squared.

    Errors: `InputError` where the scores say nothing about the labels behind them; `PosteriorError` where a label that
    may be has an infinite loss.
    """
    labels = labels_of(scores)
    if labels is None:
        raise InputError(
            "scores without votes or class probabilities behind them",
            "labels whose uncertainty is known, for population='these-items'",
            "Score against a truth inferred from annotations, or leave population out for new items.",
        )
    losses, means = labels.loss[order], scores.values[order]
    if not np.isfinite(losses).all():
        model, item, _ = (int(axis[0]) for axis in np.nonzero(~np.isfinite(losses)))
        raise PosteriorError(
            f"model {scores.models[order[model]]!r} has an infinite loss under a label that item "
            f"{scores.items[item]!r} may have: the variance due to labels is infinite. "
            "Hint: score with a floor, or with another rule."
        )
    pairs = [labels.moments(losses[a] - losses[b], item_weights) for a, b in all_pairs(len(order))]
    levels = [labels.moments(loss, item_weights) for loss in losses]
    differences = [means[a] - means[b] for a, b in all_pairs(len(order))]
    return _location(differences, pairs, item_weights), _location(list(means), levels, item_weights)


def _location(
    rows: Sequence[np.ndarray], moments: Sequence[tuple[float, float, float]], item_weights: np.ndarray
) -> Location:
    mean = np.array([float(exact_sum(row * item_weights)) for row in rows])
    variance, third, df = np.array(moments, np.float64).reshape(-1, 3).T
    return Location(len(item_weights), mean, variance, mean, variance, third, df)
