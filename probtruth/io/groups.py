"""The group or cluster of each item, from a column of a file.

Tables of models side by side: the items that all have, and what was left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars
from jaxtyping import Int

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.addresses import with_column
from probtruth.io.tables.read import read_table
from probtruth.types import Audit, Index
from probtruth.types.index import one_each, sort_names


def read_groups(spec: str, items: Sequence[str] | None, item: str = "item", what: str = "group") -> dict[str, str]:
    """The group of each of the items (None: of all that the file has), from `FILE:COLUMN` (split at the last colon)."""
    path, column = with_column(spec)
    if not (path and column):
        raise InputError(
            check.quote(spec), "FILE:COLUMN", f"Write --{what}s table.csv:column, the column that names the {what}."
        )
    table, source = read_table(path)
    codes, names = frames.encode(table, item, source, "item")
    groups, group_names = frames.encode(table, column, source, what)
    of_item = np.full(len(names), -1)
    one_each(of_item, codes, groups, names, what, lambda row: source.at(row, column))
    known = {name: group_names[code] for name, code in zip(names, of_item.tolist(), strict=True)}
    if items is None:
        return known
    absent = [name for name in items if name not in known]
    if absent:
        raise InputError(
            f"no {what} for {len(absent)} of {len(items)} items ({check.shortlist(absent, 3)})",
            f"a {what} for every item",
            "Add them; names are compared as text ('007' is not '7').",
            source.at(column=column),
        )
    return {name: known[name] for name in items}


@dataclass(frozen=True, eq=False)
class Common:
    """The items that all models have, in the order of the first; their rows for each model; and what was left out."""

    items: frames.Names
    rows: Sequence[Int[np.ndarray, " item"]]
    audit: Audit
    as_known: bool


def common(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> Common:
    """The items that all models (and the index, if there is one with names) have; a model has each item once."""
    if index is not None and index.positional_items:
        for model, names in zip(models, items, strict=True):
            check.length(len(names), len(index.items), f"items in model {check.quote(model)}")
    named = index is not None and not index.positional_items
    listed = [frames.as_series(names) for names in items]
    if index is not None and named:
        known = frames.as_series(index.items)
        listed.append(frames.compact(known) if listed[0].dtype.is_integer() else known)
    columns = [column.alias("item") for column in frames.alike(listed)]
    reference = columns.pop() if named else None
    distinct: list[polars.Series] = []
    for column in columns:
        if not any(frames.same(column, other) for other in distinct):
            distinct.append(column)
    if reference is None:
        reference = distinct[0] if len(distinct) == 1 else polars.concat(distinct).unique(maintain_order=True)
    matches = [_Match.of(column, reference) for column in distinct]
    match_of = [
        matches[next(at for at, other in enumerate(distinct) if frames.same(column, other))] for column in columns
    ]
    shared = np.logical_and.reduce([match.rows >= 0 for match in matches])
    if not shared.any():
        raise _nothing(models, items, index if named else None)
    order = np.argsort(match_of[0].rows[shared])
    rows = {id(match): match.rows[shared][order] for match in matches}
    counts = tuple(
        (model, int((match.rows < 0).sum()), len(match.extra)) for model, match in zip(models, match_of, strict=True)
    )
    audit = Audit(
        sort_names(frames.text(reference.filter(~shared)).to_list()),
        sort_names({name for match in matches for name in frames.text(match.extra).to_list()}),
        counts,
    )
    shared_items = columns[0].gather(rows[id(match_of[0])])
    as_known = named and frames.same(shared_items, reference)
    return Common(frames.Names(shared_items), [rows[id(one)] for one in match_of], audit, as_known)


@dataclass(frozen=True, eq=False)
class _Match:
    """The row of each item of a reference in a table, -1 where it has none, and the table's other items."""

    rows: Int[np.ndarray, " item"]
    extra: polars.Series

    @classmethod
    def of(cls, own: polars.Series, reference: polars.Series) -> "_Match":
        rows = frames.positions(reference, own)
        is_extra = np.ones(len(own), bool)
        is_extra[rows[rows >= 0]] = False
        return cls(rows, own.filter(is_extra))


def _nothing(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> InputError:
    """The error for no item in common, with names from the two sides that share none (or the first two)."""
    sides = [("the reference", index.items)] if index is not None else []
    sides += [(f"model {check.quote(model)}", tuple(names)) for model, names in zip(models, items, strict=True)]
    first = frozenset(sides[0][1])
    other = next((side for side in sides[1:] if first.isdisjoint(side[1])), sides[-1])
    return InputError(
        f"no item in common: {check.shortlist(sides[0][1], 3)} in {sides[0][0]}, {check.shortlist(other[1], 3)} in "
        f"{other[0]}",
        "the same item names in all",
        "Names are compared as text ('007' is not '7'); check the item columns.",
    )
