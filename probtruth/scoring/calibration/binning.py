"""Forecasts of one event of many (a label, or being right), in bins, under weights and resamples of the items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, on_device, to_host
from probtruth.scoring.align import Aligned
from probtruth.types.arguments import Binning


@dataclass(frozen=True, eq=False)
class ForecastBins:
    """The bin of each item, and the weight of each bin; empty bins are left out."""

    bin_of: Int[np.ndarray, " item"]
    weights: Float[np.ndarray, " item"]
    total: Float[np.ndarray, " bin"]

    @classmethod
    def of(
        cls,
        forecasts: Float[np.ndarray, " item"],
        weights: np.ndarray | None,
        n_bins: int,
        bins: str,
        kind: np.dtype[Any],
    ) -> "ForecastBins":
        """Bins of equal width, or with equal numbers of items; each holds its upper edge (and the first its lower).

        Edges of equal width are met to what the forecasts lost as logarithms of the floating type `kind`.
        """
        if bins == "uniform":
            edges = np.linspace(0, 1, n_bins + 1)
            edges *= 1 + simplex.lost_as_log(edges, kind)
        else:
            edges = np.quantile(forecasts, np.linspace(0, 1, n_bins + 1))
        bin_of = np.unique(np.searchsorted(edges[1:-1], forecasts), return_inverse=True)[1]
        heavy = np.full(len(forecasts), 1 / len(forecasts)) if weights is None else weights / weights.sum()
        return cls(bin_of, heavy, np.bincount(bin_of, heavy))

    def means(self, values: Float[np.ndarray, " item"]) -> Float[np.ndarray, " bin"]:
        """Weighted mean in each bin; NaN if the bin has no weight."""
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = np.bincount(self.bin_of, self.weights * values, len(self.total)) / self.total
        return mean

    def reweighted(self, weights: Float[np.ndarray, " item"]) -> "ForecastBins":
        """The same bins under other weights of the items."""
        heavy = weights / weights.sum()
        return ForecastBins(self.bin_of, heavy, np.bincount(self.bin_of, heavy, len(self.total)))

    def error(self, forecasts: Float[np.ndarray, " item"], outcomes: Float[np.ndarray, " item"]) -> float:
        """Weighted mean over the bins of |mean outcome - mean forecast|."""
        gap = np.bincount(self.bin_of, self.weights * (outcomes - forecasts), len(self.total))
        return float(total_gap(gap))


def total_gap(gaps: Float[np.ndarray, "*batch bin"]) -> Float[np.ndarray, "*batch"]:
    """The calibration error of each row: the sum over its bins of share times mean outcome minus mean forecast."""
    return np.asarray(np.abs(gaps).sum(-1))


def check_bins(n_bins: object, bins: object) -> tuple[int, str]:
    """The number of bins and the way to bin; an error where they are not a count above 0 and a known way."""
    way = check.literal(bins, Binning, "bins")
    return check.whole(n_bins, 1, "n_bins", "10 or 15 are usual."), way


Rows = Float[np.ndarray, "item label"]
Lying = Float[Table, "item label"]
Pairs = Float[np.ndarray, "item 2"]


def against_rest(log_probs: Rows, truth: Rows, label: int) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of two labels: all others together, then that one."""
    others = np.arange(truth.shape[1]) != label
    rest = log_probs[:, others][:, 0] if others.sum() == 1 else _log_sum(log_probs[:, others])
    return np.stack([rest, log_probs[:, label]], 1), np.stack([truth[:, others].sum(1), truth[:, label]], 1)


def top_label(log_probs: Rows, truth: Rows) -> tuple[Pairs, Pairs]:
    """Log-probabilities and truth of being wrong and of being right with the most probable label; ties share."""
    right = top_label_right(log_probs, truth)
    first = np.arange(truth.shape[1]) == log_probs.argmax(1)[:, None]
    rest = _log_sum(np.where(first, -np.inf, log_probs))
    return np.stack([rest, log_probs.max(1)], 1), np.stack([1 - right, right], 1)


