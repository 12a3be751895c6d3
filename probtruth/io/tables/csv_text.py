"""CSV with every cell as it is written: no row is filled up, no column renamed, no number guessed."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import polars

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# A number with a decimal comma, or without decimals.
COMMA_NUMBER = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
csv.field_size_limit(2**31 - 1)  # Python's own limit is 128 KiB


def separator_of(data: bytes, usual: str) -> str:
    """The usual separator, unless the header has none of it, and as many of another one as the row below it."""
    header, _, rest = data.lstrip(b"\r\n").partition(b"\n")
    below = rest.lstrip(b"\r\n").partition(b"\n")[0]
    header, below = (re.sub(rb'"[^"]*"', b"", row) for row in (header, below))
    counts = {mark: header.count(mark.encode()) for mark in SEPARATORS}
    others = [mark for mark in SEPARATORS if counts[mark] and counts[mark] == below.count(mark.encode())]
    return others[0] if not counts[usual] and len(others) == 1 else usual


def parse(data: bytes, separator: str, name: str, before: int = 0) -> tuple[polars.DataFrame, Source]:
    """The table of a text in UTF-8; so many lines come `before` its first one."""
    source = Source(name, before=before)
    frame, lines = _plain(data, separator, source) or _by_row(data, separator, source)
    return _decimal_points(frame, replace(source, lines=lines), separator)


def _plain(data: bytes, separator: str, source: Source) -> tuple[polars.DataFrame, Sequence[int]] | None:
    """A text in which each line is a row, and none of them is blank; None for any other, or where rows differ."""
    data = data.rstrip(b"\r\n").replace(b"\r\n", b"\n")
    head, _, body = data.partition(b"\n")
    if not head or not body or any(odd in data for odd in (b'"', b"\r", b"\n\n")):
        return None
    header, n_rows = head.decode().split(separator), body.count(b"\n") + 1
    _check_header(header, source)
    if body.count(separator.encode()) != n_rows * (len(header) - 1):
        return None
    try:
        frame = polars.read_csv(
            body,
            has_header=False,
            schema=dict.fromkeys(header, polars.String),
            separator=separator,
            quote_char=None,
            infer_schema=False,
        )
    except polars.exceptions.PolarsError:
        return None
    return (frame, range(2, n_rows + 2)) if frame.height == n_rows else None


def _by_row(data: bytes, separator: str, source: Source) -> tuple[polars.DataFrame, Sequence[int]]:
    """Any text, as Python's own parser reads it: quotation marks, blank lines, rows of other lengths."""
    reader = csv.reader(StringIO(data.decode(), newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    rows, lines, end = [], [], 0
    try:
        for row in reader:
            first, end = end + 1, reader.line_num
            if not row:
                continue
            if not header:
                header = row
                _check_header(header, source)
            elif len(row) != len(header):
                hint = "Complete the row; quote a cell that contains the separator."
                raise InputError(
                    f"{len(row)} cells",
                    f"{len(header)} as in the header",
                    hint,
                    f"{source.name}, line {first + source.before}",
                )
            else:
                rows.append(row)
                lines.append(first)
    except csv.Error as error:
        raise InputError(
            "a quotation mark that is never closed"
            if "unexpected end" in str(error)
            else "text after a closing quotation mark",
            'quotation marks around the whole cell, and doubled ("") inside it',
            "Write the table with a CSV writer, or as JSONL or Parquet.",
            f"{source.name}, line {end + 1 + source.before}",
        ) from None
    if not rows:
        problem = "a header without rows" if header else "an empty file"
        raise InputError(problem, "a header and at least one row", "Check the file.", source.name)
    columns = zip(header, zip(*rows, strict=True), strict=True)
    frame = {name: polars.Series([cell or None for cell in cells], dtype=polars.String) for name, cells in columns}
    return polars.DataFrame(frame), lines


def _check_header(header: Sequence[str], source: Source) -> None:
    if len(set(header)) < len(header):
        twice = check.shortlist(name for name, count in Counter(header).items() if count > 1)
        hint = "Rename or remove the repeated column."
        raise InputError(f"column {twice} more than once", "every column name once", hint, f"{source.name}, header")


def _decimal_points(frame: polars.DataFrame, source: Source, separator: str) -> tuple[polars.DataFrame, Source]:
    """Numbers with decimal commas, which only a file separated by semicolons has, with points."""
    if separator != ";":
        return frame, source
    made, found = [], []
    for column in frame:
        if column.str.contains(",", literal=True).any() and column.str.contains(COMMA_NUMBER).all():
            found.append(column.name)
            column = column.str.replace(",", ".", literal=True)
        made.append(column)
    note = f"{source.name}: read {check.shortlist(found)} with decimal commas"
    return polars.DataFrame(made), replace(source, notes=(*source.notes, note) if found else source.notes)
