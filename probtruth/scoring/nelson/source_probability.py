"""The source probability: how often events happened that a model reported with about a given probability."""

from collections.abc import Callable
from functools import partial
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
    """For each reported probability, the estimated frequency of the event among similar reports.

    Arguments: `reported` are the probabilities, `events` how much of each event happened (1, 0 or a soft label).
    `method` "isotonic" is the monotone fit of greatest likelihood, "bins" the frequency in bins of equal counts,
    "bayes-bins" its posterior mean in each bin under a Beta prior worth one entry, with the frequency of all entries
    as its mean, "kernel" a Gaussian average over similar reports, "neighbours" the frequency among the nearest
    reports, "truth" the soft labels themselves. `smoothing` is the number of bins (default: root of the number of
    entries, at most 100), the kernel's standard deviation (default: 1.06 sd n^(-1/5)) or the number of neighbours
    (default: root of the number). Equal reports share one estimate, so the order of the entries does not matter.

    Returns: probabilities, positive wherever some of the event happened.

    Source: Nelson (2017), doi:10.3390/e19060286, Section 4, step 3b.

    >>> import numpy as np
    >>> reported = np.array([0.1, 0.4, 0.3, 0.8])
    >>> source_probability(reported, np.array([0.0, 0.0, 1.0, 1.0])).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    way = check.literal(method, SourceMethod, "source")
    if way == "truth":
        return events
    values, inverse, counts = np.unique(reported, return_inverse=True, return_counts=True)
    happened = np.bincount(inverse, events, len(values))
    return _ESTIMATES[way](values, counts, happened, smoothing)[inverse]


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


def _isotonic(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, smoothing: object) -> np.ndarray:
    if smoothing is not None:
        raise InputError(f"smoothing={smoothing!r}", "none for 'isotonic'", "It has nothing to smooth; leave it out.")
    return np.clip(np.asarray(isotonic_regression(happened / counts, weights=counts).x), 0, 1)


def _bins(prior: int, values: np.ndarray, counts: np.ndarray, happened: np.ndarray, smoothing: object) -> np.ndarray:
    """The frequency in each bin, to which a prior adds so many entries of the frequency of all."""
    bins = _bin_of(counts, None if smoothing is None else whole(smoothing, 1, "bins"))
    hits = np.bincount(bins, happened) + prior * (happened.sum() / counts.sum())
    frequency: np.ndarray = (hits / np.maximum(np.bincount(bins, counts) + prior, 1))[bins]
    return frequency


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

    return _possible(spread(happened) / spread(counts.astype(np.float64)), happened)


def _neighbours(values: np.ndarray, counts: np.ndarray, happened: np.ndarray, smoothing: object) -> np.ndarray:
    """The frequency within the distance that reaches `smoothing` entries, with all entries at that distance."""
    number = int(counts.sum())
    wanted = min(whole(smoothing, max(1, int(np.sqrt(number))), "neighbours"), number)
    entries = np.repeat(values, counts)

    def farthest(start: np.ndarray) -> np.ndarray:
        distance: np.ndarray = np.maximum(values - entries[start], entries[start + wanted - 1] - values)
        return distance

    low, high = np.zeros(len(values), np.int64), np.full(len(values), number - wanted)
    while (low < high).any():  # the first window of so many entries whose right end is the farther one
        middle = (low + high) // 2
        right = values - entries[middle] <= entries[middle + wanted - 1] - values
        low, high = np.where(right, low, np.minimum(middle + 1, high)), np.where(right, middle, high)
    distance = np.minimum(farthest(high), farthest(np.maximum(high - 1, 0))) * (1 + 1e-9)  # ties despite rounding
    first = np.searchsorted(values, values - distance, "left")
    last = np.searchsorted(values, values + distance, "right")
    ends = np.concatenate([[0], np.cumsum(counts)])
    totals = np.concatenate([[0.0], np.cumsum(happened)])
    return _possible((totals[last] - totals[first]) / (ends[last] - ends[first]), happened)


def _possible(frequency: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Frequencies between 0 and 1 despite rounding, and above 0 if something happened."""
    value: np.ndarray = np.clip(frequency, np.where(happened > 0, np.finfo(np.float64).tiny, 0.0), 1.0)
    return value


def whole(smoothing: object, default: int, what: str) -> int:
    """The number of bins or neighbours; an error unless it is a whole number of at least 1."""
    if smoothing is None:
        return default
    if not isinstance(smoothing, (int, float)) or not isfinite(smoothing) or smoothing % 1 or smoothing < 1:
        raise InputError(f"{smoothing!r} {what}", f"a whole number of {what}", f"Leave it out for {default} {what}.")
    return int(smoothing)


_Estimate = Callable[[np.ndarray, np.ndarray, np.ndarray, object], np.ndarray]

_ESTIMATES: dict[str, _Estimate] = {
    "isotonic": _isotonic,
    "bins": partial(_bins, 0),
    "bayes-bins": partial(_bins, 1),
    "kernel": _kernel,
    "neighbours": _neighbours,
}
