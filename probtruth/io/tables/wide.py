"""Wide tables: a column of item names, and one column of numbers for each label."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars
from jaxtyping import Float

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.read import read_table

type CellKind = Literal["probs", "percent", "log-probs", "logits", "log_probs"]
KINDS = get_args(CellKind.__value__)[:-1]
"""What the cells of a table can be; `log_probs` is another way to write one of them."""


def known_kind(kind: str) -> str:
    """The kind of the cells, one of `KINDS`.

    Errors: `InputError` for an unknown one.
    """
    return check.one_of("log-probs" if kind == "log_probs" else kind, KINDS, "kind")


@dataclass(frozen=True, eq=False)
class WideTable:
    """Items and labels in the order of the file; `used` are the labels of the reference, where they are known."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    values: Float[np.ndarray, "item label"]
    source: Source
    item: str
    used: frozenset[str] | None


def read_wide(path: str | Path, item: str, used: frozenset[str] | None = None) -> WideTable:
    """A file as a wide table: every item once, and every other column full of numbers.

    Errors: `InputError` with file, line and column; a column of text that is no label is not taken for one in silence.
    """
    frame, source = read_table(path)
    items = distinct_items(frame, item, source, "every item once", "Remove one of its rows.")
    labels = labels_of(frame.columns, item, source)
    values, unread = frame_numbers.matrix(frame, labels)
    if unread is not None:
        refuse(frame, unread, source, known_label=used is not None and unread in used)
    return WideTable(tuple(items), tuple(labels), values, source, item, used)


def distinct_items(frame: polars.DataFrame, item: str, source: Source, expected: str, hint: str) -> list[str]:
    """The names of the items, each of which has one row.

    Errors: `InputError` at the first row of an item that had one before.
    """
    codes, items = frames.encode(frame, item, source, "item")
    if len(items) == len(codes):
        return items
    repeated = np.ones(len(codes), bool)
    repeated[np.unique(codes, return_index=True)[1]] = False
    row = int(repeated.argmax())
    raise InputError(f"item {check.quote(items[codes[row]])} a second time", expected, hint, source.at(row, item))


def unnamed(source: Source) -> InputError:
    """The error for a column without a name, which an exported row number often is."""
    return InputError(
        "a column without a name", "one named column for each label", "Drop it (pandas: index=False).", source.name
    )


def labels_of(columns: Sequence[str], item: str, source: Source) -> list[str]:
    """All columns but that of the items.

    Errors: `InputError` where there is none, or one has no name.
    """
    labels = [column for column in columns if column != item]
    if not labels:
        raise InputError("no column of probabilities", "one column for each label", "Check the file.", source.name)
    if not all(label.strip() for label in labels):
        raise unnamed(source)
    return labels


def cells(
    frame: polars.DataFrame, labels: Sequence[str], source: Source, item: str, kind: str, what: str = "probabilities"
) -> Float[np.ndarray, "item label"]:
    """The checked cells of some columns; an error for what is no distribution."""
    values, unread = frame_numbers.matrix(frame, labels)
    if unread is not None:
        refuse(frame, unread, source, known_label=True)
    table = WideTable((), tuple(labels), np.ascontiguousarray(values), source, item, None)
    check_rows(table, kind, what)
    return table.values


def refuse(frame: polars.DataFrame, label: str, source: Source, known_label: bool) -> None:
    """Raises for a column that does not hold numbers; one without any may be no label."""
    try:
        frame_numbers.numbers(frame, label, source, "label")
    except InputError as error:
        if known_label or _some_number(frames.cells(frame, label)):
            raise
        raise InputError(
            f"a column without numbers ({error.got})",
            "a column of numbers for each label",
            f"Every column but the items' is read as a label; drop {check.quote(label)} if it is none.",
            error.where,
        ) from None


def _some_number(series: polars.Series) -> bool:
    if series.dtype != polars.String:
        return False
    return bool(series.str.strip_chars().cast(polars.Float64, strict=False).is_not_null().any())


def check_rows(table: WideTable, kind: str, what: str = "probabilities") -> None:
    """Raises at the first cell or row that cannot be used, with its line and column."""
    if kind == "probs" and check.surely_simplex(table.values):
        return

    def cell(bad: np.ndarray, expected: str) -> None:
        if bad.any():
            row, column = (int(axis[0]) for axis in np.nonzero(bad))
            raise InputError(
                f"{table.values[row, column]}",
                expected,
                "Check that cell; nothing is clipped.",
                table.source.at(row, table.labels[column]),
            )

    cell(np.isnan(table.values), "a number")
    cell(table.values == np.inf, "a finite number")
    if kind == "logits":
        bad = (table.values == -np.inf).all(1)
        if bad.any():
            raise InputError("no finite logit", "at least one", "Check that row.", table.source.at(int(bad.argmax())))
        return
    if kind == "probs":
        cell(table.values < 0, "a probability between 0 and 1")
        probs = table.values
    else:
        with np.errstate(over="ignore"):
            probs, what = np.exp(table.values), "exponentials of log-probabilities"
    try:
        check.simplex(probs, what, table.source.at, table.labels)
    except InputError as error:
        raise InputError(error.got, error.expected, f"{error.hint} {_suspects(table)}", error.where) from None


def _suspects(table: WideTable) -> str:
    """The columns that may not be labels, for the hint."""
    strange = [] if table.used is None else [label for label in table.labels if label not in table.used]
    if strange:
        return f"No annotator used column {check.shortlist(strange)}: drop it if it is no label."
    return f"Every column but {check.quote(table.item)} is read as a label: {check.shortlist(table.labels)}."


def label_difference(first: Sequence[str], other: Sequence[str]) -> str | None:
    """In words what the other lacks and has beyond the first; None where both have the same labels."""
    absent, more = sorted(set(first) - set(other)), sorted(set(other) - set(first))
    words = [f"no column {check.shortlist(absent)}"] * bool(absent) + [f"also {check.shortlist(more)}"] * bool(more)
    return " and ".join(words) or None
