"""Scores on a Dask cluster: each part is read and scored by a worker and stays there; only states travel.

What is lost with a worker is read and scored again by another, which Dask does by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.errors import InputError
from probtruth.io.tables.batches import Batch, BigTable
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.score import expected_losses, floored, losses
from probtruth.streaming.disk_arrays import Table
from probtruth.streaming.label_terms import label_terms, label_weights, total
from probtruth.streaming.parts import LaidOut, Layout, Part, Sample
from probtruth.streaming.reference import Reference
from probtruth.streaming.score_batches import Files, Places, Progress, Scoring, checked, found_in
from probtruth.streaming.sweeps import itself
from probtruth.types.predictions import as_logs

SENT = 8_000_000
"""Bytes of labels that go out with one part: Dask warns beyond 10 MB."""

Rows = range | Int[np.ndarray, " item"]
"""Rows or items: those that follow one another take no room."""


@dataclass(frozen=True, eq=False)
class Errand:
    """One part: the rows of every model (counted over all its files) for these items, and their labels."""

    files: Files
    rule: ScoringRule
    floor: float | None
    rows: tuple[Rows, ...]
    items: Rows
    reference: Reference
    group: Int[np.ndarray, " item"] | None
    unit: Int[np.ndarray, " item"] | None
    sampled: Int[np.ndarray, " sampled"]

    def logs(self, model: int) -> Float[np.ndarray, "item label"]:
        """The floored log-probabilities of one model."""
        return floored(self.raw(model), self.floor)

    def raw(self, model: int) -> Float[np.ndarray, "item label"]:
        """The log-probabilities of one model."""
        table, wanted = self.files.tables[model], np.asarray(self.rows[model])
        cells = np.empty((len(wanted), len(self.files.labels)))
        for batch, inside in batches_with(table, wanted, self.files.labels, self.files.size):
            cells[inside] = checked(batch, self.files)[wanted[inside] - batch.start]
        return as_logs(self.files.kind, cells)

    def label_losses(self, model: int) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, "item label"]]:
        """Losses of one model, expected and under each label."""
        return losses(self.rule, self.logs(model), self.reference.centre)


def score_part(errand: Errand) -> Part:
    """The losses of all models."""
    values, seen = [], []
    for model in range(len(errand.rows)):
        logs = errand.raw(model)
        values.append(expected_losses(errand.rule, floored(logs, errand.floor), errand.reference.centre))
        seen.append(logs[errand.sampled])
    items = np.asarray(errand.items)
    return Part(np.stack(values), items, errand.group, errand.unit, Sample(items[errand.sampled], np.stack(seen)))


def label_part(a: int, b: int, single: bool, weights: Float[np.ndarray, "..."], errand: Errand) -> Part:
    """What the labels add to the variance of the difference of two models, NaN where that is infinite."""
    forecast = None
    if single:
        summed = np.exp(errand.logs(0))
        for model in range(1, len(errand.rows)):
            summed += np.exp(errand.logs(model))
        forecast = summed / len(errand.rows)
    weight, votes = label_weights(errand.reference, np.arange(len(errand.items)), forecast)
    terms = label_terms(errand.label_losses(a)[1], errand.label_losses(b)[1], weight, votes)
    values = np.full(len(errand.items), np.nan) if terms is None else terms * weights**2
    return Part(values[None], np.asarray(errand.items))


@dataclass(frozen=True, eq=False)
class ClusterParts(LaidOut):
    """Parts that workers hold."""

    models: Sequence[str]
    futures: Sequence[Any]
    client: Any
    layout: Layout

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part, in the order in which workers are done."""
        from distributed import as_completed

        found = self.client.map(work, self.futures, pure=False)
        return (result for _, result in as_completed(found, with_results=True))


def sent[T](client: Any, work: Callable[[T], Part], errands: Sequence[T], on_progress: Progress | None) -> list[Any]:
    """The parts that workers make of the errands, once all are made; they stay where they are.

    Errors: the first of a worker.
    """
    from distributed import as_completed

    futures = [client.submit(work, errand, pure=False) for errand in errands]
    for done, future in enumerate(as_completed(futures), 1):
        if future.status == "error":
            future.result()
        if on_progress is not None:
            on_progress(done, len(futures))
    return futures


def batches_with(
    table: BigTable, wanted: Int[np.ndarray, " row"], columns: Sequence[str], size: int
) -> Iterator[tuple[Batch, Int[np.ndarray, " row"]]]:
    """The batches of a table that hold some of the rows wanted (counted over all files), and which of these."""
    order = np.argsort(wanted)
    ordered = wanted[order]
    for place, start, rows, before in table.cuts(size):
        low, high = np.searchsorted(ordered, [before, before + rows])
        if low < high:
            first, last = int(ordered[low]), int(ordered[high - 1]) + 1
            yield table.read((place, start + first - before, last - first, first), columns), order[low:high]


