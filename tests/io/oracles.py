"""What judges a reader from outside: Python's own csv and json readers, and what a message must not hold."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probtruth.io.tables.read import read_table

LONGEST_MESSAGE = 9000
"""Characters: four parts of bounded length."""
PANICS = re.compile(r"panicked|unwrap\(\)|JoinError|PanicException|RUST_BACKTRACE|called `|thread '")
"""Words of Rust when it gives up."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def unfit(message: str) -> str | None:
    """Why a message is not to be shown to a user; None if it is."""
    if len(message) > LONGEST_MESSAGE:
        return f"{len(message)} characters"
    if "Hint: " not in message:
        return "no hint"
    control = [mark for mark in message if unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp")]
    if control:
        return f"the control character {control[0]!r}"
    panic = PANICS.search(message)
    return f"the text of a panic, {panic[0]!r}" if panic else None


def disagreement(path: Path) -> str | None:
    """Where Python's own reader sees another table or document in a file that was accepted; None if nowhere."""
    text = path.read_bytes().decode("utf-8-sig") if path.suffix in (*SEPARATORS, ".json", ".jsonl") else None
    if text is None:
        return None
    try:
        if path.suffix in SEPARATORS:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[path.suffix], strict=True)
            return _unlike_table([row for row in rows if row], path)
        documents = list(_documents(text))
    except (csv.Error, ValueError, RecursionError) as error:
        return f"Python refuses it: {error}"
    return _unlike_lines(documents, path) if path.name == "t.jsonl" else None


def _documents(text: str) -> Iterator[Any]:
    """The one document of a text, or that of each of its lines."""
    try:
        yield json.loads(text)
    except ValueError:
        yield from (json.loads(line) for line in text.split("\n") if line.strip())


def _unlike_table(rows: list[list[str]], path: Path) -> str | None:
    frame, _ = read_table(path)
    if tuple(frame.columns) != tuple(rows[0]):
        return f"header {frame.columns} for {rows[0]}"
    cells = [["" if cell is None else cell for cell in row] for row in frame.rows()]
    return None if cells == rows[1:] else f"rows {cells} for {rows[1:]}"


def _unlike_lines(objects: list[dict[str, Any]], path: Path) -> str | None:
    frame, _ = read_table(path)
    if frame.height != len(objects):
        return f"{frame.height} rows for {len(objects)} objects"
    for row, want in zip(frame.iter_rows(named=True), objects, strict=True):
        if row.keys() != want.keys() or not all(_alike(row[key], want[key]) for key in want):
            return f"{row} for {want}"
    return None


def _alike(cell: Any, value: Any) -> bool:
    """A cell and the value that Python reads: the same, or the value as text."""
    if not isinstance(cell, str) or isinstance(value, str):
        return type(cell) is type(value) and (cell == value or (cell != cell and value != value))
    if isinstance(value, float):
        return repr(float(cell)) == repr(value)
    return cell in (str(value), json.dumps(value))
