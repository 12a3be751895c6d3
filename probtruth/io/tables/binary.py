"""Parquet and Arrow files, decoded and then validated by pyarrow: a damaged file is an error."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars
from polars import DataFrame

from probtruth.check import MaybeStrings, Source, unique
from probtruth.errors import InputError
from probtruth.io.addresses import BINARIES, shown

ROWS = 1 << 16  # of a batch
INSIDE = ("unwrap()", "panicked", "called `", "assertion", "0x", "/")  # Words of a library about its own code


@dataclass(frozen=True, eq=False)
class Binary:
    """A Parquet or Arrow file: its columns, the number of its rows, what it says of itself, and what decodes it."""

    path: Path
    columns: list[str]
    n_rows: int
    metadata: dict[bytes, bytes]
    read: Callable[[list[str]], Iterable[Any]]

    def parts(self, columns: MaybeStrings) -> Iterator[tuple[DataFrame, Source]]:
        """Some rows at a time, with the columns that are needed, and where they stand."""
        there = {*self.columns} if columns is None else {*columns}
        wanted = [name for name in self.columns if name in there]
        before = 0
        with _sound(self.path):
            for part in self.read(wanted):
                part.validate(full=True)
                if not part.num_rows:
                    continue
                made = polars.from_arrow(part)
                frame = made if isinstance(made, DataFrame) else made.to_frame()
                frame.columns = part.schema.names  # polars makes up one for a column without a name
                yield frame, Source(shown(self.path), before=before)
                before += frame.height
            if before < self.n_rows:
                raise InputError(
                    "fewer rows than the file says that it has",
                    "all of them",
                    "Write it again.",
                    shown(self.path),
                )


def is_binary(path: Path) -> bool:
    return path.suffix.lower() in BINARIES


def opened(path: Path) -> Binary:
    with _sound(path):
        return _of_parquet(path) if path.suffix.lower() == ".parquet" else _of_arrow(path)


def _of_parquet(path: Path) -> Binary:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path)
    names = file.schema_arrow.names
    _need_rows(names, file.metadata.num_rows, path)

    def read(columns: list[str]) -> Iterable[Any]:
        some = None if columns == names else columns  # which reads `a.b` with `a`
        return (part.select(columns) for part in file.iter_batches(ROWS, columns=some))

    return Binary(path, names, file.metadata.num_rows, dict(file.metadata.metadata or {}), read)


def _of_arrow(path: Path) -> Binary:
    import pyarrow.dataset

    with path.open("rb") as stream:
        start = stream.read(8)
    if start.startswith(b"ARROW1"):
        file = pyarrow.dataset.dataset(path, format="ipc", partitioning=None)
        n_rows = file.count_rows()
        _need_rows(file.schema.names, n_rows, path)
        read = partial(file.to_batches, batch_size=ROWS, batch_readahead=2, fragment_readahead=1)
        return Binary(path, file.schema.names, n_rows, {}, read)

    def batches(columns: MaybeStrings) -> Iterator[Any]:
        with pyarrow.OSFile(str(path)) as stream, pyarrow.ipc.open_stream(stream) as reader:
            for batch in reader:
                yield batch if columns is None else batch.select(columns)

    schema = None
    n_rows = 0
    for batch in batches(None):
        schema = batch.schema
        n_rows += batch.num_rows
    names = [] if schema is None else schema.names
    _need_rows(names, n_rows, path)
    return Binary(path, names, n_rows, {}, batches)


def _need_rows(names: list[str], n_rows: int, path: Path) -> None:
    unique(names, "column")
    if not names or not n_rows:
        raise InputError(
            "a table without rows",
            "at least one row",
            "Check the file.",
            shown(path),
        )


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """What goes wrong while a file is decoded becomes one error, without the words of a library about its own code."""
    form = "Parquet" if path.suffix.lower() == ".parquet" else "Arrow"
    try:
        yield
    except InputError as error:
        raise InputError(
            error.got,
            error.expected,
            error.hint,
            error.where or shown(path),
        ) from None
    except (Exception, polars.exceptions.PanicException) as error:  # of two libraries, and of what they call
        reason = str(error).strip().split("\n")[0][:100]
        if not reason or not reason.isprintable() or any(word in reason for word in INSIDE):
            reason = "damaged"
        raise InputError(
            f"something that is not sound {form} ({reason})",
            f"a {form} file",
            "Write it again, or check the extension.",
            shown(path),
        ) from None
