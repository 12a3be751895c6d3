"""A scoring rule from any smooth convex function, its derivatives by `jax.grad`."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.kernels.simplex import PLACES, WEIGHTS
from probtruth.scoring.rules.named import INFINITE, on_floats
from probtruth.scoring.rules.rule import Interval, ScoringRule

Generator = Callable[[Array], Array]

CLOSE = 0.1
"""Largest relative distance at which the divergence is integrated from second derivatives."""


@check.checks_itself
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
        return _dot(slope, probs) - value - slope

    def apart(truth: Array, probs: Array) -> Array:
        value, slope = _value_and_slope(generator, probs)
        return jnp.asarray(generator(_inside(truth))) - value - _dot(slope, truth - probs)

    def together(truth: Array, probs: Array) -> Array:
        step = truth - probs

        def curvature(at: Array) -> Array:
            return _dot(jax.jvp(jax.grad(generator), (probs + at * step,), (step,))[1], step)

        nodes, weights = (jnp.asarray(column, probs.dtype) for column in (PLACES, WEIGHTS))
        return jnp.sum(weights * (1 - nodes) * jax.vmap(curvature)(nodes))

    def distance(truth: Array, probs: Array) -> Array:
        near = (jnp.abs(truth - probs) <= CLOSE * jnp.minimum(truth, probs)).all()
        flat = jnp.full_like(probs, 1 / probs.shape[-1])
        inside = together(jnp.where(near, truth, flat), jnp.where(near, probs, flat))
        return jnp.where(near, inside, apart(truth, jnp.where(near, flat, probs)))

    each = jnp.vectorize(losses, signature="(k)->(k)")
    value = jnp.vectorize(generator, signature="(k)->()")
    between = jnp.vectorize(distance, signature="(k),(k)->()")

    return ScoringRule(
        name=name or f"bregman({getattr(generator, '__name__', 'G')})",
        formula="-G(p) - (dG/dp_y - sum_k p_k dG/dp_k)",
        source="Savage (1971), doi:10.1080/01621459.1971.10482346",
        per_label=on_floats(each),
        expected=on_floats(lambda probs, truth: simplex.expectation(truth, each(probs))),
        entropy=on_floats(lambda truth: -value(_inside(truth))),
        divergence=on_floats(lambda probs, truth: between(truth, probs)),
        range=range,
        strictly_proper=strictly_proper,
    )


def _inside(probs: Array) -> Array:
    """The point, its zeros replaced by the least normal number."""
    return jnp.maximum(probs, jnp.finfo(probs.dtype).tiny)  # type: ignore[no-untyped-call]


def _value_and_slope(generator: Generator, probs: Array) -> tuple[Array, Array]:
    """Value and gradient; along a label of probability 0 the limit from inside.

    The limit is minus infinity if the slope falls faster and faster on a ladder of three decreasing probabilities.
    """
    point = _inside(probs)
    value, slope = jax.value_and_grad(generator)(point)
    tiny = point.dtype.type(jnp.finfo(point.dtype).tiny)  # type: ignore[no-untyped-call]
    second, third = (jax.grad(generator)(jnp.maximum(probs, tiny**root)) for root in (0.5, 0.25))
    noise = jnp.finfo(point.dtype).eps ** 0.5 * (1 + jnp.abs(third))  # type: ignore[no-untyped-call]
    falls = (second - slope > 1.5 * (third - second)) & (third - slope > noise)
    return value, jnp.where((probs == 0) & falls, -jnp.inf, slope)


def _dot(slope: Array, step: Array) -> Array:
    """Inner product in which a step of 0 along an infinite slope counts 0."""
    return jnp.sum(jnp.where(step != 0, slope, 0) * step)
