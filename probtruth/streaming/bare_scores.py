"""Bare scores in a table larger than memory: laid out by item, on disk or with workers, then compared."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from probtruth import check
from probtruth.comparison.compare import conclude
from probtruth.comparison.evidence.design import design_of
from probtruth.comparison.evidence.evidence import Facts, Strata
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.io.tables.batches import BigTable
from probtruth.io.tables.long_scores import Names, per_item, rows
from probtruth.streaming.bare_scores_on_dask import Columns, on_workers
from probtruth.streaming.compare_files import Streamed
from probtruth.streaming.disk_arrays import Journal, Table
from probtruth.streaming.disk_store import ScratchParts, read
from probtruth.streaming.evidence import evidence_of
from probtruth.streaming.parts import Layout, Parts
from probtruth.streaming.score_batches import Progress
from probtruth.types import Audit

LOSSES = "losses"
"""The name under which batches are finished."""


def streamed_scores(
    table: BigTable, columns: Columns, options: Options, where: object, size: int, on_progress: Progress | None
) -> Streamed:
    """The comparison of the models of a table, whose scores are meanwhile in a folder or with a Dask client's workers.

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
    if isinstance(where, Path):
        there, parts_of = _on_disk(table, (items, models), columns, where, size, on_progress)
    else:
        there, parts_of = on_workers(table, (items, models), columns, where, size, on_progress)
    kept = there.all(0)
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
        _audit(items, names, there),
        False,
        False,
    )
    found = evidence_of(parts_of(layout), facts, strata, lambda item: str(items.known[item]))
    return Streamed.of(found, conclude(found, options, on_progress))


def _on_disk(
    table: BigTable,
    names: tuple[Names, Names],
    columns: Columns,
    folder: Path,
    size: int,
    on_progress: Progress | None,
) -> tuple[Bool[np.ndarray, "model item"], Callable[[Layout], Parts]]:
    """Which models have which items, and the scores as parts; from the folder a run that was interrupted goes on."""
    items, models = names
    journal = Journal(folder, _settings(table, columns, size))
    tables = [Table(folder / f"{LOSSES}-{model}", len(items), 1) for model in range(len(models))]
    n_batches, finished = len(table.cuts(size)), journal.of(LOSSES)
    for done, batch in enumerate(rows(table, names, columns.score, size, finished), 1):
        if batch.start not in finished:
            for model in np.unique(batch.models):
                own = batch.models == model
                tables[model].write(batch.items[own], columns.sign * batch.values[own, None])
            journal.finish(LOSSES, batch.start)
        if on_progress is not None:
            on_progress(done, n_batches)
    starts = range(0, len(items), size)
    there = np.concatenate([~np.isnan(read(tables, at, at + size)) for at in starts], axis=1)
    return there, lambda layout: ScratchParts(models.known.to_list(), tables, size, layout)


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


def _audit(items: Names, models: Sequence[str], there: Bool[np.ndarray, "model item"]) -> Audit:
    """What some model lacks, as `Scores.from_frame` says it."""
    n_items = len(items)
    counts = tuple((model, n_items - int(own.sum()), 0) for model, own in zip(models, there, strict=True))
    return Audit(tuple(items.known.filter(~there.all(0)).to_list()), (), counts)
