"""JSON lines as a table: one object on each line, all with the same keys; nested values are of no use.

JSON is read strictly, also that of other tools: no key stands twice, and what is nested too deep is no JSON.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from polars import DataFrame, List, Series, String

from probtruth.check import Source, quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import series

Cell = str | int | float | bool | list[Any] | dict[str, Any] | None
ESCAPE = b"\\u"
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair


def strict(text: bytes | str, where: str, expected: str = "JSON", hint: str = "Check that file.") -> Any:

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            raise InputError(
                "an object with a repeated key",
                "every key once",
                "Remove the repetition.",
                where,
            )
        return row

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"text that is not JSON ({str(error).split(':')[0]})",
            expected,
            hint,
            where,
        ) from None


def values_in(data: bytes, name: str, what: str, listed: bool, before: int = 0) -> Iterator[tuple[int, str, Any]]:
    """The values of a text in UTF-8, in a list or one a line: the number of each, its place in words, and itself."""
    if listed:
        values = strict(data, name, "a list of objects")
        if not isinstance(values, list):
            raise InputError(
                f"JSON of type {type(values).__name__}",
                "a list of objects",
                "Check the file.",
                name,
            )
        yield from ((number, f"{name}, {what} {number}", value) for number, value in enumerate(values, 1))
        return
    for number, line in enumerate(data.split(b"\n"), 1 + before):
        if line.strip():
            where = f"{name}, line {number}"
            yield number, where, strict(line, where, "one JSON object a line", "Check that line.")


def parse(data: bytes, name: str, listed: bool, before: int = 0) -> tuple[DataFrame, Source]:
    """The table of objects in a list or one a line; blank lines are skipped."""
    rows: list[dict[str, Cell]] = []
    numbers = []
    escaped = ESCAPE in data
    for number, where, value in values_in(data, name, "record", listed, before):
        row = _object(value, where, escaped)
        if rows and row.keys() != rows[0].keys():
            raise InputError(
                f"an object with other keys ({shortlist(sorted(row.keys() ^ rows[0].keys()))})",
                "the keys of the first object",
                "Give every line the same keys.",
                where,
            )
        rows.append(row)
        numbers.append(number)
    if not rows or not rows[0]:
        raise InputError(
            "an empty file" if not rows else "an empty object",
            "rows",
            "Check the file.",
            name,
        )
    # a list of columns would name ""
    frame = DataFrame({key: _column(key, [row[key] for row in rows]) for key in rows[0]})
    return frame, Source(name, lines=None if listed else numbers)


def _object(row: Any, where: str, escaped: bool) -> dict[str, Cell]:
    """A row, if it is an object; only `escaped` text can hold half of a surrogate pair."""
    if not isinstance(row, dict):
        raise InputError(
            "a list" if isinstance(row, list) else quote(row),
            "one JSON object a line",
            'Write {"item": ..., ...} on each line.',
            where,
        )
    for key, cell in row.items() if escaped else ():
        words = cell if isinstance(cell, list) else [cell]
        if any(isinstance(word, str) and HALF.search(word) for word in (key, *words)):
            raise InputError(
                "half of a surrogate pair",
                "text that UTF-8 can hold",
                "Repair that text.",
                f"{where}, column {quote(key)}",
            )
    return row


def _column(key: str, cells: list[Cell]) -> Series:
    """The cells as in a frame; nested ones, but for lists of text, are null, and what asks for them says so."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if not kinds:
        return Series(key, cells, String)
    if kinds.isdisjoint((list, dict)):
        return series(key, cells)
    lists = [cell for cell in cells if isinstance(cell, list)]
    of_text = kinds == {list} and all(isinstance(word, str) for words in lists for word in words)
    return Series(key, cells if of_text else [None] * len(cells), List(String))
