"""The power family, from the log score to the Brier score and beyond, and the pseudospherical, to the spherical."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from probtruth import check
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE, log, on_floats
from probtruth.scoring.rules.rule import ScoringRule

JOSE_NAU_WINKLER = "Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498"
HINT = "1 is the log score; larger is more forgiving."


@check.checks_itself
def power(beta: float) -> ScoringRule:
    """The power family of rules, strictly proper for every beta > 0.

    Formula: -(p_y^(beta-1) - 1)/(beta - 1) + (sum_k p_k^beta - 1)/beta; entropy (1 - sum t^beta)/(beta (beta - 1)).
    At beta = 1 it is the log score, at beta = 2 half the Brier score.

    Arguments: `beta` weighs rare labels: the lower, the more a small probability of what happens costs.

    Returns: a `ScoringRule`; losses from 0 to 1/(beta - 1), or to inf for beta <= 1; lower is better.

    Errors: `InputError` for a beta that is not above 0.

    Source: Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.power(2).expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.22
    """
    return _family(_power, check.number(beta, "beta", HINT, above=0))


@check.checks_itself
def tempered(temperature: float) -> ScoringRule:
    """The tempered log loss: the power family at beta = 2 - temperature, bounded for a temperature below 1.

    Formula: -log_s(p_y) - (1 - sum_k p_k^(2-s))/(2 - s), with log_s(x) = (x^(1-s) - 1)/(1 - s) at temperature s.

    Arguments: `temperature` below 2; 1 is the log score, 0 half the Brier score.

    Returns: a `ScoringRule`; losses from 0 to 1/(1 - s), or to inf for s >= 1; lower is better.

    Errors: `InputError` for a temperature of 2 or more.

    Source: Amid, Warmuth, Anil and Koren (2019), doi:10.48550/arXiv.1906.03361

    >>> import probtruth as pt
    >>> pt.rules.tempered(0.5).range
    (0.0, 2.0)
    """
    number = check.number(temperature, "temperature", "1 is the log score, 0 half the Brier.", below=2)
    return replace(
        _family(_power, 2 - number),
        name=f"tempered({number:g})",
        source="Amid, Warmuth, Anil and Koren (2019), doi:10.48550/arXiv.1906.03361",
    )


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
    return _family(_pseudospherical, check.number(beta, "beta", HINT, above=0))


class _Kernels(NamedTuple):
    """What a member of a family is made of, for arrays of one floating type; losses and divergences from logarithms."""

    name: str
    formula: str
    losses: Callable[[Array], Array]
    expected: Callable[[Array, Array], Array]
    entropy: Callable[[Array], Array]
    divergence: Callable[[Array, Array, Array], Array]


@lru_cache
def _family(kind: Callable[[float], _Kernels], beta: float) -> ScoringRule:
    """The rule of a family, which is the log score at 1 (where its own formulas are 0/0)."""
    made = kind(beta)
    if beta == 1:
        return replace(log, name=made.name, source=JOSE_NAU_WINKLER)
    return ScoringRule(
        name=made.name,
        formula=made.formula,
        source=JOSE_NAU_WINKLER,
        per_label=on_floats(lambda probs: made.losses(simplex.log(probs))),
        expected=on_floats(made.expected),
        entropy=on_floats(made.entropy),
        divergence=on_floats(lambda probs, truth: made.divergence(truth, probs, simplex.log(probs))),
        range=(0.0, 1 / (beta - 1) if beta > 1 else INFINITE),
        log_losses=on_floats(lambda log_probs: made.losses(log_probs)),
        log_divergence=on_floats(lambda log_probs, truth: made.divergence(truth, jnp.exp(log_probs), log_probs)),
    )


def _power(beta: float) -> _Kernels:
    rise = beta - 1

    def tilted(logs: Array) -> Array:
        """(p^rise - 1)/rise of each entry."""
        return jnp.expm1(rise * logs) / rise

    def shared(probs: Array, logs: Array) -> Array:
        """(sum p^beta - 1)/beta, on the simplex; `logs` hold any number where the probability is 0."""
        return (probs * tilted(logs)).sum(-1, keepdims=True) * rise / beta

    def losses(logs: Array) -> Array:
        return shared(jnp.exp(logs), jnp.where(logs > -jnp.inf, logs, 0)) - tilted(logs)

    def expected(probs: Array, truth: Array) -> Array:
        own = truth * tilted(simplex.log(jnp.where(truth != 0, probs, 1)))
        return (shared(probs, simplex.log(jnp.where(probs > 0, probs, 1))) * truth - own).sum(-1)

    def entropy(truth: Array) -> Array:
        held = simplex.log(jnp.where(truth > 0, truth, 1))
        return -(truth * tilted(held)).sum(-1) / beta

    def divergence(truth: Array, probs: Array, logs: Array) -> Array:
        return simplex.power_terms(truth, probs, logs, beta).sum(-1)

    formula = f"-(p_y^{rise:g} - 1)/{rise:g} + (sum_k p_k^{beta:g} - 1)/{beta:g}"
    return _Kernels(f"power({beta:g})", formula, losses, expected, entropy, divergence)


def _pseudospherical(beta: float) -> _Kernels:
    rise = beta - 1

    def losses(logs: Array) -> Array:
        return -jnp.expm1(rise * (logs - _log_length(logs, beta))) / rise

    def expected(probs: Array, truth: Array) -> Array:
        most = probs.max(-1, keepdims=True)
        length = jnp.log(most) + jnp.log(_powers(probs / most, beta).sum(-1, keepdims=True)) / beta
        logs = simplex.log(jnp.where(truth != 0, probs, 1))
        return -(truth * jnp.expm1(rise * (logs - length))).sum(-1) / rise

    def entropy(truth: Array) -> Array:
        tilted = truth * jnp.expm1(rise * simplex.log(jnp.where(truth > 0, truth, 1)))
        excess = tilted.sum(-1)  # sum t^beta - 1, with all the digits of a small rise
        small = excess > -0.5
        length = _log_length(_logs(truth), beta)[..., 0]
        return -jnp.expm1(jnp.where(small, jnp.log1p(jnp.where(small, excess, 0)) / beta, length)) / rise

    formula = f"-((p_y / |p|)^{rise:g} - 1)/{rise:g}, |p| = (sum_k p_k^{beta:g})^(1/{beta:g})"
    return _Kernels(f"pseudospherical({beta:g})", formula, losses, expected, entropy, partial(_spherical_gap, beta))


def _log_length(logs: Array, beta: float) -> Array:
    held = jnp.where(logs > -jnp.inf, beta * logs, -jnp.inf)
    return jax.nn.logsumexp(held, axis=-1, keepdims=True) / beta


def _logs(probs: Array) -> Array:
    return jnp.where(probs > 0, simplex.log(jnp.where(probs > 0, probs, 1)), -jnp.inf)


def _spherical_gap(beta: float, weights: Array, floats: Array, logs: Array) -> Array:
    """|t| times the power divergence of the two rays' points of length 1, whose ratio is taken from t - p."""
    weights, floats, logs = jnp.broadcast_arrays(weights, floats, logs)
    near = (jnp.abs(weights - floats) < simplex.NEAR * floats) & (floats > 0)
    step = jnp.where(near, weights - floats, 0) / jnp.where(near, floats, 1)
    powered = _powers(floats, beta)
    gain = jnp.where(near, powered * jnp.expm1(beta * jnp.log1p(step)), _powers(weights, beta) - powered)
    change = gain.sum(-1, keepdims=True) / powered.sum(-1, keepdims=True)
    alike = change > -0.5
    longer = jnp.where(
        alike,
        jnp.log1p(jnp.where(alike, change, 0)) / beta,
        _log_length(_logs(weights), beta) - _log_length(logs, beta),
    )
    ours, theirs = (_powers(x, beta).sum(-1, keepdims=True) ** (1 / beta) for x in (weights, floats))
    turned = jnp.expm1(jnp.log1p(step) - longer)
    close = near & (jnp.abs(turned) < simplex.NEAR)
    terms = simplex.near_power_terms(jnp.where(close, floats / theirs, 1), jnp.where(close, turned, 0), beta)
    far = jnp.where(close, 0.5, weights / ours), jnp.where(close, 0.5, floats / theirs)
    log_far = jnp.where(close, jnp.log(0.5).astype(logs.dtype), logs - _log_length(logs, beta))
    return ours[..., 0] * jnp.where(close, terms, simplex.power_terms(*far, log_far, beta)).sum(-1)


def _powers(entries: Array, beta: float) -> Array:
    return jnp.where(entries > 0, jnp.where(entries > 0, entries, 1) ** beta, 0)
