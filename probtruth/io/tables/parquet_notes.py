"""What probtruth writes into the metadata of its Parquet files, so that a table carries its meaning."""

import json
from collections.abc import Mapping
from pathlib import Path

from polars import DataFrame

from probtruth.errors import InputError
from probtruth.io.output.folder import check_out, whole
from probtruth.io.output.jsonable import dumps
from probtruth.io.table import Table, opened
from probtruth.types.arguments import StrPath

KEY = "probtruth"


def write(frame: DataFrame, path: StrPath, notes: Mapping[str, object]) -> None:
    """Writes a Parquet file with notes (as JSON) in its metadata, whole or not at all."""
    check_parquet_out(path)
    with whole(path, _ours) as work:
        frame.write_parquet(work, metadata={KEY: dumps(notes)})


def check_parquet_out(path: StrPath) -> None:
    """Raises where `write` would refuse the path: used before long work."""
    if Path(path).suffix.lower() != ".parquet":
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet", "Name the output so.")
    check_out(path, _ours)


def _ours(path: Path) -> bool:
    try:
        return bool(read(path))
    except InputError:
        return False


def read(path: StrPath) -> dict[str, object]:
    """The notes of a Parquet file that probtruth wrote; empty for any other file."""
    if Path(path).suffix.lower() != ".parquet" or Path(path).is_dir():
        return {}
    return of(opened(path))


def of(table: Table) -> dict[str, object]:
    """The notes of a table that probtruth wrote as Parquet; empty for any other."""
    try:
        notes = json.loads(table.metadata().get(KEY.encode(), "null"))
    except (ValueError, RecursionError) as error:
        raise damaged(str(error).split("\n")[0], table.name) from None
    return notes if isinstance(notes, dict) else {}


def damaged(why: str, where: str) -> InputError:
    return InputError(
        f"metadata that cannot be used ({why})", "a file as probtruth writes it", "Write it again.", where
    )
