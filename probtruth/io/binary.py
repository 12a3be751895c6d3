"""Parquet and Arrow files as tables; a damaged file is an error, never a crash."""

from collections.abc import Callable
from io import BytesIO

import polars

from probtruth.check import Source
from probtruth.errors import InputError


def parquet(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
    """A Parquet file as a frame."""
    if not (data.startswith(b"PAR1") and data.endswith(b"PAR1") and len(data) >= 12):
        raise _damaged("Parquet", "its marks at both ends are missing", name)
    return _table(lambda: polars.read_parquet(BytesIO(data)), "Parquet", name)


def arrow(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
    """An Arrow IPC file (Feather version 2) or stream as a frame."""
    if data.startswith(b"FEA1"):
        raise InputError("Feather version 1", "version 2 (Arrow IPC)", "Write it again with a current library.", name)
    if data.startswith(b"ARROW1"):
        return _table(lambda: polars.read_ipc(BytesIO(data)), "Arrow", name)
    return _table(lambda: polars.read_ipc_stream(BytesIO(data)), "Arrow", name)


def parquet_metadata(data: bytes) -> dict[str, str]:
    """The key-value metadata of a Parquet file that was read before."""
    return polars.read_parquet_metadata(BytesIO(data))


def _table(read: Callable[[], polars.DataFrame], form: str, name: str) -> tuple[polars.DataFrame, Source]:
    try:
        frame = read()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        raise _damaged(form, str(error).split("\n")[0], name) from None
    if frame.height == 0 or frame.width == 0:
        raise InputError("a table without rows", "at least one row", "Check the file.", name)
    return frame, Source(name)


def _damaged(form: str, why: str, name: str) -> InputError:
    return InputError(
        f"something that is not sound {form} ({why})", f"a {form} file", "Write it again, or check the extension.", name
    )
