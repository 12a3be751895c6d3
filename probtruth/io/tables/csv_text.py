"""CSV with every cell as it is written: no row is filled up, no column renamed, no number guessed."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import StringIO

import polars

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
MOST_COLUMNS = 200_000
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
    if b'"' in data:
        header, columns, lines = _quoted(data, separator, source)
        named = zip(header, columns, strict=True)
        frame = polars.DataFrame({one: polars.Series(cells, dtype=polars.String) for one, cells in named})
    else:
        frame, lines = _plain(data, separator, source)
    return _decimal_points(frame, replace(source, lines=lines), separator)


def _plain(data: bytes, separator: str, source: Source) -> tuple[polars.DataFrame, Sequence[int]]:
    """A text without quotation marks: each line is a row."""
    data = data.rstrip(b"\r\n") + b"\n"
    lines: Sequence[int] = range(1, data.count(b"\n") + 1)
    if data.startswith((b"\n", b"\r\n")) or b"\n\n" in data or b"\n\r\n" in data:
        rows = data.split(b"\n")
        lines = [number for number, row in enumerate(rows, 1) if row.rstrip(b"\r")]
        data = b"\n".join(row for row in rows if row.rstrip(b"\r")) + b"\n" * bool(lines)
    head, _, body = data.partition(b"\n")
    if data.count(b"\r") > data.count(b"\r\n"):
        at = next(number for number, row in zip(lines, data.split(b"\n"), strict=False) if b"\r" in row[:-1])
        raise InputError(
            "a carriage return without a line feed",
            "lines that end in LF or CRLF",
            "Save the file so.",
            _at(source, at),
        )
    header = head.rstrip(b"\r").decode().split(separator)
    _check_header(header, bool(body), source)
    mark, lines = separator.encode(), lines[1:]
    try:
        frame = polars.read_csv(
            body,
            has_header=False,
            schema=dict.fromkeys(header, polars.String),
            separator=separator,
            quote_char=None,
            infer_schema=False,
        )
        sound, why = frame.height == len(lines) and body.count(mark) == len(lines) * (len(header) - 1), ""
    except polars.exceptions.PolarsError as error:
        sound, why = False, str(error).split("\n")[0]
    if not sound:
        _check_widths((row.count(mark) + 1 for row in body.split(b"\n")), len(header), lines, source)
        raise InputError(f"text that is not sound CSV ({why})", "a table", "Write it again.", source.name)
    return frame, lines


def _quoted(data: bytes, separator: str, source: Source) -> tuple[list[str], list[list[str | None]], Sequence[int]]:
    """Header, columns and lines of a text with quotation marks, as Python's own parser reads it."""
    reader = csv.reader(StringIO(data.decode(), newline=""), delimiter=separator, strict=True)
    rows, lines, end = [], [], 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(end + 1)
            end = reader.line_num
    except csv.Error as error:
        closed = "unexpected end" not in str(error)
        raise InputError(
            "text after a closing quotation mark" if closed else "a quotation mark that is never closed",
            'quotation marks around the whole cell, and doubled ("") inside it',
            "Write the table with a CSV writer, or as JSONL or Parquet.",
            _at(source, end + 1),
        ) from None
    header = rows[0] if rows else [""]
    _check_header(header, len(rows) > 1, source)
    _check_widths(map(len, rows[1:]), len(header), lines[1:], source)
    return header, [[cell or None for cell in column] for column in zip(*rows[1:], strict=True)], lines[1:]


def _at(source: Source, line: int) -> str:
    return f"{source.name}, line {line + source.before}"


def _check_header(header: Sequence[str], has_rows: bool, source: Source) -> None:
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{len(header):,} columns",
            f"at most {MOST_COLUMNS:,}",
            "Write one row for each item; the table may be transposed.",
            f"{source.name}, header",
        )
    if header == [""]:
        raise InputError("an empty file", "a header and at least one row", "Check the path.", source.name)
    if len(set(header)) < len(header):
        seen: set[str] = set()
        twice = [column for column in header if column in seen or seen.add(column)]  # type: ignore[func-returns-value]
        raise InputError(
            f"column {check.shortlist(twice)} more than once",
            "every column name once",
            "Rename or remove the repeated column.",
            f"{source.name}, header",
        )
    if not has_rows:
        raise InputError("a header without rows", "at least one row below it", "Check the file.", source.name)


def _check_widths(widths: Iterable[int], expected: int, lines: Sequence[int], source: Source) -> None:
    for width, line in zip(widths, lines, strict=False):
        if width != expected:
            raise InputError(
                f"{width} cells",
                f"{expected} as in the header",
                "Complete the row; quote a cell that contains the separator.",
                _at(source, line),
            )


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
