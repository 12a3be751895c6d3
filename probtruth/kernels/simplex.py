"""Arithmetic on the simplex that survives its edges: logarithms, powers, expectations, relative entropies.

`0 * log 0` and `0 * inf` are 0 in value and in gradient; anything else that is infinite stays infinite. XLA on CPU
reads a subnormal number as 0, so its logarithm is taken from the bits.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Float, Real
from numpy.typing import ArrayLike

from probtruth.errors import InputError

Values = Real[Array | np.ndarray, "..."]
Labels, Batch = Float[Array, "*#batch label"], Float[Array, "*batch"]
type RowTotal = Callable[[Array, Array], Array]
type Tangent = Array | SymbolicZero

NEAR = 0.5  # Below this relative distance, differences of logarithms are computed from differences of their arguments

_ODD = tuple(1.0 / (2 * n + 3) for n in range(16, -1, -1))


def as_floats(*tables: Values) -> tuple[Array, ...]:
    """Numbers by label as JAX arrays of one floating type: see `of_one_type`."""
    made = of_one_type(*tables)
    if any(array.shape[-1:] != made[0].shape[-1:] for array in made):
        got = f"arrays of shapes {' and '.join(str(array.shape) for array in made)}"
        hint = "Turn class numbers into distributions: jax.nn.one_hot(labels, n_labels)."
        raise InputError(got, "the same labels along the last axis of both", hint)
    return made


def of_one_type(*arrays: ArrayLike) -> tuple[Array, ...]:
    """The arrays as JAX arrays of one floating type, the widest of them (float32 unless JAX's x64 is on)."""
    made = [jnp.asarray(array) for array in arrays]
    dtype = jnp.result_type(*made)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.result_type(float)
    return tuple(array.astype(dtype) for array in made)


@jax.custom_jvp
def log(probs: Float[Array, "..."]) -> Float[Array, "..."]:
    """Natural logarithm, right for subnormal numbers too; `log 0 = -inf`."""
    kind = jnp.finfo(probs.dtype)  # type: ignore[no-untyped-call]  # which knows bfloat16 too
    subnormal = probs < kind.tiny
    bits = lax.bitcast_convert_type(probs, jnp.dtype(f"int{kind.bits}")).astype(probs.dtype)
    unit = np.asarray((kind.minexp - kind.nmant) * np.log(2.0), probs.dtype)
    return jnp.log(jnp.where(subnormal, bits, probs)) + jnp.where(subnormal, unit, jnp.zeros_like(unit))


@log.defjvp
def _log_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return log(primals[0]), tangents[0] / primals[0]


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def power(probs: Float[Array, "..."], exponent: float) -> Float[Array, "..."]:
    """The probabilities to a power that is not 0, right for subnormal numbers too."""
    return jnp.exp(exponent * log(probs))


@power.defjvp
def _power_jvp(exponent: float, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    slope = exponent * power(primals[0], exponent - 1) if exponent != 1 else jnp.ones_like(primals[0])
    # an infinite slope becomes the greatest number, so that nothing times it is nothing in a gradient
    return power(primals[0], exponent), jnp.nan_to_num(slope) * tangents[0]


def lost_as_log(probs: Float[np.ndarray, "..."], kind: np.dtype[Any]) -> Float[np.ndarray, "..."]:
    """What each probability may lose, relative to itself, where it is held as a logarithm of this floating type."""
    logs = np.log(np.where(probs > 0, probs, 1.0))
    lost: np.ndarray = 2 * float(np.finfo(kind).eps) * (1 + np.abs(logs))
    return lost


def shared_by_ties[Values: Array | np.ndarray](values: Values) -> Values:
    """1 at the largest value of each row; values that tie for it share it evenly."""
    largest = (values == values.max(-1, keepdims=True)).astype(values.dtype)
    return cast(Values, largest / largest.sum(-1, keepdims=True))


def _weighed(weights: Array, values: Array) -> Array:
    """The values, 0 where the weight is 0, whatever the value."""
    return jnp.where(weights != 0, values, jnp.zeros_like(values))


def weighted_log(weights: Float[Array, "..."], probs: Float[Array, "..."]) -> Float[Array, "..."]:
    """`weights * log(probs)`, 0 in value and in both gradients if the weight is 0."""
    return weights * log(jnp.where(weights != 0, probs, jnp.ones_like(probs)))


def _plain_if_finite(plain: RowTotal, guarded: RowTotal) -> RowTotal:
    """`plain` where everything that it returns is finite, else `guarded`, which is right for every input but slower."""

    @custom_vmap
    def total(weights: Array, values: Array) -> Array:
        quick = plain(weights, values)
        return cast(Array, lax.cond(jnp.isfinite(quick).all(), lambda: quick, lambda: guarded(weights, values)))

    @total.def_vmap
    def _(size: int, batched: Sequence[bool], weights: Array, values: Array) -> tuple[Array, bool]:
        inner = max(array.ndim - own for array, own in zip((weights, values), batched, strict=True))
        rows = (
            array.reshape(size, *(1,) * (inner + 1 - array.ndim), *array.shape[1:]) if own else array
            for array, own in zip((weights, values), batched, strict=True)
        )
        return total(*rows), True

    return cast(RowTotal, total)


_expectation = _plain_if_finite(
    lambda weights, values: (weights * values).sum(-1),
    lambda weights, values: (weights * _weighed(weights, values)).sum(-1),
)
# The sign stands within the sums: XLA on CPU sums long rows three times as slowly if anything is done to their total.
_cross_entropy_of_logits = _plain_if_finite(
    lambda weights, logits: (-weights * jax.nn.log_softmax(logits)).sum(-1),
    lambda weights, logits: _expectation(-weights, jax.nn.log_softmax(logits)),
)
_cross_entropy = _plain_if_finite(
    lambda weights, probs: (-weights * jnp.log(probs)).sum(-1),
    lambda weights, probs: weighted_log(-weights, probs).sum(-1),
)


@jax.custom_jvp
def expectation(weights: Labels, values: Labels) -> Batch:
    """Sum over the labels of weight times value; a weight of 0 adds nothing, even for an infinite value."""
    return _expectation(weights, values)


@partial(expectation.defjvp, symbolic_zeros=True)
def _expectation_jvp(primals: tuple[Array, Array], tangents: tuple[Tangent, Tangent]) -> tuple[Array, Array]:
    weights, values = primals
    return expectation(weights, values), _product_tangent(weights, values, tangents)


@jax.custom_jvp
def cross_entropy(weights: Labels, probs: Labels) -> Batch:
    """Minus the sum over the labels of weight times log probability (nats); a weight of 0 adds nothing."""
    return _cross_entropy(weights, probs)


@partial(cross_entropy.defjvp, symbolic_zeros=True)
def _cross_entropy_jvp(primals: tuple[Array, Array], tangents: tuple[Tangent, Tangent]) -> tuple[Array, Array]:
    weights, probs = primals
    own, change = tangents
    safe = jnp.where(weights != 0, probs, jnp.ones_like(probs))
    logs = None if isinstance(own, SymbolicZero) else log(safe)
    scaled = change if isinstance(change, SymbolicZero) else change / safe
    return cross_entropy(weights, probs), -_product_tangent(weights, logs, (own, scaled))


@jax.custom_jvp
def cross_entropy_of_logits(weights: Labels, logits: Labels) -> Batch:
    """`cross_entropy` of the softmax of the logits, which never pass through probabilities."""
    return _cross_entropy_of_logits(weights, logits)


@partial(cross_entropy_of_logits.defjvp, symbolic_zeros=True)
def _cross_entropy_of_logits_jvp(
    primals: tuple[Array, Array], tangents: tuple[Tangent, Tangent]
) -> tuple[Array, Array]:
    weights, logits = primals
    own, change = tangents
    total = jnp.zeros((), weights.dtype)
    if not isinstance(change, SymbolicZero):  # jax.nn.softmax would share nothing with the value
        probs = jnp.exp(jax.nn.log_softmax(logits))
        total = ((weights.sum(-1, keepdims=True) * probs - weights) * change).sum(-1)
    if not isinstance(own, SymbolicZero):
        total = total - (own * _weighed(weights, jax.nn.log_softmax(logits))).sum(-1)
    return cross_entropy_of_logits(weights, logits), total


def _product_tangent(weights: Array, values: Array | None, tangents: tuple[Tangent, Tangent]) -> Array:
    """The change of the sum of weight times value, where a weight of 0 adds nothing."""
    own, change = tangents
    total = jnp.zeros((), weights.dtype)
    if not isinstance(change, SymbolicZero):
        total = total + (weights * _weighed(weights, change)).sum(-1)
    if not isinstance(own, SymbolicZero) and values is not None:
        total = total + (own * _weighed(weights, values)).sum(-1)
    return total


def relative_entropy_terms(
    truth: Float[Array, "..."], probs: Float[Array, "..."], log_probs: Float[Array, "..."] | None = None
) -> Float[Array, "..."]:
    """`t log(t/p) + p - t` of each entry (nats): never negative, and exact to rounding when t and p are close.

    With `log_probs` it is finite even if the probability itself underflows.
    """
    weighted = weighted_log(truth, probs) if log_probs is None else truth * _weighed(truth, log_probs)
    near = jnp.abs(probs - truth) < NEAR * truth
    x = jnp.where(near, probs - truth, 0) / jnp.where(near, truth, 1)
    r = x / (2 + x)
    close = truth * r * (x - 2 * r * r * jnp.polyval(jnp.asarray(_ODD, x.dtype), r * r))
    apart = weighted_log(truth, truth) - jnp.where(near, 0, weighted) + probs - truth
    return jnp.where(near, close, apart)
