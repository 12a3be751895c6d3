"""CSV with every cell as it is written: no row is filled up, no column renamed, no number guessed."""

import csv
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import StringIO
from itertools import chain, islice
from typing import Any

import polars
from polars import DataFrame, Series, String

from probtruth.check import Source, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.frames import of_columns

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# A number with a decimal comma, or without decimals.
COMMA_NUMBER = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
QUOTED = rb'(?<![^,;|\t\r\n])"(?:[^"]++|"")*+"'  # A cell in quotation marks; others are of the text (5" pipe)
ROW = rb'(?:[^"\r\n]++|' + QUOTED + rb'|")++'  # A row that is not blank, with the line ends in its quoted cells
TEXT, COMMAS = "text", "numbers with decimal commas"  # What a column of a file separated by semicolons holds
CELLS = 1 << 16  # and at least so many rows are text of Python at once, which takes many times a column's memory
FEWEST_ROWS = 100
csv.field_size_limit(2**31 - 1)  # Python's own limit is 128 KiB

type Lines = array[int]
"""The line of each row."""


def separator_of(data: bytes, usual: str) -> str:
    """The usual separator, unless the row below the header has another number of it, and as many of another one."""
    first = [re.sub(QUOTED, b"", row.group()) for row in islice(re.finditer(ROW, data), 2)]
    fits = []
    for mark in SEPARATORS:
        counts = [line.count(mark.encode()) for line in first]
        if len(counts) == 2 and counts[0] == counts[1] > 0:
            fits.append(mark)
    return fits[0] if len(fits) == 1 else usual


def parse(pieces: Iterable[bytes], usual: str, name: str, whole: bool) -> Iterator[tuple[DataFrame, Source]]:
    """The rows of a text in UTF-8, all at once or some at a time; its pieces end where a line does."""
    rest = iter(pieces)
    first = next(rest)
    separator = separator_of(first, usual)
    source = Source(name)
    if separator != usual:
        source = Source(name, notes=(f"{name}: read as separated by {SEPARATORS[separator]}",))
    lines = chain.from_iterable(StringIO(piece.decode(), newline="") for piece in chain([first], rest))
    made = _frames(csv.reader(lines, delimiter=separator, strict=True), name)
    if whole:
        every = [*made]
        frame = polars.concat([frame for frame, _ in every])
        made = iter([(frame, sum((numbers for _, numbers in every), array("q")))])
    state: dict[str, str] = {}
    for frame, numbers in made:
        yield _decimal_points(frame, replace(source, lines=numbers), separator, state)


def _frames(reader: Any, name: str) -> Iterator[tuple[DataFrame, Lines]]:
    """Some rows at a time, and the lines on which they begin; blank lines are skipped."""
    header: list[str] = []
    rows: list[list[str]] = []
    numbers = array("q")
    end = 0
    found = False
    try:
        for row in reader:
            first = end + 1
            end = reader.line_num
            if not row:
                continue
            if not header:
                header = row
                unique(header, "column", f"{name}, header")
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{len(row)} cells",
                    f"{len(header)} as in the header",
                    "Complete the row; quote a cell that contains the separator.",
                    f"{name}, line {first}",
                )
            rows.append(row)
            numbers.append(first)
            if len(rows) >= max(FEWEST_ROWS, CELLS // len(header)):
                yield _frame(header, rows), numbers
                found = True
                rows = []
                numbers = array("q")
    except csv.Error as error:
        never_closed = "unexpected end" in str(error)
        raise InputError(
            "a quotation mark that is never closed" if never_closed else "text after a closing quotation mark",
            'quotation marks around the whole cell, and doubled ("") inside it',
            "Write the table with a CSV writer, or as JSONL or Parquet.",
            f"{name}, line {end + 1}",
        ) from None
    if rows:
        yield _frame(header, rows), numbers
    elif not found:
        got = "a header without rows" if header else "an empty file"
        raise InputError(got, "a header and at least one row", "Check the file.", name)


def _frame(header: list[str], rows: list[list[str]]) -> DataFrame:
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return DataFrame({name: Series([cell or None for cell in cells], dtype=String) for name, cells in columns})


def _decimal_points(
    frame: DataFrame, source: Source, separator: str, of_parts: dict[str, str]
) -> tuple[DataFrame, Source]:
    """Numbers with decimal commas, which only a file separated by semicolons has, with points.

    `of_parts` says what each column was in the parts before this one: the whole column decides.
    """
    if separator != ";":
        return frame, source
    made, found = [], []
    for name in frame.columns:
        column = frame.get_column(name).alias("cells")  # because polars would read its name as a pattern
        before = of_parts.get(name)
        numbers = column.str.contains(COMMA_NUMBER)
        if before == TEXT or not numbers.all():
            if before == COMMAS:
                row = int((~numbers).fill_null(False).arg_max() or 0)
                raise InputError(
                    f"{quote(column[row])} below numbers with decimal commas",
                    "numbers to the end, or text from the beginning",
                    "Write the numbers with points, or give more memory (memory=; command line: --memory).",
                    source.at(row, name),
                )
            of_parts[name] = TEXT
        elif before == COMMAS or column.str.contains(",", literal=True).any():
            of_parts[name] = COMMAS
            found.append(name)
            column = column.str.replace(",", ".", literal=True)
        made.append(column.alias(name))
    note = f"{source.name}: read {shortlist(found)} with decimal commas"
    return of_columns(made), replace(source, notes=(*source.notes, note) if found else source.notes)
