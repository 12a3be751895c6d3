"""Annotations from a file: one row for each annotation, or one column of counts for each label."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import polars
from jaxtyping import Int

from probtruth import check, frame_numbers
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.formats import refuse_others
from probtruth.io.tables.read import Block, read_table
from probtruth.io.tables.wide import distinct_items, unnamed
from probtruth.types import Annotations
from probtruth.types.annotations import index_of_labels
from probtruth.types.arguments import StrPath

type Form = Literal["auto", "counts"]
LARGEST = 2**53
"""Counts from here on would not be exact."""


@check.checks_itself
def read_annotations(
    path: StrPath | Block,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    replicate: str = "replicate",
    labels: Iterable[str | int] | None = None,
    format: Literal["auto", "counts"] = "auto",
) -> Annotations:
    r"""Annotations from a CSV, TSV, JSONL, Parquet or Arrow file.

    The table is in long form if it has the columns `item`, `annotator` and `label` (other columns are ignored, but
    `replicate` is used where it exists). It is in counts form (how many annotators gave the item each label) if that is
    sure: with `format="counts"`, or where every column but `item` is one of `labels`. Anything else is an error, since
    a column of numbers may be a total or a code.

    Arguments: the names of the columns; `labels` are all the labels an item can have (those of the predictions, say);
    `format` is "auto" or "counts".

    Errors: `InputError` names file, line and column of what cannot be used, and shows how counts would be read.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("item,cat,dog\na,3,0\nb,1,2\n")
    >>> pt.read_annotations(path, format="counts").counts().tolist()
    [[3, 0], [1, 2]]
    """
    check.literal(format, Form, "format")
    table, source = read_table(path)
    if format == "auto" and is_long(table.columns, item, annotator, label):
        return Annotations.from_long(table, item, annotator, label, replicate, labels, source)
    wants_long = (annotator, label) != ("annotator", "label") or {annotator, label} & set(table.columns)
    columns = f"the columns {check.shortlist(table.columns, 12)}"
    if item not in table.columns or (format == "auto" and wants_long):
        raise _neither(columns, item, annotator, label, table.columns, source)
    names = [column for column in table.columns if column != item]
    if not all(name.strip() for name in names):
        raise unnamed(source)
    try:
        counts = _counts(table, names, source)
    except InputError as error:
        got = f"{columns}, and {error.got} in {error.where}"
        raise _neither(got, item, annotator, label, table.columns, source) from None
    known = None if labels is None else index_of_labels(labels)
    hint = "Add its counts up; for one row an annotation, name the columns (--item, --annotator, --label)."
    items = distinct_items(table, item, source, "one row of counts for each item", hint)
    if format == "auto":
        _sure(table, item, names, () if known is None else known.labels, source)
    annotations = Annotations.from_counts(counts, items, names, source)
    return annotations if known is None else annotations.with_labels(known)


def is_long(columns: Sequence[str], item: str, annotator: str, label: str) -> bool:
    """Whether a table of these columns is in long form."""
    return {item, annotator, label} <= set(columns)


def _sure(table: polars.DataFrame, item: str, names: Sequence[str], labels: Sequence[str], source: Source) -> None:
    """Raises where some column of counts may be none, with the way in which the first row would be read."""
    doubtful = [name for name in names if name not in labels]
    if not doubtful:
        return
    votes = ", ".join(f"{table[name][0]} for {check.quote(name)}" for name in names[:4])
    near = check.did_you_mean(doubtful[0], labels) if labels else ""
    against = f" ({check.shortlist(doubtful)} no label of those that are known)" if labels else ""
    raise InputError(
        f"columns that may count votes or not: {check.shortlist(names)}{against}; as counts, item "
        f"{check.quote(table[item][0])} would have {votes}{' ...' if len(names) > 4 else ''}",
        f"counts that are said to be so, or the long form (columns {item!r}, 'annotator', 'label')",
        f"If every column but {item!r} counts the votes for a label: format='counts' (command line: --format counts), "
        "or labels=[...]. Else drop what is no label, or name the columns of the long form with item=, annotator=, "
        f"label= (--item, --annotator, --label); --format wide is for one column an annotator. {near}",
        source.name,
    )


def _neither(got: str, item: str, annotator: str, label: str, columns: Sequence[str], source: Source) -> InputError:
    refuse_others(columns, source.name)
    absent = next((name for name in (item, annotator, label) if name not in columns), item)
    known = f"For known answers add a column {annotator!r}, with one name in all rows. "
    return InputError(
        got,
        f"the long form (columns {item!r}, {annotator!r}, {label!r}) or the counts form ({item!r} and, for each label, "
        "a column of non-negative integers)",
        f"{known if {item, label} <= set(columns) else ''}"
        "Name the columns with item=, annotator=, label= (command line: --item, --annotator, --label); one column "
        f"for each annotator is the wide form (read_wide_annotations; --format wide). "
        f"{check.did_you_mean(absent, columns)}",
        source.name,
    )


def _counts(table: polars.DataFrame, names: Sequence[str], source: Source) -> Int[np.ndarray, "item label"]:
    """The columns of counts as integers."""
    if not names:
        raise InputError("no column of counts", "one for each label", "Check the file.", source.name)
    values, unread = frame_numbers.matrix(table, names)
    if unread is not None:
        frame_numbers.numbers(table, unread, source, "label")
    bad = ~((values >= 0) & (values == np.floor(values)) & (values < LARGEST))
    if bad.any():
        row, column = (int(axis[0]) for axis in np.nonzero(bad))
        where = source.at(row, names[column])
        raise InputError(check.quote(table[names[column]][row]), "a non-negative integer", "Check it.", where)
    return values.astype(np.int64)
