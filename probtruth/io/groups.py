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
    reference = columns.pop() if named else columns[0]
    if not (named or all(frames.same(column, reference) for column in columns)):
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
    return Common(frames.Names(shared_items), rows, audit, named and frames.same(shared_items, reference))


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
