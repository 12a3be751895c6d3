"""The power family, from the log score to the Brier score and beyond, and the pseudospherical, to the spherical."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import jax.numpy as jnp
from jax import Array, lax

from probtruth import check
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE, log
from probtruth.scoring.rules.rule import ScoringRule

JOSE_NAU_WINKLER = "Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498"
HINT = "1 is the log score; larger is more forgiving."

# The entries of a table to a power: of the probabilities themselves, or from their logarithms
Raised = Callable[[float], Array]


def power(beta: float) -> ScoringRule:
    """The power family of rules, strictly proper for every beta > 0; beta = 2 - t is the tempered log loss at t.

    Formula: -(p_y^(beta-1) - 1)/(beta - 1) + (sum_k p_k^beta - 1)/beta; entropy (1 - sum t^beta)/(beta (beta - 1)).
    At beta = 1 it is the log score, at beta = 2 half the Brier score.

    Arguments: `beta` weighs rare labels: the lower, the more a small probability of what happens costs.

    Returns: a `ScoringRule`; losses from 0 to 1/(beta - 1), or to inf for beta <= 1; lower is better.

    Errors: `InputError` for a beta that is not above 0.

    Source: Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498; Amid, Warmuth, Anil and Koren (2019),
    doi:10.48550/arXiv.1906.03361

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.power(2).expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.22
    """
    return _power(check.number(beta, "beta", HINT, above=0))


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
    return _pseudospherical(check.number(beta, "beta", HINT, above=0))


@lru_cache
def _power(beta: float) -> ScoringRule:
    rise = beta - 1

    def losses(raised: Raised) -> Array:
        return (raised(beta).sum(-1, keepdims=True) - 1) / beta - (raised(rise) - 1) / rise

    return _member(
        f"power({beta:g})",
        f"-(p_y^{rise:g} - 1)/{rise:g} + (sum_k p_k^{beta:g} - 1)/{beta:g}",
        beta,
        lambda probs: losses(partial(simplex.power, probs)),
        lambda logs: losses(partial(_from_logs, logs)),
    )


@lru_cache
def _pseudospherical(beta: float) -> ScoringRule:
    rise = beta - 1

    def losses(raised: Raised) -> Array:
        return (1 - raised(rise) / raised(beta).sum(-1, keepdims=True) ** (rise / beta)) / rise

    # the loss is the same for any multiple of p: that whose largest entry is 1 neither overflows nor vanishes
    return _member(
        f"pseudospherical({beta:g})",
        f"-((p_y / |p|)^{rise:g} - 1)/{rise:g}, |p| = (sum_k p_k^{beta:g})^(1/{beta:g})",
        beta,
        lambda probs: losses(partial(simplex.power, probs / lax.stop_gradient(probs.max(-1, keepdims=True)))),
        lambda logs: losses(partial(_from_logs, logs - lax.stop_gradient(logs.max(-1, keepdims=True)))),
    )


def _from_logs(logs: Array, exponent: float) -> Array:
    return jnp.exp(exponent * logs)


def _member(
    name: str, formula: str, beta: float, losses: Callable[[Array], Array], log_losses: Callable[[Array], Array]
) -> ScoringRule:
    """The rule of a family, which is the log score at 1 (where its own formulas are 0/0)."""
    if beta == 1:
        return replace(log, name=name, source=JOSE_NAU_WINKLER)
    return ScoringRule(
        name=name,
        formula=formula,
        source=JOSE_NAU_WINKLER,
        losses=losses,
        range=(0.0, 1 / (beta - 1) if beta > 1 else INFINITE),
        log_losses=log_losses,
    )
