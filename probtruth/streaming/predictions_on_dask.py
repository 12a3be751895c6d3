"""Predictions scored on a Dask cluster: a part at a time by whichever worker is free."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.parts import Part
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.score import expected_losses, floored, label_losses
from probtruth.streaming.dask_store import DaskParts, Errand, as_range, batches_with, in_order_of_rows, sent
from probtruth.streaming.dask_workers import workers_of
from probtruth.streaming.reference import Reference, label_terms
from probtruth.streaming.score_batches import Files, Progress, Sample, Scoring, positions_in
from probtruth.types.predictions import as_logs

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
