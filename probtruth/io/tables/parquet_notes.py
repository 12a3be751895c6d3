"""What probtruth writes into its Parquet files beside a table: notes in the metadata, and arrays in one more column."""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from polars import Binary, DataFrame, Series

from probtruth.errors import InputError
from probtruth.io.output.folder import check_out, need_suffix, whole
from probtruth.io.output.jsonable import dumps
from probtruth.io.table import OWN, Table, opened
from probtruth.types.arguments import StrPath

KEY = "probtruth"
ARRAYS = f"{OWN}arrays"  # The column
PIECE = 1 << 24  # Bytes of a cell of it


def write(frame: DataFrame, path: StrPath, notes: Mapping[str, object], arrays: Mapping[str, Any]) -> None:
    """Writes a Parquet file, whole or not at all, with notes as JSON and the arrays that are not None."""
    check_parquet_out(path)
    floats = {name: np.asarray(array, np.float64) for name, array in arrays.items() if array is not None}
    if floats:
        data = b"".join(array.tobytes() for array in floats.values())
        cells = Series(ARRAYS, [data[start : start + PIECE] for start in range(0, len(data), PIECE)], Binary)
        frame = frame.with_columns(cells.extend_constant(None, frame.height - len(cells)))
        notes = {**notes, "arrays": {name: list(array.shape) for name, array in floats.items()}}
    with whole(path, _ours) as work:
        frame.write_parquet(work, metadata={KEY: dumps(notes)})


def arrays_of(table: Table, notes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays in a file, under the shapes that its notes say; `ValueError` where some of them are not there."""
    data = b"".join(cell for frame, _ in table.rows([ARRAYS]) for cell in frame[ARRAYS].drop_nulls())
    shapes = notes["arrays"]
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    parts = np.split(np.frombuffer(data), ends)
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=False)}


def check_parquet_out(path: StrPath) -> None:
    """Raises where `write` would refuse the path: used before long work."""
    need_suffix(path, ".parquet")
    check_out(path, _ours)


def _ours(path: Path) -> bool:
    try:
        return bool(of(opened(path)))
    except InputError:
        return False


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
