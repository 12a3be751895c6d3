"""Expected calibration error, beside the value that a calibrated model would show."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from probtruth import check, frames
from probtruth.scoring.align import Aligned, align
from probtruth.scoring.calibration.binning import ForecastBins, check_bins, check_resampling, events, item_weights
from probtruth.scoring.calibration.corp import Isotone
from probtruth.scoring.calibration.reliability import calibrated_outcomes
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Binning, JudgedBy

if TYPE_CHECKING:
    import polars

BY = ("top-label", "class-wise", "label")


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
    way = check.one_of(by, BY, "by")
    binning = check_bins(n_bins, bins)
    size, _ = check_resampling(n_resamples, 0.5)
    shares = item_weights(weights, len(aligned.items))
    rows: list[dict[str, object]] = []
    for model, table in aligned.tables():
        group_rows: list[dict[str, object]] = []
        for label, forecasts, outcomes in events(table, aligned.truth, aligned.labels, way):
            binned = ForecastBins.of(forecasts, shares, *binning, table.dtype)
            order = Isotone.of(forecasts)
            fitted = order.fit(outcomes, shares)[order.point_of]
            samples = calibrated_outcomes(forecasts, outcomes, fitted, size, seed)
            drawn = [binned.error(forecasts, sample) for sample in samples]
            group_rows.append(
                {
                    "model": model,
                    "label": label,
                    "error": binned.error(forecasts, outcomes),
                    "if_calibrated": float(np.mean(drawn)) if drawn else float("nan"),
                }
            )
        rows += group_rows if way != "class-wise" else [_mean(group_rows)]
    return frames.from_rows(rows)


def _mean(rows: list[dict[str, object]]) -> dict[str, object]:
    means = {name: float(np.mean([row[name] for row in rows])) for name in ("error", "if_calibrated")}  # type: ignore[call-overload]
    return {"model": rows[0]["model"], "label": None} | means
