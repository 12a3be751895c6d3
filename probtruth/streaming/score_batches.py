"""Files of predictions against a reference, batch by batch: each model's rows at the matches of their items."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import check, frames
from probtruth.io.predictions import named_files, same_labels
from probtruth.io.tables.batches import Batch, BigTable, open_table
from probtruth.io.tables.read import Block
from probtruth.io.tables.wide import cells, checked_blocks, known_kind, labels_of
from probtruth.scoring import device_losses
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.score import expected_losses, floored
from probtruth.streaming.disk_store import Items, run
from probtruth.streaming.reference import Reference
from probtruth.types.annotations import index_of_labels
from probtruth.types.index import Index
from probtruth.types.predictions import as_logs

if TYPE_CHECKING:
    import polars

Progress = Callable[[int, int], None]
NAMES = 4
"""How many more rows a batch has that is of names alone."""


@dataclass(frozen=True, eq=False)
class Files:
    """Each model's table; the index of their labels; what the cells are, and how many rows a batch has."""

    models: tuple[str, ...]
    tables: tuple[BigTable, ...]
    index: Index
    item: str
    kind: str
    size: int

    def blocks(self, batch: Batch) -> Iterator[tuple[int, Float[np.ndarray, "item label"]]]:
        """`checked`, some rows at a time, with the first row of each block."""
        return checked_blocks(batch.frame, self.labels, batch.source, self.item, self.kind)

    def checked(self, batch: Batch) -> Float[np.ndarray, "item label"]:
        """The cells of a batch in the order of the labels; an error for what is no distribution."""
        return cells(batch.frame, self.labels, batch.source, self.item, self.kind)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return self.index.labels

    @property
    def n_batches(self) -> int:
        """Batches of all models."""
        return sum(len(table.cuts(self.size)) for table in self.tables)

    def check_unchanged(self) -> None:
        """Raises `InputError` if a file is not the one that was opened any more."""
        for table in self.tables:
            table.check_unchanged()


def open_files(files: Sequence[tuple[str, str | Path | Block]], item: str, kind: str, size: int) -> Files:
    """Opens the files (or folders) of predictions; they must have the same labels."""
    pairs, kind = named_files(files), known_kind(kind)
    tables = [open_table(path) for _, path in pairs]
    models = [model for model, _ in pairs]
    columns = []
    for table in tables:
        columns.append(labels_of(table.columns, item, check.Source(table.name)))
    for model, table, labels in zip(models, tables, columns, strict=True):
        same_labels(models[0], columns[0], model, labels, table.name)
    index = index_of_labels(columns[0])
    if any(labels != columns[0] for labels in columns):
        index = replace(index, label_columns=None)
    return Files(tuple(models), tuple(tables), index, item, kind, size)


@dataclass(frozen=True, eq=False)
class RowMatches:
    """Where each row's item stands in the reference (-1: nowhere), and the names that stand nowhere."""

    rows: Int[np.ndarray, " row"]
    extra: "polars.Series"

    def row_of(self, n_items: int) -> Int[np.ndarray, " item"]:
        """The row of each item, -1 where there is none."""
        rows = np.full(n_items, -1, np.int64)
        known = self.rows >= 0
        rows[self.rows[known]] = np.nonzero(known)[0]
        return rows

    @classmethod
    def of(cls, table: BigTable, item: str, size: int, reference: Reference) -> "RowMatches":
        """From the column of items, each of which may stand there once."""
        names = table.names(item, NAMES * size)
        if frames.same(names, reference.names):
            return cls(reference.in_order, frames.text(names.head(0)))
        rows = frames.positions(names, reference.names).astype(reference.in_order.dtype)
        known = rows >= 0
        extra = names.filter(~known) if not known.all() else names.head(0)
        if np.bincount(rows[known], minlength=1).max() > 1 or extra.n_unique() < len(extra):
            raise table.repeated(names, item)
        return cls(rows, frames.text(extra))


