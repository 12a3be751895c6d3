"""Parquet and Arrow files as tables; a damaged file is an error, never a crash."""

import json
import os
from pathlib import Path

import polars

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables import decoding
from probtruth.io.tables.handed import Decoded
from probtruth.kernels.host import free_memory

BYTES_PER_ROW, BYTES_PER_CELL = 100, 8
"""What a row takes at least once it is read: its names as text, and its cells."""
HUGE, MOST_EXPANDED = 1 << 27, 1000
"""Beyond 128 MiB, cells that take so many times what their file takes are no table of a study."""


def parquet(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
    """The bytes of a Parquet file as a frame."""
    _check_marks(data, name)
    footer = int.from_bytes(data[-8:-4], "little") + 8
    _check_size(data[:4] + data[-footer:], len(data), name)
    return _table(b"p", data, "Parquet", name)


def parquet_at(path: Path, ends: bytes, n_bytes: int, name: str) -> tuple[polars.DataFrame, Source]:
    """A Parquet file of so many bytes as a frame, read by the process that decodes; `ends` are its mark and footer."""
    _check_marks(ends, name)
    _check_size(ends, n_bytes, name)
    return _table(b"f", json.dumps({"path": os.path.abspath(path)}).encode(), "Parquet", name, n_bytes)


def _check_size(ends: bytes, n_bytes: int, name: str) -> None:
    """Raises where the rows that the footer counts would fill the memory, or the file is next to nothing beside them.

    A table of 32 million equal rows takes 255 kB.
    """
    extent = json.loads(decoded(b"s", ends, "Parquet", name).data)
    rows, cells = int(extent["rows"]), int(extent["rows"]) * int(extent["columns"])
    check_fits(rows, int(extent["columns"]), name)
    if cells * BYTES_PER_CELL > max(HUGE, MOST_EXPANDED * n_bytes):
        raise InputError(
            f"{check.count(rows, 'row')} in {n_bytes / 1e3:.3g} kB",
            "a table whose rows differ",
            "Almost all rows are the same: check how the file was made. Were they meant, write it as CSV.",
            name,
        )


def need(rows: int, columns: int) -> int:
    """The bytes that a table takes at least once it is read."""
    return BYTES_PER_ROW * rows + BYTES_PER_CELL * rows * columns


def check_fits(rows: int, columns: int, name: str) -> None:
    """Raises where so many rows would fill the memory."""
    least, free = need(rows, columns), free_memory()
    if least > free:
        raise InputError(
            f"{check.count(rows, 'row')}, which take some {least / 1e9:.3g} GB when they are read whole",
            f"what fits into the memory that is free, {free / 1e9:.3g} GB",
            "Split the file. Predictions and scores are read some rows at a time with a lower memory= (command line: "
            "--memory).",
            name,
        )


def arrow(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
    """An Arrow IPC file (Feather version 2) or stream as a frame."""
    if data.startswith(b"FEA1"):
        raise InputError("Feather version 1", "version 2 (Arrow IPC)", "Write it again with a current library.", name)
    return _table(b"a", data, "Arrow", name)


def parquet_notes(data: bytes, name: str) -> dict[str, str]:
    """The key-value metadata of a Parquet file."""
    _check_marks(data, name)
    notes: dict[str, str] = json.loads(decoded(b"n", data, "Parquet", name).data)
    return notes


def _check_marks(data: bytes, name: str) -> None:
    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1") and len(data) >= 12):
        raise damaged("Parquet", "its marks at both ends are missing", name)


def _table(
    kind: bytes, data: bytes, form: str, name: str, n_bytes: int | None = None
) -> tuple[polars.DataFrame, Source]:
    frame = decoded(kind, data, form, name, n_bytes).frame()
    if frame.height == 0 or frame.width == 0:
        raise InputError("a table without rows", "at least one row", "Check the file.", name)
    return frame, Source(name)


def decoded(kind: bytes, data: bytes, form: str, name: str, n_bytes: int | None = None) -> Decoded:
    """The answer to a question; `n_bytes` are those of the file, where the question only names it.

    Errors: `InputError` for a file that is not sound.
    """
    try:
        return decoding.decode(kind, data) if n_bytes is None else decoding.decode(kind, data, n_bytes)
    except decoding.DecodingError as error:
        raise damaged(form, str(error), name) from None


INSIDE = ("unwrap()", "JoinError", "panicked", "panic", "called `", "assertion", "index out of bounds", "Err(")
"""Words of the decoder about its own code, which say nothing of a file."""


def damaged(form: str, why: str, name: str) -> InputError:
    """The error for a file that cannot be decoded; `why` may be what a library says of itself, which is left out."""
    reason = "it is damaged" if any(word in why for word in INSIDE) else why
    return InputError(
        f"something that is not sound {form} ({reason})",
        f"a {form} file",
        "Write it again, or check the extension.",
        name,
    )
