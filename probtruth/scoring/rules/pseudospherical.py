"""The pseudospherical family, from the log score at 1 to the spherical score at 2 and beyond."""

from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
from jax import Array

from probtruth import check
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE, log
from probtruth.scoring.rules.power import JOSE_NAU_WINKLER
from probtruth.scoring.rules.proper import Probs
from probtruth.scoring.rules.rule import ScoringRule, positive


@check.checks_itself
def pseudospherical(beta: float) -> ScoringRule:
    """The pseudospherical family of rules, strictly proper for every beta > 0.

    Formula: -((p_y / |p|)^(beta-1) - 1)/(beta - 1), with |p| = (sum_k p_k^beta)^(1/beta); entropy (1 - |t|)/(beta - 1).
    At beta = 1 it is the log score, at beta = 2 the spherical score plus 1.

    Arguments: `beta` weighs rare labels: the lower, the more a small probability of what happens costs.

    Returns: a `ScoringRule`; losses from 0 to 1/(beta - 1), or to inf for beta <= 1; lower is better.

    Errors: `InputError` for a beta that is not above 0.

    Source: Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.pseudospherical(2).expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.2512
    """
    return _pseudospherical(positive(beta, "beta"))


@lru_cache
def _pseudospherical(beta: float) -> ScoringRule:
    if beta == 1:
        return replace(log, name="pseudospherical(1)", source=JOSE_NAU_WINKLER)
    rise = beta - 1

    def log_losses(log_probs: Probs) -> Array:
        (logs,) = simplex.as_floats(log_probs)
        return -jnp.expm1(rise * (logs - _log_length(logs, beta))) / rise

    def per_label(probs: Probs) -> Array:
        (floats,) = simplex.as_floats(probs)
        return log_losses(simplex.log(floats))

    def expected(probs: Probs, truth: Probs) -> Array:
        floats, weights = simplex.as_floats(probs, truth)
        most = floats.max(-1, keepdims=True)
        length = jnp.log(most) + jnp.log(_power(floats / most, beta).sum(-1, keepdims=True)) / beta
        logs = simplex.log(jnp.where(weights != 0, floats, 1))
        return -(weights * jnp.expm1(rise * (logs - length))).sum(-1) / rise

    def entropy(truth: Probs) -> Array:
        (weights,) = simplex.as_floats(truth)
        tilted = weights * jnp.expm1(rise * simplex.log(jnp.where(weights > 0, weights, 1)))
        excess = tilted.sum(-1)  # sum t^beta - 1, with all the digits of a small rise
        small = excess > -0.5
        length = _log_length(_logs(weights), beta)[..., 0]
        return -jnp.expm1(jnp.where(small, jnp.log1p(jnp.where(small, excess, 0)) / beta, length)) / rise

    def divergence(probs: Probs, truth: Probs) -> Array:
        weights, floats = simplex.as_floats(truth, probs)
        return _divergence(weights, floats, simplex.log(floats), beta)

    def log_divergence(log_probs: Probs, truth: Probs) -> Array:
        weights, logs = simplex.as_floats(truth, log_probs)
        return _divergence(weights, jnp.exp(logs), logs, beta)

    return ScoringRule(
        name=f"pseudospherical({beta:g})",
        formula=f"-((p_y / |p|)^{rise:g} - 1)/{rise:g}, |p| = (sum_k p_k^{beta:g})^(1/{beta:g})",
        source=JOSE_NAU_WINKLER,
        per_label=per_label,
        expected=expected,
        entropy=entropy,
        divergence=divergence,
        range=(0.0, 1 / rise if rise > 0 else INFINITE),
        log_losses=log_losses,
        log_divergence=log_divergence,
    )


def _log_length(logs: Array, beta: float) -> Array:
    held = jnp.where(logs > -jnp.inf, beta * logs, -jnp.inf)
    return jax.nn.logsumexp(held, axis=-1, keepdims=True) / beta


def _logs(probs: Array) -> Array:
    return jnp.where(probs > 0, simplex.log(jnp.where(probs > 0, probs, 1)), -jnp.inf)


def _divergence(weights: Array, floats: Array, logs: Array, beta: float) -> Array:
    """|t| times the power divergence of the two rays' points of length 1, whose ratio is taken from t - p."""
    weights, floats, logs = jnp.broadcast_arrays(weights, floats, logs)
    near = (jnp.abs(weights - floats) < simplex.NEAR * floats) & (floats > 0)
    step = jnp.where(near, weights - floats, 0) / jnp.where(near, floats, 1)
    powered = _power(floats, beta)
    gain = jnp.where(near, powered * jnp.expm1(beta * jnp.log1p(step)), _power(weights, beta) - powered)
    change = gain.sum(-1, keepdims=True) / powered.sum(-1, keepdims=True)
    alike = change > -0.5
    longer = jnp.where(
        alike,
        jnp.log1p(jnp.where(alike, change, 0)) / beta,
        _log_length(_logs(weights), beta) - _log_length(logs, beta),
    )
    ours, theirs = (_power(x, beta).sum(-1, keepdims=True) ** (1 / beta) for x in (weights, floats))
    turned = jnp.expm1(jnp.log1p(step) - longer)
    close = near & (jnp.abs(turned) < simplex.NEAR)
    terms = simplex.near_power_terms(jnp.where(close, floats / theirs, 1), jnp.where(close, turned, 0), beta)
    far = jnp.where(close, 0.5, weights / ours), jnp.where(close, 0.5, floats / theirs)
    log_far = jnp.where(close, jnp.log(0.5).astype(logs.dtype), logs - _log_length(logs, beta))
    return ours[..., 0] * jnp.where(close, terms, simplex.power_terms(*far, log_far, beta)).sum(-1)


def _power(entries: Array, beta: float) -> Array:
    return jnp.where(entries > 0, jnp.where(entries > 0, entries, 1) ** beta, 0)
