"""Weights of items, resamples of items, and bands from the resamples."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError

Weights = Float[np.ndarray, " item"] | None


def item_weights(weights: object, n_items: int) -> Weights:
    """The weights of the items as floats.

    Errors: `InputError` for another length, a negative or infinite weight, or none above 0.
    """
    if weights is None:
        return None
    array = check.as_floats(weights, "item", "weights").astype(np.float64)
    check.length(len(array), n_items, "items")
    if not (np.isfinite(array) & (array >= 0)).all() or array.sum() <= 0:
        raise InputError("weights that are negative, infinite or all 0", "weights of at least 0", "Check the weights.")
    return array


def check_resampling(n_resamples: object, level: object) -> tuple[int, float]:
    """The number of resamples and the level; an error unless they are a count and a number between 0 and 1."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 0:
        raise InputError(f"{n_resamples!r} resamples", "a count", "200 are enough to see, 2,000 for two digits.")
    if not isinstance(level, (float, np.floating)) or not 0 < level < 1:
        raise InputError(f"level {level!r}", "a number between 0 and 1", "0.95 is usual.")
    return int(n_resamples), float(level)


def resamples(weights: Weights, n_items: int, n_resamples: int, seed: int) -> Iterator[Float[np.ndarray, " item"]]:
    """The weight of each item in each bootstrap resample of the items."""
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        counts = np.bincount(rng.integers(0, n_items, n_items), minlength=n_items)
        yield counts * (np.ones(n_items) if weights is None else weights)


def bands(
    drawn: Float[np.ndarray, "resample *value"], level: float
) -> tuple[Float[np.ndarray, "*value"], Float[np.ndarray, "*value"]]:
    """Equal-tailed percentiles over the resamples; infinite values stay infinite."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return low, high
