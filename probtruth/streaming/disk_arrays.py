"""Numbers on disk, one row of them for each item, written and read in any order."""

import errno
import os
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

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
