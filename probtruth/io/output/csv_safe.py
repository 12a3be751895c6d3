"""CSV that a spreadsheet shows as text: cells that could be read as formulas get a leading apostrophe."""

from pathlib import Path

import polars

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes as the start of a formula, or skips before one."""


def safe_text(text: str) -> str:
    """The text, with an apostrophe before a start that a spreadsheet would evaluate.

    >>> safe_text("=1+1"), safe_text("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_text(frame: polars.DataFrame) -> str:
    """The frame as CSV: numbers in the shortest form that reads back the same, unknown ones blank, text safe."""
    text = polars.col(polars.String)
    risky = text.str.contains(r"\A[=+\-@\t\r]")
    safe = frame.with_columns(polars.when(risky).then("'" + text).otherwise(text).name.keep())
    return safe.rename({name: safe_text(name) for name in frame.columns}).fill_nan(None).write_csv()


def write_csv(frame: polars.DataFrame, path: str | Path) -> None:
    """Writes the frame with `csv_text`."""
    Path(path).write_bytes(csv_text(frame).encode())
