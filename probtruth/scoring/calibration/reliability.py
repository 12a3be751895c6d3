"""Reliability: how often an event happens when its forecast has a given probability, as a curve and as one error."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, frames
from probtruth.scoring.align import Aligned, AlignedOnHost, align
from probtruth.scoring.calibration.binning import (
    ForecastBins,
    Weights,
    bands,
    check_bins,
    check_resampling,
    item_weights,
    judged,
    resamples,
)
from probtruth.scoring.calibration.corp import Isotone
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Binning, JudgedBy

if TYPE_CHECKING:
    import polars

METHODS = ("isotonic", "uniform", "quantile")
BANDS = ("consistency", "confidence", "none")

Items = Float[np.ndarray, " item"]
Curve = tuple[np.ndarray, np.ndarray, np.ndarray]


@check.checks_itself
def reliability_curve(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy = "label",
    method: Binning | Literal["isotonic"] = "isotonic",
    n_bins: int = 10,
    band: Literal["consistency", "confidence", "none"] = "consistency",
    level: float = 0.9,
    n_resamples: int = 200,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> "polars.DataFrame":
    """Observed frequency of an event against its forecast probability, with a band.

    Formula: the isotonic regression of outcome on forecast, equal forecasts pooled (CORP; no bins to choose), or the
    mean outcome against the mean forecast in bins. Soft labels are outcomes between 0 and 1.

    Arguments: `by` "label" takes each label against the others, "top-label" the most probable label being right.
    `method` is "isotonic", or bins of "uniform" width or "quantile" (equal numbers), `n_bins` of them. `band`
    "consistency" shows where the curve would be if the forecasts were calibrated: if all labels are hard, outcomes are
    redrawn from the forecasts; soft labels scatter around the forecast as they do around the fitted curve, with random
    signs. "confidence" is the spread of the curve over resamples of the items. Both are pointwise, equal- tailed, at
    `level`, from `n_resamples`.

    Returns: rows in the order of the forecast: `model`, `label`, `forecast`, `observed`, `weight` (share of the items
    in the bin; for the isotonic curve, which is linear between its rows, in the flat piece that the row bounds), `low`,
    `high` (NaN without a band).

    Errors: `InputError` for an unknown option, and as in `score`.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118; Bröcker and Smith (2007),
    doi:10.1175/WAF993.1, for consistency bands

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1, 1], n_labels=2)
    >>> curve = pt.calibration.reliability_curve(pred, truth, band="none")
    >>> curve.filter(label="1").select("forecast", "observed").rows()
    [(0.2, 0.5), (0.7, 1.0), (0.9, 1.0)]
    """
    return reliability_aligned(
        align(predictions, truth).on_host(), by, method, n_bins, band, level, n_resamples, weights, seed
    )


def reliability_aligned(
    aligned: AlignedOnHost,
    by: object = "label",
    method: object = "isotonic",
    n_bins: object = 10,
    band: object = "consistency",
    level: object = 0.9,
    n_resamples: object = 200,
    weights: object = None,
    seed: int = 0,
) -> "polars.DataFrame":
    """`reliability_curve` of predictions and truth that are aligned."""
    way = check.literal(by, JudgedBy, "by")
    drawing = Drawing(
        check.one_of(method, METHODS, "method"),
        check_bins(n_bins, "uniform")[0],
        check.one_of(band, BANDS, "band"),
        *check_resampling(n_resamples, level),
        seed,
    )
    shares = item_weights(weights, len(aligned.items))
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        curve, low, high = _curve(forecasts, outcomes, shares, drawing, kind)
        columns = ("forecast", "observed", "weight", "low", "high")
        points = zip(*curve, low, high, strict=True)
        rows += [named | dict(zip(columns, map(float, point), strict=True)) for point in points]
    return frames.from_rows(rows)


@dataclass(frozen=True)
class Drawing:
    """The options of a curve and its band."""

    method: str
    n_bins: int
    band: str
    n_resamples: int
    level: float
    seed: int


def _curve(
    forecasts: Items, outcomes: Items, weights: Weights, how: Drawing, kind: np.dtype[Any]
) -> tuple[Curve, np.ndarray, np.ndarray]:
    order = Isotone.of(forecasts)
    bins = None if how.method == "isotonic" else ForecastBins.of(forecasts, weights, how.n_bins, how.method, kind)
    if bins is None:
        curve = _steps(order, order.fit(outcomes, weights), weights)
    else:
        curve = (bins.means(forecasts), bins.means(outcomes), bins.total)

    def again(drawn: Items, heavy: Weights) -> np.ndarray:
        if bins is None:
            fitted: np.ndarray = np.interp(curve[0], order.points, order.fit(drawn, heavy))
            return fitted
        return (bins if heavy is None else bins.reweighted(heavy)).means(drawn)

    nothing = np.full(len(curve[0]), np.nan)
    if how.band == "none" or how.n_resamples == 0:
        return curve, nothing, nothing
    if how.band == "confidence":
        drawn = [again(outcomes, heavy) for heavy in resamples(weights, len(forecasts), how.n_resamples, how.seed)]
    else:
        fitted = order.fit(outcomes, weights)[order.point_of]
        drawn = [
            again(sample, weights)
            for sample in calibrated_outcomes(forecasts, outcomes, fitted, how.n_resamples, how.seed)
        ]
    low, high = bands(np.where(np.isnan(drawn), curve[1], drawn), how.level)
    return curve, np.clip(low, 0, 1), np.clip(high, 0, 1)


def calibrated_outcomes(
    forecasts: Items, outcomes: Items, fitted: Items, n_resamples: int, seed: int
) -> Iterator[Items]:
    """Possible outcomes if the forecasts were calibrated.

    Hard outcomes are drawn from the forecasts; soft ones keep their distance from the fitted curve, its sign at random
    (the wild bootstrap), around the forecast.
    """
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    hard = bool(np.isin(outcomes, (0, 1)).all())
    for _ in range(n_resamples):
        if hard:
            yield (rng.random(len(forecasts)) < forecasts).astype(np.float64)
        else:
            yield forecasts + (outcomes - fitted) * rng.choice([-1.0, 1.0], len(forecasts))


def _steps(order: Isotone, fitted: np.ndarray, weights: Weights) -> Curve:
    """The two ends of every flat piece of the fit (one row if they are equal)."""
    first = np.concatenate([[True], fitted[1:] != fitted[:-1]])
    last = np.concatenate([first[1:], [True]])
    piece = np.cumsum(first) - 1
    total = order.weights(weights)
    share = np.bincount(piece, total)[piece] / total.sum()
    ends = first | last
    return order.points[ends], fitted[ends], share[ends]


@check.checks_itself
def calibration_error(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy | Literal["class-wise"] = "top-label",
    n_bins: int = 15,
    bins: Binning = "uniform",
    n_resamples: int = 200,
    weights: ArrayLike | None = None,
    seed: int = 0,
) -> "polars.DataFrame":
    """Expected calibration error (ECE) in bins, and its value if the forecasts were calibrated.

    Formula: sum over the bins of share of the items times |mean outcome - mean forecast|.

    It is not a score: a forecast of the mean label for every item has an error of 0. It is biased upwards, more so
    with more bins and fewer items: `if_calibrated` is its mean over outcomes drawn as if the forecasts were calibrated
    (as for the consistency band of `reliability_curve`), and is not 0. It depends on the bins. The miscalibration of
    `calibration_decomposition` needs no bins, and is a part of a proper score.

    Arguments: `by` "top-label" takes the most probable label being right, "class-wise" the mean over all labels of
    each label against the others, "label" one row for each of these. `bins` "uniform" or "quantile", `n_bins` of them.
    `n_resamples` is the number of draws behind `if_calibrated`.

    Returns: one row for each model (and label), between 0 and 1, lower is better: `model`, `label`, `error`,
    `if_calibrated`.

    Errors: `InputError` for an unknown option, and as in `score`.

    Source: Guo et al. (2017), doi:10.48550/arXiv.1706.04599; for the bias, Bröcker (2012),
    doi:10.1007/s00382-011-1191-1

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1, 1], n_labels=2)
    >>> round(pt.calibration.calibration_error(pred, truth, n_bins=10)["error"][0], 3)
    0.25
    """
    return error_aligned(align(predictions, truth), by, n_bins, bins, n_resamples, weights, seed)


def error_aligned(
    aligned: Aligned,
    by: object = "top-label",
    n_bins: object = 15,
    bins: object = "uniform",
    n_resamples: object = 200,
    weights: object = None,
    seed: int = 0,
) -> "polars.DataFrame":
    """`calibration_error` of predictions and truth that are aligned."""
    way = check.one_of(by, (*get_args(JudgedBy.__value__), "class-wise"), "by")
    binning = check_bins(n_bins, bins)
    size, _ = check_resampling(n_resamples, 0.5)
    shares = item_weights(weights, len(aligned.items))
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        binned, order = ForecastBins.of(forecasts, shares, *binning, kind), Isotone.of(forecasts)
        fitted = order.fit(outcomes, shares)[order.point_of]
        samples = calibrated_outcomes(forecasts, outcomes, fitted, size, seed)
        drawn = [binned.error(forecasts, sample) for sample in samples]
        by_chance = float(np.mean(drawn)) if drawn else float("nan")
        rows.append(named | {"error": binned.error(forecasts, outcomes), "if_calibrated": by_chance})
    if way == "class-wise":
        rows = [_mean([row for row in rows if row["model"] == model]) for model in aligned.models]
    return frames.from_rows(rows)


def _mean(rows: list[dict[str, object]]) -> dict[str, object]:
    means = {name: float(np.mean([row[name] for row in rows])) for name in ("error", "if_calibrated")}  # type: ignore[call-overload]
    return {"model": rows[0]["model"], "label": None} | means
