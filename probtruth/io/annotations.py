"""Annotations from a table: one row for each annotation, or one column for each label or annotator."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from polars import DataFrame

from probtruth import check, frames
from probtruth.check import MaybeNumber, MaybeStrings, Source, Strings, count, quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import blank, flat, name_text
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import LabelReading, MaybeText, Texts
from probtruth.io.kinds import Beside, Counts, LabelKind, Long, Soft, Wide, kind_of, tool_in
from probtruth.io.loaders.readers import OF_LABELS, read_labels_of, refuse_unused
from probtruth.io.table import FrameTable, Table, opened, placed
from probtruth.io.tables.columns import items_in
from probtruth.io.tables.wide import NAME, VALUE, fill, long_form
from probtruth.kernels.host import empty_array
from probtruth.types import Annotations
from probtruth.types.annotations import Counts as CountedAnnotations
from probtruth.types.annotations import index_of_labels
from probtruth.types.arguments import Frame, GivenNames, StrPath
from probtruth.types.index import AGGREGATES, PLACEHOLDERS, as_names

type Form = Literal["auto", "counts", "wide"]
LARGEST = 2**53  # Counts from here on would not be exact
ROWS = "row number "  # A name that no column of a file has
ONE_ROW = "Add its counts up; for one row an annotation, name the columns (--item, --annotator, --label)."


@fetched_once()
def read_annotations(
    table: StrPath | Frame | Table,
    item: MaybeText = None,
    annotator: MaybeText = None,
    label: MaybeText = None,
    replicate: MaybeText = None,
    labels: GivenNames = None,
    format: Literal["auto", "counts", "wide"] = "auto",
    *,
    annotators: Strings = (),
    missing: Sequence[object] = (),
    memory: MaybeNumber = None,
) -> Annotations:
    r"""Annotations from a file (CSV, TSV, JSONL, Parquet, Arrow, an export), a folder, an address or a dataframe.

    The table is in long form if it has the columns `annotator` and `label` (other columns are ignored, but `replicate`
    is used where it exists). Whole numbers, one column for each label, are counts of votes (how many annotators gave
    the item each label) where `labels` names the columns, or `format` is "counts"; columns that are no label's (a sum,
    the majority's code, a text) are ignored. Anything else is an error.

    Arguments:
        table: of which `item`, `annotator`, `label` and `replicate` are the names of columns (`label` may name those of
            counts, separated by commas).
        item: the column of items.
        annotator: the column of annotators.
        label: the column of labels.
        replicate: the column of replicates.
        labels: all the labels an item can have (those of the predictions, say).
        format: "auto", "counts", or "wide": one column for each annotator (the columns `annotators`, or all but the
            item's; a blank cell is no annotation).
        annotators: the columns of a table with one for each annotator.
        missing: answers that are none ("NA", "-1", "cannot say"): they are left out and counted. `notes` of the result
            say what was guessed. Counts, and what is computed of them, that take more than `memory` (bytes, half of
            what is free unless you say) lie in temporary files instead of memory. Nothing else depends on it.
        memory: bytes from which on counts lie in a temporary file instead of in memory.

    Errors: `InputError` names file, line and column of what cannot be used, and shows how counts would be read.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("item,cat,dog\na,3,0\nb,1,2\n")
    >>> pt.read_annotations(path, format="counts").counts().tolist()
    [[3, 0], [1, 2]]
    """
    check.literal(format, Form, "format")
    none = tuple(name_text(word) for word in check.listed(missing, "missing"))
    columns: Any = tuple(annotators) or annotator
    how = LabelReading(item, columns, label, replicate, format, none)
    return annotations_in(opened(table), how, Beside((), as_names(labels, "labels")), memory)


def annotations_in(
    table: Table, how: LabelReading, beside: Beside = Beside(), memory: MaybeNumber = None
) -> Annotations:
    """The annotations in a table or the export of a tool, under the labels beside it if there are any."""
    tool = tool_in(table, how)
    if tool is not None:
        return read_labels_of(tool, table, how, beside.labels)
    kind = kind_of(table, how, beside, votes_only=True)
    if isinstance(kind, Soft):
        raise InputError(
            "soft labels",
            "annotations",
            "Give them as the truth (command line: run --soft, score --truth).",
            table.name,
        )
    refuse_unused(how, kind.form, OF_LABELS, table.name)
    (table,) = placed([table], memory)
    return annotations_of(table, kind, how, beside.labels)


def annotations_of(
    table: Table,
    kind: LabelKind,
    how: LabelReading = LabelReading(),
    labels: MaybeStrings = None,
    beside: MaybeStrings = None,
) -> Annotations:
    """The annotations in a table of this kind, under these labels if they are all that an item can have.

    `beside` are the labels of the other side.
    """
    table = table.with_items(how.item)
    if isinstance(kind, Long):
        made = _of_long(table, kind, how, labels)
    elif isinstance(kind, Wide):
        made = _of_wide(table, kind, how, labels)
    else:
        assert isinstance(kind, Counts)
        made = _of_counts(table, kind, how)
    made = replace(made, notes=(*table.head[1].notes, *kind.notes, *made.notes, *placeholders(made, labels or beside)))
    return made if labels is None else made.with_labels(index_of_labels(labels))


def _of_long(table: Table, kind: Long, how: LabelReading, labels: MaybeStrings) -> Annotations:
    frame, source = table.with_items(kind.item).whole
    frame, source, notes = answered(frame, source, kind.label, how.none)
    made = Annotations.from_long(
        frame, kind.item, kind.annotator, kind.label, kind.replicate, labels=labels, source=source
    )
    return replace(made, notes=notes)


def answered(frame: DataFrame, source: Source, label: str, missing: Strings) -> tuple[DataFrame, Source, Texts]:
    """The rows of a table whose answer is one, and how many were left out."""
    if not missing:
        return frame, source, ()
    cells = flat(frame, label, source, "label")
    none = blank(cells, missing) & cells.is_not_null()
    rows = (~none).arg_true().to_list()
    note = f"{source.name}: {count(frame.height - len(rows), 'answer')} left out as missing"
    if len(rows) == frame.height:
        note = f"{source.name}: no answer is {shortlist(missing)}"
    return frame[rows], source.of_rows(rows), (note,)


def _of_wide(table: Table, kind: Wide, how: LabelReading, labels: MaybeStrings) -> Annotations:
    item = kind.item
    if item is None:
        frame, source = table.whole
        table = FrameTable(frame.with_row_index(ROWS), table.name, source=source)
        item = ROWS
    long, source = long_form(table, item, kind.annotators)
    long, source, notes = answered(long, source, VALUE, how.none)
    made = Annotations.from_long(long, item, NAME, VALUE, None, labels=labels, source=source)
    made = replace(made, notes=notes)
    if kind.item is not None:
        return made
    if made.n_items < table.whole[0].height:
        raise InputError(
            "a row without answers in a table without names of items",
            "an answer in every row",
            "Name the items in a column, or drop that row.",
        )
    return replace(made, index=replace(made.index, positional_items=True, item_rows=np.arange(made.n_items)))


def _of_counts(table: Table, kind: Counts, how: LabelReading) -> Annotations:
    columns = [*kind.labels.values()]
    items, n_rows, source = items_in(table, kind, "one row of counts for each item", ONE_ROW)
    counts = empty_array((n_rows, len(columns)), table.batched, np.int64)
    fill(counts, np.arange(n_rows), n_rows, table.rows(kind.columns), columns, _whole, partial(_no_count, columns))
    notes: Texts = (f"{table.name}: read as counts of votes: {shortlist(kind.labels)}",)
    labels = [label for label in kind.labels if label not in how.none]
    if len(labels) < len(columns):
        stay = np.isin([*kind.labels], labels)
        gone = int(counts[:, ~stay].sum())
        counts = counts[:, stay]
        notes += (f"{table.name}: {count(gone, 'answer')} left out as missing",)
    elif how.none:
        notes += (f"{table.name}: no label is {shortlist(how.none)}",)
    made = CountedAnnotations.of(counts, items, None if kind.positional else labels, source)
    return replace(made, notes=notes)


def placeholders(made: Annotations, labels: MaybeStrings) -> Texts:
    """Notes on annotators who look alike, and on labels that may mean that there is no answer, if nobody names them."""
    names = made.index.labels
    notes = [*frames.lookalikes(made.index.annotators, "annotator")]
    for name in made.index.annotators:
        if name.strip().lower() in AGGREGATES:
            notes.append(f"the annotator {quote(name)} may be made of the others' answers, which then count twice")
    for name in names:
        if name.strip().lower() not in PLACEHOLDERS or name in (labels or ()) or len(names) < 2:
            continue
        if name.lstrip("-").isdigit() and any(other.startswith("-") for other in names if other != name):
            continue  # one of several negative numbers
        votes = int(made.counts()[:, names.index(name)].sum())
        notes.append(
            f"the label {quote(name)} ({count(votes, 'annotation')}) may mean that there is no answer: "
            f"missing=[{name!r}] (command line: --missing={name}) leaves it out"
        )
    return tuple(notes)


def _whole(cells: np.ndarray) -> tuple[np.ndarray, bool]:
    """Numbers of votes, and whether all are."""
    return cells, not _unfit(cells).any()


def _unfit(cells: np.ndarray) -> Any:
    return ~((cells >= 0) & (cells == np.floor(cells)) & (cells < LARGEST))


def _no_count(names: Strings, cells: np.ndarray, frame: DataFrame, source: Source) -> None:
    """Raises at the first cell that is no number of votes."""
    row, column = np.argwhere(_unfit(cells))[0].tolist()
    name = names[column]
    raise InputError(
        quote(frame[name][row]),
        "a non-negative integer",
        "If the columns are no counts of votes, name them: --item, --annotator, --label (item=, annotator=, label=).",
        source.at(row, name),
    )
