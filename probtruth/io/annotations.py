"""Annotations from a table: one row for each annotation, or one column of counts for each label."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import polars
from jaxtyping import Float

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.columns import item_column, labels_of
from probtruth.io.tables.read import Block, joined, parts_of, too_large
from probtruth.io.tables.wide import NAME, VALUE, fill, items_of, long_form
from probtruth.kernels.arrays import reordered, to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Annotations
from probtruth.types.annotations import Counts, index_of_labels
from probtruth.types.arguments import Frame, StrPath

type Form = Literal["auto", "counts", "wide"]
LARGEST = 2**53  # Counts from here on would not be exact
# Names of columns of the long form: integers in them are codes, not numbers of votes.
CODES = ("annotator", "worker", "rater", "coder", "judge", "user", "label", "answer", "class", "rating", "grade", "id")
TOTALS = ("total", "sum", "count", "votes", "n", "n_votes", "all")  # of a column that is the sum of the others


def read_annotations(
    table: StrPath | Frame | Block,
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    replicate: str = "replicate",
    labels: Iterable[str | int] | None = None,
    format: Literal["auto", "counts", "wide"] = "auto",
    like: Sequence[polars.Series] = (),
    *,
    annotators: Sequence[str] = (),
    memory: float | None = None,
) -> Annotations:
    r"""Annotations from a file (CSV, TSV, JSONL, Parquet, Arrow, a folder of these, an address) or a dataframe.

    The table is in long form if it has the columns `annotator` and `label` (other columns are ignored, but `replicate`
    is used where it exists). It is in counts form (how many annotators gave the item each label) if all columns but
    `item` hold non-negative integers; a column of totals is left aside. Anything else is an error.

    Arguments: `table`, of which `item`, `annotator`, `label` and `replicate` are the names of columns; `labels` are all
    the labels an item can have (those of the predictions, say); `format` is "auto", "counts", or "wide": one column
    for each annotator (the columns `annotators`, or all but the item's; a blank cell is no annotation). Without a
    column `item`, it is the one whose names stand in one of the columns `like`. `notes` of the result say what was
    guessed. Counts, and what is computed of them, that take more than `memory` (bytes, half of what is free unless you
    say) lie in temporary files instead of memory; nothing else depends on it.

    Errors: `InputError` names file, line and column of what cannot be used, and shows how counts would be read.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("item,cat,dog\na,3,0\nb,1,2\n")
    >>> pt.read_annotations(path, format="counts").counts().tolist()
    [[3, 0], [1, 2]]
    """
    if check.literal(format, Form, "format") == "wide":
        long, source = long_form(table, item, list(annotators) or None, [], "annotator")
        return Annotations.from_long(long, item, NAME, VALUE, labels=labels, source=source)
    on_disk = too_large([table], memory)
    (frame, source), parts = parts_of(table, on_disk)
    columns = f"the columns {check.shortlist(frame.columns, 12)}"
    wants_long = (annotator, label) != ("annotator", "label") or {annotator, label} & set(frame.columns)
    is_whole = format == "auto" and {annotator, label} <= set(frame.columns)
    if item not in frame.columns and not like and not is_whole:
        raise _neither(columns, item, annotator, label, frame, source)
    item, notes = item_column(frame, item, like, source, (annotator, label, replicate))
    if is_whole:
        frame, source = joined([*parts([item, annotator, label, replicate])], source.name)
        made = Annotations.from_long(frame, item, annotator, label, replicate, labels, source)
        return replace(made, notes=(*source.notes, *notes))
    if format == "auto" and wants_long:
        raise _neither(columns, item, annotator, label, frame, source)
    names = labels_of(frame, item, source)
    hint = "Add its counts up; for one row an annotation, name the columns (--item, --annotator, --label)."
    known = None if labels is None else index_of_labels(labels)
    try:
        n_rows = sum(part.height for part, _ in parts([item]))
        counts = empty_array((n_rows, len(names)), on_disk, np.int64)
        fill(counts, np.arange(n_rows), n_rows, parts([item, *names]), names, _whole, partial(_no_count, names))
    except InputError as error:
        got = f"{columns}, and {error.got} in {error.where}"
        raise _neither(got, item, annotator, label, frame, source) from None
    items, source = items_of(parts([item]), item, "one row of counts for each item", hint)
    if format == "auto":
        of_total = [at for at, name in enumerate(names) if name.lower() in TOTALS and len(names) > 2]
        totals = [at for at in of_total if (2 * counts[:, at] == counts.sum(1)).all()]
        if totals and (known is None or names[totals[0]] not in known.labels):
            notes += (f"{source.name}: left aside {names[totals[0]]!r}, the sum of the others",)
            counts = to_host(reordered(counts, np.arange(n_rows), np.delete(np.arange(len(names)), totals[0])))
            names.pop(totals[0])
        if known is None or not set(names) <= set(known.labels):
            _refuse_codes(frame, item, names, source)
            notes += (f"{source.name}: read as counts of votes: {check.shortlist(names)}",)
    annotations: Annotations = Counts.of(counts, items, names, source)
    annotations = replace(annotations, notes=(*source.notes, *notes))
    return annotations if known is None else annotations.with_labels(known)


def _refuse_codes(table: polars.DataFrame, item: str, names: Sequence[str], source: Source) -> None:
    """Raises where a column of integers is named as one of codes; says how the first row would be read."""
    if not any(name.lower() in CODES for name in names):
        return
    votes = ", ".join(f"{table[name][0]} for {check.quote(name)}" for name in names[:4])
    raise InputError(
        f"columns that may count votes or not: {check.shortlist(names)}; as counts, item {check.quote(table[item][0])} "
        f"would have {votes}{' ...' if len(names) > 4 else ''}",
        f"counts that are said to be so, or the long form (columns {item!r}, 'annotator', 'label')",
        f"If every column but {item!r} counts the votes for a label: format='counts' (command line: --format counts). "
        "Else name the columns of the long form with item=, annotator=, label= (--item, --annotator, --label); "
        "--format wide is for one column an annotator.",
        source.name,
    )


def _neither(got: str, item: str, annotator: str, label: str, frame: polars.DataFrame, source: Source) -> InputError:
    columns = frame.columns
    absent = next((name for name in (item, annotator, label) if name not in columns), item)
    known = f"For known answers add a column {annotator!r}, with one name in all rows. "
    return InputError(
        got,
        f"the long form (columns {item!r}, {annotator!r}, {label!r}) or the counts form ({item!r} and, for each label, "
        "a column of non-negative integers)",
        f"{known if {item, label} <= set(columns) else ''}"
        "Name the columns with item=, annotator=, label= (command line: --item, --annotator, --label); "
        "one column for each annotator is the wide form (format='wide'; --format wide). "
        f"{check.did_you_mean(absent, columns)}",
        source.name,
        _guess(frame, item, annotator, label),
    )


def _guess(frame: polars.DataFrame, item: str, annotator: str, label: str) -> tuple[str, ...]:
    """The options with which a table may be in long form: the most and the fewest names, and who answers once."""
    text = [column for column in frame if column.dtype.is_integer() or column.dtype == polars.String]
    # Without their names, which may be patterns; so with the columns below
    cells = [column.alias("").cast(polars.String).str for column in text]
    names = [column for column, own in zip(text, cells, strict=True) if not own.contains(r"^-?\d*[.,]\d+$").any()]
    distinct = {column.name: column.n_unique() for column in names}  # of those without decimals: times are no names
    own = sorted((name for name in distinct if 1 < distinct[name] < frame.height), key=lambda name: distinct[name])
    if len(own) < 3 or annotator in own:
        return ()
    items, labels = item if item in own else own[-1], label if label in own else own[0]
    others = [name for name in own if name not in (items, labels)]
    once = [name for name in others if frame.select(frame[items], frame[name]).n_unique() == frame.height]
    found = {"--item": (item, items), "--annotator": (annotator, next(iter(once), "")), "--label": (label, labels)}
    words = tuple(word for flag, (named, name) in found.items() if named != name for word in (flag, name))
    return words if once else ()


def _whole(cells: Float[np.ndarray, "some label"]) -> tuple[np.ndarray, bool]:
    """Numbers of votes, and whether all are."""
    return cells, bool(((cells >= 0) & (cells == np.floor(cells)) & (cells < LARGEST)).all())


def _no_count(names: Sequence[str], cells: np.ndarray, frame: polars.DataFrame, source: Source) -> None:
    """Raises at the first cell that is no number of votes."""
    row, column = np.argwhere(~((cells >= 0) & (cells == np.floor(cells)) & (cells < LARGEST)))[0].tolist()
    got, where = frame[names[column]][row], source.at(row, names[column])
    raise InputError(check.quote(got), "a non-negative integer", "Check it.", where)
