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
from probtruth.kernels.host import TIE

Floats = Float[Array, "..."]

Values = Real[Array | np.ndarray, "..."]
Labels, Batch = Float[Array, "*#batch label"], Float[Array, "*batch"]
type RowTotal = Callable[[Array, Array], Array]
type Tangent = Array | SymbolicZero

NEAR = 0.5  # Below this relative distance, differences of logarithms are computed from differences of their arguments

_ODD = tuple(1.0 / (2 * n + 3) for n in range(16, -1, -1))


def as_floats(*tables: Values) -> tuple[Array, ...]:
    """Numbers by label as JAX arrays of one floating type: see `of_one_type`."""
    floats = of_one_type(*tables)
    n_labels = floats[0].shape[-1:]
    if any(array.shape[-1:] != n_labels for array in floats):
        shapes = [str(array.shape) for array in floats]
        hint = "Turn class numbers into distributions: jax.nn.one_hot(labels, n_labels)."
        got = f"arrays of shapes {' and '.join(shapes)}"
        raise InputError(got, "the same labels along the last axis of both", hint)
    return floats


def of_one_type(*arrays: ArrayLike) -> tuple[Array, ...]:
    """The arrays as JAX arrays of one floating type, the widest of them (float32 unless JAX's x64 is on)."""
    converted = [jnp.asarray(array) for array in arrays]
    dtype = jnp.result_type(*converted)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.result_type(float)
    return tuple([array.astype(dtype) for array in converted])


@jax.custom_jvp
def log(probs: Floats) -> Floats:
    """Natural logarithm, right for subnormal numbers too; `log 0 = -inf`."""
    kind = jnp.finfo(probs.dtype)  # type: ignore[no-untyped-call]  # which knows bfloat16 too
    subnormal = probs < kind.tiny
    integer = jnp.dtype(f"int{kind.bits}")
    bits = lax.bitcast_convert_type(probs, integer)
    number = bits.astype(probs.dtype)  # a subnormal number is this many units
    exponent_of_unit = kind.minexp - kind.nmant
    log_unit = np.asarray(exponent_of_unit * np.log(2.0), probs.dtype)
    shift = jnp.where(subnormal, log_unit, jnp.zeros_like(log_unit))
    normal = jnp.where(subnormal, number, probs)
    return jnp.log(normal) + shift


@log.defjvp
def _log_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return log(primals[0]), tangents[0] / primals[0]


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def power(probs: Floats, exponent: float) -> Floats:
    """The probabilities to a power that is not 0, right for subnormal numbers too."""
    return jnp.exp(exponent * log(probs))


