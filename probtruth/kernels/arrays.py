"""Where an array lies: in the memory of the host (NumPy), or on devices (JAX). Moves to the host are explicit."""

import sys
from collections.abc import Callable, Iterable
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.kernels.host import empty_array, lies_on_disk

if TYPE_CHECKING:
    from jax import Array
    from typing_extensions import TypeIs

    type Table = np.ndarray | Array
else:
    Table = Any  # numbers on the host or on devices; this module works without loading JAX


AT_ONCE = 1 << 16  # rows of a table on disk that are copied at once

Order = Int[np.ndarray, "_"]  # positions of rows or columns
LabelTable = Float[Table, "item label"]


def on_device(values: object) -> "TypeIs[Array]":
    """Whether it is an array of JAX that has values (one that is being traced has none)."""
    jax = sys.modules.get("jax")  # while nothing has loaded JAX there is no array of its
    return jax is not None and isinstance(values, jax.Array) and not isinstance(values, jax.core.Tracer)


def to_host(values: object) -> np.ndarray:
    """The same numbers on the host; an array that lies there is not copied."""
    if on_device(values):
        import jax

        return np.asarray(jax.device_get(values))
    return np.asarray(values)


def where_it_lies(function: Callable[..., Table]) -> Callable[..., Table]:
    """A function of NumPy or `jax.numpy` and of arrays: compiled in their own types where they lie on devices."""

    @cache
    def there() -> Callable[..., Table]:
        import jax.numpy as jnp

        from probtruth.kernels.precision import compiled

        return compiled(partial(function, jnp))

    @wraps(function)
    def call(*arrays: Any) -> Table:
        if on_device(arrays[0]):
            return there()(*arrays)
        return np.ascontiguousarray(function(np, *arrays))

    return call


exponential = where_it_lies(lambda xp, table: xp.exp(table))
stacked = where_it_lies(lambda xp, *tables: xp.stack(tables))  # tables of one kind
_picked = where_it_lies(lambda xp, table, rows, columns: table[..., rows, :][..., columns])


@where_it_lies
def log_softmax(xp: Any, logits: Any) -> Any:
    relative = logits - logits.max(-1, keepdims=True)
    total = xp.exp(relative).sum(-1, keepdims=True)
    return relative - xp.log(total)


@where_it_lies
def first_faults(xp: Any, probs: Any, tolerance: Any) -> Any:
    """The first row that is not finite, that is negative, and that has another sum than 1; their number for none."""
    not_finite = (~xp.isfinite(probs)).any(-1)
    negative = (probs < 0).any(-1)
    wrong_sum = xp.abs(probs.sum(-1, dtype=xp.float64) - 1) > tolerance
    n_rows = len(probs)
    rows = xp.arange(n_rows, dtype=xp.int32)
    first = []
    for fault in (not_finite, negative, wrong_sum):
        positions = xp.where(fault, rows, n_rows)
        first.append(positions.min())
    return xp.stack(first)


def together(tables: Iterable[Table]) -> list[Table]:
    """The tables on the host, or all where the first of them that lies on a device does."""
    listed = list(tables)
    first = next(filter(on_device, listed), None)
    if first is None:
        return [np.ascontiguousarray(table) for table in listed]
    from probtruth.kernels import device

    return [device.placed_as(table, first) for table in listed]


def reordered(table: Table, rows: Order, columns: Order) -> Table:
    """The rows and columns (the last two axes) in this order; the table itself where that is its own."""
    n_rows, n_columns = table.shape[-2:]
    if is_own(rows, n_rows) and is_own(columns, n_columns):
        return table
    if not lies_on_disk(table):
        return _picked(table, rows, columns)
    copy = empty_array((*table.shape[:-2], len(rows), len(columns)), True, table.dtype)
    for start in range(0, len(rows), AT_ONCE):
        block = slice(start, start + AT_ONCE)
        copy[..., block, :] = table[..., rows[block], :][..., columns]
    return copy


def widened(table: Table, rows: Order, columns: Order, n_labels: int) -> Table:
    """The rows and columns of a table at their places; labels that the table does not know get 0."""
    if is_own(rows, table.shape[-2]) and is_own(columns, n_labels):
        return table
    column_of = np.full(n_labels, len(columns))
    column_of[columns] = np.arange(len(columns))
    return _widened(table, rows, column_of)


@where_it_lies
def _widened(xp: Any, table: Any, rows: Order, column_of: Order) -> Any:
    in_order = table[..., rows, :]
    zeros = xp.zeros_like(in_order[..., :1])
    return xp.concatenate([in_order, zeros], -1)[..., column_of]


def some_items(table: Table, items: Order) -> np.ndarray:
    """A few items of a table (item is the last axis but one), on the host."""
    return to_host(reordered(table, items, np.arange(table.shape[-1])))


def is_own(order: Order, size: int) -> bool:
    """Whether an order is that of the positions themselves."""
    if len(order) != size:
        return False
    return bool((order == np.arange(size)).all())


def ratio(numerator: Any, denominator: Any, otherwise: Any = 0.0) -> Any:
    """The quotient of NumPy arrays; `otherwise` where the denominator is not above 0."""
    above = denominator > 0
    return np.where(above, numerator / np.where(above, denominator, 1.0), otherwise)


def moments_around_mean(loss: Any, weight: Any) -> tuple[Any, Any]:
    """The second and the third central moment of each item's loss over its labels, from their weights."""
    mean = (weight * loss).sum(1)
    centred = loss - mean[:, None]
    square = weight * centred**2
    cube = square * centred
    return square.sum(1), cube.sum(1)
