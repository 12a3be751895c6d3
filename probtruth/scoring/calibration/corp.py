"""CORP: how much of a loss is miscalibration, and how much the forecasts discriminate, by isotonic regression."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import jax
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from probtruth import check, frames
from probtruth.kernels import device_tables
from probtruth.kernels.arrays import Table
from probtruth.scoring.align import AlignedOnHost, align
from probtruth.scoring.calibration.binning import (
    Weights,
    against_rest,
    bands,
    check_resampling,
    item_weights,
    resamples,
    top_label,
)
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.rules.rule import expected_from_log_of
from probtruth.scoring.score import check_floor, floored
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import JudgedBy

if TYPE_CHECKING:
    import polars


Items = Float[np.ndarray, " item"]
Points = Float[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class Isotone:
    """Sorted forecasts, ready to fit to many outcomes.

    `points` are the distinct forecasts and `point_of` is the position of each item's forecast among them.
    """

    points: Points
    point_of: Int[np.ndarray, " item"]

    @classmethod
    def of(cls, forecasts: Items) -> "Isotone":
        """From one forecast for each item."""
        order = np.argsort(forecasts)  # `np.unique` does the same with more copies
        points = forecasts[order]
        first = np.append(True, points[1:] != points[:-1])
        point_of = np.empty(len(points), np.int64)
        point_of[order] = np.cumsum(first) - 1
        return cls(points[first], point_of)

    def weights(self, weights: Items | None) -> Points:
        """Total weight of the items at each point."""
        return np.bincount(self.point_of, weights, len(self.points)).astype(np.float64)

    def means(self, outcomes: Items, weights: Items | None) -> Points:
        """Weighted mean outcome at each point; NaN if no item has weight."""
        return self._means(outcomes, weights, self.weights(weights))

    def _means(
        self, outcomes: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"] | None, total: np.ndarray
    ) -> Float[np.ndarray, " point"]:
        summed = np.bincount(self.point_of, outcomes if weights is None else outcomes * weights, len(self.points))
        return np.where(total > 0, summed / np.where(total > 0, total, 1), np.nan)

    def fit(self, outcomes: Items, weights: Items | None = None) -> Points:
        """The non-decreasing values with the least weighted squared error, one for each point.

        They also have the least loss under every other proper rule for two labels. Points without weight get a value
        on the line between their neighbours.

        Source: Ayer et al. (1955), doi:10.1214/aoms/1177728423; Dimitriadis, Gneiting and Jordan (2021),
        doi:10.1073/pnas.2016191118
        """
        total = self.weights(weights)
        mean = self._means(outcomes, weights, total)
        used = total > 0
        if used.all():
            return np.asarray(isotonic_regression(mean, weights=total).x)
        fitted = isotonic_regression(mean[used], weights=total[used]).x
        between: np.ndarray = np.interp(self.points, self.points[used], fitted)
        return between


BY = ("joint", "label", "top-label")
PARTS = ("miscalibration", "discrimination", "uncertainty")

Rows = Float[np.ndarray, "item label"]


@check.checks_itself
def calibration_decomposition(
    predictions: Predictions,
    truth: Truth,
    rule: RuleLike = "log",
    by: JudgedBy | Literal["joint"] = "label",
    floor: float | None = None,
    weights: ArrayLike | None = None,
    n_bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> "polars.DataFrame":
    """Mean expected loss as miscalibration minus discrimination plus uncertainty (CORP), with bootstrap bands.

    Formula: S(p) = [S(p) - S(c)] - [S(r) - S(c)] + S(r), with S the mean loss, c the forecasts after calibration by
    isotonic regression on the labels (equal forecasts pooled), and r the mean label, the same forecast for every item.
    The three parts are miscalibration, discrimination and uncertainty.

    Arguments: `by` "label" judges each label against all others; "top-label" judges the greatest probability as a
    forecast of being right (labels that tie count with their mean); "joint" judges the whole distribution, c being the
    fits of all labels divided by their sum (or p or r itself if that has a lower loss, so that no part is negative;
    with two labels it is the same as "label"). `weights` weigh the items; `n_bootstrap` resamples of the items give
    the equal-tailed `level` bands, which describe the spread of these estimates: miscalibration is biased upwards in
    small samples, and so are its bands. The rest as in `score`.

    Returns: one row for each model (and label), in units of the rule: `model`, `label`, `score`, the three parts, and
    with a bootstrap `..._low` and `..._high` of each. Low miscalibration and high discrimination are better.

    Errors: `InputError` as in `score`, for an unknown `by`, and for weights that are negative or too few.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1], n_labels=2)
    >>> row = pt.calibration.calibration_decomposition(pred, truth, rule="brier").row(1, named=True)
    >>> [round(row[part], 3) for part in ("score", "miscalibration", "discrimination", "uncertainty")]
    [0.373, 0.04, 0.111, 0.444]
    """
    return decomposition_aligned(
        align(predictions, truth).on_host(), rule, by, floor, weights, n_bootstrap, level, seed
    )


def decomposition_aligned(
    aligned: AlignedOnHost,
    rule: object = "log",
    by: object = "label",
    floor: object = None,
    weights: object = None,
    n_bootstrap: object = 0,
    level: object = 0.95,
    seed: int = 0,
) -> "polars.DataFrame":
    """`calibration_decomposition` of predictions and truth that are aligned."""
    chosen, way = get_rule(rule), check.one_of(by, BY, "by")
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    if way == "joint":
        chosen = chosen.for_labels(aligned.labels)
    shares = item_weights(weights, len(aligned.items))
    drawn = check_resampling(n_bootstrap, level)
    rows: list[dict[str, object]] = []
    for model, table in zip(aligned.models, logs, strict=True):
        for label, problem in problems(aligned, table, way, chosen):
            parts = problem.parts(shares)
            row: dict[str, object] = {"model": model, "label": label, "score": parts[0]}
            row |= dict(zip(PARTS, parts[1:], strict=True))
            rows.append(row | _bands(problem, shares, *drawn, seed))
    return frames.from_rows(rows)


@dataclass(frozen=True, eq=False)
class Problem:
    """Forecasts of a distribution over labels, the labels, and the order of each label's forecasts."""

    rule: ScoringRule
    log_probs: Rows
    truth: Rows
    orders: Sequence[Isotone]

    @classmethod
    def of(cls, rule: ScoringRule, log_probs: Rows, truth: Rows, probs: Rows | None = None) -> "Problem":
        """The problem of one model (`probs` are the exponentials, if known); with two labels one order serves both."""
        last = 1 if truth.shape[1] == 2 else 0
        columns = np.ascontiguousarray((np.exp(log_probs) if probs is None else probs).T[last:])
        return cls(rule, log_probs, truth, [Isotone.of(column) for column in columns])

    def calibrated(self, weights: Weights = None) -> Rows:
        """The isotonic fit of each label's forecasts to the labels, divided by their sum over the labels."""
        last = self.truth.shape[1] - len(self.orders)
        fitted = np.empty(self.truth.shape)
        for order, outcomes, column in zip(self.orders, self.truth.T[last:], fitted.T[last:], strict=True):
            column[:] = order.fit(outcomes, weights)[order.point_of]
        if last:
            fitted[:, 0] = 1 - fitted[:, 1]
            return fitted
        whole = fitted.sum(1, keepdims=True)
        fitted /= np.where(whole > 0, whole, 1)
        fitted[whole[:, 0] <= 0] = 1 / fitted.shape[1]
        return fitted

    def parts(self, weights: Weights = None) -> tuple[float, float, float, float]:
        """Mean loss, miscalibration, discrimination, uncertainty."""
        shares = np.full(len(self.truth), 1 / len(self.truth)) if weights is None else weights / weights.sum()
        calibrated = self.calibrated(weights)
        with np.errstate(divide="ignore"):
            plain = np.broadcast_to(np.log(shares @ self.truth), self.truth.shape)
            tables = (self.log_probs, np.log(calibrated, out=calibrated), plain)
        return of_losses(*(self._mean(table, shares) for table in tables))

    def _mean(self, log_probs: Rows, shares: np.ndarray) -> float:
        with jax.enable_x64(True):
            losses = np.asarray(expected_from_log_of(self.rule, log_probs, self.truth))
        return float(np.where(shares > 0, losses, 0) @ shares)


