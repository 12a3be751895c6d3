"""The group or cluster of each item, from a column of a file.

Tables of models side by side: the items that some model has, and who lacks which.
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


# Items, their rows for each model (-1: none), what was left out, and whether the items are those of the index.
type SideBySide = tuple[frames.Names, Sequence[Int[np.ndarray, " item"]], Audit, bool]


def side_by_side(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> SideBySide:
    """The items that some model (and the index, if there is one with names) has, as they first appear."""
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
    scored = polars.concat(columns).unique(maintain_order=True)
    if named:
        scored = scored.filter(frames.positions(scored, reference) >= 0)
    rows = [frames.positions(scored, column) for column in columns]
    wanted = reference if named else scored
    unscored = wanted.filter(frames.positions(wanted, scored) < 0)
    n_models = np.sum([own >= 0 for own in rows], axis=0)
    extra: set[str] = set()
    by_model: list[tuple[str, int, int]] = []
    for at, (model, own, column) in enumerate(zip(models, rows, columns, strict=True)):
        n_scored = int((own >= 0).sum())
        if index is not None and named and n_scored == 0:
            raise _nothing("the reference", index.items, model, items[at])
        if not named and (n_models[own >= 0] < 2).all():
            second = max(at, 1)
            raise _nothing(f"model {quote(models[0])}", items[0], models[second], items[second])
        is_extra = np.ones(len(column), bool)
        is_extra[own[own >= 0]] = False
        extra.update(frames.text(column.filter(is_extra)).to_list())
        by_model.append((model, len(wanted) - n_scored, len(column) - n_scored))
    audit = Audit(sort_names(frames.text(unscored).to_list()), sort_names(extra), tuple(by_model))
    return frames.Names(scored), rows, audit, named and frames.same(scored, reference)


def _nothing(where: str, wanted: Sequence[str], model: str, names: Sequence[str]) -> InputError:
    """The error for a model without any of the items wanted."""
    return InputError(
        f"no item in common: {shortlist(wanted, 3)} in {where}, {shortlist(names, 3)} in model {quote(model)}",
        "the same item names in all",
        check.AS_TEXT,
    )
