"""CORP: how much of a loss is miscalibration, and how much the forecasts discriminate, by isotonic regression."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from probtruth import check, frames
from probtruth.scoring.align import align
from probtruth.scoring.calibration.binning import Items, Rows, against_rest, bands, item_weights, resamples, top_label
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.rules.named import RuleLike
from probtruth.scoring.score import check_floor, expected_losses, floored
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import JudgedBy

if TYPE_CHECKING:
    import polars

Points = Float[np.ndarray, " point"]

BY = ("joint", "label", "top-label")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")


@dataclass(frozen=True, eq=False)
class Isotone:
    """Sorted forecasts, ready to fit to many outcomes."""

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

    def weights(self, weights: Items) -> Points:
        """Total weight of the items at each point."""
        return np.bincount(self.point_of, weights, len(self.points)).astype(np.float64)

    def fit(self, outcomes: Items, weights: Items) -> Points:
        """The non-decreasing values with the least weighted squared error, one for each point."""
        total = self.weights(weights)
        used = total > 0
        summed = np.bincount(self.point_of, outcomes * weights, len(self.points))
        fitted = isotonic_regression(summed[used] / total[used], weights=total[used]).x
        return np.asarray(fitted if used.all() else np.interp(self.points, self.points[used], fitted))


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
    aligned, chosen, way = align(predictions, truth).on_host(), get_rule(rule), check.one_of(by, BY, "by")
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    if way == "joint":
        chosen = chosen.for_labels(aligned.labels)
    heavy = item_weights(weights, len(aligned.items))
    check.whole(n_bootstrap, 0, "resamples", "200 are enough to see, 2,000 for two digits.")
    check.number(level, "level", "0.95 is usual.", above=0, below=1)
    rows: list[dict[str, object]] = []
    for model, table in zip(aligned.models, logs, strict=True):
        tables: list[tuple[str | None, tuple[Rows, Rows]]]
        if way == "label":
            tables = [(name, against_rest(table, aligned.truth, k)) for k, name in enumerate(aligned.labels)]
        else:
            tables = [(None, top_label(table, aligned.truth) if way == "top-label" else (table, aligned.truth))]
        for label, pair in tables:
            problem = Problem.of(chosen, *pair)
            row: dict[str, object] = {"model": model, "label": label} | dict(
                zip(PARTS, problem.parts(heavy), strict=True)
            )
            if n_bootstrap:
                drawn = np.array([problem.parts(some) for some in resamples(heavy, n_bootstrap, seed)])
                for side, values in zip(("low", "high"), bands(drawn, level).tolist(), strict=True):
                    row |= dict(zip((f"{name}_{side}" for name in PARTS), values, strict=True))
            rows.append(row)
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

    def calibrated(self, weights: Items) -> Rows:
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

    def parts(self, weights: Items) -> tuple[float, float, float, float]:
        """Mean loss, miscalibration, discrimination, uncertainty."""
        shares, calibrated = weights / weights.sum(), self.calibrated(weights)
        with np.errstate(divide="ignore"):
            plain = np.broadcast_to(np.log(shares @ self.truth), self.truth.shape)
            tables = (self.log_probs, np.log(calibrated, out=calibrated), plain)
        losses = [expected_losses(self.rule, None, table, self.truth) for table in tables]
        score, fitted, same = (float(np.where(shares > 0, one, 0) @ shares) for one in losses)
        best = min(score, fitted, same)
        return score, score - best, same - best, same