def top_label_right(log_probs: Rows, truth: Rows) -> Float[np.ndarray, " item"]:
    """The probability that the most probable label of each item is right; ties share."""
    best = log_probs == log_probs.max(1, keepdims=True)
    return np.asarray((truth * best).sum(1) / best.sum(1))


def _log_sum(logs: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.minimum(np.asarray(logsumexp(logs, axis=1)), 0)


def events(
    log_probs: Lying, truth: Lying, labels: Sequence[str], by: str
) -> Iterator[tuple[str | None, Float[np.ndarray, " item"], Float[np.ndarray, " item"]]]:
    """For each label (or the most probable one): its name (or None), forecast probability and outcome of every item.

    Of tables on devices only these numbers come to the host.
    """
    if on_device(log_probs) and on_device(truth):
        from probtruth.kernels import device_tables as there

        if by == "top-label":
            highest, right = there.top_label(log_probs, truth)
            yield None, np.exp(highest), right
            return
        for position, label in enumerate(labels):
            yield label, np.exp(there.column(log_probs, position)), there.column(truth, position)
        return
    log_probs, truth = to_host(log_probs).astype(np.float64, copy=False), to_host(truth)
    if by == "top-label":
        yield None, np.exp(log_probs.max(1)), top_label_right(log_probs, truth)
        return
    for position, label in enumerate(labels):
        yield label, np.exp(log_probs[:, position]), truth[:, position]


def judged(
    aligned: Aligned, by: str
) -> Iterator[tuple[dict[str, object], Float[np.ndarray, " item"], Float[np.ndarray, " item"], np.dtype[Any]]]:
    """`events` of every model: the columns that name it, forecasts, outcomes, and the type that the forecasts had."""
    for model, table in aligned.tables():
        for label, forecasts, outcomes in events(table, aligned.truth, aligned.labels, by):
            yield {"model": model, "label": label}, forecasts, outcomes, table.dtype


Weights = Float[np.ndarray, " item"] | None


def item_weights(weights: object, n_items: int) -> Weights:
    """The weights of the items as floats.

    Errors: `InputError` for another length, a negative or infinite weight, none above 0, or an infinite sum.
    """
    if weights is None:
        return None
    array = check_arrays.as_floats(weights, "item", "weights").astype(np.float64)
    check.length(len(array), n_items, "items")
    if not (np.isfinite(array) & (array >= 0)).all() or not array.any():
        raise InputError("weights that are negative, infinite or all 0", "weights of at least 0", "Check the weights.")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not np.isfinite(total):
        raise InputError("weights whose sum is infinite", "a finite sum", "Divide all weights by the largest.")
    return array


def check_resampling(n_resamples: object, level: object) -> tuple[int, float]:
    """The number of resamples and the level; an error unless they are a count and a number between 0 and 1."""
    size = check.whole(n_resamples, 0, "resamples", "200 are enough to see, 2,000 for two digits.")
    return size, check.number(level, "level", "0.95 is usual.", above=0, below=1)


def resamples(weights: Weights, n_items: int, n_resamples: int, seed: int) -> Iterator[Float[np.ndarray, " item"]]:
    """The weight of each item in each bootstrap resample of the items; those of weight 0 are as if they were not."""
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    heavy = np.ones(n_items) if weights is None else weights
    there = np.flatnonzero(heavy > 0)
    for _ in range(n_resamples):
        counts = np.bincount(there[rng.integers(0, len(there), len(there))], minlength=n_items)
        yield counts * heavy


def bands(
    drawn: Float[np.ndarray, "resample *value"], level: float
) -> tuple[Float[np.ndarray, "*value"], Float[np.ndarray, "*value"]]:
    """Equal-tailed percentiles over the resamples; infinite values stay infinite."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return low, high
