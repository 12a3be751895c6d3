"""Forecasts of one event against what happened: reliability as a curve and as one error, and the Murphy diagram."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Num

from probtruth import check, frames
from probtruth.kernels.shapes import ItemFloats, ItemInts
from probtruth.scoring.align import align
from probtruth.scoring.calibration.events import Isotone, Points, bands, bins_of, judged, resamples
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Binning, JudgedBy

if TYPE_CHECKING:
    import polars

Thresholds = Float[np.ndarray, " threshold"]
COLUMNS = ("forecast", "observed", "weight", "low", "high")  # of a reliability curve


def reliability_curve(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy = "label",
    method: Binning | Literal["isotonic"] = "isotonic",
    n_bins: int = 10,
    band: Literal["consistency", "confidence", "none"] = "consistency",
    level: float = 0.9,
    n_resamples: int = 200,
    seed: int = 0,
) -> "polars.DataFrame":
    """Observed frequency of an event against its forecast probability, with a band.

    Formula: the isotonic regression of outcome on forecast, equal forecasts pooled (CORP; no bins to choose), or the
    mean outcome against the mean forecast in bins. Soft labels are outcomes between 0 and 1.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.
        by: "label" takes each label against the others, "top-label" the most probable label being right.
        method: "isotonic", or bins of "uniform" width or "quantile" (equal numbers), `n_bins` of them.
        n_bins: the number of bins, where the method has bins.
        band: "consistency" shows where the curve would be if the forecasts were calibrated: hard labels are redrawn
            from the forecasts, soft ones scatter around the forecast as they do around the fitted curve, with random
            signs. "confidence" is the spread of the curve over resamples of the items. Both are pointwise,
            equal-tailed, at `level`.
        level: the probability that the band holds.
        n_resamples: how many there are.
        seed: of everything random: the same seed gives the same numbers.

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
    aligned = align(predictions, truth).on_host()
    way = check.literal(by, JudgedBy, "by")
    check.one_of(method, ("isotonic", *get_args(Binning.__value__)), "method")
    check.whole(n_bins, 1, "n_bins", "10 or 15 are usual.")
    check.one_of(band, ("consistency", "confidence", "none"), "band")
    n_drawn = 0 if band == "none" else check.whole(n_resamples, 0, "resamples", "200 are enough to see.")
    check.number(level, "level", "0.95 is usual.", above=0, below=1)
    each = np.ones(len(aligned.items))
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        order = Isotone(forecasts)
        if method == "isotonic":
            curve = _isotonic(order, outcomes)
        else:
            curve = _binned(bins_of(forecasts, n_bins, method, kind), forecasts, outcomes)
        low = high = np.full(len(curve.weight), np.nan)
        if n_drawn:
            if band == "confidence":
                weights = resamples(len(each), n_drawn, seed)
                drawn = [curve.fit(outcomes, resampled) for resampled in weights]
            else:
                possible = _calibrated(order, forecasts, outcomes, n_drawn, seed)
                drawn = [curve.fit(sample, each) for sample in possible]
            drawn_or_same = np.where(np.isnan(drawn), curve.observed, drawn)
            low, high = np.clip(bands(drawn_or_same, level), 0, 1)
        columns = np.stack([curve.forecast, curve.observed, curve.weight / len(each), low, high])
        for point in columns[:, curve.ends].T.tolist():
            rows.append(named | dict(zip(COLUMNS, point, strict=True)))
    return frames.from_rows(rows)


@dataclass(frozen=True)
class _Curve:
    """Points of a reliability curve: `fit` gives the observed frequency at each for other outcomes or weights."""

    fit: Callable[[ItemFloats, ItemFloats], Points]
    observed: Points
    forecast: Points
    weight: Num[np.ndarray, " point"]
    ends: Bool[np.ndarray, " point"]


def _isotonic(order: Isotone, outcomes: ItemFloats) -> _Curve:
    """A flat piece has its weight, and rows at its ends: one where they are equal."""
    observed = order.fit(outcomes, np.ones(len(outcomes)))
    change = observed[1:] != observed[:-1]
    ends = np.append(True, change) | np.append(change, True)
    piece = np.append(0, np.cumsum(change))
    weight = np.bincount(piece[order.point_of])[piece]
    return _Curve(order.fit, observed, order.points, weight, ends)


def _binned(bins: ItemInts, forecasts: ItemFloats, outcomes: ItemFloats) -> _Curve:
    fit = partial(_means, bins)
    each = np.ones(len(outcomes))
    weight = np.bincount(bins)
    observed = fit(outcomes, each)
    forecast = fit(forecasts, each)
    return _Curve(fit, observed, forecast, weight, np.ones(len(weight), bool))


def _means(bin_of: ItemInts, values: ItemFloats, weights: ItemFloats) -> Points:
    """Weighted mean in each bin; NaN if a resample has none of it."""
    total = np.bincount(bin_of, weights * values)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / np.bincount(bin_of, weights))


def _calibrated(
    order: Isotone, forecasts: ItemFloats, outcomes: ItemFloats, n_resamples: int, seed: int
) -> Iterator[ItemFloats]:
    """Possible outcomes if the forecasts were calibrated."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    hard = bool(np.isin(outcomes, (0, 1)).all())
    fitted = order.fit(outcomes, np.ones(len(outcomes)))
    apart = outcomes - fitted[order.point_of]
    for _ in range(n_resamples):
        if hard:
            happens = rng.random(len(forecasts)) < forecasts
            yield happens.astype(np.float64)
        else:
            signs = rng.choice([-1.0, 1.0], len(forecasts))
            yield forecasts + apart * signs


def calibration_error(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy | Literal["class-wise"] = "top-label",
    n_bins: int = 15,
    bins: Binning = "uniform",
    n_resamples: int = 200,
    seed: int = 0,
) -> "polars.DataFrame":
    """Expected calibration error (ECE) in bins, and its value if the forecasts were calibrated.

    Formula: sum over the bins of share of the items times |mean outcome - mean forecast|.

    It is not a score: a forecast of the mean label for every item has an error of 0. It depends on the bins, and is
    biased upwards, more so with more bins and fewer items. The miscalibration of `calibration_decomposition` needs no
    bins, and is a part of a proper score.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.
        by: "top-label" takes the most probable label being right, "class-wise" the mean over all labels of each label
            against the others, "label" one row for each of these.
        n_bins: the number of bins.
        bins: "uniform" or "quantile", `n_bins` of them.
        n_resamples: the number of draws behind `if_calibrated`.
        seed: of everything random: the same seed gives the same numbers.

    Returns: one row for each model (and label), between 0 and 1, lower is better: `model`, `label`, `error`, and
    `if_calibrated`, its mean over outcomes drawn as for the consistency band of `reliability_curve`.

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
    rows: list[dict[str, Any]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        error = partial(_error, bins_of(forecasts, n_bins, bins, kind), forecasts)
        possible = _calibrated(Isotone(forecasts), forecasts, outcomes, n_resamples, seed)
        errors = [error(sample) for sample in possible]
        by_chance = float(np.mean(errors)) if errors else np.nan
        label = None if way == "class-wise" else named["label"]
        rows.append(named | {"label": label, "error": error(outcomes), "if_calibrated": by_chance})
    table = frames.from_rows(rows)
    if way == "class-wise":
        return table.group_by("model", maintain_order=True).mean()
    return table


def _error(bins: ItemInts, forecasts: ItemFloats, outcomes: ItemFloats) -> float:
    gaps = np.abs(np.bincount(bins, outcomes - forecasts))
    return float(gaps.sum() / len(forecasts))
