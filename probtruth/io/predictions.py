"""Predictions from files: for each model a table with one column for each label, aligned by the names of the items."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from polars import DataFrame

from probtruth import frames
from probtruth.check import Source, quote, shortlist, unique
from probtruth.check_arrays import surely_simplex
from probtruth.errors import InputError
from probtruth.io import groups
from probtruth.io.addresses import fetched_once, named
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.table import Part, Table, is_named, opened, too_large
from probtruth.io.tables.columns import Chosen, choose, under_labels
from probtruth.io.tables.wide import (
    REPEATED,
    CellKind,
    check_rows,
    fill,
    in_probs,
    items_of,
    known_kind,
    renormalised,
    suspects,
)
from probtruth.kernels.arrays import is_own, to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Index, Predictions
from probtruth.types.arguments import Frame, StrPath
from probtruth.types.index import as_names, match_labels, order_of
from probtruth.types.predictions import as_logs, by_model, of_logits


@fetched_once()
def read_predictions(
    files: Mapping[str, StrPath | Frame | Table],
    index: Index | None = None,
    item: MaybeText = None,
    kind: CellKind = "probs",
    renormalise: bool = False,
    *,
    labels: Iterable[object] | None = None,
    memory: float | None = None,
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
    given = opened_by_model(files)
    models = list(given)
    kind = known_kind(kind)
    on_disk = too_large(given.values(), memory)
    tables: list[_Table] = []
    wanted = as_names(labels, "labels")
    for model, table in given.items():
        table = table.with_items(item)
        if on_disk:
            table = table.in_batches()
        chosen = choose(table, item, index, kind, wanted)
        known = tables[0].items if tables else None
        items, source = items_of(table.rows([chosen.item]), chosen.item, "every item once", REPEATED, known)
        tables.append(_Table(model, chosen, items, source, table))
    own_labels = tables[0].labels
    used = None if index is None or index.positional_labels else {*index.labels}
    for own in tables:
        _same_labels(own, tables[0])
        if index is not None:
            match_labels(index, Index.of_array((0, len(own.labels)), (), own.labels)[0], own.source.name)
    items, rows_of, audit, as_known = groups.side_by_side(models, [table.items for table in tables], index)
    made, order = _index_of(items, own_labels, index if as_known else None)
    logs = empty_array((len(models), len(order), len(own_labels)), on_disk)
    divided, like_probs = [], []
    for array, own, rows in zip(logs, tables, rows_of, strict=True):
        sums, plainly = own.write(array, rows[order], made.labels, kind, renormalise, used)
        divided += [(own.model, len(sums), float(sums.min()), float(sums.max()))] if len(sums) else []
        like_probs += [own.model] if plainly else []
    in_one_order = all((np.diff(rows[rows >= 0]) > 0).all() for rows in rows_of)
    index = replace(
        made,
        positional_labels=all(table.chosen.positional for table in tables),
        item_rows=made.item_rows if in_one_order else None,
        label_columns=made.label_columns if all(table.labels == own_labels for table in tables) else None,
    )
    audit = replace(audit, renormalised=tuple(divided))
    notes = dict.fromkeys(note for table in tables for note in (*table.source.notes, *table.chosen.notes))
    return Predictions(logs, tuple(models), index, audit, of_logits(like_probs), tuple(notes))


def opened_by_model(files: object) -> dict[str, Table]:
    """The table of each model, all of which name their items."""
    made = {}
    for model, table in by_model(files, "path or dataframe").items():
        if not is_named(table):
            raise InputError(
                f"{type(table).__name__} for model {quote(model)}",
                "a path, or a dataframe with a column of item names",
                "Without item names, use Predictions.from_probs({model: table}).",
            )
        made[model] = opened(table, f"the table of model {quote(model)}")
    return made


@dataclass(frozen=True, eq=False)
class _Table:
    """The table of a model: its columns, and its items in the order of its rows."""

    model: str
    chosen: Chosen
    items: frames.Names
    source: Source
    table: Table

    @property
    def labels(self) -> Texts:
        return tuple(self.chosen.labels)

    def write(
        self,
        logs: Float[np.ndarray, "item label"],
        rows: Int[np.ndarray, " item"],
        labels: Sequence[str],
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

        columns = [self.chosen.item, *dict.fromkeys(self.chosen.labels.values())]
        parts: Iterable[Part] = (under_labels(*part, self.chosen, kind) for part in self.table.rows(columns))
        fill(logs, rows, len(self.items), parts, labels, convert, refuse)
        logs[rows < 0] = np.nan
        return np.concatenate(divided), kind == "logits" and probable


def _index_of(items: frames.Names, labels: Texts, known: Index | None) -> tuple[Index, Int[np.ndarray, " item"]]:
    """The sorted index of the items, and their order; names that are those of a known index are not made anew."""
    if known is not None:
        order = order_of(frames.compact(items.column)).astype(np.int64)
        if is_own(order, len(order)):
            of_labels, _, _ = Index.of_array((0, len(labels)), (), labels)
            return replace(of_labels, items=known.items, item_rows=order), order
    made, order, _ = Index.of_array((len(items), len(labels)), items, labels)
    return made, order


def _same_labels(table: _Table, first: _Table) -> None:
    absent, more = (sorted({*one.labels} - {*other.labels}) for one, other in ((first, table), (table, first)))
    if absent or more:
        words = [f"no column {shortlist(absent)}"] * bool(absent) + [f"also {shortlist(more)}"] * bool(more)
        raise InputError(
            " and ".join(words),
            f"the labels of model {quote(first.model)}: {shortlist(first.labels)}",
            "Give every model the same labels; drop columns that are none.",
            f"{table.source.name} (model {quote(table.model)})",
        )


def model_files(pairs: Sequence[str], example: str = "--predictions my_model=probs.csv") -> dict[str, str]:
    """`NAME=FILE` options as {name: file}, split at the last equals sign, or the one before an address."""
    split = [*map(named, pairs)]
    for pair, (name, path) in zip(pairs, split, strict=True):
        if not name or not path:
            hint = f"--predictions {Path(pair).stem}={pair}" if Path(pair).is_file() else example
            raise InputError(quote(pair), "NAME=FILE", f"Write {hint}.")
    unique([name for name, _ in split], "model")
    return dict(split)
