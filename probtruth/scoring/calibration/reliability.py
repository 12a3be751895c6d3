"""Forecasts of one event against what happened: reliability as a curve and as one error."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.kernels.host import distinct, in_order
from probtruth.kernels.shapes import ItemFloats, ItemInts
from probtruth.scoring.align import align
from probtruth.scoring.calibration.events import bins_of, isotonic, judged
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import JudgedBy

if TYPE_CHECKING:
    import polars

Thresholds = Float[np.ndarray, " threshold"]
COLUMNS = ("forecast", "observed", "weight", "low", "high")  # of a reliability curve


def reliability_curve(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy = "label",
    level: float = 0.9,
    n_resamples: int = 200,
    seed: int = 0,
) -> "polars.DataFrame":
    """Observed frequency of an event against its forecast probability, with a band.

    Formula: the isotonic regression of outcome on forecast, equal forecasts pooled (CORP; no bins to choose). Soft
    labels are outcomes between 0 and 1. The band shows where the curve would be if the forecasts were calibrated: hard
    labels are redrawn from the forecasts, soft ones scatter around the forecast as they do around the fitted curve,
    with random signs. It is pointwise and equal-tailed.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        by: "label" takes each label against the others, "top-label" the most probable label being right.
        level: the probability that the band holds.
        n_resamples: the number of draws behind the band; 0 for none.
        seed: of everything random: the same seed gives the same numbers.

    Returns: rows in the order of the forecast: `model`, `label`, `forecast`, `observed`, `weight` (share of the items
    in the flat piece of the curve that the row bounds; between its rows the curve is linear), `low`, `high` (NaN
    without a band).

    Errors: `InputError` for an unknown option, and as in `score`.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118; Bröcker and Smith (2007),
    doi:10.1175/WAF993.1, for consistency bands

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1, 1], n_labels=2)
    >>> curve = pt.calibration.reliability_curve(pred, truth, n_resamples=0)
    >>> curve.filter(label="1").select("forecast", "observed").rows()
    [(0.2, 0.5), (0.7, 1.0), (0.9, 1.0)]
    """
    aligned = align(predictions, truth).on_host()
    way = check.literal(by, JudgedBy, "by")
    n_drawn = check.whole(n_resamples, 0, "resamples", "200 are enough to see.")
    tail = (1 - check.number(level, "level", "0.95 is usual.", above=0, below=1)) / 2
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, _ in judged(aligned, way):
        points, point_of, count = distinct(forecasts)
        observed = isotonic(point_of, count, outcomes)
        _, first = in_order(observed)
        ends = first | np.append(first[1:], True)  # rows at the ends of each flat piece
        piece = np.cumsum(first) - 1
        weight = np.bincount(piece, count)[piece] / len(forecasts)
        low = high = np.full(len(points), np.nan)
        if n_drawn:
            possible = _calibrated(forecasts, outcomes, n_drawn, seed)
            drawn = [isotonic(point_of, count, sample) for sample in possible]
            of_band = np.quantile(drawn, [tail, 1 - tail], axis=0, method="inverted_cdf")
            low, high = np.clip(of_band, 0, 1)
        columns = np.stack([points, observed, weight, low, high])
        for point in columns[:, ends].T.tolist():
            rows.append(named | dict(zip(COLUMNS, point, strict=True)))
    return frames.from_rows(rows)


def _calibrated(forecasts: ItemFloats, outcomes: ItemFloats, n_resamples: int, seed: int) -> Iterator[ItemFloats]:
    """Possible outcomes if the forecasts were calibrated."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    hard = bool(np.isin(outcomes, (0, 1)).all())
    _, point_of, count = distinct(forecasts)
    apart = outcomes - isotonic(point_of, count, outcomes)[point_of]
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
    by: JudgedBy = "top-label",
    n_bins: int = 15,
    n_resamples: int = 200,
    seed: int = 0,
) -> "polars.DataFrame":
    """Expected calibration error (ECE) in bins, and its value if the forecasts were calibrated.

    Formula: sum over the bins of share of the items times |mean outcome - mean forecast|.

    It is not a score: a forecast of the mean label for every item has an error of 0. It depends on the bins, and is
    biased upwards, more so with more bins and fewer items. The miscalibration of `decompose` needs no bins, and is a
    part of a proper score.

    Arguments:
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        truth: the reference, used as it is: what `infer_truth` or `Truth.from_probs` makes, or `result.truth`, in which
            the models' forecasts are evidence of inferred classes too, as in `score`.
        by: "top-label" takes the most probable label being right, "label" each label against the others.
        n_bins: the number of bins, of equal width.
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
    way = check.literal(by, JudgedBy, "by")
    check.whole(n_bins, 1, "n_bins", "10 or 15 are usual.")
    check.whole(n_resamples, 0, "resamples", "200 are enough to see.")
    rows: list[dict[str, Any]] = []
    for named, forecasts, outcomes, kind in judged(aligned, way):
        error = partial(_error, bins_of(forecasts, n_bins, kind), forecasts)
        errors = [error(sample) for sample in _calibrated(forecasts, outcomes, n_resamples, seed)]
        by_chance = float(np.mean(errors)) if errors else np.nan
        rows.append(named | {"error": error(outcomes), "if_calibrated": by_chance})
    return frames.from_rows(rows)


def _error(bins: ItemInts, forecasts: ItemFloats, outcomes: ItemFloats) -> float:
    gaps = np.abs(np.bincount(bins, outcomes - forecasts))
    return float(gaps.sum() / len(forecasts))
