"""Bregman divergences of powers, computed without cancellation when the two points are close.

The second-order remainder of a convex function f between b and a is (a - b)^2 times the integral over s from 0 to 1 of
(1 - s) f''(b + s (a - b)); a Gauss-Legendre sum keeps all digits that f(a) - f(b) - f'(b)(a - b) would lose.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from probtruth.kernels.simplex import NEAR

_ROOTS, _WEIGHTS = np.polynomial.legendre.leggauss(12)
PLACES = (1 + _ROOTS) / 2
"""Points between 0 and 1: exact to rounding if the far end is less than half the base away."""
WEIGHTS = _WEIGHTS / 2
"""Their weights, which sum to 1."""

Entries = Float[Array, "..."]


def near_power_terms(base: Entries, step: Entries, power: float) -> Entries:
    """[a^m - b^m - m b^(m-1) (a - b)] / (m (m - 1)) of each entry, for a = b (1 + step) with |step| < 1/2."""
    nodes, weights = (jnp.asarray(column, step.dtype) for column in (PLACES, WEIGHTS))
    curve = (1 + nodes * step[..., None]) ** (power - 2)
    return base**power * step * step * (weights * (1 - nodes) * curve).sum(-1)


def power_terms(ahead: Entries, base: Entries, log_base: Entries, power: float) -> Entries:
    """[a^m - b^m - m b^(m-1) (a - b)] / (m (m - 1)) of each entry, for any non-negative a and b and m > 0, m != 1.

    `log_base` is log b, which may be finite if b itself underflows. If b is 0 and a is not, the term is infinite for m
    < 1; if both are 0 it is 0.
    """
    rise = power - 1
    near = (jnp.abs(ahead - base) < NEAR * base) & (base > 0)
    alive = log_base > -jnp.inf
    there = (ahead > 0) & alive & ~near
    step = jnp.where(near, ahead - base, 0) / jnp.where(near, base, 1)
    close = near_power_terms(jnp.where(near, base, 1), step, power)

    log_of_base = jnp.where(alive, log_base, 0)
    log_ratio = jnp.where(there, jnp.log(jnp.where(there, ahead, 1)) - log_of_base, 0)
    tilt = jnp.exp(rise * jnp.where(near, 0, log_of_base))
    small = jnp.abs(rise * log_ratio) < 1
    ratio = tilt * jnp.expm1(rise * jnp.where(small, log_ratio, 0)) / rise
    direct = (jnp.where(there & ~small, ahead, 1) ** rise - jnp.where(there & ~small, tilt, 1)) / rise
    far = (ahead * jnp.where(small, ratio, direct) - tilt * (ahead - base)) / power
    gone = jnp.exp(power * log_of_base) / power  # a = 0
    held = jnp.where(ahead > 0, ahead, 1) ** power / (rise * power) if rise > 0 else jnp.inf  # b = 0
    at_zero = jnp.where(ahead > 0, held, 0)
    apart = jnp.where(alive, jnp.where(ahead > 0, far, gone), at_zero)
    return jnp.where(near, close, apart)
