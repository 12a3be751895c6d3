"""Bare scores in a table larger than memory: laid out on disk by item, then compared."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from probtruth import check
from probtruth.comparison.compare import conclude
from probtruth.comparison.design import design_of
from probtruth.comparison.evidence import Facts, Strata
from probtruth.comparison.options import Options
from probtruth.distributed.evaluate import Streamed
from probtruth.distributed.evidence import evidence_of
from probtruth.distributed.local import ScratchParts, present, read
from probtruth.distributed.parts import Layout
from probtruth.distributed.scoring import Progress
from probtruth.distributed.scratch import Journal, Table
from probtruth.errors import InputError
from probtruth.io.batches import BigTable
from probtruth.io.long_scores import Names, per_item, rows
from probtruth.types import Audit

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
    floor: float | None = None
    proper: bool | None = None
    entropy: float | None = None


def streamed_scores(
    table: BigTable, columns: Columns, options: Options, folder: Path, size: int, on_progress: Progress | None
) -> Streamed:
    """The comparison of the models of a table, whose scores are meanwhile kept in a folder.

    Errors: as `Scores.from_frame` and `compare`.
    """
    items = Names.of(table, columns.item, "item", size)
    models = Names.of(table, columns.model, "model", size, ordered=False)
    names = tuple(models.known.to_list())
    if len(names) < 2:
        raise InputError(
            f"one model only ({check.shortlist(names)})",
            "at least two models to compare",
            "Add another model's scores.",
        )
    journal = Journal(folder, _settings(table, columns, size))
    tables = [Table(folder / f"{LOSSES}-{model}", len(items), 1) for model in range(len(names))]
    n_batches, sign = len(table.cuts(size)), -1.0 if columns.higher_is_better else 1.0
    finished = journal.of(LOSSES)
    for done, batch in enumerate(rows(table, (items, models), columns.score, size, finished), 1):
        if batch.start not in finished:
            for model in np.unique(batch.models):
                own = batch.models == model
                tables[model].write(batch.items[own], sign * batch.values[own, None])
            journal.finish(LOSSES, batch.start)
        if on_progress is not None:
            on_progress(done, n_batches)
    kept = np.concatenate([present(read(tables, at, at + size)) for at in range(0, len(items), size)])
    if not kept.any():
        raise InputError(
            "no item in common",
            "items that every model has",
            "Names are compared as text ('007' is not '7').",
            table.name,
        )
    layout, strata = _layout(table, items, columns, kept, size)
    facts = Facts(
        names,
        columns.rule,
        columns.higher_is_better,
        columns.floor,
        columns.proper,
        columns.entropy,
        1,
        _audit(items, names, tables, kept, size),
        False,
        False,
    )
    parts = ScratchParts(names, tables, size, layout)
    found = evidence_of(parts, facts, strata, lambda item: str(items.known[item]))
    return Streamed.of(found, conclude(found, options, on_progress))


def _settings(table: BigTable, columns: Columns, size: int) -> Mapping[str, object]:
    """What the numbers in the folder depend on."""
    stats = [os.stat(Path(table.base, path)) for path in table.files]
    files = [[path, stat.st_size, stat.st_mtime_ns] for path, stat in zip(table.files, stats, strict=True)]
    return {"files": files, "columns": [columns.item, columns.model, columns.score, columns.higher_is_better, size]}


def _layout(
    table: BigTable, items: Names, columns: Columns, kept: Bool[np.ndarray, " item"], size: int
) -> tuple[Layout, Strata]:
    """Which of the items that are kept belong together."""
    groups, clusters = (
        (None, ()) if column is None else per_item(table, items, column, what, kept, size)
        for what, column in (("group", columns.group), ("cluster", columns.cluster))
    )
    n_items = int(kept.sum())
    if groups[0] is None and clusters[0] is None:
        return Layout.of(None, kept), Strata(np.ones(1), n_items, None)
    plan = design_of(range(n_items), None, None, None, (groups[0], tuple(groups[1])), clusters[0])
    return Layout.of(plan, kept), Strata.of(plan, n_items)


def _audit(
    items: Names, models: Sequence[str], tables: Sequence[Table], kept: Bool[np.ndarray, " item"], size: int
) -> Audit:
    """What some model lacks, as `Scores.from_frame` says it."""
    n_items = len(items)
    there = [
        sum(int(present(read([table], at, at + size)).sum()) for at in range(0, n_items, size)) for table in tables
    ]
    counts = tuple((model, n_items - own, 0) for model, own in zip(models, there, strict=True))
    return Audit(tuple(items.known.filter(~kept).to_list()), (), counts)
