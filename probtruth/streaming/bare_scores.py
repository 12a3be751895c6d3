"""Bare scores in a table larger than memory: laid out by item, on disk or with workers, then compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probtruth.comparison.compare import need_two
from probtruth.comparison.evidence.design import Design, Structure, design_of
from probtruth.comparison.evidence.evidence import Facts
from probtruth.comparison.evidence.from_scores import evidence_of
from probtruth.comparison.evidence.parts import Part
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.io.tables.batches import BigTable
from probtruth.io.tables.long_scores import NameCodes, cells, checked_scores, per_item
from probtruth.streaming.compare_files import Streamed
from probtruth.streaming.dask_store import DaskParts, Errand, as_range, batches_with, cut, in_order_of_rows, sent
from probtruth.streaming.dask_workers import workers_of
from probtruth.streaming.disk_store import DiskParts, NumberFile, present
from probtruth.streaming.journal import Damaged, Journal, checksum_of
from probtruth.streaming.reference import StreamedLabels, no_terms
from probtruth.streaming.score_batches import Progress
from probtruth.types import Audit, RuleFacts

LOSSES = "losses"
"""The name under which batches are finished."""


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
    known: RuleFacts

    @property
    def sign(self) -> float:
        """What makes losses of the scores."""
        return -1.0 if self.higher_is_better else 1.0


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """A table of scores, and how losses follow from its rows, so many at a time."""

    table: BigTable
    columns: Columns
    size: int

    def part(self, errand: Errand) -> Part:
        """The losses of the items of an errand, whose rows are read together."""
        wanted = np.concatenate([np.asarray(rows) for rows in errand.rows])
        values, score = np.empty(len(wanted)), self.columns.score
        for batch, inside in batches_with(self.table, wanted, [score], self.size):
            values[inside] = self.columns.sign * checked_scores(batch, score)[wanted[inside] - batch.start]
        return Part(values.reshape(len(errand.rows), -1), np.asarray(errand.items), errand.group, errand.unit)


@dataclass(frozen=True, eq=False)
class LongScores:
    """A table of scores whose items and models are known by name."""

    source: ScoreRows
    items: NameCodes
    models: NameCodes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.models.known.to_list())

    def on_disk(self, folder: Path, on_progress: Progress | None) -> Sequence[NumberFile]:
        """Each model's losses in a table; from the folder a run that was interrupted goes on."""
        journal = Journal(folder, self._settings)
        try:
            return self._filled(journal, on_progress)
        except Damaged as reason:
            journal.start_anew(str(reason))
            return self._filled(journal, on_progress)

    def _filled(self, journal: Journal, on_progress: Progress | None) -> Sequence[NumberFile]:
        """Each model's losses; raises `Damaged` where a finished batch is not what was written."""
        table, columns, size = self.source.table, self.source.columns, self.source.size
        tables = [journal.table(f"losses-{model}", len(self.items), 1, LOSSES) for model in range(len(self.names))]
        n_batches, finished = len(table.cuts(size)), journal.of(LOSSES)
        filled = np.zeros((len(self.names), len(self.items)), bool)
        if finished and not all(losses.whole for losses in tables):
            raise Damaged("is damaged (losses are missing or cut off)")
        codes = (self.items, self.models)
        for done, (batch, of_item, of_model) in enumerate(cells(table, codes, size, columns.score), 1):
            scores = None if batch.start in finished else checked_scores(batch, columns.score)
            values, written = [], []
            for model in np.unique(of_model):
                own, losses = of_model == model, tables[model]
                filled[model, of_item[own]] = True
                if scores is None:
                    values.append(losses.rows(of_item[own]))
                else:
                    values.append(columns.sign * scores[own, None])
                    losses.write(of_item[own], values[-1])
                    written.append(losses)
            if scores is not None:
                journal.finish(LOSSES, batch.start, values, written)
            elif finished[batch.start] != checksum_of(LOSSES, batch.start, *values):
                raise Damaged("is damaged (losses have changed)")
            if on_progress is not None:
                on_progress(done, n_batches)
        if finished:
            for losses, there in zip(tables, filled, strict=True):
                losses.blank(there)
        return tables

    def row_of(self) -> Int[np.ndarray, "model item"]:
        """The row of each model's score of each item, -1 where there is none."""
        table = self.source.table
        kind = np.int32 if table.n_rows < 1 << 31 else np.int64
        row_of = np.full((len(self.models), len(self.items)), -1, kind)
        for batch, of_item, of_model in cells(table, (self.items, self.models), self.source.size):
            row_of[of_model, of_item] = batch.start + np.arange(len(of_item))
        return row_of

    def on_dask(
        self, row_of: Int[np.ndarray, "model item"], structure: Structure, client: object, on_progress: Progress | None
    ) -> DaskParts:
        """The losses in parts; rows of items that some model lacks are read to be checked only."""
        workers, source = workers_of(client), self.source
        errands = [
            Errand(as_range(some), rows, *structure.codes(some))
            for some, rows in in_order_of_rows(list(row_of), max(1, source.size // len(row_of)))
        ]
        left_out = row_of[:, (row_of < 0).any(0)]
        others = np.sort(left_out[left_out >= 0])
        checks = [Errand(range(len(some)), [as_range(some)]) for some in cut(others, source.size)]
        futures = sent(workers, [(source.part, errand) for errand in errands + checks], on_progress)
        return DaskParts(self.names, structure, futures[: len(errands)], workers)

    def design(self, complete: Bool[np.ndarray, " item"]) -> Design:
        """Which of the items that every model has belong together.

        Errors: `InputError` where there is none.
        """
        if not complete.any():
            raise InputError(
                "no item in common",
                "items that every model has",
                "Names are compared as text ('007' is not '7').",
                self.source.table.name,
            )
        table, columns, size = self.source.table, self.source.columns, self.source.size
        groups, clusters = (
            None if column is None else per_item(table, self.items, column, what, complete, size)
            for what, column in (("group", columns.group), ("cluster", columns.cluster))
        )
        return design_of(range(int(complete.sum())), None, None, None, groups, clusters)

    def audit(self, there: Bool[np.ndarray, "model item"]) -> Audit:
        """What some model lacks, as `Scores.from_frame` says it."""
        counts = tuple((name, int((~own).sum()), 0) for name, own in zip(self.names, there, strict=True))
        return Audit(tuple(self.items.known.filter(~there.all(0)).to_list()), (), counts)

    def _settings(self) -> Mapping[str, object]:
        """What the numbers in a folder depend on."""
        table, columns, size = self.source.table, self.source.columns, self.source.size
        files = [table.files, table.states]
        return {"files": files, "columns": [columns.item, columns.model, columns.score, columns.higher_is_better, size]}


def streamed_scores(
    table: BigTable, columns: Columns, options: Options, where: object, size: int, on_progress: Progress | None
) -> Streamed:
    """The comparison of the models of a table, whose scores are meanwhile in a folder or with a Dask client's workers.

    Errors: as `Scores.from_frame` and `compare`.
    """
    items = NameCodes.of(table, columns.item, "item", size)
    models = NameCodes.of(table, columns.model, "model", size, ordered=False)
    scores = LongScores(ScoreRows(table, columns, size), items, models)
    need_two(scores.names)
    if isinstance(where, Path):
        losses = scores.on_disk(where, on_progress)
        there = present(losses, size)
    else:
        row_of = scores.row_of()
        there = row_of >= 0
    plan = scores.design(there.all(0))
    structure = plan.structure.among(there.all(0))
    if isinstance(where, Path):
        parts: DiskParts | DaskParts = DiskParts(scores.names, structure, losses, size)
    else:
        parts = scores.on_dask(row_of, structure, where, on_progress)
    facts = Facts(
        models=scores.names,
        rule=columns.rule,
        higher_is_better=columns.higher_is_better,
        known=columns.known,
        audit=scores.audit(there),
    )
    evidence = evidence_of(
        parts,
        facts=facts,
        design=plan,
        name=lambda item: str(items.known[item]),
        fixed_items=StreamedLabels(plan.weights, no_terms),
    )
    made = Streamed.of(evidence, options, on_progress)
    table.check_unchanged()
    return made
