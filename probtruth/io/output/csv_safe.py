"""CSV that a spreadsheet shows as text: cells that could be read as formulas get a leading apostrophe."""

from collections.abc import Iterable
from pathlib import Path

import polars

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.output.folder import check_file

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes as the start of a formula, or skips before one."""


def safe_text(text: str) -> str:
    """The text, with an apostrophe before a start that a spreadsheet would evaluate.

    >>> safe_text("=1+1"), safe_text("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def refuse_formulas(names: Iterable[str], hint: str) -> None:
    """Raises where a name would not come back from CSV as it is, because it needs an apostrophe."""
    risky = [name for name in names if safe_text(name) != name]
    if risky:
        problem = f"names that a spreadsheet would take for formulas: {check.shortlist(risky, 3)}"
        raise InputError(problem, "other names in CSV", hint)


def check_free(path: str | Path) -> None:
    """Raises where a CSV cannot be written: nothing in one says whose it is, so none is ever replaced."""
    if Path(path).is_file() and Path(path).stat().st_size:
        raise InputError(
            "a CSV file that is there already",
            "a free name, since nothing in a CSV says that probtruth wrote it",
            "Remove it, or choose another path.",
            str(path),
        )
    check_file(path, lambda _: False)


def csv_text(frame: polars.DataFrame) -> str:
    """The frame as CSV: numbers in the shortest form that reads back the same, unknown ones blank, text safe."""
    text = polars.col(polars.String)
    risky = text.str.contains(r"\A[=+\-@\t\r]")
    safe = frame.with_columns(polars.when(risky).then("'" + text).otherwise(text).name.keep())
    return safe.rename({name: safe_text(name) for name in frame.columns}).fill_nan(None).write_csv()


def write_csv(frame: polars.DataFrame, path: str | Path) -> None:
    """Writes the frame with `csv_text`."""
    Path(path).write_bytes(csv_text(frame).encode())
