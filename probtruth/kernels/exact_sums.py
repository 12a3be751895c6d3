"""Sums that do not depend on the order of their terms, bit for bit, at the speed of NumPy."""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

PIECES = 3  # Each piece holds about 52 - log2(n) bits of every term: three leave at most one rounding in the total
BLOCK = 1 << 17  # Terms handled at once, so that what is held stays in the processor's cache
AT_ONCE = 1 << 14  # As `BLOCK`, for `few_terms`
SPLIT = 2.0**27 + 1  # Cuts a number into two halves whose products are exact
LARGEST = 2.0**900  # Above this, and for what is not finite, `few_terms` leaves numbers as they are


def exponent(peak: Float[np.ndarray, "*batch"], n: int) -> tuple[np.ndarray, int]:
    """The power of two that n terms are rounded against first, and by how many bits they can outgrow the largest."""
    bits = max(n - 1, 1).bit_length() + 1
    return np.asarray(np.frexp(peak)[1] + bits), bits


def _peak(values: Float[np.ndarray, "*batch item"]) -> np.ndarray:
    return np.asarray(np.maximum(values.max(-1, initial=0.0), -values.min(-1, initial=0.0)))


def anchors(top: np.ndarray, bits: int) -> list[np.ndarray]:
    """What is added to a term and taken away again, to round it to each piece."""
    return [np.ldexp(1.5, np.maximum(top - step * (53 - bits), -1000)) for step in range(PIECES)]


def pieces(values: Float[np.ndarray, "*batch item"], against: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """The finite values as a sum of arrays, each of which adds up along its last axis without rounding in any order."""
    rest, piece, left = values, np.empty(values.shape), np.empty(values.shape)
    for step, anchor in enumerate(against):
        np.add(rest, anchor, out=piece)
        piece -= anchor
        yield piece
        if step < len(against) - 1:
            rest = np.subtract(rest, piece, out=left)


def part_sum(values: Float[np.ndarray, "*batch item"], top: np.ndarray, bits: int) -> Float[np.ndarray, "piece *batch"]:
    """Sums of the pieces of some of the terms (`top` and `bits` are those of all): exact, and so is adding them up."""
    n = values.shape[-1]
    step = max(1, BLOCK * n // max(values.size, 1))
    total = np.zeros((PIECES, *values.shape[:-1]))
    against = anchors(top[..., None], bits)
    for start in range(0, n, step):
        for position, piece in enumerate(pieces(values[..., start : start + step], against)):
            total[position] += piece.sum(-1)
    return total


def part_totals(
    values: Float[np.ndarray, "row item"], group: Int[np.ndarray, " item"], n_groups: int, top: np.ndarray, bits: int
) -> Float[np.ndarray, "piece row group"]:
    """As `part_sum`, for each of the places."""
    total = np.empty((PIECES, len(values), n_groups))
    for row, terms in enumerate(values):
        for at, piece in enumerate(pieces(terms, anchors(top[row : row + 1], bits))):
            total[at, row] = np.bincount(group, piece, n_groups)
    return total


def settled(parts: Float[np.ndarray, "piece *batch"]) -> Float[np.ndarray, "*batch"]:
    """The total from the sums of all its pieces, rounded once."""
    return np.asarray(parts[0] + (parts[1] + parts[2]))


def exact_sum(values: Float[np.ndarray, "*batch item"]) -> np.ndarray:
    """The sum along the last axis; the negative of the values gives the negative of the sum."""
    return settled(part_sum(values, *exponent(_peak(values), values.shape[-1])))


def exact_totals(
    values: Float[np.ndarray, "row item"], group: Int[np.ndarray, " item"], n_groups: int
) -> Float[np.ndarray, "row group"]:
    """The total of each row of each group (0 to n_groups - 1)."""
    return settled(part_totals(values, group, n_groups, *exponent(_peak(values), values.shape[-1])))


def weighted_mean(values: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"]) -> float:
    """The weighted mean; infinite where a value of positive weight is, NaN where infinities of both signs meet."""
    with np.errstate(invalid="ignore"):
        terms = np.where(weights > 0, weights * values, 0.0)
    infinite = terms[np.isinf(terms)]
    if infinite.size:
        return math.nan if np.ptp(np.sign(infinite)) else float(infinite[0])
    return float(exact_sum(terms))


def few_terms(values: Float[np.ndarray, " item"]) -> Iterator[float]:
    """A few numbers for each block of the values, which add up to the same real number."""
    for start in range(0, len(values), AT_ONCE):
        rest = values[start : start + AT_ONCE].astype(np.float64, copy=False)
        bits = len(rest).bit_length()
        while (peak := float(np.abs(rest).max())) != 0:
            if not peak < LARGEST:
                yield from rest.tolist()
                break
            anchor = math.ldexp(1.5, math.frexp(peak)[1] + bits)
            piece = (rest + anchor) - anchor
            yield float(piece.sum())
            rest = rest - piece


def exact_fraction(terms: Iterable[Float[np.ndarray, " item"]]) -> Fraction:
    """The sum of all finite numbers of the arrays, without any rounding."""
    return sum((Fraction(term) for values in terms for term in few_terms(values)), Fraction(0))


def product_terms(a: Float[np.ndarray, " item"], b: Float[np.ndarray, " item"]) -> list[np.ndarray]:
    """The rounded products and what rounding took from each; exact above 1e-290 and below 1e290 in size."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return [product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low]


def _halves(values: Float[np.ndarray, " item"]) -> tuple[np.ndarray, np.ndarray]:
    scaled = SPLIT * values
    high = scaled - (scaled - values)
    return high, values - high
