"""Families of rules: power (log to Brier), pseudospherical, beta (two labels), and one from any convex function."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.scipy.special import betainc
from scipy import special

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.rules.named import INFINITE, log
from probtruth.scoring.rules.rule import Interval, ScoringRule

JOSE_NAU_WINKLER = "Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498"
HINT = "1 is the log score; larger is more forgiving."
N_NODES = 16  # Gauss-Jacobi nodes: the integrands are analytic up to twice the interval, so 16 reach float64 rounding
SMALL, LARGE = 0.1, 10.0  # Below b = 0.1 `betainc` loses digits; from a or b = 10 the nodes are too few

Generator = Callable[[Array], Array]


def power(beta: float) -> ScoringRule:
    """The power family of rules, strictly proper for every beta > 0; beta = 2 - t is the tempered log loss at t.

    Formula: -(p_y^(beta-1) - 1)/(beta - 1) + (sum_k p_k^beta - 1)/beta; entropy (1 - sum t^beta)/(beta (beta - 1)).
    At beta = 1 it is the log score, at beta = 2 half the Brier score.

    Arguments:
        beta: weighs rare labels: the lower, the more a small probability of what happens costs.

    Returns: a `ScoringRule`; losses from 0 to 1/(beta - 1), or to inf for beta <= 1; lower is better.

    Errors: `InputError` for a beta that is not above 0.

    Source: Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498; Amid, Warmuth, Anil and Koren (2019),
    doi:10.48550/arXiv.1906.03361

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.power(2).expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.22
    """
    formula = "-(p_y^{rise:g} - 1)/{rise:g} + (sum_k p_k^{beta:g} - 1)/{beta:g}"
    return _member("power", check.number(beta, "beta", HINT, above=0), formula)


def pseudospherical(beta: float) -> ScoringRule:
    """The pseudospherical family of rules, strictly proper for every beta > 0.

    Formula: -((p_y / |p|)^(beta-1) - 1)/(beta - 1), with |p| = (sum_k p_k^beta)^(1/beta); entropy (1 - |t|)/(beta - 1).
    At beta = 1 it is the log score, at beta = 2 the spherical score plus 1.

    Arguments:
        beta: weighs rare labels: the lower, the more a small probability of what happens costs.

    Returns: a `ScoringRule`; losses from 0 to 1/(beta - 1), or to inf for beta <= 1; lower is better.

    Errors: `InputError` for a beta that is not above 0.

    Source: Jose, Nau and Winkler (2008), doi:10.1287/opre.1070.0498

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.pseudospherical(2).expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    0.2512
    """
    formula = "-((p_y / |p|)^{rise:g} - 1)/{rise:g}, |p| = (sum_k p_k^{beta:g})^(1/{beta:g})"
    return _member("pseudospherical", check.number(beta, "beta", HINT, above=0), formula)


@lru_cache
def _member(family: str, beta: float, formula: str) -> ScoringRule:
    """The rule of a family, which is the log score at 1 (where the formulas are 0/0)."""
    name = f"{family}({beta:g})"
    rise = beta - 1
    spherical = family == "pseudospherical"
    if beta == 1:
        return replace(log, name=name, source=JOSE_NAU_WINKLER)

    def losses(raised: Callable[[float], Array]) -> Array:
        total = raised(beta).sum(-1, keepdims=True)
        if spherical:
            norm = total ** (rise / beta)
            return (1 - raised(rise) / norm) / rise
        of_all = (total - 1) / beta
        of_label = (raised(rise) - 1) / rise
        return of_all - of_label

    # the spherical loss is the same for any multiple of p: that whose largest entry is 1 neither overflows nor vanishes
    def from_probs(probs: Array) -> Array:
        if spherical:
            largest = probs.max(-1, keepdims=True)
            probs = probs / lax.stop_gradient(largest)
        return losses(partial(simplex.power, probs))

    def from_logs(logs: Array) -> Array:
        if spherical:
            largest = logs.max(-1, keepdims=True)
            logs = logs - lax.stop_gradient(largest)
        return losses(lambda exponent: jnp.exp(exponent * logs))

    return ScoringRule(
        name=name,
        formula=formula.format(beta=beta, rise=rise),
        source=JOSE_NAU_WINKLER,
        losses=from_probs,
        range=(0.0, 1 / rise if beta > 1 else INFINITE),
        log_losses=from_logs,
    )


def beta(a: float, b: float) -> ScoringRule:
    """The beta family of rules for two labels, strictly proper for a, b > -1.

    Formula: with p the probability of the second label, the loss is the integral of u^(a-1) (1 - u)^b over u from p to
    1 if the second label comes, and of u^a (1 - u)^(b-1) from 0 to p if the first does. a = b = 0 is the log score,
    a = b = 1 a quarter of the Brier score, a = b = -1/2 the loss behind boosting; a/(a + b) is the threshold (the share
    of costs) around which a rule with large a + b concentrates.

    Arguments:
        a, b: shape the weight u^(a-1) (1 - u)^(b-1) on the threshold u.

    Returns: a `ScoringRule` for two labels; losses from 0 to B(a, b + 1) or B(a + 1, b), or inf; lower is better.

    Errors: `InputError` for a or b at or below -1, or a rule used on another number of labels.

    Source: Merkle and Steyvers (2013), doi:10.1287/deca.2013.0280; after Buja, Stuetzle and Shen (2005)

    >>> import numpy as np, probtruth as pt
    >>> round(float(pt.rules.beta(1, 1).expected(np.array([0.4, 0.6]), np.array([0.3, 0.7]))), 4)
    0.11
    """
    hint = "0, 0 is the log score; 1, 1 the Brier score."
    first = check.number(a, "a", hint, above=-1)
    second = check.number(b, "b", hint, above=-1)
    return _beta(first, second)


@lru_cache
def _beta(a: float, b: float) -> ScoringRule:
    integral_to_second = _incomplete(a, b)
    integral_to_first = _incomplete(b, a)

    def losses_of(if_first: Array, if_second: Array) -> Array:
        loss_of_first = integral_to_second(if_first[..., 1], if_first[..., 0])
        loss_of_second = integral_to_first(if_second[..., 0], if_second[..., 1])
        return jnp.stack([loss_of_first, loss_of_second], -1)

    def losses(probs: Array) -> Array:
        return losses_of(probs, probs)

    def expected(probs: Array, truth: Array) -> Array:
        # a label that cannot come takes the middle's loss, so that nothing is infinite times 0
        if_first = jnp.where(truth[..., 0, None] != 0, probs, 0.5)
        if_second = jnp.where(truth[..., 1, None] != 0, probs, 0.5)
        return (truth * losses_of(if_first, if_second)).sum(-1)

    to_second = f"integral of u^{a - 1:g} (1 - u)^{b:g} from p to 1"
    to_first = f"of u^{a:g} (1 - u)^{b - 1:g} from 0 to p"
    return ScoringRule(
        name=f"beta({a:g}, {b:g})",
        formula=f"{to_second}, or {to_first}",
        source="Merkle and Steyvers (2013), doi:10.1287/deca.2013.0280",
        losses=losses,
        expected_kernel=expected,
        range=(0.0, max(_complete(a, b), _complete(b, a))),
        local=a == b == 0,
        n_labels=2,
    )


def _complete(a: float, b: float) -> float:
    """The integral of u^a (1 - u)^(b-1) from 0 to 1."""
    return float(special.beta(a + 1, b)) if b > 0 else INFINITE


def _incomplete(a: float, b: float) -> Callable[[Array, Array], Array]:
    """The integral of u^a (1 - u)^(b-1) over u from 0 to p, as a function of p and 1 - p; a, b > -1."""
    if b < SMALL or max(a, b) < LARGE:
        return _quadrature(a, b)
    total = _complete(a, b)
    middle = (a + 1) / (a + 1 + b)

    def value(p: Array, q: Array) -> Array:  # from whichever end holds less of the integral
        low = p <= middle
        below = betainc(a + 1, b, jnp.where(low, p, middle))
        above = betainc(b, a + 1, jnp.where(low, 1 - middle, q))
        return total * jnp.where(low, below, 1 - above)

    return value


def _quadrature(a: float, b: float) -> Callable[[Array, Array], Array]:
    """`_incomplete` where the integrand bends little or has no finite integral: beyond 1/2 of what v^(b-1) leaves."""
    n_nodes = N_NODES + int(np.ceil(max(a, 0) / 2))
    places_below, weights_below = _nodes(n_nodes, a)
    places_above, weights_above = _nodes(n_nodes, b)

    def start(p: Array) -> Array:
        """From 0 to p, at most 1/2: p^(a+1) times an integral over (0, 1) with the weight x^a."""
        places = jnp.asarray(places_below, p.dtype)
        weights = jnp.asarray(weights_below, p.dtype)
        inner = 1 - p[..., None] * places
        smooth = inner ** (b - 1)
        integral = (weights * smooth).sum(-1)
        return p ** (a + 1) * integral

    def rest(v: Array) -> Array:
        """Of v^(b-1) ((1 - v)^a - 1) from 0 to v: with the weight x^b, since the bracket is of order v."""
        places = jnp.asarray(places_above, v.dtype)
        weights = jnp.asarray(weights_above, v.dtype)
        positive = jnp.where(v > 0, v, 0.5)
        steps = positive[..., None] * places
        bracket = jnp.expm1(a * jnp.log1p(-steps))
        smooth = weights * bracket / steps
        integral = positive ** (b + 1) * smooth.sum(-1)
        return jnp.where(v > 0, integral, 0)

    def value(p: Array, q: Array) -> Array:
        low = p <= 0.5
        half = jnp.full_like(p, 0.5)
        small = jnp.where(low, p, half)
        large = jnp.where(low, half, q)
        log_2 = np.log(2.0).astype(p.dtype)
        log_ratio = simplex.log(large) + log_2
        # of v^(b-1), from v to 1/2
        singular = -log_ratio if b == 0 else -jnp.expm1(b * log_ratio) / b * 0.5**b
        beyond_half = start(half) + singular + rest(half) - rest(large)
        return jnp.where(low, start(small), beyond_half)

    return value


def _nodes(number: int, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights over (0, 1) for the weight x^power."""
    roots, weights = special.roots_jacobi(number, 0, power)
    return (1 + roots) / 2, weights / 2 ** (power + 1)


