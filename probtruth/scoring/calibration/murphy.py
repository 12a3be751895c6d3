"""The Murphy diagram: the loss at every threshold for a decision."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.align import align
from probtruth.scoring.calibration.binning import Items, item_weights, judged
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import JudgedBy

if TYPE_CHECKING:
    import polars

Thresholds = Float[np.ndarray, " threshold"]


def murphy_diagram(
    predictions: Predictions,
    truth: Truth,
    by: JudgedBy = "label",
    thresholds: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> "polars.DataFrame":
    """Mean expected elementary score of each model at every threshold, split into entropy and divergence.

    Formula: for an event of probability t and a forecast p, at the threshold u, t (1 - u) if p <= u (no action, and
    the event happened) and (1 - t) u if p > u (action in vain); entropy is min(t (1 - u), (1 - t) u). Every proper
    rule for two labels is a weighted integral of this over u: twice the integral is (p - y)^2, and with the weight
    1/(u (1 - u)) it is the log score. A model that is lower at every threshold is better under all proper rules.

    Here a soft label is a probability of the event, not an outcome between 0 and 1 (which would drop the entropy).

    Arguments: `by` "label" takes each label against the others, "top-label" the most probable label being right;
    `thresholds` between 0 and 1 (101 even ones by default); `weights` of the items.

    Returns: rows `model`, `label`, `threshold`, `expected`, `entropy`, `divergence`; from 0 to 1, lower is better.

    Errors: `InputError` for thresholds outside 0 to 1, and as in `score`.

    Source: Ehm, Gneiting, Jordan and Krüger (2016), doi:10.1111/rssb.12154

    >>> import probtruth as pt
    >>> pred, truth = pt.Predictions.from_probs({"a": [[0.4, 0.6]]}), pt.Truth.from_probs([[0.3, 0.7]])
    >>> curve = pt.calibration.murphy_diagram(pred, truth, thresholds=[0.5, 0.65]).filter(label="1")
    >>> curve.select("expected", "entropy").to_numpy().round(3).tolist()
    [[0.15, 0.15], [0.245, 0.195]]
    """
    check.literal(by, JudgedBy, "by")
    grid = (
        np.linspace(0, 1, 101) if thresholds is None else check_arrays.as_floats(thresholds, "threshold", "thresholds")
    )
    if not ((grid >= 0) & (grid <= 1)).all():
        raise InputError("thresholds outside 0 to 1 or NaN", "probabilities", "np.linspace(0, 1, 101) is the default.")
    aligned = align(predictions, truth).on_host()
    heavy = item_weights(weights, len(aligned.items))
    rows: list[dict[str, object]] = []
    for named, forecasts, outcomes, kind in judged(aligned, by):
        expected = elementary_score(forecasts, outcomes, grid, heavy / heavy.sum(), simplex.lost_as_log(grid, kind))
        entropy = elementary_score(outcomes, outcomes, grid, heavy / heavy.sum())
        for threshold, loss, least in zip(grid.tolist(), expected.tolist(), entropy.tolist(), strict=True):
            parts = {"expected": loss, "entropy": least, "divergence": max(loss - least, 0.0)}
            rows.append({**named, "threshold": threshold, **parts})
    return frames.from_rows(rows)


def elementary_score(
    forecasts: Items, outcomes: Items, thresholds: Thresholds, shares: Items, lost: Thresholds | float = 0.0
) -> Thresholds:
    """Weighted mean elementary score at each threshold, from one sort of the forecasts."""
    order = np.argsort(forecasts, kind="stable")
    below = np.searchsorted(forecasts[order], thresholds * (1 + lost), side="right")
    came, stayed_away = (
        np.concatenate([[0.0], np.cumsum((shares * part)[order])]) for part in (outcomes, 1 - outcomes)
    )
    score: np.ndarray = came[below] * (1 - thresholds) + (stayed_away[-1] - stayed_away[below]) * thresholds
    return score
