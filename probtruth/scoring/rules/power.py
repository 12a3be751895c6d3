"""The power family, from the log score at 1 to the Brier score at 2 and beyond, and its tempered name."""

from dataclasses import replace
from functools import lru_cache

import jax.numpy as jnp
from jax import Array

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE, log
from probtruth.scoring.rules.proper import Probs
from probtruth.scoring.rules.rule import ScoringRule, finite, positive

JOSE_NAU_WINKLER = "Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498"


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
    return _power(positive(beta, "beta"))


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
    number = finite(temperature, "temperature")
    if number >= 2:
        raise InputError(f"temperature {temperature!r}", "a number below 2", "1 is the log score, 0 half the Brier.")
    return replace(
        _power(2 - number),
        name=f"tempered({number:g})",
        source="Amid, Warmuth, Anil and Koren (2019), doi:10.48550/arXiv.1906.03361",
    )


@lru_cache
def _power(beta: float) -> ScoringRule:
    if beta == 1:
        return replace(log, name="power(1)", source=JOSE_NAU_WINKLER)
    rise = beta - 1

    def tilted(logs: Array) -> Array:
        """(p^rise - 1)/rise of each entry."""
        return jnp.expm1(rise * logs) / rise

    def shared(probs: Array, logs: Array) -> Array:
        """(sum p^beta - 1)/beta, on the simplex; `logs` hold any number where the probability is 0."""
        return (probs * tilted(logs)).sum(-1, keepdims=True) * rise / beta

    def log_losses(log_probs: Probs) -> Array:
        (logs,) = simplex.as_floats(log_probs)
        return shared(jnp.exp(logs), jnp.where(logs > -jnp.inf, logs, 0)) - tilted(logs)

    def per_label(probs: Probs) -> Array:
        (floats,) = simplex.as_floats(probs)
        return log_losses(simplex.log(floats))

    def expected(probs: Probs, truth: Probs) -> Array:
        floats, weights = simplex.as_floats(probs, truth)
        own = weights * tilted(simplex.log(jnp.where(weights != 0, floats, 1)))
        return (shared(floats, simplex.log(jnp.where(floats > 0, floats, 1))) * weights - own).sum(-1)

    def entropy(truth: Probs) -> Array:
        (weights,) = simplex.as_floats(truth)
        held = simplex.log(jnp.where(weights > 0, weights, 1))
        return -(weights * tilted(held)).sum(-1) / beta

    def divergence(probs: Probs, truth: Probs) -> Array:
        weights, floats = simplex.as_floats(truth, probs)
        return simplex.power_terms(weights, floats, simplex.log(floats), beta).sum(-1)

    def log_divergence(log_probs: Probs, truth: Probs) -> Array:
        weights, logs = simplex.as_floats(truth, log_probs)
        return simplex.power_terms(weights, jnp.exp(logs), logs, beta).sum(-1)

    return ScoringRule(
        name=f"power({beta:g})",
        formula=f"-(p_y^{rise:g} - 1)/{rise:g} + (sum_k p_k^{beta:g} - 1)/{beta:g}",
        source=JOSE_NAU_WINKLER,
        per_label=per_label,
        expected=expected,
        entropy=entropy,
        divergence=divergence,
        range=(0.0, 1 / rise if rise > 0 else INFINITE),
        log_losses=log_losses,
        log_divergence=log_divergence,
    )
