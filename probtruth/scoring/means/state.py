"""What is known of the items so far, whoever fed it: host arrays, devices or batches; states merge."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth.kernels import compensated
from probtruth.kernels.compensated import Total

NO_POSITION = int(np.iinfo(np.int32).max)
"""Stands where there is no item; positions of items are below it."""


class MeanState(NamedTuple):
    """Totals over the items; a column is a quantity that is averaged (see `MeanOptions.columns`).

    `infinite` counts items by sign (plus, minus) and column: they are not in `totals`. `first` are the lowest
    positions of items with an infinite loss, by rule, where they are kept.
    """

    n: Total
    totals: Total
    infinite: Total
    counts: Total
    first: Int[Array | np.ndarray, "rule first"]


def merge(one: MeanState, other: MeanState) -> MeanState:
    """The state of the items of both."""
    kept = one.first.shape[-1]
    first = jnp.sort(jnp.concatenate([one.first, other.first], -1), -1)[:, :kept] if kept else one.first
    return MeanState(
        compensated.merge(one.n, other.n),
        compensated.merge(one.totals, other.totals),
        compensated.merge(one.infinite, other.infinite),
        compensated.merge(one.counts, other.counts),
        first,
    )


def next_position(state: MeanState) -> Int[Array, ""]:
    """The number of items so far as the position of the next one; NO_POSITION where it is beyond."""
    whole = jnp.asarray(state.n.high).astype(jnp.int32) + jnp.asarray(state.n.low).astype(jnp.int32)
    return jnp.where(state.n.high < 2.0**31 - 2.0**8, whole, NO_POSITION)


def whole(count: Total) -> Int[np.ndarray, "*sum"]:
    """Counts as integers (host)."""
    return np.asarray(np.rint(compensated.value(count)), np.int64)


def means(state: MeanState) -> Float[np.ndarray, " column"]:
    """The mean of each column: infinite where a term was, NaN where one was or where infinities of both signs meet."""
    n = whole(state.n)
    up, down = whole(state.infinite) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        finite = compensated.value(state.totals) / n
    signed = np.where(up, np.inf, np.where(down, -np.inf, finite))
    return np.asarray(np.where(np.isnan(finite) | (up & down), np.nan, signed))


def errors(state: MeanState) -> Float[np.ndarray, " column"]:
    """How far summing can have moved each mean."""
    n = whole(state.n)
    with np.errstate(invalid="ignore", divide="ignore"):
        rounded = np.abs(compensated.value(state.totals)) * np.finfo(np.float64).eps
        return np.asarray((np.asarray(state.totals.error, np.float64) + rounded) / n)
