"""Generalised (power) means, right for every power: through 0, at and near both infinities, in float32 and float64."""

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Real

from probtruth.kernels import simplex
from probtruth.kernels.precision import float64_for_numpy

Values = Real[Array | np.ndarray, "*batch value"]
Weights = Real[Array | np.ndarray, "*#batch value"]
Power = int | float | np.number | Real[Array | np.ndarray, "..."]

SERIES_LIMIT = 1.0  # If no |power * (log p - mean log p)| exceeds this, the mean is expanded around the geometric mean

# (e^z - 1 - z)/z^2, highest power first: for |z| <= 1 the next term is below 1/20!, under float64's rounding
PHI = [1 / factorial(n) for n in range(18, 1, -1)]


@float64_for_numpy
@jax.jit
def generalized_mean(probs: Values, power: Power, weights: Weights | None = None) -> Float[Array, "*batch"]:
    """The generalised mean of order m over the last axis.

    Formula: (sum w p^m / sum w)^(1/m). Power 1 is the arithmetic, 0 the geometric (the limit), -1 the harmonic mean;
    inf and -inf are the largest and the smallest value of positive weight. No power underflows before the result does.

    Arguments:
        probs: not negative.
        power: a number, or one for each batch.
        weights: not negative and not all 0 (they are divided by their sum), by default equal.

    Returns: a value between the smallest and the largest of positive weight, 0 if a value of positive weight is 0 and
    the power is not positive. Gradients are finite; at a value of 0 they are those of power 1 or 0.

    Source: Nelson (2017), doi:10.3390/e19060286, Equations 2, 5 and 13.

    >>> import numpy as np, probtruth as pt
    >>> [round(float(pt.nelson.generalized_mean(np.array([0.2, 0.8]), power)), 4) for power in (1, 0, -1)]
    [0.5, 0.4, 0.32]
    """
    (values,) = simplex.as_floats(probs)
    if weights is None:
        weights = jnp.ones_like(values)
    relative = jnp.asarray(weights, values.dtype)
    total = jnp.sum(relative, -1, keepdims=True)
    weight = jnp.broadcast_to(relative / total, values.shape)

    # values of 0 and those without weight take no part in the logarithms
    zero = jnp.isneginf(simplex.log(values)) & (weight > 0)
    counts = (weight > 0) & ~zero
    logs = simplex.log(jnp.where(counts, values, 1.0))
    share = jnp.where(counts, weight, 0.0)
    total = jnp.sum(share, -1)
    any_counts = total > 0
    has_zeros = jnp.any(zero, -1)
    total = jnp.where(any_counts, total, 1.0)

    exponent = jnp.broadcast_to(jnp.asarray(power, logs.dtype), logs.shape[:-1])
    unbounded = jnp.isinf(exponent)
    m = jnp.where(unbounded, 1.0, exponent)
    highest = jnp.max(jnp.where(counts, logs, -jnp.inf), -1)
    lowest = jnp.min(jnp.where(counts, logs, jnp.inf), -1)
    top = jnp.where(any_counts, jnp.where(exponent > 0, highest, lowest), 0.0)

    centre = jnp.sum(share * logs, -1) / total
    spread = jnp.where(counts, logs - centre[..., None], 0.0)
    near = ~has_zeros & (jnp.max(jnp.abs(m[..., None] * spread), -1) <= SERIES_LIMIT)
    around_centre = _log_mean_by_series(jnp.where(near, m, 0.0), centre, share, spread)
    # by the value that dominates: top + log(sum w exp(m (log p - top)))/m
    far = jnp.where(near | (m == 0), 1.0, m)
    steps = jnp.where(counts, far[..., None] * (logs - top[..., None]), 0.0)
    sum_of_powers = jnp.sum(share * jnp.exp(steps), -1)
    from_top = top + jnp.log(jnp.where(any_counts, sum_of_powers, 1.0)) / far
    log_mean = jnp.where(unbounded, top, jnp.where(near, around_centre, from_top))
    nothing = ~any_counts | ((exponent <= 0) & has_zeros)
    mean = jnp.exp(jnp.where(nothing, -jnp.inf, log_mean))
    straight = zero & (exponent == 1)[..., None]  # 0 in value; gives power 1 its gradient at 0
    gradient_at_0 = jnp.where(straight, weight * values, 0.0)
    return mean + jnp.sum(gradient_at_0, -1)


def _log_mean_by_series(m: Array, centre: Array, share: Array, spread: Array) -> Array:
    """The logarithm of the mean where |m d| <= 1, d = log p - mu: mu + log1p(m^2 s)/m, without a division by m."""
    # s = sum w d^2 phi(m d) and phi(z) = (e^z - 1 - z)/z^2
    z = jnp.clip(m[..., None] * spread, -SERIES_LIMIT, SERIES_LIMIT)
    phi = jnp.polyval(jnp.asarray(PHI, z.dtype), z, unroll=len(PHI))
    terms = share * spread**2 * phi
    t = m * jnp.sum(terms, -1)
    return centre + t * log1p_ratio(m * t)


LOG1P_RATIO = [(-1) ** n / (n + 1) for n in range(9, -1, -1)]  # of log(1 + x)/x, highest power first


def log1p_ratio(x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """log(1 + x)/x, which is 1 at 0, with its derivative -1/2 there."""
    small = jnp.abs(x) < 1e-2
    series = jnp.polyval(jnp.asarray(LOG1P_RATIO, x.dtype), x)
    safe = jnp.where(small, 1.0, x)
    ratio = jnp.log1p(safe) / safe
    return jnp.where(small, series, ratio)
