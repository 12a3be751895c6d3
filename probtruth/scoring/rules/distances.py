"""Distances between a forecast and a distribution over labels that are not scores.

Each is 0 only if the two agree, but none is an expected loss: against the vote shares of a few annotators the minimum
is not at the true distribution (`check_proper(distance, 2, annotators=5)` returns a counter-example), and they can
rank a sharper model before a better one. The log score and the Brier score do not have this fault.
"""

import jax.numpy as jnp

from probtruth.kernels import simplex
from probtruth.kernels.precision import float64_for_numpy
from probtruth.scoring.rules.proper import Losses, Probs


@float64_for_numpy
def total_variation(probs: Probs, truth: Probs) -> Losses:
    """Total variation distance, half the L1 (Manhattan) distance; not a score, and biased with few annotators.

    Formula: sum_k |p_k - t_k| / 2.

    Returns: from 0 to 1, lower is closer.

    Source: Devroye and Lugosi (2001), doi:10.1007/978-1-4613-0125-7

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.total_variation(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.1
    """
    floats, weights = simplex.as_floats(probs, truth)
    return jnp.abs(floats - weights).sum(-1) / 2


@float64_for_numpy
def hellinger(probs: Probs, truth: Probs) -> Losses:
    """Hellinger distance; not a score, and biased with few annotators.

    Formula: sqrt(sum_k (sqrt p_k - sqrt t_k)^2 / 2).

    Returns: from 0 to 1, lower is closer.

    Source: Hellinger (1909), doi:10.1515/crll.1909.136.210

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.hellinger(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.0743
    """
    floats, weights = simplex.as_floats(probs, truth)
    squared = ((jnp.sqrt(floats) - jnp.sqrt(weights)) ** 2).sum(-1) / 2
    return jnp.where(squared > 0, jnp.sqrt(jnp.where(squared > 0, squared, 1)), 0)


@float64_for_numpy
def jensen_shannon(probs: Probs, truth: Probs) -> Losses:
    """Jensen-Shannon divergence (its square root is a metric); not a score, and biased with few annotators.

    Formula: [KL(t, m) + KL(p, m)] / 2 with m = (t + p) / 2.

    Returns: nats, from 0 to log 2, lower is closer.

    Source: Lin (1991), doi:10.1109/18.61115

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.jensen_shannon(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.0055
    """
    floats, weights = jnp.broadcast_arrays(*simplex.as_floats(probs, truth))
    middle = (floats + weights) / 2
    both = simplex.relative_entropy_terms(weights, middle) + simplex.relative_entropy_terms(floats, middle)
    return both.sum(-1) / 2
