"""The source probability: how often events happened that a model reported with about a given probability."""

import numpy as np
from jaxtyping import Float, Int
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import isotonic_regression

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.host import distinct

MOST_BINS = 100  # The number of bins of the paper's figures, if there are enough data; else the root of their number
# Grid steps of the kernel estimate per standard deviation of the kernel: its error is of order 1/8^2/8.
STEPS_PER_BANDWIDTH = 8
LEAST_BANDWIDTH = 1e-5  # The narrowest kernel; its grid over all probabilities has 800,000 steps
CUTOFF = 6  # Standard deviations after which the kernel is cut off (at 1e-8 of its height)

Entries = Float[np.ndarray, " entry"]


def check_smoothing(way: str, smoothing: object) -> float | None:
    """The number of bins, or the width of the kernel; None for the default."""
    if smoothing is None:
        return None
    if way in ("isotonic", "truth"):
        hint = "It has nothing to smooth; leave it out."
        raise InputError(f"smoothing={smoothing!r}", f"none for {way!r}", hint)
    if way == "kernel":
        return check.number(smoothing, "a kernel of standard deviation", "Try 0.05.", least=LEAST_BANDWIDTH)
    return check.whole(smoothing, 1, "bins")


def source_probability(reported: Entries, events: Entries, way: str, smoothing: float | None) -> Entries:
    """For each reported probability, the estimated frequency of the event (1, 0 or a soft label) among similar ones."""
    if way == "truth":
        return events
    values, inverse, counts = distinct(reported)
    happened = np.bincount(inverse, events, len(values))
    if way == "isotonic":
        fitted = isotonic_regression(happened / counts, weights=counts)
        frequency = np.asarray(fitted.x)
    elif way == "kernel":
        frequency = _kernel(values, counts, happened, smoothing)
    else:  # a prior adds one entry of the frequency of all
        bins = _bin_of(counts, smoothing)
        prior = 1 if way == "bayes-bins" else 0
        of_all = happened.sum() / counts.sum()
        hits = np.bincount(bins, happened) + prior * of_all
        size = np.bincount(bins, counts) + prior
        by_bin = hits / np.maximum(size, 1)
        frequency = by_bin[bins]
    # between 0 and 1 despite rounding, and above 0 if something happened
    least = np.where(happened > 0, np.finfo(np.float64).tiny, 0.0)
    return np.asarray(np.clip(frequency, least, 1.0))[inverse]


def equal_count_bins(reported: Entries, n_bins: float | None = None) -> Int[np.ndarray, " entry"]:
    """The bin of each report; bins have equal counts except for ties, which are never split. Some may stay empty."""
    _, inverse, counts = distinct(reported)
    return _bin_of(counts, n_bins)[inverse]


def _bin_of(counts: np.ndarray, n_bins: float | None) -> np.ndarray:
    number = int(counts.sum())
    wanted = min(MOST_BINS, int(np.sqrt(number)))
    if n_bins is not None:
        wanted = int(min(n_bins, number))
    middle = np.cumsum(counts) - counts / 2
    bins = (middle / number * wanted).astype(np.int64)
    return np.asarray(np.minimum(bins, wanted - 1))


def _kernel(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, width: float | None) -> np.ndarray:
    number = counts.sum()
    if width is None:
        mean = counts @ values / number
        variance = counts @ (values - mean) ** 2 / number
        width = 1.06 * float(np.sqrt(variance)) * number**-0.2
    if width <= 0:  # all reports are equal
        return np.full_like(values, happened.sum() / number)
    position = (values - values[0]) / (width / STEPS_PER_BANDWIDTH)
    size = int(position[-1]) + 2
    left = position.astype(np.int64)
    share = position - left

    def spread(weights: np.ndarray) -> np.ndarray:
        """The kernel's sum of the weights at each value, over a grid that shares a value among its neighbours."""
        on_left = np.bincount(left, weights * (1 - share), size)
        on_right = np.bincount(left + 1, weights * share, size)
        grid = on_left + on_right
        smooth = gaussian_filter1d(grid, STEPS_PER_BANDWIDTH, mode="constant", truncate=CUTOFF)
        from_left = smooth[left] * (1 - share)
        from_right = smooth[left + 1] * share
        return np.asarray(from_left + from_right)

    n_events = spread(happened)
    n_entries = spread(counts.astype(np.float64))
    return np.asarray(n_events / n_entries)
