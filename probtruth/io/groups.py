"""The group or cluster of each item, from a column of a file."""

from collections.abc import Iterable

from polars import DataFrame

from probtruth import check, frames
from probtruth.check import MaybeStrings, Source, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import with_column
from probtruth.io.table import opened


def read_groups(spec: str, items: MaybeStrings, item: str = "item", what: str = "group") -> dict[str, str]:
    """The group of each of the items (None: of all that the file has), from `FILE:COLUMN` (split at the last colon)."""
    table, source, column = file_and_column(spec, f"--{what}s", item)
    known = one_each(table, item, column, frames.names(table, column, source, what), source, what)
    absent = [name for name in items or () if name not in known]
    if absent:
        raise InputError(
            f"no {what} for {len(absent)} of {len(items or ())} items ({shortlist(absent, 3)})",
            f"a {what} for every item",
            f"Add them. {check.AS_TEXT}",
            source.at(column=column),
        )
    return known if items is None else {name: known[name] for name in items}


def file_and_column(spec: str, option: str, item: str = "item") -> tuple[DataFrame, Source, str]:
    """The table and the column that are named as `FILE:COLUMN`."""
    path, column = with_column(spec)
    if not (path and column):
        raise InputError(quote(spec), "FILE:COLUMN", f"Write {option} table.csv:column.")
    table, source = opened(path).with_items(item).whole
    role = "annotator" if option == "--annotator-groups" else "item"
    hint = f"Write {option} FILE:COLUMN; --{role} names the column of {role}s."
    frames.need_columns(table.columns, {role: item, "value": column}, source.name, hint)
    return table, source, column


def one_each[V](
    table: DataFrame, item: str, column: str, values: Iterable[V], source: Source, what: str
) -> dict[str, V]:
    """The value of each item that has one; the rows of an item must agree."""
    known: dict[str, V] = {}
    for row, (name, value) in enumerate(zip(frames.names(table, item, source, "item"), values, strict=True)):
        if value is not None and known.setdefault(name, value) != value:
            raise InputError(
                f"a second {what} of item {quote(name)}",
                f"one {what} for each item",
                "Make its rows agree.",
                source.at(row, column),
            )
    return known
