"""Differences as weighted bins, so that the cost of fitting a likelihood does not depend on the number of items."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

FEWEST, TAIL = 256, 32
"""Smallest number of bins, and how many of the largest and of the smallest differences get their own bin."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Values with the number of items at (or near) each, in units of `unit` from `centre`; `ties` are exactly zero.

    Bins of weight 0 pad the arrays to a power of two, so that fits of other data need no new compilation.
    """

    value: Float[np.ndarray, " bin"]
    weight: Float[np.ndarray, " bin"]
    ties: int
    n_items: int
    centre: float
    unit: float

    @property
    def zero(self) -> float:
        """Where a difference of zero lies on the scale of the values."""
        return -self.centre / self.unit


def bins(differences: Float[np.ndarray, " item"]) -> Bins:
    """The bins of one pair's differences; between the tails they have equal width, and each lies at the mean of its
    items."""
    values = np.sort(differences)
    n, ties = len(values), int((values == 0).sum())
    centre, unit = float(values.mean()), float(values.std(ddof=1))
    scaled = (values - centre) / unit
    most = max(FEWEST, int(2 * np.sqrt(n)))
    if n <= most:
        value, weight = scaled, np.ones(n)
    else:
        inner = scaled[TAIL:-TAIL]
        bin_of = np.minimum(((inner - inner[0]) / np.ptp(inner) * (most - 2 * TAIL)).astype(int), most - 2 * TAIL - 1)
        count = np.bincount(bin_of, minlength=most - 2 * TAIL)
        total = np.bincount(bin_of, inner, minlength=most - 2 * TAIL)
        used = count > 0
        value = np.r_[scaled[:TAIL], total[used] / count[used], scaled[-TAIL:]]
        weight = np.r_[np.ones(TAIL), count[used], np.ones(TAIL)].astype(np.float64)
    size = 1 << max(len(value) - 1, 1).bit_length()
    gap = size - len(value)
    return Bins(np.r_[value, np.zeros(gap)], np.r_[weight, np.zeros(gap)], ties, n, centre, unit)
