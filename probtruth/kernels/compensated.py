"""Totals as pairs of floats: the rounding errors of a sum are summed beside it, and a bound says what is still lost.

The same code runs on NumPy and JAX arrays, inside and outside of `jit`; a total keeps the precision of its terms.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float

from probtruth.kernels.arrays import to_host

Floats = Float[Array | np.ndarray, "*sum"] | np.floating
Pair = tuple[Floats, Floats]

PER_ADDITION = 4
"""Adding two pairs is off by less than this many squared units of rounding, relative to the sum of absolute values."""


class Total(NamedTuple):
    """A total is `high` + `low`; the sum of the terms differs from it by at most `error`."""

    high: Floats
    low: Floats
    error: Floats


def zero(shape: tuple[int, ...] = (), dtype: np.dtype | type | None = None) -> Total:
    """The total of no terms."""
    nothing = jnp.zeros(shape, dtype or jnp.result_type(float))
    return Total(nothing, nothing, nothing)


def total(terms: Float[Array, "*sum item"]) -> Total:
    """The total along the last axis. The terms must not be infinite; a NaN makes the total NaN.

    Source: Dekker (1971), "A floating-point technique for extending the available precision", doi:10.1007/BF01397083
    """
    nothing = jnp.zeros((), terms.dtype)
    high, low = lax.reduce((terms, jnp.zeros_like(terms)), (nothing, nothing), add_pairs, (terms.ndim - 1,))
    bound = PER_ADDITION * terms.shape[-1] * _unit(terms) ** 2
    return Total(high, low, jnp.abs(terms).sum(-1) * jnp.asarray(bound, terms.dtype))


def merge(one: Total, other: Total) -> Total:
    """Both totals together."""
    high, low = add_pairs((one.high, one.low), (other.high, other.low))
    return Total(high, low, one.error + other.error + jnp.abs(high) * (PER_ADDITION * _unit(high) ** 2))


def value(of: Total) -> Float[np.ndarray, "*sum"]:
    """The total, rounded to float64 (host)."""
    high, low = (to_host(part).astype(np.float64) for part in (of.high, of.low))
    return np.asarray(np.where(np.isfinite(high), high + np.where(np.isfinite(low), low, 0), high))


def _unit(values: Floats) -> float:
    return float(np.finfo(values.dtype).eps) / 2


def add_pairs(one: Pair, other: Pair) -> Pair:
    """Two pairs as a pair."""
    high, lost = _two_sum(one[0], other[0])
    lost = lost + (one[1] + other[1])
    top = high + lost
    return top, lost - (top - high)


def _two_sum(one: Floats, other: Floats) -> Pair:
    """The rounded sum of two numbers and what the rounding lost, exactly."""
    together = one + other
    back = together - one
    return together, (one - (together - back)) + (other - back)
