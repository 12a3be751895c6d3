"""A random sample of the items, for what is drawn or sorted item by item."""

import numpy as np
from jaxtyping import Int

MOST_ITEMS, MOST_CELLS = 10_000, 1_000_000
"""Items, and items times labels, up to which all items are looked at."""


def sampled_items(n_items: int, n_labels: int) -> Int[np.ndarray, " sampled"]:
    """Positions of the items that are looked at, in order: all, or the same random ones for the same numbers."""
    most = min(MOST_ITEMS, max(1, MOST_CELLS // n_labels))
    if n_items <= most:
        return np.arange(n_items)
    return np.sort(np.random.default_rng(0).choice(n_items, most, replace=False))
