"""A scoring rule from any smooth convex function, its derivatives by `jax.grad`."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from probtruth.errors import InputError
from probtruth.scoring.rules.named import INFINITE
from probtruth.scoring.rules.rule import Interval, ScoringRule

Generator = Callable[[Array], Array]


def bregman(
    generator: Generator, name: str | None = None, strictly_proper: bool = True, range: Interval = (-INFINITE, INFINITE)
) -> ScoringRule:
    """The proper scoring rule of a convex function G on distributions.

    Formula: -G(p) - (dG/dp_y - sum_k p_k dG/dp_k); entropy -G(t); divergence G(t) - G(p) - <dG(p), t - p>.

    Arguments: `generator` takes one distribution (the label axis alone) to a number, with JAX operations that are
    twice differentiable inside the simplex; on the edge its value is the limit from inside, possibly with an infinite
    slope, so `(p * jnp.log(p)).sum()` is the log score. `name` is what outputs call the rule.
    `strictly_proper` says that it is strictly convex; `range` bounds the loss if that is known. Nothing is verified:
    use `check_proper`.

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
        raise InputError(
            f"generator of type {type(generator).__name__}",
            "a function of one distribution",
            "bregman(lambda p: (p**2).sum()) is the quadratic score.",
        )

    def losses(probs: Array) -> Array:
        value, slope = _value_and_slope(generator, probs)
        along = jnp.where(probs != 0, slope, 0) * probs  # 0 along an infinite slope counts 0
        return along.sum() - value - slope

    entropy = jnp.vectorize(lambda truth: -generator(_inside(truth)), signature="(k)->()")
    return ScoringRule(
        name=name or f"bregman({getattr(generator, '__name__', 'G')})",
        formula="-G(p) - (dG/dp_y - sum_k p_k dG/dp_k)",
        source="Savage (1971), doi:10.1080/01621459.1971.10482346",
        losses=jnp.vectorize(losses, signature="(k)->(k)"),
        entropy_kernel=entropy,
        range=range,
        strictly_proper=strictly_proper,
    )


def _inside(probs: Array) -> Array:
    """The point, its zeros replaced by the least normal number."""
    return jnp.maximum(probs, jnp.finfo(probs.dtype).tiny)  # type: ignore[no-untyped-call]


def _value_and_slope(generator: Generator, probs: Array) -> tuple[Array, Array]:
    """Value and gradient; along a label of probability 0 the limit from inside."""
    point = _inside(probs)
    value, slope = jax.value_and_grad(generator)(point)
    kind = jnp.finfo(point.dtype)  # type: ignore[no-untyped-call]
    second, third = (jax.grad(generator)(jnp.maximum(probs, kind.tiny**root)) for root in (0.5, 0.25))
    falls = (second - slope > 1.5 * (third - second)) & (third - slope > kind.eps**0.5 * (1 + jnp.abs(third)))
    return value, jnp.where((probs == 0) & falls, -jnp.inf, slope)
