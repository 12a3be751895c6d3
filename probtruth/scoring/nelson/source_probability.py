"""The source probability: how often events happened that a model reported with about a given probability."""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import isotonic_regression

MOST_BINS = 100  # The number of bins of the paper's figures, if there are enough data; else the root of their number

Entries = Float[np.ndarray, " entry"]


def source_probability(reported: Entries, events: Entries, way: str, n_bins: int | None = None) -> Entries:
    """For each reported probability, the estimated frequency of the event (1, 0 or a soft label) among similar ones."""
    if way == "truth":
        return events
    values, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    happened = np.bincount(inverse, events, len(values))
    if way == "isotonic":
        fitted = isotonic_regression(happened / counts, weights=counts)
        frequency = np.asarray(fitted.x)
    else:
        bins = _bin_of(counts, n_bins)
        size = np.bincount(bins, counts)
        by_bin = np.bincount(bins, happened) / np.maximum(size, 1)
        frequency = by_bin[bins]
    # between 0 and 1 despite rounding, and above 0 if something happened
    least = np.where(happened > 0, np.finfo(np.float64).tiny, 0.0)
    return np.asarray(np.clip(frequency, least, 1.0))[inverse]


def equal_count_bins(reported: Entries, n_bins: int | None = None) -> Int[np.ndarray, " entry"]:
    """The bin of each report; bins have equal counts except for ties, which are never split. Some may stay empty."""
    _, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    return _bin_of(counts, n_bins)[inverse]


def _bin_of(counts: np.ndarray, n_bins: int | None) -> np.ndarray:
    number = int(counts.sum())
    wanted = min(MOST_BINS, int(np.sqrt(number)))
    if n_bins is not None:
        wanted = min(n_bins, number)
    middle = np.cumsum(counts) - counts / 2
    bins = (middle / number * wanted).astype(np.int64)
    return np.asarray(np.minimum(bins, wanted - 1))
