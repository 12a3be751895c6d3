"""Predictions scored on this machine: model after model, a batch at a time, into the tables of a store."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.design import Structure
from probtruth.scoring.score import floored, label_losses
from probtruth.streaming.disk_store import DiskParts, NumberFile
from probtruth.streaming.journal import Damaged, Journal, checksum_of
from probtruth.streaming.reference import label_terms
from probtruth.streaming.score_batches import Progress, Sample, Scoring, positions_in


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
