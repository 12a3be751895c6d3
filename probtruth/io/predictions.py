"""Predictions from files: for each model a table with one column for each label, aligned by the names of the items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.frame_numbers import is_frame
from probtruth.io import groups
from probtruth.io.addresses import named
from probtruth.io.tables.read import Block
from probtruth.io.tables.wide import (
    CellKind,
    WideTable,
    check_rows,
    known_kind,
    label_difference,
    read_wide,
    renormalised,
)
from probtruth.kernels.arrays import is_own
from probtruth.kernels.later import Later, Rows
from probtruth.types import Index, Predictions
from probtruth.types.arguments import Frame, StrPath
from probtruth.types.index import match_labels, order_of
from probtruth.types.predictions import as_logs, of_logits


@check.checks_itself
def read_predictions(
    files: Mapping[str, StrPath | Frame | Block],
    index: Index | None = None,
    item: str = "item",
    kind: CellKind = "probs",
    renormalise: bool = False,
) -> Predictions:
    r"""Predictions from one file (CSV, TSV, JSONL, Parquet or Arrow), or one dataframe, for each model.

    Each has a column of item names and one column for each label; the order of rows and columns is free. Arrays, and
    tables without a column of items, go to `Predictions.from_probs`.

    Arguments: `files` is {model name: path or dataframe}; `index`, usually `annotations.index`, names the items and
    labels of the reference; `item` the column of items; `kind` says what the cells are: `"probs"`, `"percent"`,
    `"log-probs"` (nats) or `"logits"` (the softmax of a row is taken). With `renormalise`, rows that do not sum to 1
    are divided by their sum, and counted.

    Returns: the predictions on the items that all models (and the index) have; `audit` counts the others, and the rows
    that were renormalised.

    Errors: `InputError` names file, line and column of a cell that is not a number, NaN or negative, a row that does
    not sum to 1 (and says what the numbers look like), an item that stands twice, columns that are not labels, and
    files that do not go together.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.csv"
    >>> _ = path.write_text("item,cat,dog\na,0.75,0.25\nb,0.5,0.5\n")
    >>> pt.read_predictions({"model": path}).probs.tolist()
    [[[0.75, 0.25], [0.5, 0.5]]]
    """
    if not isinstance(files, Mapping):
        raise InputError(type(files).__name__, "a dict {model name: path or dataframe}", "Wrap it: {'my model': path}.")
    for model, table in files.items():
        named = isinstance(table, str | Path | Block) or (is_frame(table) and item in frames.as_polars(table).columns)
        if not named:
            raise InputError(
                f"{type(table).__name__} without a column {check.quote(item)} for model {check.quote(model)}",
                "a path, or a dataframe with a column of item names",
                "Name the column with item=...; without item names, use Predictions.from_probs({model: table}).",
            )
    return read_predictions_pairs(list(files.items()), index, item, kind, renormalise)


def read_predictions_pairs(
    files: Iterable[tuple[str, StrPath | Frame | Block]],
    index: Index | None = None,
    item: str = "item",
    kind: str = "probs",
    renormalise: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Predictions:
    """As `read_predictions`, from (model name, path) pairs; a name that stands twice is an error.

    `on_progress(done, total)` hears of the files.
    """
    pairs, kind = named_files(files), known_kind(kind)
    report = on_progress or (lambda done, total: None)
    models = [model for model, _ in pairs]
    used = None if index is None or index.positional_labels else frozenset(index.labels)
    tables, divided = [], []
    for done, (model, path) in enumerate(pairs):
        report(done, len(pairs))
        table, sums = read_wide(path, item, used, f"the table of model {check.quote(model)}"), np.empty(0)
        if renormalise:
            table, sums = renormalised(table, kind)
        tables.append(table)
        divided += [(model, len(sums), float(sums.min()), float(sums.max()))] if len(sums) else []
    labels = tables[0].labels
    for model, table in zip(models, tables, strict=True):
        same_labels(models[0], labels, model, table.labels, table.source.name)
        if index is not None:
            match_labels(index, Index.of_array((0, len(table.labels)), (), table.labels)[0], table.source.name)
        check_rows(table, kind)
    shared = groups.common(models, [table.items for table in tables], index)
    made, order = _index_of(shared, labels, index)
    ordered = [table.of(rows[order], made.labels) for table, rows in zip(tables, shared.rows, strict=True)]
    logs = Later((len(models), len(order), len(labels)), partial(_logs, ordered, kind))
    stored = all(isinstance(path, str | Path) for _, path in pairs)  # nobody else can change what was read from them
    in_one_order = all((np.diff(rows) > 0).all() for rows in shared.rows)
    index = replace(
        made,
        item_rows=made.item_rows if in_one_order else None,
        label_columns=made.label_columns if all(table.labels == labels for table in tables) else None,
    )
    audit = replace(shared.audit, renormalised=tuple(divided))
    like_probs = [kind == "logits" and table.columns.surely_simplex() for table in tables]
    warnings = of_logits(model for model, like in zip(models, like_probs, strict=True) if like)
    return Predictions(logs if stored else logs.whole(), tuple(models), index, audit, warnings)  # type: ignore[arg-type]


def _index_of(
    shared: groups.Common, labels: tuple[str, ...], index: Index | None
) -> tuple[Index, Int[np.ndarray, " item"]]:
    """The sorted index of the items that all models have, and the order of these; known names are not made anew."""
    if index is not None and isinstance(index.items, tuple) and shared.as_known:
        order = order_of(frames.compact(shared.items.column)).astype(np.int64)
        if is_own(order, len(order)):
            of_labels, _, _ = Index.of_array((0, len(labels)), (), labels)
            return replace(of_labels, items=index.items, item_rows=order), order
    made, order, _ = Index.of_array((len(shared.items), len(labels)), shared.items, labels)
    return made, order


def _logs(tables: Sequence[WideTable], kind: str, model: int, items: Rows) -> Float[np.ndarray, "some label"]:
    """The log-probabilities of some items of a model, from its checked cells."""
    cells = tables[model].some_rows(items, kind)
    return as_logs(kind, cells, cells)


def named_files[File](files: Iterable[tuple[str, File]]) -> list[tuple[str, File]]:
    """The pairs of model and path, checked."""
    pairs = [(frames.name_text(model), path) for model, path in files]
    if not pairs:
        raise InputError("no model", "at least one model", "Give a file of predictions.")
    models = [model for model, _ in pairs]
    check.unique(models, "model")
    if not all(model.strip() for model in models):
        raise InputError("a blank model name", "a name for every model", "Write NAME=FILE.")
    return pairs


def same_labels(first: str, labels: Sequence[str], model: str, own: Sequence[str], name: str) -> None:
    """Raises where a file has other labels than the first."""
    difference = label_difference(labels, own)
    if difference is not None:
        raise InputError(
            difference,
            f"the labels of model {check.quote(first)}: {check.shortlist(labels)}",
            "Give every model the same labels; drop columns that are none.",
            f"{name} (model {check.quote(model)})",
        )


def model_files(pairs: Sequence[str], example: str = "--predictions my_model=probs.csv") -> list[tuple[str, str]]:
    """`NAME=FILE` options as pairs, split at the last equals sign, or the one before an address."""
    split = [*map(named, pairs)]
    for pair, (name, path) in zip(pairs, split, strict=True):
        if not name or not path:
            hint = f"--predictions {Path(pair).stem}={pair}" if Path(pair).is_file() else example
            raise InputError(check.quote(pair), "NAME=FILE", f"Write {hint}.")
    return split
