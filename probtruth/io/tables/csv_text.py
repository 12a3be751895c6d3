"""CSV with every cell as it is written: no row is filled up, no column renamed, no number guessed."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO, StringIO
from itertools import islice

from polars import DataFrame, Series, String

from probtruth.check import Source, shortlist, unique
from probtruth.errors import InputError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# A number with a decimal comma, or without decimals.
COMMA_NUMBER = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
BLOCK = 1 << 26  # bytes that are parsed at once; a longer row goes the slow way
csv.field_size_limit(2**31 - 1)  # Python's own limit is 128 KiB


def separator_of(data: bytes, usual: str) -> str:
    """The usual separator, unless the header has none of it, and as many of another one as the row below it."""
    lines = (line for line in BytesIO(data) if line.strip(b"\r\n"))
    first = [re.sub(rb'"[^"]*"', b"", line) for line in islice(lines, 2)]
    others = []
    for mark in SEPARATORS:
        counts = [line.count(mark.encode()) for line in first]
        if mark == usual and any(counts[:1]):
            return usual
        if len(counts) == 2 and counts[0] == counts[1] > 0:
            others.append(mark)
    return others[0] if len(others) == 1 else usual


def parse(data: bytes, separator: str, name: str, before: int = 0) -> tuple[DataFrame, Source]:
    """The table of a text in UTF-8; so many lines come `before` its first one."""
    source = Source(name, before=before)
    frame, lines = _by_column(data.rstrip(b"\r\n"), separator, source) or _by_row(data, separator, source)
    return _decimal_points(frame, replace(source, lines=lines), separator)


@cache
def _patterns(separator: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """A quoted cell, and the begin of one; a quotation mark inside another cell (5" pipe) is text."""
    mark = re.escape(separator.encode())
    begin = rb'"(?<![^\n\r' + mark + rb']")'  # the quotation mark first, for which the engine looks quickly
    return re.compile(begin + rb'[^"]*(?:""[^"]*)*"'), re.compile(begin)


def end_of_rows(data: bytes, separator: str) -> int:
    """Where the last row that is complete ends; 0 where none does."""
    cell, begin = _patterns(separator)
    inside = []
    last = 0
    for match in cell.finditer(data) if b'"' in data else ():
        last = match.end()
        if b"\n" in match[0]:
            inside.append(match.span())
    unfinished = begin.search(data, last) if last or b'"' in data else None
    end = data.rfind(b"\n", 0, unfinished.start() if unfinished else len(data))
    while inside and end < inside[-1][1]:
        start = inside.pop()[0]
        if end >= start:
            end = data.rfind(b"\n", 0, start)
    return end + 1


def first_row(data: bytes, separator: str) -> bytes:
    """The first row that is not blank, with all that stands before it."""
    end = 0
    while end < len(data) and not (data[:end].strip() and end_of_rows(data[:end], separator) == end):
        end = data.find(b"\n", end) + 1 or len(data)
    return data[:end]


def _by_column(data: bytes, separator: str, source: Source) -> tuple[DataFrame, Sequence[int]] | None:
    """A text without blank lines, of a line for each row, as long as the header; None where something is odd in it."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    cell, begin = _patterns(separator)
    quoted = b'"' in data
    bare = cell.sub(b"\0", data) if quoted else data  # there is no NUL in it
    if data.count(b"\r") > bare.count(b"\r\n"):
        return None
    data = data.replace(b"\r\n", b"\n")
    bare = bare.replace(b"\r\n", b"\n")
    if data.count(b"\n") > bare.count(b"\n"):  # ends of lines in cells
        return None
    after = re.compile(b"\0[^\n" + re.escape(separator.encode()) + b"]")
    n_rows = bare.count(b"\n")
    if not n_rows or b"\n\n" in bare or (quoted and (begin.search(bare) or after.search(bare))):
        return None
    first, _, rest = data.partition(b"\n")
    header = next(csv.reader([first.decode()], delimiter=separator))
    unique(header, "column", f"{source.name}, header")
    try:
        types = dict.fromkeys(header, pyarrow.string())
        table = arrow_csv.read_csv(
            BytesIO(rest),
            arrow_csv.ReadOptions(column_names=header, block_size=BLOCK),
            arrow_csv.ParseOptions(delimiter=separator),
            arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""]),
        )
    except pyarrow.ArrowInvalid:
        return None
    if table.num_rows != n_rows:
        return None
    frame = DataFrame(table)
    frame.columns = header
    return frame, range(2, n_rows + 2)


def _by_row(data: bytes, separator: str, source: Source) -> tuple[DataFrame, Sequence[int]]:
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
                unique(header, "column", f"{source.name}, header")
            elif len(row) != len(header):
                raise InputError(
                    f"{len(row)} cells",
                    f"{len(header)} as in the header",
                    "Complete the row; quote a cell that contains the separator.",
                    f"{source.name}, line {first + source.before}",
                )
            else:
                rows.append(row)
                lines.append(first)
    except csv.Error as error:
        never_closed = "unexpected end" in str(error)
        raise InputError(
            "a quotation mark that is never closed" if never_closed else "text after a closing quotation mark",
            'quotation marks around the whole cell, and doubled ("") inside it',
            "Write the table with a CSV writer, or as JSONL or Parquet.",
            f"{source.name}, line {end + 1 + source.before}",
        ) from None
    if not rows:
        raise InputError(
            "a header without rows" if header else "an empty file",
            "a header and at least one row",
            "Check the file.",
            source.name,
        )
    columns = zip(header, zip(*rows, strict=True), strict=True)
    frame = {name: Series([cell or None for cell in cells], dtype=String) for name, cells in columns}
    return DataFrame(frame), lines


def _decimal_points(frame: DataFrame, source: Source, separator: str) -> tuple[DataFrame, Source]:
    """Numbers with decimal commas, which only a file separated by semicolons has, with points."""
    if separator != ";":
        return frame, source
    made, found = [], []
    for column in frame:
        if column.str.contains(",", literal=True).any() and column.str.contains(COMMA_NUMBER).all():
            found.append(column.name)
            column = column.str.replace(",", ".", literal=True)
        made.append(column)
    note = f"{source.name}: read {shortlist(found)} with decimal commas"
    return DataFrame(made), replace(source, notes=(*source.notes, note) if found else source.notes)