def bregman(
    generator: Generator, name: str | None = None, strictly_proper: bool = True, range: Interval = (-INFINITE, INFINITE)
) -> ScoringRule:
    """The proper scoring rule of a convex function G on distributions.

    Formula: -G(p) - (dG/dp_y - sum_k p_k dG/dp_k); entropy -G(t); divergence G(t) - G(p) - <dG(p), t - p>.

    Arguments:
        generator: takes one distribution (the label axis alone) to a number, with JAX operations that are twice
            differentiable inside the simplex. On the edge its value is the limit from inside, possibly with an infinite
            slope, so `(p * jnp.log(p)).sum()` is the log score.
        name: what outputs call the rule.
        strictly_proper: says that it is strictly convex.
        range: bounds the loss if that is known. Nothing is verified: use `check_proper`.

    Returns: a `ScoringRule`, lower is better, in the units of G.

    Errors: `InputError` for a generator that cannot be called.

    Source: Savage (1971), doi:10.1080/01621459.1971.10482346; Gneiting and Raftery (2007),
    doi:10.1198/016214506000001437

    >>> import numpy as np, probtruth as pt
    >>> rule = pt.rules.bregman(lambda p: (p**2).sum())  # the quadratic score
    >>> round(float(rule.expected(np.array([0.6, 0.4]), np.array([0.7, 0.3]))), 4)
    -0.56
    """
    if not callable(generator):
        hint = "bregman(lambda p: (p**2).sum()) is the quadratic score."
        raise InputError(f"generator of type {type(generator).__name__}", "a function of one distribution", hint)

    def losses(probs: Array) -> Array:
        value, slope = _value_and_slope(generator, probs)
        along = jnp.where(probs != 0, slope, 0) * probs  # 0 along an infinite slope counts 0
        return along.sum() - value - slope

    return ScoringRule(
        name=name or f"bregman({getattr(generator, '__name__', 'G')})",
        formula="-G(p) - (dG/dp_y - sum_k p_k dG/dp_k)",
        source="Savage (1971), doi:10.1080/01621459.1971.10482346",
        losses=jnp.vectorize(losses, signature="(k)->(k)"),
        entropy_kernel=jnp.vectorize(lambda truth: -_value_and_slope(generator, truth)[0], signature="(k)->()"),
        range=range,
        strictly_proper=strictly_proper,
    )


def _value_and_slope(generator: Generator, probs: Array) -> tuple[Array, Array]:
    """Value and gradient; along a label of probability 0, which is taken as the least normal number, from inside."""
    kind = jnp.finfo(probs.dtype)  # type: ignore[no-untyped-call]
    slope_of = jax.grad(generator)
    value, slope = jax.value_and_grad(generator)(jnp.maximum(probs, kind.tiny))
    # slopes at the least number, its root and the root of that: towards minus infinity where they fall ever faster
    second = slope_of(jnp.maximum(probs, kind.tiny**0.5))
    third = slope_of(jnp.maximum(probs, kind.tiny**0.25))
    last_fall = second - slope
    first_fall = third - second
    falls_faster = last_fall > 1.5 * first_fall
    rounding = kind.eps**0.5 * (1 + jnp.abs(third))
    falls_enough = third - slope > rounding
    infinite = (probs == 0) & falls_faster & falls_enough
    return value, jnp.where(infinite, -jnp.inf, slope)
