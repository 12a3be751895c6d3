"""The structure of a CSV file, checked before it is parsed: no cell is guessed, and every row knows its line."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int, UInt8

from probtruth import check
from probtruth.errors import InputError

LF, CR, QUOTE = b'\n\r"'
Bytes = UInt8[np.ndarray, " byte"]
Mask = Bool[np.ndarray, " byte"]


@dataclass(frozen=True, eq=False)
class CsvText:
    """A CSV file whose structure is sound.

    `header` are the distinct column names; `rows` the text below it without blank lines and with LF line ends;
    `lines` the line of the file on which each row starts.
    """

    header: tuple[str, ...]
    rows: bytes
    lines: Int[np.ndarray, " row"]


def dissect(data: bytes, separator: str, name: str) -> CsvText:
    """Header, rows and lines of a CSV text in UTF-8.

    The grammar is that of RFC 4180 with LF or CRLF: a quotation mark opens a cell only at its start, closes it only at
    its end, and is doubled inside. Every row has as many cells as the header. Blank lines are skipped.

    Errors: `InputError` with the line for everything else.
    """
    raw = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(raw == LF)

    def line(position: int) -> str:
        return f"{name}, line {int(np.searchsorted(newlines, position)) + 1}"

    outside = _outside_quotes(raw, ord(separator), line)
    returns = _carriage_returns(raw, outside, line)
    ends = np.flatnonzero((raw == LF) & outside)
    if len(raw) and raw[-1] != LF:
        ends = np.append(ends, len(raw))
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    full = ends - starts > returns[ends - 1] if len(ends) else ends > 0
    if not full.any():
        raise InputError("an empty file", "a header and at least one row", "Check the path.", name)

    cuts = np.flatnonzero((raw == ord(separator)) & outside)
    first, last = np.searchsorted(cuts, starts[full]), np.searchsorted(cuts, ends[full])
    header_end = int(ends[full][0])
    header_start = int(starts[full][0])
    inner = cuts[first[0] : last[0]] - header_start
    header = _header(data[header_start:header_end].rstrip(b"\r"), separator, inner.tolist())
    lines = np.searchsorted(newlines, starts[full][1:]) + 1
    _check_header(header, separator, name)
    if not len(lines):
        raise InputError("a header without rows", "at least one row below it", "Check the file.", name)
    _check_widths((last - first + 1)[1:], len(header), lines, name)

    dropped = returns
    dropped[: header_end + 1] = True
    blank = ends[~full]
    dropped[blank[blank < len(raw)]] = True
    return CsvText(header, raw[~dropped].tobytes(), lines)


def _outside_quotes(raw: Bytes, separator: int, line: Callable[[int], str]) -> Mask:
    """Which bytes are not inside a quoted cell."""
    quotes = raw == QUOTE
    if not quotes.any():
        return np.ones(len(raw), bool)
    inside = (np.cumsum(quotes, dtype=np.uint8) & 1).astype(bool)  # the count wraps at 256, its parity does not
    at = np.flatnonzero(quotes)
    before = np.where(at > 0, raw[at - 1], LF)
    after = np.where(at < len(raw) - 1, raw[(at + 1) % len(raw)], LF)
    edges = (separator, LF, QUOTE)
    wrong = np.where(inside[at], ~np.isin(before, edges), ~np.isin(after, (*edges, CR)))
    if wrong.any():
        raise InputError(
            "a quotation mark in the middle of a cell",
            'quotation marks around the whole cell, and doubled ("") inside it',
            "Write the table with a CSV writer, or as JSONL or Parquet.",
            line(int(at[wrong.argmax()])),
        )
    if inside[-1]:
        raise InputError(
            "a quotation mark that is never closed", "one at the end of the cell", "Close it.", line(int(at[-1]))
        )
    return ~inside


def _carriage_returns(raw: Bytes, outside: Mask, line: Callable[[int], str]) -> Mask:
    """The carriage returns of CRLF line ends."""
    returns: Mask = (raw == CR) & outside
    at = np.flatnonzero(returns)
    lone = at[(at < len(raw) - 1) & (raw[(at + 1) % max(len(raw), 1)] != LF)]
    if len(lone):
        raise InputError(
            "a carriage return without a line feed",
            "lines that end in LF or CRLF",
            "Save the file with such line ends.",
            line(int(lone[0])),
        )
    return returns


def _check_header(header: tuple[str, ...], separator: str, name: str) -> None:
    twice = [column for column, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(
            f"column {check.shortlist(twice)} more than once",
            "every column name once",
            "Rename or remove the repeated column.",
            f"{name}, header",
        )
    other = [mark for mark in (";", "\t", ",", "|") if len(header) == 1 and mark in header[0] and mark != separator]
    if other:
        raise InputError(
            f"a header separated by {other[0]!r}",
            f"cells separated by {separator!r}",
            "A .csv file is separated by commas, a .tsv file by tabs.",
            f"{name}, header",
        )


def _check_widths(cells: Int[np.ndarray, " row"], expected: int, lines: Int[np.ndarray, " row"], name: str) -> None:
    wrong = cells != expected
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{cells[row]} cells",
            f"{expected} as in the header",
            "Complete the row; quote a cell that contains the separator.",
            f"{name}, line {lines[row]}",
        )


def _header(row: bytes, separator: str, cuts: list[int]) -> tuple[str, ...]:
    """The cells of the first row, cut at the separators that stand outside quotation marks."""
    if b'"' not in row:
        return tuple(row.decode().split(separator))
    cells = [row[left + 1 : right].decode() for left, right in pairwise([-1, *cuts, len(row)])]
    return tuple(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell for cell in cells)
