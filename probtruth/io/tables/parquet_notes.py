"""What probtruth writes into the metadata of its Parquet files, so that a table carries its meaning."""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import polars
from polars.io.plugins import register_io_source

from probtruth.errors import InputError
from probtruth.io.addresses import Address, location
from probtruth.io.output.folder import check_file, whole_file
from probtruth.io.output.jsonable import dumps
from probtruth.io.tables import binary, objects
from probtruth.io.tables.read import members, read_ends, shown

KEY = "probtruth"
SIDE_TABLE = "probtruth.table"


def write(
    frame: polars.DataFrame, path: str | Path, notes: Mapping[str, object], side: polars.DataFrame | None
) -> None:
    """Writes a Parquet file with notes (as JSON) and a second small table in its metadata, whole or not at all.

    Errors: `InputError` where the extension is not `.parquet`, a file stands there that probtruth did not write, or
    it cannot be written.
    """
    _check_extension(path)
    metadata = {KEY: dumps(notes)}
    if side is not None:
        metadata[SIDE_TABLE] = base64.b64encode(_bytes(side, {})).decode()
    content = _bytes(frame, metadata)
    with whole_file(path, _ours) as work:
        work.write_bytes(content)


def write_stream(
    frames: Iterator[polars.DataFrame], schema: Mapping[str, Any], path: str | Path, notes: Mapping[str, object]
) -> None:
    """As `write`, from frames that are written one after the other.

    Errors: as `write`, and those of the frames themselves.
    """
    _check_extension(path)
    failed: list[BaseException] = []

    def source(*_: object) -> Iterator[polars.DataFrame]:
        try:
            yield from frames
        except BaseException as error:  # polars would make a ComputeError of it
            failed.append(error)
            raise

    lazy = register_io_source(source, schema=dict(schema))
    with whole_file(path, _ours) as work:
        try:
            lazy.sink_parquet(work, metadata={KEY: dumps(notes)}, engine="streaming")
        except polars.exceptions.PolarsError as error:
            number = re.search(r"\(os error ([0-9]+)\)", str(error))  # which polars names in words alone
            own = error if number is None else OSError(int(number[1]), os.strerror(int(number[1])))
            raise (failed[0] if failed else own) from None


def check_out(path: str | Path) -> None:
    """Raises where `write` would refuse the path: used before long work."""
    _check_extension(path)
    check_file(path, _ours)


def _check_extension(path: str | Path) -> None:
    if Path(path).suffix.lower() != ".parquet":
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet", "Name the output so.")


def _ours(path: Path) -> bool:
    try:
        return read(path) is not None
    except InputError:
        return False


def read(path: str | Path | Address) -> tuple[dict[str, object], polars.DataFrame | None] | None:
    """The notes and the second table of a Parquet file that probtruth wrote; None for any other file."""
    where = location(path)
    if where.suffix.lower() != ".parquet" or members(where) != [where]:
        return None
    name = shown(where)
    metadata = objects.notes(where) if isinstance(where, Address) else binary.parquet_notes(read_ends(where), name)
    try:
        notes = json.loads(metadata.get(KEY, "null"))
        side = base64.b64decode(metadata.get(SIDE_TABLE, ""), validate=True)
    except (ValueError, RecursionError) as error:
        raise damaged(str(error).split("\n")[0], where) from None
    if not isinstance(notes, dict):
        return None
    return notes, binary.parquet(side, name)[0] if side else None


def damaged(why: str, path: str | Path | Address) -> InputError:
    """The error for metadata that says it is ours and cannot be used."""
    return InputError(
        f"metadata that cannot be used ({why})", "a file as probtruth writes it", "Write it again.", shown(path)
    )


def _bytes(frame: polars.DataFrame, metadata: dict[str, str]) -> bytes:
    stream = BytesIO()
    frame.write_parquet(stream, metadata=metadata)
    return stream.getvalue()
