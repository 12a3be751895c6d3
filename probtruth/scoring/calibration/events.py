"""Forecasts of one event of many (a label, or being right): in bins, sorted, under resamples of items."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import isotonic_regression

from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, to_host
from probtruth.kernels.shapes import ItemFloats, ItemInts
from probtruth.scoring.align import Aligned

Pairs = Float[np.ndarray, "item 2"]
Points = Float[np.ndarray, " point"]


def bins_of(forecasts: ItemFloats, n_bins: int, kind: np.dtype[Any]) -> ItemInts:
    """The bin of each item, of equal width; each holds its upper edge, empty ones do not count."""
    edges = np.linspace(0, 1, n_bins + 1)
    edges *= 1 + simplex.lost_as_log(edges, kind)
    bin_of = np.searchsorted(edges[1:-1], forecasts)
    _, used = np.unique(bin_of, return_inverse=True)
    return used


def isotonic(point_of: ItemInts, count: Int[np.ndarray, " point"], outcomes: ItemFloats) -> Points:
    """The non-decreasing values at points with the least squared error; each item is at a point, which has a count."""
    means = np.bincount(point_of, outcomes) / count
    return np.asarray(isotonic_regression(means, weights=count).x)


def events(
    log_probs: Float[Table, "item label"], truth: Float[Table, "item label"], labels: Sequence[str], by: str
) -> Iterator[tuple[str | None, ItemFloats, ItemFloats]]:
    """For each label (or the most probable one): its name (or None), forecast probability and outcome of every item."""
    log_probs = to_host(log_probs).astype(np.float64, copy=False)
    truth = to_host(truth).astype(np.float64, copy=False)
    if by == "top-label":
        right = (truth * simplex.shared_by_ties(log_probs)).sum(1)
        yield None, np.exp(log_probs.max(1)), right
        return
    for position, label in enumerate(labels):
        yield label, np.exp(log_probs[:, position]), truth[:, position]


def judged(aligned: Aligned, by: str) -> Iterator[tuple[dict[str, object], ItemFloats, ItemFloats, np.dtype[Any]]]:
    """`events` of every model: the columns that name it, forecasts, outcomes, and the type that the forecasts had."""
    for model, table in aligned.tables():
        for label, forecasts, outcomes in events(table, aligned.truth, aligned.labels, by):
            yield {"model": model, "label": label}, forecasts, outcomes, table.dtype
