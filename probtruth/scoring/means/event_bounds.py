"""Areas and the isotonic decomposition from bins of forecasts: exact where a bin is one tie, else between bounds."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

SCORES = ("brier", "log")
"""Scores of an event: (p - t)^2 + t (1 - t), from 0 to 1, and the log score in nats."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Forecasts of one event by bins, in order: how many, the total of their outcomes, whether all are equal."""

    numbers: Float[np.ndarray, " bin"]
    outcomes: Float[np.ndarray, " bin"]
    tied: Bool[np.ndarray, " bin"]


@dataclass(frozen=True, eq=False)
class EventRanks:
    """Metrics of events: `_low` and `_high` hold for every order inside the bins, the plain value takes bins as ties.

    `labels` are the events' labels (None: the most probable label is right). `scores` names the columns of what the
    isotonic fit decomposes: mean score = miscalibration - discrimination + uncertainty. NaN where an area is not
    defined (no outcome, or nothing else).
    """

    labels: tuple[int, ...] | None
    n_items: int
    roc_area: Float[np.ndarray, " event"]
    roc_area_low: Float[np.ndarray, " event"]
    roc_area_high: Float[np.ndarray, " event"]
    average_precision: Float[np.ndarray, " event"]
    average_precision_low: Float[np.ndarray, " event"]
    average_precision_high: Float[np.ndarray, " event"]
    scores: tuple[str, ...]
    mean_score: Float[np.ndarray, "event score"]
    uncertainty: Float[np.ndarray, "event score"]
    miscalibration: Float[np.ndarray, "event score"]
    miscalibration_low: Float[np.ndarray, "event score"]
    miscalibration_high: Float[np.ndarray, "event score"]
    discrimination: Float[np.ndarray, "event score"]
    discrimination_low: Float[np.ndarray, "event score"]
    discrimination_high: Float[np.ndarray, "event score"]


def event_ranks(
    labels: tuple[int, ...] | None, n_items: int, bins: list[Bins], means: Float[np.ndarray, "event mean"]
) -> EventRanks:
    """The metrics of every event, from its bins and the means of its outcomes and scores."""
    used = [Bins(*(part[one.numbers > 0] for part in (one.numbers, one.outcomes, one.tied))) for one in bins]
    roc = np.array([roc_area(one) for one in used]).T
    precision = np.array([average_precision(one) for one in used]).T
    fitted = np.array([isotonic_scores(one) for one in used])
    base, score = means[:, 0], means[:, 1:]
    uncertainty = _loss(np.ones_like(base), base, base).T
    least, plain = fitted[:, 0], fitted[:, 1]
    return EventRanks(
        labels, n_items, roc[0], roc[1], roc[2], precision[0], precision[1], precision[2], SCORES, score, uncertainty,
        score - plain, score - plain, score - least,
        uncertainty - plain, uncertainty - plain, uncertainty - least,
    )  # fmt: skip


def roc_area(bins: Bins) -> tuple[float, float, float]:
    """Area under the ROC curve with bins as ties, and over every order inside them the least and the greatest."""
    right, wrong = bins.outcomes, bins.numbers - bins.outcomes
    pairs = right.sum() * wrong.sum()
    if pairs <= 0:
        return np.nan, np.nan, np.nan
    below = np.cumsum(wrong) - wrong
    inside = right * wrong
    loose = inside[~bins.tied].sum() / 2
    area = (right * below).sum() + inside.sum() / 2
    return area / pairs, (area - loose) / pairs, (area + loose) / pairs


def average_precision(bins: Bins) -> tuple[float, float, float]:
    """Mean precision at each outcome, from the highest forecast down, with bins as ties, and its bounds."""
    right, number = bins.outcomes[::-1], bins.numbers[::-1]
    total = right.sum()
    if total <= 0:
        return np.nan, np.nan, np.nan
    wrong, tied = number - right, bins.tied[::-1]
    seen, found = np.cumsum(number), np.cumsum(right)
    before, got = seen - number, found - right
    precision = found / seen
    worst = got / np.maximum(before + wrong, np.finfo(float).tiny)
    best = found / np.maximum(before + right, np.finfo(float).tiny)
    low, high = np.where(tied, precision, worst), np.where(tied, precision, best)
    return tuple(float((right * value).sum() / total) for value in (precision, low, high))  # type: ignore[return-value]


def isotonic_scores(bins: Bins) -> Float[np.ndarray, "bound score"]:
    """Mean scores of the isotonic fit: the least over every order inside the bins, and with bins as ties.

    In the best order a bin's non-outcomes come before its outcomes, each with a value of its own.
    """
    right, wrong = bins.outcomes, bins.numbers - bins.outcomes
    split = ~bins.tied
    number = np.stack([np.where(split, wrong, bins.numbers), np.where(split, right, 0.0)], 1).ravel()
    outcome = np.stack([np.where(split, 0.0, right), np.where(split, right, 0.0)], 1).ravel()
    return np.stack([_fitted(number[number > 0], outcome[number > 0]), _fitted(bins.numbers, bins.outcomes)])


def _fitted(number: Float[np.ndarray, " bin"], outcome: Float[np.ndarray, " bin"]) -> Float[np.ndarray, " score"]:
    if number.size == 0:
        return np.full(len(SCORES), np.nan)
    value = np.asarray(isotonic_regression(np.clip(outcome / number, 0, 1), weights=number).x)
    total: np.ndarray = _loss(number, outcome, value).sum(1) / number.sum()
    return total


def _loss(number: np.ndarray, outcome: np.ndarray, value: np.ndarray) -> Float[np.ndarray, "score bin"]:
    """Totals of both scores when all of a bin have one forecast."""
    rest = number - outcome
    squared = outcome * (1 - value) ** 2 + rest * value**2
    return np.stack([squared, -(xlogy(outcome, value) + xlogy(rest, 1 - value))])
