"""Reliability: how often an event happens when its forecast has a given probability, as a curve and as one error."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, frames
from probtruth.scoring.align import align
from probtruth.scoring.calibration.binning import ForecastBins, Items, bands, item_weights, judged, resamples
from probtruth.scoring.calibration.corp import Isotone
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Binning, JudgedBy

if TYPE_CHECKING:
    import polars

Points = Float[np.ndarray, " point"]


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
    aligned, way = align(predictions, truth).on_host(), check.literal(by, JudgedBy, "by")
    check.one_of(method, ("isotonic", *get_args(Binning.__value__)), "method")
    check.whole(n_bins, 1, "n_bins", "10 or 15 are usual.")
    check.one_of(band, ("consistency", "confidence", "none"), "band")
    n_drawn = 0 if band == "none" else check.whole(n_resamples, 0, "resamples", "200 are enough to see.")
    check.number(level, "level", "0.95 is usual.", above=0, below=1)
    heavy = item_weights(weights, len(aligned.items))
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        order = Isotone.of(forecasts)
        curve, fit = _isotonic(order, outcomes, heavy)
        if method != "isotonic":
            curve, fit = _binned(ForecastBins.of(forecasts, n_bins, method, kind), forecasts, outcomes, heavy)
        low = high = np.full(len(curve[0]), np.nan)
        if n_drawn:
            if band == "confidence":
                drawn = [fit(outcomes, resampled) for resampled in resamples(heavy, n_drawn, seed)]
            else:
                drawn = [fit(sample, heavy) for sample in _calibrated(order, forecasts, outcomes, heavy, n_drawn, seed)]
            low, high = np.clip(bands(np.where(np.isnan(drawn), curve[1], drawn), level), 0, 1)
        columns = ("forecast", "observed", "weight", "low", "high")
        rows += [
            named | dict(zip(columns, map(float, point), strict=True)) for point in zip(*curve, low, high, strict=True)
        ]
    return frames.from_rows(rows)


type Curve = tuple[tuple[Points, Points, Points], Callable[[Items, Items], Points]]
"""Forecast, observed frequency and weight of each point; the frequencies there of other outcomes or weights."""


def _isotonic(order: Isotone, outcomes: Items, heavy: Items) -> Curve:
    """The two ends of every flat piece of the fit (one row if they are equal)."""
    fitted, total = order.fit(outcomes, heavy), order.weights(heavy)
    first = np.concatenate([[True], fitted[1:] != fitted[:-1]])
    piece = np.cumsum(first) - 1
    ends = first | np.concatenate([first[1:], [True]])
    share = np.bincount(piece, total)[piece] / total.sum()
    points = order.points[ends]
    return (points, fitted[ends], share[ends]), lambda drawn, some: np.interp(
        points, order.points, order.fit(drawn, some)
    )


def _binned(bins: ForecastBins, forecasts: Items, outcomes: Items, heavy: Items) -> Curve:
    share = bins.sums(heavy) / heavy.sum()
    return (bins.means(forecasts, heavy), bins.means(outcomes, heavy), share), bins.means


def _calibrated(
    order: Isotone, forecasts: Items, outcomes: Items, heavy: Items, n_resamples: int, seed: int
) -> Iterator[Items]:
    """Possible outcomes if the forecasts were calibrated."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    hard = bool(np.isin(outcomes, (0, 1)).all())
    apart = outcomes - order.fit(outcomes, heavy)[order.point_of]
    for _ in range(n_resamples):
        if hard:
            yield (rng.random(len(forecasts)) < forecasts).astype(np.float64)
        else:
            yield forecasts + apart * rng.choice([-1.0, 1.0], len(forecasts))


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
    aligned = align(predictions, truth)
    way = check.one_of(by, (*get_args(JudgedBy.__value__), "class-wise"), "by")
    check.whole(n_bins, 1, "n_bins", "10 or 15 are usual.")
    check.literal(bins, Binning, "bins")
    check.whole(n_resamples, 0, "resamples", "200 are enough to see.")
    heavy = item_weights(weights, len(aligned.items))
    rows: list[dict[str, Any]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        binned, order = ForecastBins.of(forecasts, n_bins, bins, kind), Isotone.of(forecasts)
        errors = [
            float(np.abs(binned.sums(heavy * (sample - forecasts))).sum() / heavy.sum())
            for sample in (outcomes, *_calibrated(order, forecasts, outcomes, heavy, n_resamples, seed))
        ]
        rows.append(
            named | {"error": errors[0], "if_calibrated": float(np.mean(errors[1:])) if n_resamples else np.nan}
        )
    if way == "class-wise":
        means = {
            model: [
                np.mean([row[name] for row in rows if row["model"] == model]) for name in ("error", "if_calibrated")
            ]
            for model in aligned.models
        }
        rows = [
            {"model": m, "label": None, "error": float(e), "if_calibrated": float(c)} for m, (e, c) in means.items()
        ]
    return frames.from_rows(rows)
