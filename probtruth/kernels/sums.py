"""Exact sums as JAX arrays of integers: any order, any batches and any number of devices give the same bits.

A total is kept as digits of 17 bits, from 2^-1088 up to 2^1088, which hold every finite float32 and float64 number
exactly; adding integers rounds nothing, so nothing depends on the order. Infinite and NaN terms are counted apart.
All leaves are int32, whether JAX's x64 mode is on or off; only a float64 term needs x64. Subnormal terms count as 0,
as XLA reads them on most devices.

Source: Neal (2015), "Fast exact summation using small and large superaccumulators", arXiv:1505.05571
"""

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

WIDTH = 17
"""Bits of a digit; the rest of an int32 is room for 2^13 of them before a carry."""
LOWEST = -1088
"""Exponent of the lowest digit: float64's smallest normal number ends at 2^-1074."""
N_DIGITS = 128
"""Up to 2^1088: 2^64 terms of the largest float64."""
BLOCK = 4096
"""Terms that are added up in int32 before a carry."""
BLOCKS = 1 << 12
"""Blocks that are added up before the next carry."""
COUNT_DIGITS = 4
"""Counts up to 2^68."""
KINDS = (np.inf, -np.inf, np.nan)
"""Terms that are counted and not added, in the order of `ExactSum.odd`."""

_ONES = -LOWEST // WIDTH
"""The digit that counts ones."""
_WINDOW = {4: 6, 8: 8}
"""By bytes of the type: how many digits, from the ones down, hold most terms; others take the slower way."""


class ExactSum(NamedTuple):
    """Totals: digits of the finite terms, lowest first, and counts of +inf, -inf and NaN terms."""

    digits: Int[Array, "*sum digit"]
    odd: Int[Array, "*sum kind count"]


def zero(shape: tuple[int, ...] = ()) -> ExactSum:
    """Totals of nothing."""
    return ExactSum(jnp.zeros((*shape, N_DIGITS), jnp.int32), no_count((*shape, len(KINDS))))


def merge(one: ExactSum, other: ExactSum) -> ExactSum:
    """Both totals together; associative and commutative, bit for bit."""
    return ExactSum(settle(one.digits + other.digits), settle(one.odd + other.odd))


