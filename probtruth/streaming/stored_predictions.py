"""Predictions scored and stored: on this machine, model after model, or on a Dask cluster, a part at a time.

Both hold the losses in parts, the log-probabilities of a sample of the items, and what the labels leave unsure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.score import expected_losses, floored, label_losses
from probtruth.streaming.dask_store import DaskParts, Errand, as_range, batches_with, in_order_of_rows, sent
from probtruth.streaming.dask_workers import workers_of
from probtruth.streaming.disk_store import DiskParts, NumberFile
from probtruth.streaming.journal import Damaged, Journal, checksum_of
from probtruth.streaming.reference import Reference, label_terms
from probtruth.streaming.score_batches import Files, Progress, Sample, Scoring, positions_in
from probtruth.types.predictions import as_logs


@dataclass(frozen=True, eq=False)
class PredictionsOnDisk:
    """Losses of predictions on disk, and the log-probabilities of a few items in tables beside them."""

    scoring: Scoring
    parts: DiskParts
    sampled: Int[np.ndarray, " sampled"]
    logs: Sequence[NumberFile]

    @classmethod
    def filled(
        cls,
        scoring: Scoring,
        structure: Structure,
        sampled: Int[np.ndarray, " sampled"],
        journal: Journal,
        on_progress: Progress | None,
    ) -> "PredictionsOnDisk":
        """With the losses of all models; finished batches that are as they were written are not done again."""
        made = cls._opened(scoring, structure, sampled, journal)
        try:
            made._verify(journal)
        except Damaged as reason:
            journal.start_anew(str(reason))
            made = cls._opened(scoring, structure, sampled, journal)
        made._fill(journal, on_progress)
        return made

    @classmethod
    def _opened(
        cls, scoring: Scoring, structure: Structure, sampled: Int[np.ndarray, " sampled"], journal: Journal
    ) -> "PredictionsOnDisk":
        """With the tables that the journal knows, and new ones for the rest."""
        files, n_items = scoring.files, scoring.reference.n_items
        names = [f"losses-{model}" for model in range(len(files.models))]
        losses = [journal.table(name, n_items, 1) for name in names]
        logs = [
            journal.table(f"sample-{model}", len(sampled), len(files.labels), name) for model, name in enumerate(names)
        ]
        return cls(scoring, DiskParts(files.models, structure, losses, files.size), sampled, logs)

    def _verify(self, journal: Journal) -> None:
        """Raises `Damaged` unless every finished batch is what was written; what no batch wrote is made NaN."""
        for model, (losses, logs) in enumerate(zip(self.parts.losses, self.logs, strict=True)):
            name, filled = losses.path.name, np.zeros(losses.n_items, bool)
            finished = journal.of(name)
            if finished and not (losses.whole and logs.whole):
                raise Damaged(f"is damaged ({name} or {logs.path.name} is missing or cut off)")
            for start, checksum in finished.items():
                items = self.scoring.items(model, start)
                at, _ = positions_in(self.sampled, items)
                if checksum_of(name, start, losses.rows(items), logs.rows(at)) != checksum:
                    raise Damaged(f"is damaged ({name} or {logs.path.name} has changed)")
                filled[items] = True
            if finished:
                losses.blank(filled)

    def _fill(self, journal: Journal, on_progress: Progress | None) -> None:
        """Scores the batches that are not finished."""
        done, total = count(1), self.scoring.files.n_batches
        report = on_progress or (lambda done, total: None)
        for model, (target, seen) in enumerate(zip(self.parts.losses, self.logs, strict=True)):
            name = target.path.name
            finished = frozenset(journal.of(name))
            for _ in finished:
                report(next(done), total)
            for batch in self.scoring.scored(model, finished, self.sampled):
                target.write(batch.items, batch.values)
                if len(batch.at):
                    seen.write(batch.at, batch.logs)
                written = [target, seen] if len(batch.at) else [target]
                journal.finish(name, batch.start, [batch.values, batch.logs], written)
                report(next(done), total)

    def sample(self) -> Sample:
        """The log-probabilities of the items of the sample."""
        return Sample(self.sampled, np.stack([table.read(0, len(self.sampled)) for table in self.logs]))

    def label_terms(self, a: int, b: int) -> DiskParts | None:
        """As `StreamedLabels` takes them: by one more pass over the files of two models, or of all."""
        scoring, reference = self.scoring, self.scoring.reference
        forecast = self._forecast() if reference.single_votes(scoring.complete) else None
        first, terms = self._table("label-losses", len(reference.labels)), self._table("label-variance", 1)
        for _, items, logs in scoring.batches(a):
            first.write(items, label_losses(scoring.rule, floored(logs, scoring.floor)))
        for _, every, logs in scoring.batches(b):
            known = scoring.complete[every]
            items, logs = every[known], logs[known]
            if not len(items):
                continue
            mean = None if forecast is None else forecast.rows(items) / len(scoring.files.models)
            second = label_losses(scoring.rule, floored(logs, scoring.floor))
            made = label_terms(first.rows(items), second, reference.among(items), mean)
            if made is None:
                return None
            terms.write(items, made[:, None])
        return DiskParts(("",), self.parts.structure, (terms,), self.parts.size)

    def _forecast(self) -> NumberFile:
        """The sum of all models' probabilities."""
        scoring = self.scoring
        summed = self._table("forecast", len(scoring.files.labels))
        for model in range(len(scoring.files.models)):
            for _, items, logs in scoring.batches(model):
                probs: Float[np.ndarray, "item label"] = np.exp(floored(logs, scoring.floor))
                summed.write(items, probs if model == 0 else summed.rows(items) + probs)
        return summed

    def _table(self, name: str, n_columns: int) -> NumberFile:
        """Another table of numbers for each item, NaN as yet."""
        return NumberFile(self.parts.losses[0].path.with_name(name), self.scoring.reference.n_items, n_columns)


