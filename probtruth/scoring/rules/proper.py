"""Scores of one forecast against a soft or one-hot label: pure kernels for jit, vmap and grad.

The last axis is the label, all axes before it broadcast: `probs` is the forecast, `truth` the label, one-hot or a
distribution over labels. Every score is a loss, lower is better, expected when the label is drawn from `truth`: the
entropy of the truth plus the divergence from it. Nothing is clipped or renormalised; an infinite loss stays infinite.
NumPy arrays of float64 are computed in float64 (NumPy in, NumPy out); JAX arrays, and everything inside a
transformation, have JAX's precision, float32 unless its x64 mode is on.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Real

from probtruth.kernels import simplex
from probtruth.kernels.precision import float64_for_numpy

Probs = Real[Array | np.ndarray, "*#batch label"]
Losses = Float[Array, "*batch"]


@float64_for_numpy
def log_score(probs: Probs, truth: Probs) -> Losses:
    """Logarithmic score (log loss, cross-entropy), the strictly proper and local rule.

    Formula: -sum_k t_k log p_k, where 0 log 0 = 0.

    Arguments:
        probs: the forecast: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: nats, from 0 to inf, lower is better; at least `entropy(truth)`.

    Source: Good (1952), doi:10.1111/j.2517-6161.1952.tb00104.x

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.log_score(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.6325
    """
    floats, weights = simplex.as_floats(probs, truth)
    return simplex.cross_entropy(weights, floats)


@float64_for_numpy
def log_score_from_logits(logits: Probs, truth: Probs) -> Losses:
    """Logarithmic score of the softmax of logits, which never pass through probabilities.

    Formula: logsumexp(z) - sum_k t_k z_k.

    Arguments:
        logits: any real numbers; the last axis is the label.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: nats, from 0 to inf, lower is better.

    Source: Good (1952), doi:10.1111/j.2517-6161.1952.tb00104.x

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.log_score_from_logits(np.array([1.0, 1.0]), np.array([0.5, 0.5]))), 4)
    0.6931
    """
    floats, weights = simplex.as_floats(logits, truth)
    return simplex.cross_entropy_of_logits(weights, floats)


@float64_for_numpy
def brier_score(probs: Probs, truth: Probs) -> Losses:
    """Brier score in its original scale, summed over the labels; strictly proper.

    Formula: sum_k t_k |p - e_k|^2 = |p - t|^2 + 1 - |t|^2. Half of it is the two-label form (p_1 - y)^2.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: from 0 to 2, lower is better; at least 1 - |t|^2.

    Source: Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.brier_score(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.44
    """
    floats, weights = simplex.as_floats(probs, truth)
    distance = (floats - weights) ** 2
    variance = weights * (1 - weights)
    return (distance + variance).sum(-1)


@float64_for_numpy
def quadratic_score(probs: Probs, truth: Probs) -> Losses:
    """Quadratic score, the Brier score minus 1; strictly proper.

    Formula: sum_k t_k (-2 p_k + |p|^2) = |p - t|^2 - |t|^2.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: from -1 to 1, lower is better; at least -|t|^2.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437; form as in Chakraborty et al., "How to show a
    probabilistic model is better" (2015), arXiv:1502.03491

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.quadratic_score(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    -0.56
    """
    floats, weights = simplex.as_floats(probs, truth)
    return (floats * (floats - 2 * weights)).sum(-1)


@float64_for_numpy
def spherical_score(probs: Probs, truth: Probs) -> Losses:
    """Spherical score; strictly proper.

    Formula: -sum_k t_k p_k / |p|.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: from -1 to 0, lower is better; at least -|t|.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.spherical_score(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    -0.7488
    """
    floats, weights = simplex.as_floats(probs, truth)
    product = (floats * weights).sum(-1)
    length = jnp.sqrt((floats * floats).sum(-1))
    return -product / length


@float64_for_numpy
def ranked_probability_score(probs: Probs, truth: Probs) -> Losses:
    """Ranked probability score for labels that stand in their order; strictly proper.

    Formula: sum_{j=1}^{K-1} sum_k t_k (P_j - [k <= j])^2 = sum_{j=1}^{K-1} (P_j - T_j)^2 + T_j (1 - T_j), with P and T
    the cumulative sums of p and t. It is not divided by K - 1.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: from 0 to K - 1, lower is better.

    Source: Epstein (1969), doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.ranked_probability_score(np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, 0.0]))), 4)
    0.29
    """
    floats, weights = simplex.as_floats(probs, truth)
    below = jnp.cumsum(weights, -1)[..., :-1]
    gap = jnp.cumsum(floats - weights, -1)[..., :-1]
    return (gap**2 + below * (1 - below)).sum(-1)


@float64_for_numpy
def zero_one_score(probs: Probs, truth: Probs) -> Losses:
    """Probability of error of the most probable label; proper, but not strictly: only the argmax matters.

    Formula: 1 - mean of t_k over the labels k with p_k = max p: labels that tie share the choice evenly.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: from 0 to 1, lower is better; 1 minus the (expected) accuracy.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.zero_one_score(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.3
    """
    floats, weights = simplex.as_floats(probs, truth)
    return 1 - (weights * simplex.shared_by_ties(floats)).sum(-1)


@float64_for_numpy
def entropy(truth: Real[Array | np.ndarray, "*batch label"]) -> Losses:
    """Shannon entropy of a distribution over labels: the log score that no forecast can go below.

    Formula: -sum_k t_k log t_k, where 0 log 0 = 0.

    Arguments:
        truth: a distribution over labels; the last axis is the label.

    Returns: nats, from 0 to log K.

    Source: Shannon (1948), doi:10.1002/j.1538-7305.1948.tb01338.x

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.entropy(np.array([0.7, 0.3]))), 4)
    0.6109
    """
    (weights,) = simplex.as_floats(truth)
    return (-simplex.weighted_log(weights, weights)).sum(-1)


@float64_for_numpy
def kl_divergence(probs: Probs, truth: Probs) -> Losses:
    """Kullback-Leibler divergence of the forecast from the truth: the log score minus the entropy.

    Formula: sum_k t_k log(t_k / p_k) + p_k - t_k, where the last two sum to 0 on the simplex.

    Arguments:
        probs: probabilities, one for each label on the last axis.
        truth: one-hot, or a distribution over labels; the last axis is the label.

    Returns: nats, from 0 to inf, never negative; lower is better.

    Source: Kullback and Leibler (1951), doi:10.1214/aoms/1177729694

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.kl_divergence(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.0216
    """
    weights, floats = simplex.as_floats(truth, probs)
    return simplex.relative_entropy_terms(weights, floats).sum(-1)
