"""The source probability: how often events happened that a model reported with about a given probability."""

import numpy as np
from jaxtyping import Float, Int
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import isotonic_regression

from probtruth import check
from probtruth.errors import InputError

MOST_BINS = 100  # The number of bins of the paper's figures, if there are enough data; else the root of their number
# Grid steps of the kernel estimate per standard deviation of the kernel: its error is of order 1/8^2/8.
STEPS_PER_BANDWIDTH = 8
LEAST_BANDWIDTH = 1e-5  # The narrowest kernel; its grid over all probabilities has 800,000 steps
CUTOFF = 6  # Standard deviations after which the kernel is cut off (at 1e-8 of its height)

Entries = Float[np.ndarray, " entry"]


def check_smoothing(way: str, smoothing: object) -> float | None:
    """The number of bins or neighbours, or the width of the kernel; None for the default."""
    if smoothing is None:
        return None
    if way in ("isotonic", "truth"):
        hint = "It has nothing to smooth; leave it out."
        raise InputError(f"smoothing={smoothing!r}", f"none for {way!r}", hint)
    if way == "kernel":
        return check.number(smoothing, "a kernel of standard deviation", "Try 0.05.", least=LEAST_BANDWIDTH)
    what, hint = "neighbours" if way == "neighbours" else "bins", "Leave it out for the default."
    if (number := check.number(smoothing, what, hint, least=1, wanted="a whole number from 1 on")) % 1:
        raise InputError(f"{what} {smoothing!r}", "a whole number from 1 on", hint)
    return number


def source_probability(reported: Entries, events: Entries, way: str, smoothing: float | None) -> Entries:
    """For each reported probability, the estimated frequency of the event (1, 0 or a soft label) among similar ones."""
    if way == "truth":
        return events
    values, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    happened = np.bincount(inverse, events, len(values))
    if way == "isotonic":
        frequency = np.asarray(isotonic_regression(happened / counts, weights=counts).x)
    elif way == "kernel":
        frequency = _kernel(values, counts, happened, smoothing)
    elif way == "neighbours":
        frequency = _neighbours(values, counts, happened, smoothing)
    else:  # a prior adds one entry of the frequency of all
        bins = _bin_of(counts, smoothing)
        prior = 1 if way == "bayes-bins" else 0
        hits = np.bincount(bins, happened) + prior * (happened.sum() / counts.sum())
        frequency = (hits / np.maximum(np.bincount(bins, counts) + prior, 1))[bins]
    # between 0 and 1 despite rounding, and above 0 if something happened
    return np.asarray(np.clip(frequency, np.where(happened > 0, np.finfo(np.float64).tiny, 0.0), 1.0))[inverse]


def equal_count_bins(reported: Entries, n_bins: float | None = None) -> Int[np.ndarray, " entry"]:
    """The bin of each report; bins have equal counts except for ties, which are never split. Some may stay empty."""
    _, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    return _bin_of(counts, n_bins)[inverse]


def _bin_of(counts: np.ndarray, n_bins: float | None) -> np.ndarray:
    number = int(counts.sum())
    wanted = min(MOST_BINS, int(np.sqrt(number))) if n_bins is None else int(min(n_bins, number))
    middle = np.cumsum(counts) - counts / 2
    bins: np.ndarray = np.minimum((middle / number * wanted).astype(np.int64), wanted - 1)
    return bins


def _kernel(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, width: float | None) -> np.ndarray:
    number = counts.sum()
    mean = counts @ values / number
    if width is None:
        width = 1.06 * float(np.sqrt(counts @ (values - mean) ** 2 / number)) * number**-0.2
    if width <= 0:  # all reports are equal
        return np.full_like(values, happened.sum() / number)
    step = width / STEPS_PER_BANDWIDTH
    position = (values - values[0]) / step
    size = int(position[-1]) + 2
    left = position.astype(np.int64)
    share = position - left

    def spread(weights: np.ndarray) -> np.ndarray:
        grid = np.bincount(left, weights * (1 - share), size) + np.bincount(left + 1, weights * share, size)
        smooth = gaussian_filter1d(grid, STEPS_PER_BANDWIDTH, mode="constant", truncate=CUTOFF)
        value: np.ndarray = smooth[left] * (1 - share) + smooth[left + 1] * share
        return value

    return np.asarray(spread(happened) / spread(counts.astype(np.float64)))


def _neighbours(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, least: float | None) -> np.ndarray:
    """The frequency within the distance that reaches at least so many entries, with all entries at that distance."""
    number = int(counts.sum())
    wanted = min(int(np.sqrt(number) if least is None else least), number)
    ends, totals = (np.append(0, np.cumsum(part)) for part in (counts, happened))
    entries = np.repeat(values, counts)
    # of all runs of so many entries the first that reaches at least as far up as down, by bisection; or the one before
    low, high = np.zeros(len(values), np.int64), np.full(len(values), number - wanted)
    for _ in range(number.bit_length()):
        middle = (low + high) // 2
        above = entries[middle + wanted - 1] - values >= values - entries[middle]
        low, high = np.where(above, low, np.minimum(middle + 1, high)), np.where(above, middle, high)
    runs = np.maximum(np.stack([low - 1, low]), 0)
    distance = np.maximum(values - entries[runs], entries[runs + wanted - 1] - values).min(0) * (1 + 1e-9)  # ties
    first = np.searchsorted(values, values - distance, "left")
    last = np.searchsorted(values, values + distance, "right")
    return np.asarray((totals[last] - totals[first]) / (ends[last] - ends[first]))
