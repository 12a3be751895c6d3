"""Scores of files on this machine: a batch at a time into a scratch folder, from which parts are read again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.distributed.parts import Part
from probtruth.distributed.scratch import Table
from probtruth.kernels.cores import n_cores


@dataclass(frozen=True, eq=False)
class ScratchParts:
    """Parts of at most `size` items, read from one table for each model; items that a model lacks are left out."""

    models: Sequence[str]
    tables: Sequence[Table]
    size: int
    group: Int[np.ndarray, " item"] | None
    unit: Int[np.ndarray, " item"] | None
    unit_group: Int[np.ndarray, " unit"] | None
    n_items: Int[np.ndarray, " group"]

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part, on all cores; one after the other where a result is as long as the units."""
        starts = range(0, self.tables[0].n_items, self.size)
        step = partial(self._work, work)
        found = map(step, starts) if self.unit is not None else _on_cores(step, starts)
        return (result for result in found if result is not None)

    def _work[T](self, work: Callable[[Part], T], start: int) -> T | None:
        values = read(self.tables, start, start + self.size)
        kept = present(values)
        if not kept.any():
            return None
        item = start + np.nonzero(kept)[0]
        group, unit = (None if codes is None else codes[item] for codes in (self.group, self.unit))
        return work(Part(values if kept.all() else values[:, kept], item, group, unit))


def read(tables: Sequence[Table], start: int, stop: int) -> Float[np.ndarray, "model item"]:
    """The losses of some items."""
    return np.stack([table.read(start, stop)[:, 0] for table in tables])


def present(values: Float[np.ndarray, "model item"]) -> Bool[np.ndarray, " item"]:
    """The items that every model has."""
    return np.asarray(~np.isnan(values).any(0))


def _on_cores[S, T](step: Callable[[S], T], listed: Sequence[S]) -> Iterator[T]:
    if len(listed) == 1 or n_cores() == 1:
        yield from map(step, listed)
        return
    with ThreadPoolExecutor(n_cores()) as pool:
        yield from pool.map(step, listed)