@power.defjvp
def _power_jvp(exponent: float, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (probs,) = primals
    slope = jnp.ones_like(probs)
    if exponent != 1:
        slope = exponent * power(probs, exponent - 1)
    # an infinite slope becomes the greatest number, so that nothing times it is nothing in a gradient
    change = jnp.nan_to_num(slope) * tangents[0]
    return power(probs, exponent), change


def lost_as_log(probs: Float[np.ndarray, "..."], kind: np.dtype[Any]) -> Float[np.ndarray, "..."]:
    """What each probability may lose, relative to itself, where it is held as a logarithm of this floating type."""
    positive = np.where(probs > 0, probs, 1.0)
    logs = np.log(positive)
    rounding = float(np.finfo(kind).eps)
    lost: np.ndarray = 2 * rounding * (1 + np.abs(logs))
    return lost


def shared_by_ties[Values: Array | np.ndarray](values: Values) -> Values:
    """1 at the largest value of each row; values that tie for it, but for last digits, share it evenly."""
    largest = values.max(-1, keepdims=True)
    ties = (values >= largest - TIE).astype(values.dtype)
    number = ties.sum(-1, keepdims=True)
    return cast(Values, ties / number)


def _weighed(weights: Array, values: Array) -> Array:
    """The values, 0 where the weight is 0, whatever the value."""
    return jnp.where(weights != 0, values, jnp.zeros_like(values))


def weighted_log(weights: Floats, probs: Floats) -> Floats:
    """`weights * log(probs)`, 0 in value and in both gradients if the weight is 0."""
    safe = jnp.where(weights != 0, probs, jnp.ones_like(probs))
    return weights * log(safe)


def _plain_if_finite(plain: RowTotal, guarded: RowTotal) -> RowTotal:
    """`plain` where everything that it returns is finite, else `guarded`, which is right for every input but slower."""

    @custom_vmap
    def total(weights: Array, values: Array) -> Array:
        quick = plain(weights, values)
        return cast(Array, lax.cond(jnp.isfinite(quick).all(), lambda: quick, lambda: guarded(weights, values)))

    @total.def_vmap
    def _(size: int, batched: Sequence[bool], weights: Array, values: Array) -> tuple[Array, bool]:
        # all rows at once: a batched side gets axes of size 1 until the other side's axes stand beside its own
        ndims = [array.ndim - has_batch for array, has_batch in zip((weights, values), batched, strict=True)]
        sides = []
        for array, has_batch in zip((weights, values), batched, strict=True):
            if has_batch:
                new_axes = (1,) * (max(ndims) + 1 - array.ndim)
                array = array.reshape(size, *new_axes, *array.shape[1:])
            sides.append(array)
        return total(*sides), True

    return cast(RowTotal, total)


def _guarded_expectation(weights: Array, values: Array) -> Array:
    return (weights * _weighed(weights, values)).sum(-1)


def _guarded_cross_entropy(weights: Array, probs: Array) -> Array:
    return weighted_log(-weights, probs).sum(-1)


def _guarded_of_logits(weights: Array, logits: Array) -> Array:
    return _guarded_expectation(-weights, jax.nn.log_softmax(logits))


# The sign stands within the sums: XLA on CPU sums long rows three times as slowly if anything is done to their total.
_expectation = _plain_if_finite(lambda weights, values: (weights * values).sum(-1), _guarded_expectation)
_cross_entropy = _plain_if_finite(lambda weights, probs: (-weights * jnp.log(probs)).sum(-1), _guarded_cross_entropy)
_cross_entropy_of_logits = _plain_if_finite(
    lambda weights, logits: (-weights * jax.nn.log_softmax(logits)).sum(-1), _guarded_of_logits
)


@jax.custom_jvp
def expectation(weights: Labels, values: Labels) -> Batch:
    """Sum over the labels of weight times value; a weight of 0 adds nothing, even for an infinite value."""
    return _expectation(weights, values)


@jax.custom_jvp
def cross_entropy(weights: Labels, probs: Labels) -> Batch:
    """Minus the sum over the labels of weight times log probability (nats); a weight of 0 adds nothing."""
    return _cross_entropy(weights, probs)


@jax.custom_jvp
def cross_entropy_of_logits(weights: Labels, logits: Labels) -> Batch:
    """`cross_entropy` of the softmax of the logits, which never pass through probabilities."""
    return _cross_entropy_of_logits(weights, logits)


def _change_as_of(guarded: RowTotal, total: Any) -> None:
    """Gives a total the derivative of its guarded formula, in the arguments that change."""

    def rule(primals: tuple[Array, Array], tangents: tuple[Tangent, Tangent]) -> tuple[Array, Array]:
        changing = [at for at, tangent in enumerate(tangents) if not isinstance(tangent, SymbolicZero)]

        def of_changing(*arguments: Array) -> Array:
            both = list(primals)
            for at, argument in zip(changing, arguments, strict=True):
                both[at] = argument
            return guarded(*both)

        points = [primals[at] for at in changing]
        changes = [tangents[at] for at in changing]
        return total(*primals), jax.jvp(of_changing, points, changes)[1]

    total.defjvp(rule, symbolic_zeros=True)


_change_as_of(_guarded_expectation, expectation)
_change_as_of(_guarded_cross_entropy, cross_entropy)
_change_as_of(_guarded_of_logits, cross_entropy_of_logits)


def relative_entropy_terms(truth: Floats, probs: Floats, log_probs: Floats | None = None) -> Floats:
    """`t log(t/p) + p - t` of each entry (nats): never negative, and exact to rounding when t and p are close.

    With `log_probs` it is finite even if the probability itself underflows.
    """
    weighted = weighted_log(truth, probs) if log_probs is None else truth * _weighed(truth, log_probs)
    difference = probs - truth
    near = jnp.abs(difference) < NEAR * truth
    numerator = jnp.where(near, difference, 0)
    denominator = jnp.where(near, truth, 1)
    x = numerator / denominator
    r = x / (2 + x)  # log(1 + x) = 2 (r + r^3/3 + r^5/5 + ...)
    coefficients = jnp.asarray(_ODD, x.dtype)
    series = jnp.polyval(coefficients, r * r)
    close = truth * r * (x - 2 * r * r * series)
    log_ratio = weighted_log(truth, truth) - jnp.where(near, 0, weighted)
    apart = log_ratio + probs - truth
    return jnp.where(near, close, apart)
