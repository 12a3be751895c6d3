"""Losses on this machine: a table for each model in a journal's folder, from which parts are read again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part
from probtruth.kernels.host import ahead, n_cores
from probtruth.streaming.disk_arrays import NumberFile
from probtruth.streaming.journal import Journal

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


@dataclass(frozen=True, eq=False)
class DiskStore:
    """Every model's losses of so many items, in the folder of a journal; `size` is how many items a part has."""

    folder: Path
    models: Sequence[str]
    n_items: int
    size: int
    losses: Sequence[NumberFile]

    @classmethod
    def of(
        cls, journal: Journal, models: Sequence[str], n_items: int, size: int, name: str | None = None
    ) -> "DiskStore":
        """With the tables of losses that the journal knows, and new ones for the rest.

        Batches of a model are finished under the name of its table, or all of them under one `name`.
        """
        losses = []
        for model in range(len(models)):
            file = f"losses-{model}"
            losses.append(NumberFile(journal.folder / file, n_items, 1, resumed=bool(journal.of(name or file))))
        return cls(journal.folder, models, n_items, size, losses)

    def table(self, name: str, n_columns: int) -> NumberFile:
        """Another table of numbers for each item, NaN as yet."""
        return NumberFile(self.folder / name, self.n_items, n_columns)

    def there(self) -> Bool[np.ndarray, "model item"]:
        """Which models have which items."""
        starts = range(0, self.n_items, self.size)
        return np.concatenate([~np.isnan(_read(self.losses, at, at + self.size)) for at in starts], axis=1)

    def parts(self, structure: Structure) -> DiskParts:
        """The losses in parts."""
        return DiskParts(self.models, structure, self.losses, self.size)

    def tables(self, folder: Path) -> Sequence[NumberFile]:
        """The losses of each model, where they are."""
        return self.losses


def _read(tables: Sequence[NumberFile], start: int, stop: int) -> Float[np.ndarray, "model item"]:
    values = np.empty((len(tables), min(stop, tables[0].n_items) - start))
    for table, own in zip(tables, values, strict=True):
        table.read(start, stop, own)
    return values
