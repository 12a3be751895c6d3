"""What judges a reader from outside: Python's own CSV reader, and what a message must not hold."""

import csv
import io
import re
import unicodedata
from pathlib import Path
from typing import Any

from probtruth.io.formats import LabelReading
from probtruth.io.table import opened
from probtruth.line.inputs import reference_of

LONGEST_MESSAGE = 9000  # Characters: four parts of bounded length
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
    """Where Python's own reader sees another table in a text that was accepted; None if nowhere."""
    if path.suffix not in SEPARATORS:
        return None
    text = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    try:
        rows = [row for row in csv.reader(text, delimiter=SEPARATORS[path.suffix], strict=True) if row]
    except csv.Error as error:
        return f"Python refuses it: {error}"
    frame, _ = opened(path).whole
    if tuple(frame.columns) != tuple(rows[0]):
        return f"header {frame.columns} for {rows[0]}"
    cells = [["" if cell is None else cell for cell in row] for row in frame.rows()]
    return None if cells == rows[1:] else f"rows {cells} for {rows[1:]}"


def read_soft(path: Path, item: str | None = None, estimand: Any = None, memory: float | None = None) -> Any:
    """The soft labels in a file, as `--soft` reads them."""
    return reference_of(path, {}, LabelReading(item, format="soft"), estimand, memory=memory)
