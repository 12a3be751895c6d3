"""The group or cluster of each item, from a column of a file.

Tables of models side by side: the items that all have, and what was left out.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars
from jaxtyping import Int
from polars import DataFrame

from probtruth import check, frames
from probtruth.check import Source, quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import as_series, need_columns
from probtruth.io.addresses import with_column
from probtruth.io.table import opened
from probtruth.types import Audit, Index
from probtruth.types.index import not_shifted, sort_names


def read_groups(spec: str, items: Sequence[str] | None, item: str = "item", what: str = "group") -> dict[str, str]:
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
    need_columns(table.columns, {option.strip("-"): column}, source.name)
    return table, source, column


def one_each[V](
    table: DataFrame, item: str, column: str, values: Iterable[V], source: Source, what: str
) -> dict[str, V]:
    """The value of each item that has one; the rows of an item must agree."""
    known: dict[str, V] = {}
    for row, (name, value) in enumerate(zip(frames.names(table, item, source, "item"), values, strict=True)):
        if value is not None and known.setdefault(name, value) != value:
            problem, where = f"a second {what} of item {quote(name)}", source.at(row, column)
            raise InputError(problem, f"one {what} for each item", "Make its rows agree.", where)
    return known


# Items, their rows for each model, what was left out, and whether the items are those of the index.
type Common = tuple[frames.Names, Sequence[Int[np.ndarray, " item"]], Audit, bool]


def common(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> Common:
    """What all models (and the index, if there is one with names) have, in the order of the first."""
    if index is not None and index.positional_items:
        for model, names in zip(models, items, strict=True):
            check.length(len(names), len(index.items), f"items in model {quote(model)}")
    named = index is not None and not index.positional_items
    listed = [as_series(names) for names in items]
    if index is not None and named:
        known = as_series(index.items)
        listed.append(frames.compact(known) if listed[0].dtype.is_integer() else known)
    columns = [column.alias("item") for column in frames.alike(listed)]
    reference = columns.pop() if named else columns[0]
    if all(frames.same(column, reference) for column in columns):
        none = tuple((model, 0, 0) for model in models)
        return frames.Names(reference), [np.arange(len(reference))] * len(models), Audit((), (), none), named
    if index is not None and named:
        for model, names in zip(models, items, strict=True):
            not_shifted(index.items, names, f"model {quote(model)}")
    if not named:
        reference = polars.concat(columns).unique(maintain_order=True)
    rows = [frames.positions(reference, column) for column in columns]
    shared = np.logical_and.reduce([own >= 0 for own in rows])
    if not shared.any():
        raise _nothing(models, items, index if named else None)
    order, extra = np.argsort(rows[0][shared]), []
    for own, column in zip(rows, columns, strict=True):
        is_extra = np.ones(len(column), bool)
        is_extra[own[own >= 0]] = False
        extra.append(column.filter(is_extra))
    audit = Audit(
        sort_names(frames.text(reference.filter(~shared)).to_list()),
        sort_names({name for names in extra for name in frames.text(names).to_list()}),
        tuple((model, int((own < 0).sum()), len(more)) for model, own, more in zip(models, rows, extra, strict=True)),
    )
    rows = [own[shared][order] for own in rows]
    shared_items = columns[0].gather(rows[0])
    return frames.Names(shared_items), rows, audit, named and frames.same(shared_items, reference)


def _nothing(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> InputError:
    """The error for no item in common, with names from the two sides that share none (or the first two)."""
    sides = [("the reference", index.items)] if index is not None else []
    sides += [(f"model {quote(model)}", tuple(names)) for model, names in zip(models, items, strict=True)]
    first = frozenset(sides[0][1])
    other = next((side for side in sides[1:] if first.isdisjoint(side[1])), sides[-1])
    return InputError(
        f"no item in common: {shortlist(sides[0][1], 3)} in {sides[0][0]}, {shortlist(other[1], 3)} in {other[0]}",
        "the same item names in all",
        check.AS_TEXT,
    )
