"""Where an array lies: in the memory of the host (NumPy), or on devices (JAX). Moves to the host are explicit."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from probtruth.kernels.later import Later

if TYPE_CHECKING:
    from jax import Array
    from typing_extensions import TypeIs

    type Table = np.ndarray | Array
else:
    Table = Any
"""Numbers on the host or on devices; this module works without loading JAX."""


Order = Int[np.ndarray, "_"]
"""Positions of rows or columns."""


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


def exponential(table: Table) -> Table:
    """e to the power of each number."""
    if on_device(table):
        from probtruth.kernels import device_tables

        return device_tables.exponential(table)
    return np.exp(table)


def together(tables: Iterable[Table]) -> list[Table]:
    """The tables as they lie, or beside the first of them that lies on a device."""
    listed = list(tables)
    if any(map(on_device, listed)):
        from probtruth.kernels import device_tables

        return [*device_tables.together(listed)]
    return [np.ascontiguousarray(table) for table in listed]


def stacked(tables: Sequence[Table], rows: Order, columns: Order) -> Table:
    """One table for all (of one kind), with rows and columns in this order."""
    if on_device(tables[0]):
        from probtruth.kernels import device_tables

        return device_tables.stacked(tables, rows, columns)  # type: ignore[arg-type]
    return np.stack([reordered(np.asarray(table), rows, columns) for table in tables])


def reordered(table: Table, rows: Order, columns: Order) -> Table:
    """The rows and columns (the last two axes) in this order; the table itself where that is its own."""
    if is_own(rows, table.shape[-2]) and is_own(columns, table.shape[-1]):
        return table
    if isinstance(table, Later):
        table = table.whole()
    if on_device(table):
        from probtruth.kernels import device_tables

        return device_tables.reordered(table, rows, columns)
    return np.ascontiguousarray(table[..., rows, :][..., columns])


def some_items(table: Table, items: Order) -> np.ndarray:
    """A few items of a table (item is the last axis but one), on the host."""
    if isinstance(table, Later):
        return table.some_items(items)
    return to_host(reordered(table, items, np.arange(table.shape[-1])))


def is_own(order: Order, size: int) -> bool:
    """Whether an order is that of the positions themselves."""
    return len(order) == size and bool((order == np.arange(size)).all())


def moments_around_mean(loss: Any, weight: Any) -> tuple[Any, Any]:
    """The second and the third central moment of each item's loss over its labels, from their weights."""
    centred = loss - (weight * loss).sum(1)[:, None]
    return (weight * centred**2).sum(1), (weight * centred**3).sum(1)
