"""The beta family of rules for two labels: a weight on every threshold for a decision."""

from collections.abc import Callable
from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import betainc
from scipy import special

from probtruth import check
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE
from probtruth.scoring.rules.rule import ScoringRule

N_NODES = 16  # Gauss-Jacobi nodes: the integrands are analytic up to twice the interval, so 16 reach float64 rounding
SMALL, LARGE = (
    0.1,
    10.0,
)  # Below this b the incomplete beta function loses digits; from this a or b the nodes are too few


def beta(a: float, b: float) -> ScoringRule:
    """The beta family of rules for two labels, strictly proper for a, b > -1.

    Formula: with p the probability of the second label, the loss is the integral of u^(a-1) (1 - u)^b over u from p to
    1 if the second label comes, and of u^a (1 - u)^(b-1) from 0 to p if the first does. a = b = 0 is the log score,
    a = b = 1 a quarter of the Brier score, a = b = -1/2 the loss behind boosting; a/(a + b) is the threshold (the share
    of costs) around which a rule with large a + b concentrates.

    Arguments: `a` and `b` shape the weight u^(a-1) (1 - u)^(b-1) on the threshold u.

    Returns: a `ScoringRule` for two labels; losses from 0 to B(a, b + 1) or B(a + 1, b), or inf; lower is better.

    Errors: `InputError` for a or b at or below -1, or a rule used on another number of labels.

    Source: Merkle and Steyvers (2013), doi:10.1287/deca.2013.0280; after Buja, Stuetzle and Shen (2005)

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.beta(1, 1).expected(np.array([0.4, 0.6]), np.array([0.3, 0.7]))), 4)
    0.11
    """
    hint = "0, 0 is the log score; 1, 1 the Brier score."
    return _beta(check.number(a, "a", hint, above=-1), check.number(b, "b", hint, above=-1))


@lru_cache
def _beta(a: float, b: float) -> ScoringRule:
    loss_of_first, loss_of_second = _incomplete(a, b), _incomplete(b, a)

    def losses(first: Array, second: Array) -> Array:
        each = [loss_of_first(first[..., 1], first[..., 0]), loss_of_second(second[..., 0], second[..., 1])]
        return jnp.stack(each, -1)

    def expected(probs: Array, truth: Array) -> Array:
        first, second = (jnp.where(truth[..., label, None] != 0, probs, 0.5) for label in (0, 1))
        return (truth * losses(first, second)).sum(-1)

    return ScoringRule(
        name=f"beta({a:g}, {b:g})",
        formula=f"integral of u^{a - 1:g} (1 - u)^{b:g} from p to 1, or of u^{a:g} (1 - u)^{b - 1:g} from 0 to p",
        source="Merkle and Steyvers (2013), doi:10.1287/deca.2013.0280",
        losses=lambda probs: losses(probs, probs),
        expected_kernel=expected,
        range=(0.0, max(_whole(a, b), _whole(b, a))),
        local=a == b == 0,
        n_labels=2,
    )


def _whole(a: float, b: float) -> float:
    """The integral of u^a (1 - u)^(b-1) from 0 to 1."""
    return float(special.beta(a + 1, b)) if b > 0 else INFINITE


def _incomplete(a: float, b: float) -> Callable[[Array, Array], Array]:
    """The integral of u^a (1 - u)^(b-1) over u from 0 to p, as a function of p and 1 - p; a, b > -1."""
    if b < SMALL or max(a, b) < LARGE:
        return _quadrature(a, b)
    whole, middle = _whole(a, b), (a + 1) / (a + 1 + b)

    def value(p: Array, q: Array) -> Array:  # from whichever end holds less of the integral
        low = p <= middle
        below, above = jnp.where(low, p, middle), jnp.where(low, 1 - middle, q)
        return whole * jnp.where(low, betainc(a + 1, b, below), 1 - betainc(b, a + 1, above))

    return value


def _quadrature(a: float, b: float) -> Callable[[Array, Array], Array]:
    """`_incomplete` where the integrand bends little or has no finite integral: beyond 1/2 of what v^(b-1) leaves."""
    n_nodes = N_NODES + int(np.ceil(max(a, 0) / 2))

    def nodes(power: float) -> tuple[np.ndarray, np.ndarray]:
        roots, weights = special.roots_jacobi(n_nodes, 0, power)
        return (1 + roots) / 2, weights / 2 ** (power + 1)

    below, above = nodes(a), nodes(b)

    def start(p: Array) -> Array:
        places, weights = (jnp.asarray(column, p.dtype) for column in below)
        return p ** (a + 1) * (weights * (1 - p[..., None] * places) ** (b - 1)).sum(-1)

    def rest(v: Array) -> Array:
        places, weights = (jnp.asarray(column, v.dtype) for column in above)
        some = jnp.where(v > 0, v, 0.5)
        steps = some[..., None] * places
        whole = some ** (b + 1) * (weights * jnp.expm1(a * jnp.log1p(-steps)) / steps).sum(-1)
        return jnp.where(v > 0, whole, 0)

    def value(p: Array, q: Array) -> Array:
        low = p <= 0.5
        half = jnp.full_like(p, 0.5)
        small, large = jnp.where(low, p, half), jnp.where(low, half, q)
        log_ratio = simplex.log(large) + np.log(2.0).astype(p.dtype)
        singular = -log_ratio if b == 0 else -jnp.expm1(b * log_ratio) / b * 0.5**b  # of v^(b-1), from v to 1/2
        return jnp.where(low, start(small), start(half) + singular + rest(half) - rest(large))

    return value
