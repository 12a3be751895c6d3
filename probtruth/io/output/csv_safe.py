"""CSV that a spreadsheet shows as text: cells that could be read as formulas get a leading apostrophe.

What would control a terminal that shows the file is written as its escape.
"""

from collections.abc import Iterable
from pathlib import Path

import polars
from polars import DataFrame, String

from probtruth.check import shortlist
from probtruth.errors import InputError
from probtruth.io.output.folder import check_out, need_suffix, whole
from probtruth.redaction import CONTROLS
from probtruth.types.arguments import StrPath

# Characters that control a terminal, but for those of CSV's own lines and cells, and how they are written.
ESCAPES = {chr(code): repr(chr(code))[1:-1] for code in sorted(CONTROLS) if chr(code) not in "\t\r\n"}
ANY_CONTROL = f"[{''.join(f'\\x{{{ord(character):x}}}' for character in ESCAPES)}]"
FORMULA = r"\A[=+\-@\t\r]"  # What a spreadsheet takes as the start of a formula, or skips before one


def safe(frame: DataFrame) -> DataFrame:
    """Text with an apostrophe before a start that a spreadsheet would evaluate, and without control characters."""
    text = polars.col(String)
    escaped = text.str.replace_many([*ESCAPES], [*ESCAPES.values()])
    shown = polars.when(text.str.contains(ANY_CONTROL)).then(escaped).otherwise(text)
    risky = text.str.contains(FORMULA)
    return frame.with_columns(polars.when(risky).then("'" + shown).otherwise(shown).name.keep())


def check_new_csv(path: StrPath) -> None:
    """Raises where a CSV cannot be written: nothing in one says whose it is, so none is ever replaced."""
    need_suffix(path, ".csv")
    if Path(path).is_file() and Path(path).stat().st_size:
        raise InputError(
            "a CSV file that is there already",
            "a free name, since nothing in a CSV says that probtruth wrote it",
            "Remove it, or choose another path.",
            str(path),
        )
    check_out(path, lambda _: False)


def csv_text(frame: DataFrame) -> str:
    """The frame as CSV: numbers in the shortest form that reads back the same, unknown ones blank, text safe."""
    names = safe(DataFrame({"name": frame.columns}))["name"].to_list()
    made = safe(frame)
    made.columns = names
    return made.fill_nan(None).write_csv()


def write_csv(frame: DataFrame, path: StrPath) -> None:
    Path(path).write_bytes(csv_text(frame).encode())


def write_new_csv(frame: DataFrame, path: StrPath, names: Iterable[str], hint: str) -> None:
    """Writes a CSV that is read again, never over a file that is there."""
    check_new_csv(path)
    given = DataFrame({"name": list(names)})
    risky = given.filter(given["name"] != safe(given)["name"])["name"].to_list()
    if risky:
        raise InputError(
            f"names that a spreadsheet would take for formulas: {shortlist(risky, 3)}", "other names in CSV", hint
        )
    with whole(path, lambda _: False) as work:
        write_csv(frame, work)
