"""Many numbers as a few whose sum is the very same, so that `math.fsum` rounds it once, in any order and batches."""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

BLOCK = 1 << 14
"""Numbers that are held at once, in the processor's cache."""
LARGEST = 2.0**900
"""Above this, and for what is not finite, numbers stay as they are."""


def few_terms(values: Float[np.ndarray, " item"]) -> Iterator[float]:
    """A few numbers for each block of the values, which add up to the same real number.

    Each is the sum of multiples of one power of two that fit into 53 bits, which rounds nothing; what is left of every
    value goes on to the next.

    Source: Demmel and Nguyen 2013, "Fast reproducible floating-point summation", doi:10.1109/ARITH.2013.9.
    """
    for start in range(0, len(values), BLOCK):
        rest = values[start : start + BLOCK].astype(np.float64, copy=False)
        bits = len(rest).bit_length()
        while (peak := float(np.abs(rest).max())) != 0:
            if not peak < LARGEST:
                yield from rest.tolist()
                break
            anchor = math.ldexp(1.5, math.frexp(peak)[1] + bits)
            piece = (rest + anchor) - anchor
            yield float(piece.sum())
            rest = rest - piece
