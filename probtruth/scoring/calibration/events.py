"""Forecasts of one event of many (a label, or being right): in bins, sorted, under resamples of items."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp

from probtruth import check
from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, to_host
from probtruth.kernels.shapes import ItemFloats, ItemInts, ItemLabel
from probtruth.scoring.align import Aligned

Pairs = Float[np.ndarray, "item 2"]
Points = Float[np.ndarray, " point"]


def bins_of(forecasts: ItemFloats, n_bins: int, bins: str, kind: np.dtype[Any]) -> ItemInts:
    """The bin of each item, of equal width or of equal counts; each holds its upper edge, empty ones do not count."""
    if bins == "uniform":
        edges = np.linspace(0, 1, n_bins + 1)
        edges *= 1 + simplex.lost_as_log(edges, kind)
    else:
        edges = np.quantile(forecasts, np.linspace(0, 1, n_bins + 1))
    bin_of = np.searchsorted(edges[1:-1], forecasts)
    _, used = np.unique(bin_of, return_inverse=True)
    return used


class Isotone:
    """Sorted forecasts, equal ones at one point, ready to fit to many outcomes."""

    def __init__(self, forecasts: ItemFloats) -> None:
        self.points, self.point_of = np.unique(forecasts, return_inverse=True)

    def fit(self, outcomes: ItemFloats, weights: ItemFloats) -> Points:
        """The non-decreasing values with the least weighted squared error, one for each point."""
        weight = np.bincount(self.point_of, weights)
        total = np.bincount(self.point_of, outcomes * weights)
        used = weight > 0
        means = total[used] / weight[used]
        fitted = isotonic_regression(means, weights=weight[used]).x
        if not used.all():
            fitted = np.interp(self.points, self.points[used], fitted)
        return np.asarray(fitted)


def against_rest(log_probs: ItemLabel, truth: ItemLabel, label: int) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of two labels: all others together, then that one."""
    labels = np.arange(truth.shape[1])
    others = labels != label
    log_others = log_probs[:, others]
    log_rest = log_others[:, 0] if others.sum() == 1 else _log_sum(log_others)
    rest = truth[:, others].sum(1)
    pairs_of_logs = np.stack([log_rest, log_probs[:, label]], 1)
    pairs_of_truth = np.stack([rest, truth[:, label]], 1)
    return pairs_of_logs, pairs_of_truth


def top_label(log_probs: ItemLabel, truth: ItemLabel) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of being wrong and of being right with the most probable label; ties share."""
    chosen = simplex.shared_by_ties(log_probs)
    right = (truth * chosen).sum(1)
    labels = np.arange(truth.shape[1])
    first = labels == log_probs.argmax(1)[:, None]
    log_rest = _log_sum(np.where(first, -np.inf, log_probs))
    pairs_of_logs = np.stack([log_rest, log_probs.max(1)], 1)
    pairs_of_truth = np.stack([1 - right, right], 1)
    return pairs_of_logs, pairs_of_truth


def _log_sum(logs: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.minimum(np.asarray(logsumexp(logs, axis=1)), 0)


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


def resamples(n_items: int, n_resamples: int, seed: int) -> Iterator[ItemFloats]:
    """How often each item stands in each bootstrap resample of the items."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    for _ in range(n_resamples):
        drawn = rng.integers(0, n_items, n_items)
        yield np.bincount(drawn, minlength=n_items).astype(np.float64)


def bands(drawn: Float[np.ndarray, "resample *value"], level: float) -> Float[np.ndarray, "2 *value"]:
    """Equal-tailed percentiles over the resamples; infinite values stay infinite."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.asarray(np.quantile(drawn, tails, axis=0, method="inverted_cdf"))