@dataclass(frozen=True, eq=False)
class Scoring:
    """How losses are computed, where each row's item stands, and the items that every model has."""

    rule: ScoringRule
    floor: float | None
    reference: Reference
    files: Files
    matches: Sequence[RowMatches]
    complete: Bool[np.ndarray, " item"]

    def items(self, model: int, start: int) -> Int[np.ndarray, " item"]:
        """The items of the batch of a model that starts at a row."""
        length = next((cut[2] for cut in self.files.tables[model].cuts(self.files.size) if cut[3] == start), 0)
        rows = self.matches[model].rows[start : start + length]
        return rows[rows >= 0]

    def batches(self, model: int) -> Iterator[tuple[int, Int[np.ndarray, " item"], Float[np.ndarray, "item label"]]]:
        """First row, items and log-probabilities of each batch of one model."""
        for start, items, block in self._cells(model):
            yield start, items, as_logs(self.files.kind, block)

    def scored(self, model: int, skip: frozenset[int], sampled: Int[np.ndarray, " sampled"]) -> Iterator["ScoredBatch"]:
        """The losses of each batch of one model, but for those that start at `skip`.

        On a device that a caller chose (`device_losses.chosen_device`) a batch is scored while the next one is read.
        """
        kind, device, files = self.files.kind, device_losses.chosen_device(), self.files
        if device is None:
            for batch in files.tables[model].batches(files.labels, files.size, skip):
                items = self.matches[model].rows[batch.start : batch.start + batch.frame.height]
                if (items >= 0).any():
                    yield self._scored(batch, items, sampled)
            return
        waiting: Callable[[], ScoredBatch] | None = None
        for start, items, block in self._cells(model, skip):
            where = run(items)
            centre = self.reference.centre[where]
            at, rows = positions_in(sampled, where)
            values_there = device_losses.of_cells(self.rule, self.floor, kind, block, centre, device)
            if waiting is not None:
                yield waiting()
            waiting = partial(_fetched, start, where, values_there, at, as_logs(kind, block[rows]))
        if waiting is not None:
            yield waiting()

    def _scored(
        self, batch: Batch, of_row: Int[np.ndarray, " row"], sampled: Int[np.ndarray, " sampled"]
    ) -> "ScoredBatch":
        """The losses of a batch, block by block, each of which stays in the processor's cache until it is scored."""
        known = of_row >= 0
        items = of_row if known.all() else of_row[known]
        where, first = run(items), int(items[0])
        at, wanted = positions_in(sampled, where)
        values, seen, done = np.empty((len(items), 1)), np.empty((len(at), len(self.files.labels))), 0
        for start, block in self.files.blocks(batch):
            if len(items) < len(of_row):
                block = block[known[start : start + len(block)]]
            some = slice(done, done + len(block))
            logs = as_logs(self.files.kind, block, block)
            centre = self.reference.centre[
                slice(first + some.start, first + some.stop) if isinstance(where, slice) else items[some]
            ]
            values[some, 0] = expected_losses(self.rule, floored(logs, self.floor), centre)
            inside = slice(*np.searchsorted(wanted, (some.start, some.stop)))
            seen[inside] = logs[wanted[inside] - done]
            done = some.stop
        return ScoredBatch(batch.start, where, values, at, seen)

    def _cells(
        self, model: int, skip: frozenset[int] = frozenset()
    ) -> Iterator[tuple[int, Int[np.ndarray, " item"], Float[np.ndarray, "item label"]]]:
        """First row, items and checked cells of each batch of one model, but for those that start at `skip`."""
        files = self.files
        for batch in files.tables[model].batches(files.labels, files.size, skip):
            block = files.checked(batch)
            items = self.matches[model].rows[batch.start : batch.start + len(block)]
            known = items >= 0
            if not known.all():
                items, block = items[known], block[known]
            if len(items):
                yield batch.start, items, block


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """The losses of some items (one column), and the log-probabilities of those that are at `at` in a sample."""

    start: int
    items: Items
    values: Float[np.ndarray, "item 1"]
    at: Int[np.ndarray, " sampled"]
    logs: Float[np.ndarray, "sampled label"]


def _fetched(
    start: int,
    items: Items,
    values: Callable[[], Float[np.ndarray, " item"]],
    at: Int[np.ndarray, " sampled"],
    logs: Float[np.ndarray, "sampled label"],
) -> ScoredBatch:
    return ScoredBatch(start, items, values()[:, None], at, logs)


@dataclass(frozen=True, eq=False)
class Sample:
    """Log-probabilities of a few of the items, by their codes."""

    item: Int[np.ndarray, " item"]
    logs: Float[np.ndarray, "model item label"]


def positions_in(
    sample: Int[np.ndarray, " sampled"], items: Items
) -> tuple[Int[np.ndarray, " both"], Int[np.ndarray, " both"]]:
    """Where the items of an ordered sample stand in it, and where among some items, for those that are there."""
    items = run(items)
    if isinstance(items, slice):
        low, high = np.searchsorted(sample, (items.start, items.stop))
        return np.arange(low, high), sample[low:high] - items.start
    at = np.searchsorted(sample, items)
    rows = np.nonzero(np.append(sample, -1)[at] == items)[0]
    return at[rows], rows
