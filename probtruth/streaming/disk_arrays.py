"""Numbers on disk, one row of them for each item, written and read in any order; and which batches are finished."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int


class NumberFile:
    """A file of float64 numbers (item, column), NaN where nothing was written; memory holds one batch."""

    def __init__(self, path: Path, n_items: int, n_columns: int) -> None:
        self.path, self.n_items, self.n_columns = path, n_items, n_columns
        if not path.exists() or path.stat().st_size != self._bytes(n_items):
            blank = np.full((FILLED, n_columns), np.nan)
            with path.open("wb") as stream:
                for start in range(0, n_items, FILLED):
                    stream.write(blank[: n_items - start].tobytes())

    def _bytes(self, n_items: int) -> int:
        return 8 * n_items * self.n_columns

    def write(self, items: Int[np.ndarray, " item"], values: Float[np.ndarray, "item column"]) -> None:
        """Puts the rows at their places."""
        place = run(items)
        if not isinstance(place, slice):
            held = np.memmap(self.path, np.float64, "r+", shape=(self.n_items, self.n_columns))
            held[items] = values
            held.flush()
            return
        with self.path.open("r+b", buffering=0) as stream:
            stream.seek(self._bytes(place.start))
            stream.write(np.ascontiguousarray(values).data)

    def read(self, start: int, stop: int) -> Float[np.ndarray, "item column"]:
        """The rows from `start` up to `stop`."""
        n = max(min(stop, self.n_items) - start, 0)
        found = np.fromfile(self.path, np.float64, n * self.n_columns, offset=self._bytes(start))
        return found.reshape(n, self.n_columns)

    def rows(self, items: Int[np.ndarray, " item"]) -> Float[np.ndarray, "item column"]:
        """The rows of these items."""
        place = run(items)
        if isinstance(place, slice):
            return self.read(place.start, place.stop)
        held = np.memmap(self.path, np.float64, "r", shape=(self.n_items, self.n_columns))
        return np.array(held[items])


FILLED = 1 << 16
"""Rows that are filled with NaN at once."""


def run(items: Int[np.ndarray, " item"]) -> slice | Int[np.ndarray, " item"]:
    """Items that follow one another as a slice, which indexes without a copy; others as they are."""
    if not len(items) or items[-1] - items[0] != len(items) - 1 or (items[1:] - items[:-1] != 1).any():
        return items
    return slice(int(items[0]), int(items[0]) + len(items))


class Journal:
    """A folder of tables, and the batches that are finished: an interrupted run goes on behind the last of them."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self.folder = folder
        key = folder / "settings.json"
        text = json.dumps(settings, sort_keys=True, default=str)
        if not key.exists() or key.read_text(encoding="utf-8") != text:
            self.remove()
            folder.mkdir(parents=True)
            key.write_text(text, encoding="utf-8")
        self._done = folder / "finished.jsonl"
        self.finished = self._read()

    def _read(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        lines = self._done.read_text(encoding="utf-8").split("\n")[:-1] if self._done.exists() else []
        for line in lines:  # what stands behind the last line end was cut off
            table, start = json.loads(line)
            found.setdefault(table, set()).add(start)
        return found

    def of(self, table: str) -> frozenset[int]:
        """The finished batches of a table."""
        return frozenset(self.finished.get(table, ()))

    def finish(self, table: str, start: int) -> None:
        """A batch is written."""
        with self._done.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([table, start]) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def remove(self) -> None:
        """Everything goes."""
        shutil.rmtree(self.folder, ignore_errors=True)
