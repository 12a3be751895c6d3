"""Losses on this machine: numbers in files, a row for each item, and parts that are read from them again."""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part
from probtruth.kernels.host import ahead, n_cores

type Items = slice | Int[np.ndarray, " item"]
"""Positions of items; a slice where they follow one another."""


class NumberFile:
    """A file of float64 numbers (item, column), NaN where nothing was written; memory holds one batch.

    The file is made anew, unless `resumed`.
    """

    def __init__(self, path: Path, n_items: int, n_columns: int, resumed: bool = False) -> None:
        self.path, self.n_items, self.n_columns = path, n_items, n_columns
        if not resumed:
            blank = np.full((FILLED, n_columns), np.nan)
            with path.open("wb") as stream:
                for start in range(0, n_items, FILLED):
                    stream.write(blank[: n_items - start].tobytes())

    @property
    def whole(self) -> bool:
        """Whether the file is there and has the size of all rows."""
        return self.path.is_file() and self.path.stat().st_size == self._bytes(self.n_items)

    def _bytes(self, n_items: int) -> int:
        return 8 * n_items * self.n_columns

    def write(self, items: Items, values: Float[np.ndarray, "item column"]) -> None:
        """Puts the rows at their places."""
        block = run(items)
        if not isinstance(block, slice):
            held = np.memmap(self.path, np.float64, "r+", shape=(self.n_items, self.n_columns))
            held[block] = values
            held.flush()
            return
        with self.path.open("r+b") as stream:  # buffered: a write that is cut short goes on, or raises
            stream.seek(self._bytes(block.start))
            stream.write(np.ascontiguousarray(values).data)

    def read(
        self, start: int, stop: int, out: Float[np.ndarray, " number"] | None = None
    ) -> Float[np.ndarray, "item column"]:
        """The rows from `start` up to `stop`, put into `out` if it is given."""
        n = max(min(stop, self.n_items) - start, 0)
        numbers = np.empty(n * self.n_columns) if out is None else out
        with self.path.open("rb") as stream:  # buffered: a read that is cut short goes on
            stream.seek(self._bytes(start))
            if stream.readinto(numbers.data) < numbers.nbytes:
                raise OSError(errno.EIO, "cut off", str(self.path))
        return numbers.reshape(n, self.n_columns)

    def rows(self, items: Items) -> Float[np.ndarray, "item column"]:
        """The rows of these items."""
        block = run(items)
        if not isinstance(block, slice) and not len(block):
            return np.empty((0, self.n_columns))
        if isinstance(block, slice):
            return self.read(block.start, block.stop)
        held = np.memmap(self.path, np.float64, "r", shape=(self.n_items, self.n_columns))
        return np.array(held[block])

    def blank(self, filled: Bool[np.ndarray, " item"]) -> None:
        """Makes NaN of every row but those that are filled, if it is not."""
        for start in range(0, self.n_items, FILLED):
            values = self.read(start, start + FILLED)
            stray = ~filled[start : start + FILLED] & ~np.isnan(values).all(1)
            if stray.any():
                values[stray] = np.nan
                self.write(np.arange(start, start + len(values)), values)

    def sync(self) -> None:
        """Returns once the disk has what was written."""
        with self.path.open("r+b") as stream:
            getattr(os, "fdatasync", os.fsync)(stream.fileno())


FILLED = 1 << 16
"""Rows that are filled with NaN at once."""


def run(items: Items) -> Items:
    """Items that follow one another as a slice, which indexes without a copy; others as they are."""
    if isinstance(items, slice):
        return items
    if not len(items) or items[-1] - items[0] != len(items) - 1 or (items[1:] - items[:-1] != 1).any():
        return items
    return slice(int(items[0]), int(items[0]) + len(items))


HELD, TOGETHER = 1 << 23, 1 << 20
"""Numbers that stay in memory once they were read (64 MiB; more are read again in each pass), and the items up to
which they are then one part."""


@dataclass(frozen=True, eq=False)
class DiskParts:
    """Parts of at most `size` items, read from one table for each model; items that a model lacks are left out.

    Few numbers stay in memory, those of few items as one part.
    """

    models: Sequence[str]
    structure: Structure
    losses: Sequence[NumberFile]
    size: int
    held: dict[int, Part | None] = field(default_factory=dict, repr=False)

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part, on all cores; one after the other where a result is as long as the units."""
        starts = range(0, self.losses[0].n_items, self._size)
        step = partial(self._work, work)
        results = map(step, starts) if self.structure.unit is not None else ahead(step, starts, n_cores())
        return (result for result in results if result is not None)

    def _work[T](self, work: Callable[[Part], T], start: int) -> T | None:
        part = self.held[start] if start in self.held else self._read(start)
        if self._few:
            self.held[start] = part
        return None if part is None else work(part)

    @property
    def _few(self) -> bool:
        """Whether all numbers stay in memory."""
        return len(self.losses) * self.losses[0].n_items <= HELD

    @property
    def _size(self) -> int:
        n_items = self.losses[0].n_items
        return n_items if self._few and n_items <= TOGETHER else self.size

    def _read(self, start: int) -> Part | None:
        """The part that starts at an item; None where a model lacks each of its items."""
        values = _read(self.losses, start, start + self._size)
        missing = np.isnan(values)
        if not missing.any():
            item = np.arange(start, start + values.shape[1])
            return Part(values, item, *self.structure.codes(item))
        present = ~missing.any(0)
        if not present.any():
            return None
        item = start + np.nonzero(present)[0]
        return Part(values[:, present], item, *self.structure.codes(item))


def present(tables: Sequence[NumberFile], size: int) -> Bool[np.ndarray, "model item"]:
    """Which models have which items."""
    starts = range(0, tables[0].n_items, size)
    return np.concatenate([~np.isnan(_read(tables, at, at + size)) for at in starts], axis=1)


def _read(tables: Sequence[NumberFile], start: int, stop: int) -> Float[np.ndarray, "model item"]:
    values = np.empty((len(tables), min(stop, tables[0].n_items) - start))
    for table, own in zip(tables, values, strict=True):
        table.read(start, stop, own)
    return values
