"""Wilcoxon's signed-rank test: exact with ties for few differences, normal with the tie correction for many."""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

EXACT = 50
"""With at most this many non-zero differences the distribution is enumerated."""


def signed_rank_p(differences: Float[np.ndarray, " item"]) -> float | None:
    """Two-sided p-value for a pseudo-median of zero; zero differences are left out; None if none remains.

    Source: Wilcoxon 1945, doi:10.2307/3001968; exact with ties: Streitberg and Roehmel 1986 (shift algorithm).
    """
    values = differences[differences != 0]
    n = len(values)
    if n == 0:
        return None
    sizes = np.sort(np.abs(values))
    first = np.flatnonzero(np.diff(sizes, prepend=-1.0))  # of every run of ties
    tied = np.diff(first, append=n)
    doubled = 2 * first + tied + 1  # twice the mean rank of each run
    above = np.searchsorted(sizes[first], np.sort(values[values > 0]))
    return two_sided_p(doubled, tied, int(doubled[above].sum()))


def two_sided_p(doubled: Int[np.ndarray, " rank"], number: Int[np.ndarray, " rank"], observed: int) -> float:
    """Two-sided p-value of the total of the positive differences' doubled ranks; `number` counts how often each
    occurs."""
    n, most = int(number.sum()), int((doubled * number).sum())
    if n <= EXACT:
        counts = np.zeros(most + 1)
        counts[0] = 1.0
        for rank in np.repeat(doubled, number).tolist():
            counts[rank:] = (counts[rank:] + counts[: most + 1 - rank]) / 2
            counts[:rank] /= 2
        tail = counts[: min(observed, most - observed) + 1].sum()
        return min(1.0, 2 * float(tail))
    variance = float((number * doubled.astype(np.float64) ** 2).sum())  # of the doubled rank sum: sum of (2r)^2 / 4
    return float(2 * ndtr(-abs(observed - most / 2) / math.sqrt(variance / 4)))