def add(totals: ExactSum, values: Float[Array, "*sum item"]) -> ExactSum:
    """The totals after adding terms along the last axis."""
    size = BLOCK * max(1, min(BLOCKS, -(-values.shape[-1] // BLOCK)))
    padded = jnp.pad(values, [*[(0, 0)] * (values.ndim - 1), (0, -values.shape[-1] % size)])
    parts = jnp.moveaxis(padded.reshape(*values.shape[:-1], -1, size), -2, 0)
    loose, _ = lax.scan(lambda state, part: (add_block(state, part), None), totals, parts)
    return settled(loose)


def add_block(totals: ExactSum, values: Float[Array, "*sum item"]) -> ExactSum:
    """As `add` for fewer terms than `BLOCK`, or up to `BLOCKS` times as many; `settled` is left to the caller."""
    finite = jnp.isfinite(values)
    odd = jnp.stack([values == jnp.inf, values == -jnp.inf, jnp.isnan(values)], -2).sum(-1, dtype=jnp.int32)
    terms = jnp.where(finite, values, 0)
    if values.shape[-1] <= BLOCK:
        digits = _digits(terms)
    else:
        digits = carried(_digits(terms.reshape(*values.shape[:-1], -1, BLOCK))).sum(-2, dtype=jnp.int32)
    return ExactSum(carried(totals.digits + digits), carried(totals.odd.at[..., 0].add(odd)))


def settled(totals: ExactSum) -> ExactSum:
    """The one form of a total: every digit but the highest from 0 to 2^17 - 1."""
    return ExactSum(settle(totals.digits), settle(totals.odd))


@partial(jax.jit, static_argnums=1)
def settle(digits: Int[Array, "*sum digit"], width: int = WIDTH) -> Int[Array, "*sum digit"]:
    """Carries to the end, so that equal totals have equal digits."""

    def step(carry: Array, digit: Array) -> tuple[Array, Array]:
        full = digit + carry
        return full >> width, full & (2**width - 1)

    first, last = jnp.moveaxis(digits[..., :-1], -1, 0), digits[..., -1]
    carry, low = lax.scan(step, jnp.zeros_like(last), first)
    return jnp.concatenate([jnp.moveaxis(low, 0, -1), (last + carry)[..., None]], -1)


def no_count(shape: tuple[int, ...] = ()) -> Int[Array, "*sum count"]:
    """A count of nothing, as digits."""
    return jnp.zeros((*shape, COUNT_DIGITS), jnp.int32)


def count(counts: Int[Array, "*sum count"], more: Int[Array, "*sum"]) -> Int[Array, "*sum count"]:
    """A count after adding at most 2^30, its digits settled but for one carry."""
    return carried(counts.at[..., 0].add(more))


def whole(counts: Int[Array, "*sum count"] | np.ndarray, width: int = WIDTH) -> Int[np.ndarray, "*sum"]:
    """Counts as int64 (host)."""
    wide = np.asarray(counts).astype(np.int64)
    return np.asarray((wide << (width * np.arange(wide.shape[-1]))).sum(-1))


def exact(totals: ExactSum) -> list[Fraction]:
    """The sums of the finite terms as fractions, flattened (host)."""
    rows = np.asarray(totals.digits).reshape(-1, N_DIGITS)
    unit = Fraction(1, 1 << -LOWEST)
    return [sum(int(row[d]) << (WIDTH * int(d)) for d in np.nonzero(row)[0]) * unit for row in rows]


def means(totals: ExactSum, n: Int[np.ndarray, "*#sum"] | int) -> Float[np.ndarray, "*sum"]:
    """The totals over n, rounded once, to the nearest float64 (host).

    Infinite where a term was, NaN where a term was NaN, infinities of both signs met, or n is 0.
    """
    shape = totals.digits.shape[:-1]
    up, down, nan = (whole(totals.odd)[..., kind].ravel() for kind in range(len(KINDS)))
    sizes = np.broadcast_to(np.asarray(n), shape).ravel()
    finite = [float(total / int(size)) if size else np.nan for total, size in zip(exact(totals), sizes, strict=True)]
    value = np.where(up > 0, np.inf, np.where(down > 0, -np.inf, np.array(finite, np.float64)))
    unknown = (nan > 0) | ((up > 0) & (down > 0)) | (sizes == 0)
    return np.where(unknown, np.nan, value).reshape(shape)


def approximate(totals: ExactSum, dtype: jnp.dtype | None = None) -> Float[Array, "*sum"]:
    """The totals as floats inside a traced function, right to a few roundings; infinite and NaN as in `means`."""
    kind = np.dtype(dtype or jnp.result_type(float))
    digits = settle(totals.digits)
    negative = digits[..., -1:] < 0
    size = settle(jnp.where(negative, -digits, digits)).astype(kind)
    place = LOWEST + WIDTH * np.arange(N_DIGITS)
    least, most = np.finfo(kind).minexp, np.finfo(kind).maxexp - 1
    first = np.clip(place, least, most)
    second = np.clip(place - first, least, most)
    one = np.ones(N_DIGITS, kind)
    finite = jnp.where(negative[..., 0], -1, 1) * (size * np.ldexp(one, first) * np.ldexp(one, second)).sum(-1)
    up, down, nan = (totals.odd[..., kind, :].any(-1) for kind in range(len(KINDS)))
    value = jnp.where(up, jnp.inf, jnp.where(down, -jnp.inf, finite))
    return jnp.where(nan | (up & down), jnp.nan, value)


def carried(digits: Int[Array, "*sum digit"], width: int = WIDTH) -> Int[Array, "*sum digit"]:
    """One carry from every digit to the next, which keeps digits small, though not in their one form."""
    carry = digits[..., :-1] >> width
    kept: Array = jnp.concatenate([digits[..., :-1] & (2**width - 1), digits[..., -1:]], -1)
    return kept.at[..., 1:].add(carry)


def _digits(values: Float[Array, "*sum item"]) -> Int[Array, "*sum digit"]:
    """Digits, not carried, of the sum of finite terms."""
    kind = np.finfo(values.dtype)
    n_window = _WINDOW[kind.dtype.itemsize]
    low, high = 2.0 ** (kind.nmant - WIDTH * (n_window - 1)), 2.0**WIDTH
    size = jnp.abs(values)
    near = _within(size, low, high).all()
    digits: Array = lax.cond(near, lambda terms: _near(terms, n_window), _anywhere, values)
    return digits


def _within(size: Float[Array, "..."], low: float, high: float) -> Bool[Array, "..."]:
    return (size < high) & ((size >= low) | (size == 0))


def _near(values: Float[Array, "*sum item"], n_window: int) -> Int[Array, "*sum digit"]:
    """Digits where no term has a bit outside the window."""

    def step(rest: Array, _: None) -> tuple[Array, Array]:
        whole_part = jnp.trunc(rest)
        return (rest - whole_part) * 2.0**WIDTH, whole_part.astype(jnp.int32).sum(-1, dtype=jnp.int32)

    _, parts = lax.scan(step, values, length=n_window)
    window = jnp.moveaxis(parts[::-1], 0, -1)
    before = _ONES - n_window + 1
    return jnp.pad(window, [*[(0, 0)] * (window.ndim - 1), (before, N_DIGITS - _ONES - 1)])


def _anywhere(values: Float[Array, "*sum item"]) -> Int[Array, "*sum digit"]:
    """Digits of any finite terms: each is split at the digit that its exponent names."""
    kind = np.finfo(values.dtype)
    word = jnp.dtype(f"int{kind.bits}")
    bits = lax.bitcast_convert_type(values, word)
    exponent = ((bits >> kind.nmant) & (2**kind.nexp - 1)).astype(jnp.int32)
    place = exponent - (2 ** (kind.nexp - 1) - 1) - LOWEST
    digit, shift = place // WIDTH, place % WIDTH
    one = np.array(1, kind.dtype).view(word.name)
    mantissa = lax.bitcast_convert_type((bits & (2**kind.nmant - 1)) | one, values.dtype)
    power = lax.bitcast_convert_type(one + (shift.astype(word) << kind.nmant), values.dtype)
    rest = jnp.where(exponent > 0, jnp.sign(values) * mantissa * power, 0)
    flat_digit = digit.reshape(-1, values.shape[-1])
    row = jnp.arange(flat_digit.shape[0], dtype=jnp.int32)[:, None]

    def step(place: int | Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, total = state
        whole_part = jnp.trunc(rest)
        total = total.at[row, flat_digit - place].add(whole_part.astype(jnp.int32))
        return (rest - whole_part) * 2.0**WIDTH, total

    nothing = jnp.zeros((flat_digit.shape[0], N_DIGITS), jnp.int32)
    n_steps = -(-kind.nmant // WIDTH) + 1
    _, total = lax.fori_loop(0, n_steps, step, (rest.reshape(flat_digit.shape), nothing))
    digits: Array = total.reshape(*values.shape[:-1], N_DIGITS)
    return digits
