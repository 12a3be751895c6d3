"""Wide tables: one row for each item, and one column for each model (its scores) or each annotator (their labels)."""

from collections.abc import Sequence
from dataclasses import replace

import polars

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.read import read_table
from probtruth.io.tables.wide import distinct_items
from probtruth.types import Annotations
from probtruth.types.arguments import Frame, StrPath

NAME, VALUE = "name ", "value "  # Names that columns of a file do not have


def read_wide_annotations(
    table: StrPath | Frame,
    annotators: Sequence[str] | None = None,
    item: str = "item",
    labels: Sequence[str | int] | None = None,
) -> Annotations:
    r"""Annotations from a table with one row for each item and one column for each annotator; blank: not annotated.

    Arguments: `table` is a file (CSV, TSV, JSONL, Parquet, Arrow) or any dataframe; `annotators` are the columns (by
    default all but the item's); `item` names the column of items; `labels` are all the labels an item can have, if
    some were never used.

    Errors: `InputError` with file and line of an item that stands twice, or a column that is not there.

    >>> import probtruth as pt
    >>> table = {"item": ["a", "b"], "ann": ["cat", "dog"], "bob": ["cat", None]}
    >>> pt.loaders.read_wide_annotations(table).counts().tolist()
    [[2, 0], [0, 1]]
    """
    long, source = long_form(table, item, annotators, [], "annotator")
    return Annotations.from_long(long, item, NAME, VALUE, labels=labels, source=source)


def long_form(
    table: StrPath | Frame, item: str, chosen: Sequence[str] | None, others: Sequence[str | None], what: str
) -> tuple[polars.DataFrame, Source]:
    """A row for each cell that is not blank, and where it stands: `kept` columns, then NAME and VALUE."""
    frame, source = read_table(table)
    kept = [item, *(name for name in others if name is not None)]
    distinct_items(frame, item, source, "one row for each item", f"Read a row for each item and {what} in long form.")
    columns = [name for name in frame.columns if name not in kept] if chosen is None else list(chosen)
    for name in (*kept, *columns):
        frames.need_columns(frame.columns, {what: name}, source.name)
    if not columns or not {*columns}.isdisjoint(kept):
        hint = f"Name them: {what}s=[...] (command line: --{what} x,y)."
        raise InputError(f"no column of a {what}", f"one for each {what}", hint, source.name)
    check.unique(columns, f"{what} column")
    parts, sources, numbers = [], [], range(1, len(frame) + 1)
    for name in columns:
        cells = frames.flat(frame, name, source, what)
        full = cells.is_not_null()
        if cells.dtype == polars.String:
            full &= cells.str.strip_chars() != ""
        elif cells.dtype.is_float():
            full &= cells.is_not_nan()
        here = full.arg_true().to_list()
        lines = [(source.lines or numbers)[row] for row in here]
        where = replace(source, lines=lines, columns={VALUE: name}, parts=())
        own = cells.filter(full)
        if what == "annotator" and own.dtype.is_float() and (own % 1 == 0).all():
            own = own.cast(polars.Int64)  # pandas makes floats of integers
        read = frames.names if what == "annotator" else frame_numbers.numbers
        values = read(own.to_frame(VALUE), VALUE, where, what)
        rows = polars.DataFrame([frame.get_column(one).filter(full) for one in kept])
        parts.append(rows.with_columns(polars.Series(VALUE, values), polars.lit(name).alias(NAME)))
        sources.append((where, len(here)))
    return polars.concat(parts), Source(source.name, parts=sources)