class OnCluster:
    """Scores on the workers of a client."""

    def __init__(
        self,
        scoring: Scoring,
        places: Sequence[Places],
        layout: Layout,
        sample: Int[np.ndarray, " sampled"],
        client: Any,
        on_progress: Progress | None,
    ) -> None:
        self.client, self.layout, self.reference = known_client(client), layout, scoring.reference
        self.errands = list(_errands(scoring, places, layout, sample))
        futures = sent(self.client, score_part, self.errands, on_progress)
        self.parts = ClusterParts(scoring.files.models, futures, client, layout)

    def tables(self, folder: Path) -> Sequence[Table]:
        """The losses of each model, fetched from the workers into tables in a folder."""
        found = [
            Table(folder / f"losses-{model}", self.reference.n_items, 1) for model in range(len(self.parts.models))
        ]
        for part in self.parts.each(itself):
            for table, values in zip(found, part.values, strict=True):
                table.write(part.item, values[:, None])
        return found

    def sample(self) -> Sample:
        """The log-probabilities of the items of the sample."""
        found = [some for some in self.parts.each(_sample) if some is not None]
        item = np.concatenate([some.item for some in found])
        logs = np.concatenate([some.logs for some in found], axis=1)
        order = np.argsort(item)
        return Sample(item[order], logs[:, order])

    def label_variance(self, a: int, b: int) -> float | None:
        """From one more pass over the files of two models (of all, where items have a single vote)."""
        if not self.reference.labels_known:
            return None
        kept = np.zeros(self.reference.n_items, bool)
        for errand in self.errands:
            kept[errand.items] = True
        single = self.reference.single_votes(kept)
        futures = [
            self.client.submit(
                partial(label_part, a, b, single, self.layout.weights(np.asarray(errand.items))), errand, pure=False
            )
            for errand in self.errands
        ]
        parts = ClusterParts(("",), futures, self.client, self.layout.plain)
        found = total(parts) if not any(parts.each(_unknown)) else None
        return found


def _sample(part: Part) -> Sample | None:
    return part.sample


def _unknown(part: Part) -> bool:
    return bool(np.isnan(part.values).any())


def _errands(
    scoring: Scoring, places: Sequence[Places], layout: Layout, sample: Int[np.ndarray, " sampled"]
) -> Iterable[Errand]:
    """Parts in the order of the first model's file, so that they are read in one piece where files are sorted alike."""
    reference, files = scoring.reference, scoring.files
    row_of = [_rows_by_item(place, reference.n_items) for place in places]
    items = places[0].rows[places[0].rows >= 0].astype(np.int64)
    items = items[np.all([rows[items] >= 0 for rows in row_of], axis=0)]
    tables = 1 if reference.shares is None or reference.shares is reference.centre else 2
    size = max(1, min(files.size, SENT // (8 * tables * len(reference.labels))))
    for start in range(0, len(items), size):
        some = items[start : start + size]
        centre = reference.centre[some]
        own = replace(
            reference,
            names=reference.names.head(0),
            centre=centre,
            shares=centre if tables == 1 and reference.shares is not None else _of(reference.shares, some),
            n_votes=_of(reference.n_votes, some),
        )
        rows = tuple(as_range(of_model[some]) for of_model in row_of)
        sampled = found_in(sample, some)[1]
        yield Errand(files, scoring.rule, scoring.floor, rows, as_range(some), own, *layout.of_items(some), sampled)


def _of(values: np.ndarray | None, items: Int[np.ndarray, " item"]) -> np.ndarray | None:
    return None if values is None else values[items]


def as_range(values: Int[np.ndarray, " item"]) -> Rows:
    """The same, as a range where they are one."""
    step = int(values[1] - values[0]) if len(values) > 1 else 1
    if step and (np.diff(values) == step).all():
        return range(int(values[0]), int(values[-1]) + (1 if step > 0 else -1), step)
    return values


def _rows_by_item(place: Places, n_items: int) -> Int[np.ndarray, " item"]:
    rows = np.full(n_items, -1)
    known = place.rows >= 0
    rows[place.rows[known]] = np.nonzero(known)[0]
    return rows


def known_client(client: object) -> Any:
    """The client, if it is one of Dask."""
    if not all(hasattr(client, name) for name in ("submit", "map", "scheduler_info")):
        raise InputError(
            f"a client of type {type(client).__name__}", "a dask.distributed.Client", "Make one: Client(address)."
        )
    return client
