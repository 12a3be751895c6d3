"""Scores of files on this machine: a batch at a time into a scratch folder, from which parts are read again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.kernels.cores import ahead, n_cores
from probtruth.scoring.score import losses
from probtruth.streaming.disk_arrays import Journal, Table
from probtruth.streaming.label_terms import label_terms, label_weights, total
from probtruth.streaming.parts import LaidOut, Layout, Part, Sample
from probtruth.streaming.score_batches import Places, Progress, Scoring, log_batches, score_model


@dataclass(frozen=True, eq=False)
class ScratchParts(LaidOut):
    """Parts of at most `size` items, read from one table for each model; items that a model lacks are left out."""

    models: Sequence[str]
    tables: Sequence[Table]
    size: int
    layout: Layout

    def each[T](self, work: Callable[[Part], T]) -> Iterable[T]:
        """What `work` makes of each part, on all cores; one after the other where a result is as long as the units."""
        starts = range(0, self.tables[0].n_items, self.size)
        step = partial(self._work, work)
        found = map(step, starts) if self.layout.unit is not None else ahead(step, starts, n_cores())
        return (result for result in found if result is not None)

    def _work[T](self, work: Callable[[Part], T], start: int) -> T | None:
        values = read(self.tables, start, start + self.size)
        kept = present(values)
        if not kept.any():
            return None
        item = start + np.nonzero(kept)[0]
        return work(Part(values if kept.all() else values[:, kept], item, *self.layout.of_items(item)))


def read(tables: Sequence[Table], start: int, stop: int) -> Float[np.ndarray, "model item"]:
    """The losses of some items."""
    return np.stack([table.read(start, stop)[:, 0] for table in tables])


def present(values: Float[np.ndarray, "model item"]) -> Bool[np.ndarray, " item"]:
    """The items that every model has."""
    return np.asarray(~np.isnan(values).any(0))


class OnDisk:
    """Scores on this machine, in tables of a journal; `parts` are all of them."""

    def __init__(
        self,
        scoring: Scoring,
        places: Sequence[Places],
        layout: Layout,
        sample: Int[np.ndarray, " sampled"],
        journal: Journal,
        on_progress: Progress | None,
    ) -> None:
        self.scoring, self.places, self.sampled, self.journal = scoring, places, sample, journal
        files, done = scoring.files, 0

        def report() -> None:
            nonlocal done
            done += 1
            if on_progress is not None:
                on_progress(done, files.n_batches)

        tables = []
        for model, place in enumerate(places):
            for _ in journal.of(f"losses-{model}"):
                report()
            tables.append(score_model(scoring, model, place, sample, journal, report))
        self.parts = ScratchParts(files.models, [table for table, _ in tables], files.size, layout)
        self._seen = [seen for _, seen in tables]

    def tables(self, folder: Path) -> Sequence[Table]:
        """The losses of each model, in tables of the scratch folder."""
        return self.parts.tables

    def sample(self) -> Sample:
        """The log-probabilities of the items of the sample."""
        return Sample(self.sampled, np.stack([seen.read(0, len(self.sampled)) for seen in self._seen]))

    def _table(self, name: str, n_columns: int) -> Table:
        return Table(self.journal.folder / name, self.scoring.reference.n_items, n_columns)

    def label_variance(self, a: int, b: int) -> float | None:
        """From one more pass over the files of two models (of all, where items have a single vote)."""
        scoring, layout, reference = self.scoring, self.parts.layout, self.scoring.reference
        if not reference.labels_known:
            return None
        kept = self._present()
        forecast = self._forecast() if reference.single_votes(kept) else None
        first, found = self._table("label-losses", len(reference.labels)), self._table("label-variance", 1)
        for _, items, logs in log_batches(scoring, a, self.places[a]):
            first.write(items, losses(scoring.rule, logs, reference.centre[items])[1])
        for _, every, logs in log_batches(scoring, b, self.places[b]):
            known = kept[every]
            items, logs = every[known], logs[known]
            if not len(items):
                continue
            mean = None if forecast is None else forecast.rows(items) / len(self.places)
            weight, votes = label_weights(reference, items, mean)
            second = losses(scoring.rule, logs, reference.centre[items])[1]
            terms = label_terms(first.rows(items), second, weight, votes)
            if terms is None:
                return None
            found.write(items, (terms * layout.weights(items) ** 2)[:, None])
        return total(ScratchParts(("",), (found,), self.parts.size, layout.plain))

    def _present(self) -> Bool[np.ndarray, " item"]:
        size, tables = self.parts.size, self.parts.tables
        return np.concatenate([present(read(tables, at, at + size)) for at in range(0, tables[0].n_items, size)])

    def _forecast(self) -> Table:
        """The sum of all models' probabilities."""
        summed = self._table("forecast", len(self.scoring.reference.labels))
        for model, place in enumerate(self.places):
            for _, items, logs in log_batches(self.scoring, model, place):
                probs: Float[np.ndarray, "item label"] = np.exp(logs)
                summed.write(items, probs if model == 0 else summed.rows(items) + probs)
        return summed