SENT = 8_000_000
"""Bytes of labels that go out with one part: Dask warns beyond 10 MB."""


@dataclass(frozen=True, eq=False)
class PredictionRows:
    """How losses follow from rows of predictions; `reference` and `sampled` (positions) are those of the items."""

    files: Files
    rule: ScoringRule
    floor: float | None
    reference: Reference
    sampled: Int[np.ndarray, " sampled"]

    def part(self, errand: Errand) -> "SampledPart":
        """The losses of all models."""
        values, seen = [], []
        for model in range(len(errand.rows)):
            logs = self.logs(errand, model)
            values.append(expected_losses(self.rule, floored(logs, self.floor), self.reference.centre))
            seen.append(logs[self.sampled])
        items = np.asarray(errand.items)
        sample = Sample(items[self.sampled], np.stack(seen))
        return SampledPart(np.stack(values), items, errand.group, errand.unit, sample)

    def logs(self, errand: Errand, model: int) -> Float[np.ndarray, "item label"]:
        """The log-probabilities of one model."""
        files, wanted = self.files, np.asarray(errand.rows[model])
        cells = np.empty((len(wanted), len(files.labels)))
        for batch, inside in batches_with(files.tables[model], wanted, files.labels, files.size):
            cells[inside] = files.checked(batch)[wanted[inside] - batch.start]
        return as_logs(files.kind, cells)

    def forecast(self, errand: Errand) -> Float[np.ndarray, "item label"]:
        """The models' average prediction."""
        summed = np.exp(floored(self.logs(errand, 0), self.floor))
        for model in range(1, len(errand.rows)):
            summed += np.exp(floored(self.logs(errand, model), self.floor))
        return summed / len(errand.rows)

    def terms(self, a: int, b: int, single: bool, errand: Errand) -> Part:
        """What the labels add to the variance of each item's difference of two models, NaN where that is infinite."""
        first, second = (label_losses(self.rule, floored(self.logs(errand, model), self.floor)) for model in (a, b))
        terms = label_terms(first, second, self.reference, self.forecast(errand) if single else None)
        values = np.full((1, len(errand.items)), np.nan) if terms is None else terms[None]
        return Part(values, np.asarray(errand.items), errand.group, errand.unit)


@dataclass(frozen=True, eq=False)
class SampledPart(Part):
    """A part, and the log-probabilities of those of its items that are in the sample."""

    sample: Sample | None = None


@dataclass(frozen=True, eq=False)
class PredictionsOnDask:
    """Losses of predictions with workers, and the errands that they were made by."""

    scoring: Scoring
    parts: DaskParts
    errands: Sequence[tuple[PredictionRows, Errand]]

    @classmethod
    def filled(
        cls,
        scoring: Scoring,
        structure: Structure,
        sampled: Int[np.ndarray, " sampled"],
        client: object,
        on_progress: Progress | None,
    ) -> "PredictionsOnDask":
        """With the losses of all models."""
        workers = workers_of(client)
        errands = list(_errands(scoring, structure, sampled))
        futures = sent(workers, [(own.part, errand) for own, errand in errands], on_progress)
        return cls(scoring, DaskParts(scoring.files.models, structure, futures, workers), errands)

    def sample(self) -> Sample:
        """The log-probabilities of the items of the sample."""
        samples = [sample for sample in self.parts.each(_sample) if sample is not None]
        item = np.concatenate([sample.item for sample in samples])
        logs = np.concatenate([sample.logs for sample in samples], axis=1)
        order = np.argsort(item)
        return Sample(item[order], logs[:, order])

    def label_terms(self, a: int, b: int) -> DaskParts | None:
        """As `StreamedLabels` takes them: by one more pass over the files of two models, or of all."""
        single = self.scoring.reference.single_votes(self.scoring.complete)
        workers = self.parts.workers
        futures = [workers.submit(partial(own.terms, a, b, single), errand) for own, errand in self.errands]
        parts = DaskParts(("",), self.parts.structure, futures, workers)
        return None if any(parts.each(_unknown)) else parts


def _sample(part: Part) -> Sample | None:
    return part.sample if isinstance(part, SampledPart) else None


def _unknown(part: Part) -> bool:
    return bool(np.isnan(part.values).any())


def _errands(
    scoring: Scoring, structure: Structure, sampled: Int[np.ndarray, " sampled"]
) -> Iterator[tuple[PredictionRows, Errand]]:
    reference, files = scoring.reference, scoring.files
    row_of = [match.row_of(reference.n_items) for match in scoring.matches]
    tables = 1 if reference.shares is None or reference.shares is reference.centre else 2
    size = max(1, min(files.size, SENT // (8 * tables * len(reference.labels))))
    for some, rows in in_order_of_rows(row_of, size):
        own = PredictionRows(files, scoring.rule, scoring.floor, reference.among(some), positions_in(sampled, some)[1])
        yield own, Errand(as_range(some), rows, *structure.codes(some))
