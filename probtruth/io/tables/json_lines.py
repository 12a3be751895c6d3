"""JSON lines as a table: one object on each line, all with the same keys; nested values are of no use.

JSON is read strictly, also that of other tools: no key stands twice, and what is nested too deep is no JSON.
"""

import json
import re
from typing import Any

import polars
from polars import DataFrame, Series, String

from probtruth.check import Source, quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import name_text

Cell = str | int | float | bool | list[Any] | dict[str, Any] | None
ESCAPE = b"\\u"
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair


def strict(text: bytes | str, where: str, expected: str = "JSON", hint: str = "Check that file.") -> Any:

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            raise InputError("an object with a repeated key", "every key once", "Remove the repetition.", where)
        return row

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"text that is not JSON ({str(error).split(':')[0]})", expected, hint, where) from None


def parse(data: bytes, name: str, before: int = 0) -> tuple[DataFrame, Source]:
    """The table of JSON lines in UTF-8, and the line of each row; blank lines are skipped."""
    rows: list[dict[str, Cell]] = []
    lines: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1 + before):
        if line.strip():
            where = f"{name}, line {number}"
            row = strict(line, where, "one JSON object a line", "Check that line.")
            rows.append(_object(row, where, ESCAPE in line))
            lines.append(number)
    return _frame(rows, name, [f"line {line}" for line in lines]), Source(name, lines=lines)


def parse_list(data: bytes, name: str) -> tuple[DataFrame, Source]:
    """The table of a list of objects in UTF-8."""
    listed = strict(data, name, "a list of objects")
    if not isinstance(listed, list):
        raise InputError(f"JSON of type {type(listed).__name__}", "a list of objects", "Check the file.", name)
    places = [f"record {number}" for number in range(1, len(listed) + 1)]
    escaped = ESCAPE in data
    rows = [_object(one, f"{name}, {place}", escaped) for one, place in zip(listed, places, strict=True)]
    return _frame(rows, name, places), Source(name)


def _frame(rows: list[dict[str, Cell]], name: str, places: list[str]) -> DataFrame:
    for row, place in zip(rows, places, strict=True):
        if row.keys() != rows[0].keys():
            raise _other_keys(rows[0], row, f"{name}, {place}")
    if not rows or not rows[0]:
        raise InputError("an empty file" if not rows else "an empty object", "rows", "Check the file.", name)
    # a list of columns would name ""
    return DataFrame({key: _column(key, [row[key] for row in rows]) for key in rows[0]})


def _object(row: Any, where: str, escaped: bool) -> dict[str, Cell]:
    """A row, if it is an object; only `escaped` text can hold half of a surrogate pair."""
    if not isinstance(row, dict):
        got = "a list" if isinstance(row, list) else quote(row)
        raise InputError(got, "one JSON object a line", 'Write {"item": ..., ...} on each line.', where)
    for key, cell in row.items() if escaped else ():
        if HALF.search(key) or (isinstance(cell, str) and HALF.search(cell)):
            where = f"{where}, column {quote(key)}"
            raise InputError("half of a surrogate pair", "text that UTF-8 can hold", "Repair that text.", where)
    return row


def _other_keys(first: dict[str, Cell], other: dict[str, Cell], where: str) -> InputError:
    absent, more = [key for key in first if key not in other], [key for key in other if key not in first]
    words = [f"no {shortlist(absent)}"] * bool(absent) + [f"also {shortlist(more)}"] * bool(more)
    return InputError(
        f"an object with {' and '.join(words)}", "the keys of the first object", "Give every line the same keys.", where
    )


def _column(key: str, cells: list[Cell]) -> Series:
    """Cells of one type as that type; of several types, or with integers that floats cannot hold, as text."""
    kinds = set(map(type, cells)) - {type(None)}
    if kinds & {list, dict}:  # of no use: what asks for it says that it is nested
        return Series(key, [None] * len(cells), polars.List(String))
    if kinds == {bool}:
        return Series(key, cells, polars.Boolean)
    if kinds == {int} and all(cell is None or abs(cell) < 2**63 for cell in cells):  # type: ignore[arg-type]
        return Series(key, cells, polars.Int64)
    if kinds == {float}:
        return Series(key, cells, polars.Float64)
    return Series(key, [None if cell is None else name_text(cell) for cell in cells], String)
