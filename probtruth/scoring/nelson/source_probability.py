"""The source probability: how often events happened that a model reported with about a given probability."""

from math import isfinite

import numpy as np
from jaxtyping import Float, Int
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import isotonic_regression

from probtruth import check
from probtruth.errors import InputError
from probtruth.types.arguments import SourceMethod

MOST_BINS = 100  # The number of bins of the paper's figures, if there are enough data; else the root of their number
# Grid steps of the kernel estimate per standard deviation of the kernel: its error is of order 1/8^2/8.
STEPS_PER_BANDWIDTH = 8
LEAST_BANDWIDTH = 1e-5  # The narrowest kernel; its grid over all probabilities has 800,000 steps
REACH = 6  # Standard deviations after which the kernel is cut off (at 1e-8 of its height)

Entries = Float[np.ndarray, " entry"]


def source_probability(
    reported: Entries, events: Entries, method: object = "isotonic", smoothing: object = None
) -> Entries:
    """For each reported probability, the estimated frequency of the event (1, 0 or a soft label) among similar ones."""
    way = check.literal(method, SourceMethod, "source")
    if way == "truth":
        return events
    values, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    happened = np.bincount(inverse, events, len(values))
    if way == "isotonic":
        if smoothing is not None:
            hint = "It has nothing to smooth; leave it out."
            raise InputError(f"smoothing={smoothing!r}", "none for 'isotonic'", hint)
        frequency = np.asarray(isotonic_regression(happened / counts, weights=counts).x)
    elif way == "kernel":
        frequency = _kernel(values, counts, happened, smoothing)
    elif way == "neighbours":
        frequency = _neighbours(values, counts, happened, smoothing)
    else:  # a prior adds one entry of the frequency of all
        bins = _bin_of(counts, None if smoothing is None else whole(smoothing, 1, "bins"))
        prior = 1 if way == "bayes-bins" else 0
        hits = np.bincount(bins, happened) + prior * (happened.sum() / counts.sum())
        frequency = (hits / np.maximum(np.bincount(bins, counts) + prior, 1))[bins]
    # between 0 and 1 despite rounding, and above 0 if something happened
    return np.asarray(np.clip(frequency, np.where(happened > 0, np.finfo(np.float64).tiny, 0.0), 1.0))[inverse]


def equal_count_bins(reported: Entries, n_bins: int | None = None) -> Int[np.ndarray, " entry"]:
    """The bin of each report; bins have equal counts except for ties, which are never split. Some may stay empty."""
    _, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    return _bin_of(counts, n_bins)[inverse]


def _bin_of(counts: np.ndarray, n_bins: int | None) -> np.ndarray:
    number = int(counts.sum())
    wanted = min(MOST_BINS, int(np.sqrt(number))) if n_bins is None else min(n_bins, number)
    middle = np.cumsum(counts) - counts / 2
    bins: np.ndarray = np.minimum((middle / number * wanted).astype(np.int64), wanted - 1)
    return bins


def _kernel(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, smoothing: object) -> np.ndarray:
    number = counts.sum()
    mean = counts @ values / number
    width = 1.06 * float(np.sqrt(counts @ (values - mean) ** 2 / number)) * number**-0.2
    if smoothing is not None:
        width = check.number(smoothing, "a kernel of standard deviation", "Try 0.05.", least=LEAST_BANDWIDTH)
    if width <= 0:  # all reports are equal
        return np.full_like(values, happened.sum() / number)
    step = width / STEPS_PER_BANDWIDTH
    position = (values - values[0]) / step
    size = int(position[-1]) + 2
    left = position.astype(np.int64)
    share = position - left

    def spread(weights: np.ndarray) -> np.ndarray:
        grid = np.bincount(left, weights * (1 - share), size) + np.bincount(left + 1, weights * share, size)
        smooth = gaussian_filter1d(grid, STEPS_PER_BANDWIDTH, mode="constant", truncate=REACH)
        value: np.ndarray = smooth[left] * (1 - share) + smooth[left + 1] * share
        return value

    return np.asarray(spread(happened) / spread(counts.astype(np.float64)))


def _neighbours(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, smoothing: object) -> np.ndarray:
    """The frequency within the distance that reaches `smoothing` entries, with all entries at that distance."""
    number = int(counts.sum())
    wanted = min(whole(smoothing, max(1, int(np.sqrt(number))), "neighbours"), number)
    ends, totals = (np.append(0, np.cumsum(part)) for part in (counts, happened))

    def within(distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.searchsorted(values, values - distance, "left"), np.searchsorted(values, values + distance, "right")

    low, high = np.zeros_like(values), np.ones_like(values)
    for _ in range(40):  # halves the distance down to 1e-12
        middle = (low + high) / 2
        first, last = within(middle)
        enough = ends[last] - ends[first] >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    first, last = within(high * (1 + 1e-9))  # ties despite rounding
    return np.asarray((totals[last] - totals[first]) / (ends[last] - ends[first]))


def whole(smoothing: object, default: int, what: str) -> int:
    """The number of bins or neighbours; an error unless it is a whole number of at least 1."""
    if smoothing is None:
        return default
    if not isinstance(smoothing, (int, float)) or not isfinite(smoothing) or smoothing % 1 or smoothing < 1:
        raise InputError(f"{smoothing!r} {what}", f"a whole number of {what}", f"Leave it out for {default} {what}.")
    return int(smoothing)
