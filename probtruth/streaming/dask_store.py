"""Losses on a Dask cluster: each part is read by a worker and stays there; only what is summed up travels.

What is lost with a worker is read again by another, which Dask does by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part, itself
from probtruth.io.tables.batches import Batch, BigTable
from probtruth.streaming.dask_workers import Workers
from probtruth.streaming.disk_store import NumberFile
from probtruth.streaming.score_batches import Progress

RowNumbers = range | Int[np.ndarray, " item"]
"""Rows or items: those that follow one another take no room."""


@dataclass(frozen=True, eq=False)
class Errand:
    """Some items, and the rows of every model (counted over all files) for them; a worker makes a part of it."""

    items: RowNumbers
    rows: Sequence[RowNumbers]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None


@dataclass(frozen=True, eq=False)
class DaskParts:
    """Parts that workers hold."""

    models: Sequence[str]
    structure: Structure
    futures: Sequence[Any]
    workers: Workers

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part, in the order in which workers are done."""
        return self.workers.results([self.workers.submit(work, part) for part in self.futures])

    def versions(self) -> Mapping[str, str]:
        """The versions on the workers that hold the parts."""
        return self.workers.versions(self.futures)

    def fetched(self, folder: Path, n_items: int) -> Sequence[NumberFile]:
        """The losses of each model on so many items, fetched from the workers into tables in a folder."""
        folder.mkdir(exist_ok=True)
        made = [NumberFile(folder / f"losses-{model}", n_items, 1) for model in range(len(self.models))]
        for part in self.each(itself):
            for table, values in zip(made, part.values, strict=True):
                table.write(part.item, values[:, None])
        return made


def sent(
    workers: Workers, works: Sequence[tuple[Callable[[Errand], Part], Errand]], on_progress: Progress | None
) -> Sequence[Any]:
    """The parts that workers make of errands, each by its own work, once all are made; they stay where they are.

    Errors: the first of a worker, and as `Workers.finished`.
    """
    futures = [workers.submit(*one) for one in works]
    for done, _ in enumerate(workers.finished(futures), 1):
        if on_progress is not None:
            on_progress(done, len(futures))
    return futures


def in_order_of_rows(
    row_of: Sequence[Int[np.ndarray, " item"]], size: int
) -> Iterator[tuple[Int[np.ndarray, " some"], Sequence[RowNumbers]]]:
    """Items that every model has, some at a time, and every model's rows of them (-1 where a model lacks an item).

    They come in the order of the first model's rows, so that they are read in one piece where tables are sorted alike.
    """
    items = np.nonzero(np.all([rows >= 0 for rows in row_of], axis=0))[0]
    for some in cut(items[np.argsort(row_of[0][items])], size):
        yield some, [as_range(rows[some]) for rows in row_of]


def cut(values: Int[np.ndarray, " item"], size: int) -> Iterator[Int[np.ndarray, " some"]]:
    """So many at a time."""
    return (values[start : start + size] for start in range(0, len(values), size))


def as_range(values: Int[np.ndarray, " item"]) -> RowNumbers:
    """The same, as a range where they are one."""
    step = int(values[1] - values[0]) if len(values) > 1 else 1
    if step and (np.diff(values) == step).all():
        return range(int(values[0]), int(values[-1]) + (1 if step > 0 else -1), step)
    return values


def batches_with(
    table: BigTable, wanted: Int[np.ndarray, " row"], columns: Sequence[str], size: int
) -> Iterator[tuple[Batch, Int[np.ndarray, " row"]]]:
    """The batches of a table that hold some of the rows wanted (counted over all files), and which of these."""
    order = np.argsort(wanted)
    ordered = wanted[order]
    for source, start, rows, before in table.cuts(size):
        low, high = np.searchsorted(ordered, [before, before + rows])
        if low < high:
            first, last = int(ordered[low]), int(ordered[high - 1]) + 1
            yield table.read((source, start + first - before, last - first, first), columns), order[low:high]
