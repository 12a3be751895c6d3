"""Bare scores on a Dask cluster: workers read them where they are and keep them; this process reads the names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from probtruth.io.tables.batches import BigTable
from probtruth.io.tables.long_scores import Names, cells, checked_scores
from probtruth.streaming.dask_store import ClusterParts, Rows, as_range, batches_with, known_client, sent
from probtruth.streaming.parts import Layout, Part, Parts
from probtruth.streaming.score_batches import Progress


@dataclass(frozen=True)
class Columns:
    """The columns of a table of scores, and what is known of the scores."""

    item: str
    model: str
    score: str
    group: str | None
    cluster: str | None
    higher_is_better: bool
    rule: str
    floor: float | None = None
    proper: bool | None = None
    entropy: float | None = None

    @property
    def sign(self) -> float:
        """What makes losses of the scores."""
        return -1.0 if self.higher_is_better else 1.0


@dataclass(frozen=True, eq=False)
class Errand:
    """The rows of some items (model after model, counted over all files), of which every model has one."""

    table: BigTable
    columns: Columns
    size: int
    rows: Sequence[Rows]
    items: Rows
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None


def read_part(errand: Errand) -> Part:
    """The losses of the items."""
    wanted = np.concatenate([np.asarray(rows) for rows in errand.rows])
    values = np.empty(len(wanted))
    score = errand.columns.score
    for batch, inside in batches_with(errand.table, wanted, [score], errand.size):
        values[inside] = errand.columns.sign * checked_scores(batch, score)[wanted[inside] - batch.start]
    return Part(values.reshape(len(errand.rows), -1), np.asarray(errand.items), errand.group, errand.unit)


def on_workers(
    table: BigTable,
    names: tuple[Names, Names],
    columns: Columns,
    client: object,
    size: int,
    on_progress: Progress | None,
) -> tuple[Bool[np.ndarray, "model item"], Callable[[Layout], Parts]]:
    """Which models have which items, and the scores as parts that workers hold.

    A part is read in the order of the first model's rows, so that it lies in one piece for each model where a table is
    sorted by model and item, or by item. Rows of items that some model lacks are read to be checked only.
    """
    workers = known_client(client)
    row_of = _rows_by_cell(table, names, size)
    there = row_of >= 0
    kept = there.all(0)

    def parts_of(layout: Layout) -> Parts:
        n_models = len(row_of)
        items = np.nonzero(kept)[0]
        items = items[np.argsort(row_of[0, items])]
        errands = []
        for some in _cut(items, max(1, size // n_models)):
            places = [as_range(rows) for rows in row_of[:, some]]
            errands.append(Errand(table, columns, size, places, as_range(some), *layout.of_items(some)))
        others = np.sort(row_of[:, ~kept][there[:, ~kept]])
        checks = [Errand(table, columns, size, [as_range(some)], range(len(some))) for some in _cut(others, size)]
        futures = sent(workers, read_part, errands + checks, on_progress)
        return ClusterParts(names[1].known.to_list(), futures[: len(errands)], workers, layout)

    return there, parts_of


def _rows_by_cell(table: BigTable, names: tuple[Names, Names], size: int) -> Int[np.ndarray, "model item"]:
    """The row of each model's score of each item, -1 where there is none."""
    kind = np.int32 if table.n_rows < 1 << 31 else np.int64
    row_of = np.full((len(names[1]), len(names[0])), -1, kind)
    for batch, of_item, of_model in cells(table, names, size):
        row_of[of_model, of_item] = batch.start + np.arange(len(of_item))
    return row_of


def _cut(values: Int[np.ndarray, " item"], size: int) -> Iterator[Int[np.ndarray, " some"]]:
    return (values[start : start + size] for start in range(0, len(values), size))
