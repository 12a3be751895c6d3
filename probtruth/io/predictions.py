"""Predictions from files: for each model a table with one column for each label, aligned by the names of the items."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import polars
from jaxtyping import Float
from polars import DataFrame

from probtruth import check, frames
from probtruth.check import MaybeNumber, Source, Strings, one_of, quote, shortlist, unique
from probtruth.check_arrays import surely_simplex
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, is_frame, labelled, row_names
from probtruth.frames import Names, as_series, text
from probtruth.io.addresses import fetched_once, is_path, named
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.table import VALUE, Table, opened, placed
from probtruth.io.tables.columns import ByLabel, choose, odd_logits, under_labels
from probtruth.io.tables.wide import (
    KINDS,
    REPEATED,
    CellKind,
    check_rows,
    fill,
    in_probs,
    items_of,
    renormalised,
    suspects,
)
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import empty_array
from probtruth.kernels.shapes import ItemInts, ItemLabel
from probtruth.types import Audit, Index, Predictions
from probtruth.types.annotations import index_of_labels
from probtruth.types.arguments import Frame, GivenNames, StrPath
from probtruth.types.index import as_names, match_labels, not_shifted, sort_names
from probtruth.types.predictions import as_logs, by_model, of_logits


@fetched_once()
def read_predictions(
    files: Mapping[str, StrPath | Frame | Table],
    index: Index | None = None,
    item: MaybeText = None,
    kind: CellKind = "probs",
    renormalise: bool = False,
    *,
    labels: GivenNames = None,
    memory: MaybeNumber = None,
) -> Predictions:
    r"""Predictions from one file (CSV, TSV, JSONL, Parquet or Arrow), or one dataframe, for each model.

    Each has a column of item names and one column for each label; the order of rows and columns is free. Arrays, and
    tables without a column of items, go to `Predictions.from_probs`.

    Arguments:
        files: {model name: path or dataframe}.
        index: usually `annotations.index`, names the items and labels of the reference.
        item: the column of items (without it, the one whose names the index has).
        kind: says what the cells are: `"probs"`, `"percent"`, `"log-probs"` (nats) or `"logits"` (the softmax of a row
            is taken). Columns of text are ignored, and so are those of numbers without which the rows sum to 1. A
            prefix of all labels is taken off. One column of numbers is the probability of one of two labels. `notes`
            say what was done. With `renormalise`, rows that do not sum to 1 are divided by their sum, and counted.
            Predictions that take more than `memory` (bytes, half of what is free unless you say) lie in a temporary
            file instead of memory. Nothing else depends on it.
        renormalise: divides rows by their sums where these are not 1.
        labels: the names of the labels, in the order of columns without names.
        memory: bytes from which on probabilities lie in a temporary file instead of in memory.

    Returns: the predictions on the items that some model (and the index) has, NaN where a model lacks one; `audit`
    counts what each lacks, and the rows that were renormalised.

    Errors: `InputError` names file, line and column of a cell that is not a number, NaN or negative, a row that does
    not sum to 1 (and says what the numbers look like), an item that stands twice, columns that are not labels, and
    files that do not go together.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.csv"
    >>> _ = path.write_text("item,cat,dog\na,0.75,0.25\nb,0.5,0.5\n")
    >>> pt.read_predictions({"model": path}).probs.tolist()
    [[[0.75, 0.25], [0.5, 0.5]]]
    """
    opened_tables = {}
    for model, made in opened_models(by_model(files, "path or dataframe")).items():
        if not isinstance(made, Table):
            raise InputError(
                f"{type(files[model]).__name__} for model {quote(model)}",
                "a path, or a dataframe with a column of item names",
                "Without item names, use Predictions.from_probs({model: table}).",
            )
        opened_tables[model] = made.with_own_items(item)
    kind = one_of("log-probs" if kind == "log_probs" else kind, KINDS, "kind")
    wanted = as_names(labels, "labels")
    tables: list[_Table] = []
    for model, table in zip(opened_tables, placed([*opened_tables.values()], memory), strict=True):
        chosen = choose(table, item, index, kind, wanted)
        known = tables[0].items if tables else None
        column = str(chosen.item)
        items, source = items_of(table.rows([column]), column, "every item once", REPEATED, known)
        tables.append(_Table(model, chosen, items, source, table))
    own_labels = tables[0].labels
    of_labels = index_of_labels(own_labels)
    for own in tables:
        odd = sorted({*own_labels} ^ {*own.labels})
        if odd:
            raise InputError(
                f"labels that one of two models has: {shortlist(odd)}",
                f"the labels of model {quote(tables[0].model)}: {shortlist(own_labels)}",
                "Give every model the same labels; drop columns that are none.",
                f"{own.source.name} (model {quote(own.model)})",
            )
        if index is not None:
            match_labels(index, of_labels, own.source.name)
    used = None if index is None or index.positional_labels else {*index.labels}
    names, rows_of, audit = _side_by_side({table.model: table.items for table in tables}, index)
    made_index, order, _ = Index.of_array((len(names), len(own_labels)), names, own_labels)
    logs = empty_array((len(tables), len(order), len(own_labels)), tables[0].table.batched)
    divided = []
    like_probs = []
    warnings: list[str] = []
    for array, own, rows in zip(logs, tables, rows_of, strict=True):
        sums, plainly = own.write(array, rows[order], made_index.labels, kind, renormalise, used)
        if len(sums):
            divided.append((own.model, len(sums), float(sums.min()), float(sums.max())))
        if plainly:
            like_probs.append(own.model)
        odd = odd_logits(own.table, own.chosen, used) if used and kind == "logits" else []
        if odd:
            warnings.append(
                f"{own.source.name}: read {shortlist(odd)}, which no annotator used, as logits of labels, though "
                "they look like none: drop the columns if they are no labels"
            )
    in_one_order = all((np.diff(rows[rows >= 0]) > 0).all() for rows in rows_of)
    made_index = replace(
        made_index,
        positional_labels=all(table.chosen.positional for table in tables),
        item_rows=made_index.item_rows if in_one_order else None,
        label_columns=made_index.label_columns if all(table.labels == own_labels for table in tables) else None,
    )
    notes = dict.fromkeys(note for table in tables for note in (*table.source.notes, *table.chosen.notes))
    warned = (*of_logits(like_probs), *warnings)
    return Predictions(
        logs, tuple(opened_tables), made_index, replace(audit, renormalised=tuple(divided)), warned, tuple(notes)
    )


def opened_models(tables: object) -> Any:
    """The predictions themselves, or the table of each model: opened if it has names, else as numbers."""
    if isinstance(tables, Predictions):
        return tables
    made: dict[str, Table | NamedNumbers] = {}
    for model, table in by_model(tables, "table or path").items():
        if isinstance(table, Mapping) and table and all(isinstance(number, Real) for number in table.values()):
            table = {"item": [*table], VALUE: [*table.values()]}
        if not isinstance(table, Table) and not is_path(table):
            table = frames.as_one(table)
            if isinstance(table, NamedNumbers) or not (is_frame(table) or row_names(table) is not None):
                made[model] = labelled(table)
                continue
        made[model] = opened(table, f"the table of model {quote(model)}")
    return made


@dataclass(frozen=True, eq=False)
class _Table:
    """The table of a model: its columns, and its items in the order of its rows."""

    model: str
    chosen: ByLabel
    items: Names
    source: Source
    table: Table

    @property
    def labels(self) -> Texts:
        return tuple(self.chosen.labels)

    def write(
        self,
        logs: ItemLabel,
        rows: ItemInts,
        labels: Strings,
        kind: str,
        renormalise: bool,
        used: Collection[str] | None,
    ) -> tuple[Float[np.ndarray, " divided"], bool]:
        """Writes the log-probabilities of the rows, whose cells it checks; whether logits are plainly probabilities."""
        divided = [np.empty(0)]
        probable = True

        def convert(cells: np.ndarray) -> tuple[np.ndarray, bool]:
            nonlocal probable
            if renormalise:
                cells, sums = renormalised(cells, kind)
                divided.append(sums)
            cells = in_probs(cells, kind)
            sound = kind != "log-probs" and surely_simplex(cells)
            probable = probable and sound
            return to_host(as_logs(kind, cells)), sound

        def refuse(cells: np.ndarray, frame: DataFrame, source: Source) -> None:
            cells = renormalised(cells, kind)[0] if renormalise else cells
            hint = " ".join((suspects(labels, used, self.chosen.item), *self.chosen.notes))
            check_rows(cells, labels, source, kind, hint)

        parts = (under_labels(*part, self.chosen, kind) for part in self.table.rows(self.chosen.columns))
        fill(logs, rows, len(self.items), parts, labels, convert, refuse)
        logs[rows < 0] = np.nan
        return np.concatenate(divided), kind == "logits" and probable


def _side_by_side(items: Mapping[str, Names], index: Index | None) -> tuple[Names, list[ItemInts], Audit]:
    """The items that some model (and an index with names) has as they first appear, each model's rows, and the rest."""
    reference = None if index is None or index.positional_items else index.items
    for model, names in items.items():
        if reference is not None:
            not_shifted(reference, names, f"model {quote(model)}")
        elif index is not None:
            check.length(len(names), len(index.items), f"items in model {quote(model)}")
    sides = [*items.values()] if reference is None else [*items.values(), reference]
    columns = frames.alike([*map(as_series, sides)])
    wanted = columns.pop() if reference is not None else columns[0]
    scored = columns[0]
    if not all(frames.same(column, wanted) for column in columns):
        scored = polars.concat([column.alias("item") for column in columns]).unique(maintain_order=True)
    if reference is None:
        wanted = scored
    scored = scored.filter(frames.positions(scored, wanted) >= 0)
    rows = [frames.positions(scored, column) for column in columns]
    n_models = np.sum([own >= 0 for own in rows], axis=0)
    least = 1 if reference is not None else min(2, len(items))  # of models that have an item of this one
    extra: set[str] = set()
    by_model = []
    for (model, names), own, column in zip(items.items(), rows, columns, strict=True):
        if (n_models[own >= 0] < least).all():
            others = Names(scored.filter(own < 0)) if reference is None else reference
            where = "the other models" if reference is None else "the reference"
            raise InputError(
                f"no item in common: {shortlist(others, 3)} in {where}, {shortlist(names, 3)} in model {quote(model)}",
                "the same item names in all",
                check.AS_TEXT,
            )
        of_model = text(column.filter(frames.positions(column, scored) < 0)).to_list()
        extra.update(of_model)
        by_model.append((model, len(wanted) - int((own >= 0).sum()), len(of_model)))
    missing = text(wanted.filter(frames.positions(wanted, scored) < 0)).to_list()
    return Names(scored), rows, Audit(sort_names(missing), sort_names(extra), tuple(by_model))


def model_files(pairs: Strings) -> dict[str, str]:
    """`NAME=FILE` options as {name: file}, split at the last equals sign, or the one before an address."""
    split = [*map(named, pairs)]
    for pair, (name, path) in zip(pairs, split, strict=True):
        if not name or not path:
            example = f"{Path(pair).stem}={pair}" if Path(pair).is_file() else "my_model=probs.csv"
            raise InputError(quote(pair), "NAME=FILE", f"Write --predictions {example}.")
    unique([name for name, _ in split], "model")
    return dict(split)