def of_losses(score: float, calibrated: float, plain: float) -> tuple[float, float, float, float]:
    """Mean loss, miscalibration, discrimination, uncertainty, from the mean losses of the forecasts, of the calibrated
    ones, and of the mean label."""
    best = min(score, calibrated, plain)
    return score, score - best, plain - best, plain


def calibrated_there(
    log_probs: Float[Array, "item label"], truth: Float[Table, "item label"]
) -> Float[Array, "item label"]:
    """`Problem.calibrated` of tables on devices: each label's column is fitted on the host and put back."""
    last = 1 if log_probs.shape[1] == 2 else 0
    columns = []
    for label in range(last, log_probs.shape[1]):
        order = Isotone.of(np.exp(device_tables.column(log_probs, label)))
        columns.append(order.fit(device_tables.column(truth, label))[order.point_of])
    if last:
        columns.insert(0, 1 - columns[0])
    return device_tables.distributions(columns, log_probs)


def problems(aligned: AlignedOnHost, log_probs: Rows, by: str, rule: ScoringRule) -> list[tuple[str | None, Problem]]:
    """The forecasts to judge: the whole distribution, each label against the others, or the most probable label."""
    if by == "joint":
        return [(None, Problem.of(rule, log_probs, aligned.truth))]
    if by == "top-label":
        return [(None, Problem.of(rule, *top_label(log_probs, aligned.truth)))]
    return [
        (label, Problem.of(rule, *against_rest(log_probs, aligned.truth, position)))
        for position, label in enumerate(aligned.labels)
    ]


def _bands(problem: Problem, weights: Weights, n_bootstrap: int, level: float, seed: int) -> dict[str, float]:
    """Percentiles of score and parts over resamples of the items."""
    if n_bootstrap == 0:
        return {}
    drawn = [problem.parts(resampled) for resampled in resamples(weights, len(problem.truth), n_bootstrap, seed)]
    low, high = bands(np.array(drawn), level)
    named = dict(zip((f"{name}_low" for name in ("score", *PARTS)), low.tolist(), strict=True))
    return named | dict(zip((f"{name}_high" for name in ("score", *PARTS)), high.tolist(), strict=True))
