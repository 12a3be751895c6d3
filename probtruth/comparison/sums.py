"""Sums that do not depend on the order of their terms, bit for bit, at the speed of NumPy."""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

PIECES = 3
"""Each piece holds about 52 - log2(n) bits of every term: three leave at most one rounding in the total."""
BLOCK = 1 << 14
"""Terms handled at once, so that what is held stays in the processor's cache."""


def _exponent(values: Float[np.ndarray, "*batch item"]) -> tuple[np.ndarray, int]:
    """The power of two that each row is rounded against first, and by how many bits n terms can outgrow one."""
    peak = np.maximum(values.max(-1, keepdims=True, initial=0.0), -values.min(-1, keepdims=True, initial=0.0))
    bits = max(values.shape[-1] - 1, 1).bit_length() + 1
    return np.frexp(peak)[1] + bits, bits


def pieces(values: Float[np.ndarray, "*batch item"], exponent: np.ndarray, bits: int) -> Iterator[np.ndarray]:
    """The finite values as a sum of arrays, each of which adds up along its last axis without rounding in any order.

    Every term is rounded to a multiple of one power of two for its row; n such multiples fit into 53 bits.

    Source: Demmel and Nguyen 2013, "Fast reproducible floating-point summation", doi:10.1109/ARITH.2013.9.
    """
    rest = values
    for step in range(PIECES):
        anchor = np.ldexp(1.5, np.maximum(exponent - step * (53 - bits), -1000))
        piece = rest + anchor
        piece -= anchor
        yield piece
        rest = rest - piece


def exact_sum(values: Float[np.ndarray, "*batch item"]) -> np.ndarray:
    """The sum along the last axis; the negative of the values gives the negative of the sum."""
    exponent, bits = _exponent(values)
    n = values.shape[-1]
    step = max(1, BLOCK * n // max(values.size, 1))
    first, second, third = (np.zeros(values.shape[:-1]) for _ in range(PIECES))
    for start in range(0, n, step):  # sums of a piece are exact, and so is adding them up
        one, two, three = (piece.sum(-1) for piece in pieces(values[..., start : start + step], exponent, bits))
        first, second, third = first + one, second + two, third + three
    return np.asarray(first + (second + third))


def exact_totals(
    values: Float[np.ndarray, "row item"], place: Int[np.ndarray, " item"], n_places: int
) -> Float[np.ndarray, "row place"]:
    """The total of each row at each place (0 to n_places - 1)."""
    exponent, bits = _exponent(values)
    totals = np.empty((len(values), n_places))
    for row, terms in enumerate(values):
        first, second, third = (np.bincount(place, piece, n_places) for piece in pieces(terms, exponent[row], bits))
        totals[row] = first + (second + third)
    return totals


def exact_mean(values: Float[np.ndarray, "*batch item"]) -> np.ndarray:
    """The mean along the last axis."""
    return np.asarray(exact_sum(values) / values.shape[-1])


def weighted_mean(values: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"]) -> float:
    """The weighted mean; infinite where a value of positive weight is, NaN where infinities of both signs meet."""
    with np.errstate(invalid="ignore"):
        terms = np.where(weights > 0, weights * values, 0.0)
    infinite = terms[np.isinf(terms)]
    if infinite.size:
        return math.nan if np.ptp(np.sign(infinite)) else float(infinite[0])
    return float(exact_sum(terms))
