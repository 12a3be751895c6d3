"""The group or cluster of each item, from a column of a file."""

from collections.abc import Sequence

import numpy as np

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.tables.read import read_table


def read_groups(spec: str, items: Sequence[str] | None, item: str = "item", what: str = "group") -> dict[str, str]:
    """The group of each of the items (None: of all that the file has), from `FILE:COLUMN` (split at the last colon).

    Items may stand in several rows of the file if these agree; other items of the file are ignored.

    Arguments: `item` is the file's column of item names; `what` is the word for messages (`group` or `cluster`).

    Errors: `InputError` for an item without a group or with two of them.
    """
    path, colon, column = spec.rpartition(":")
    if not (path and colon and column):
        raise InputError(
            check.quote(spec), "FILE:COLUMN", f"Write --{what}s table.csv:column, the column that names the {what}."
        )
    table, source = read_table(path)
    codes, names = frames.encode(table, item, source, "item")
    groups, group_names = frames.encode(table, column, source, what)
    of_item = groups[np.unique(codes, return_index=True)[1]]
    clash = of_item[codes] != groups
    if clash.any():
        row = int(clash.argmax())
        raise InputError(
            f"item {check.quote(names[codes[row]])} in two {what}s",
            f"one {what} for each item",
            "Make its rows agree.",
            source.at(row, column),
        )
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
