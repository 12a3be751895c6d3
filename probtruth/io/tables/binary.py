"""Parquet and Arrow files, decoded and then validated by pyarrow: a damaged file is an error."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.addresses import shown

SUFFIXES = (".parquet", ".arrow", ".ipc", ".feather")
ROWS = 1 << 16  # of a batch
INSIDE = ("unwrap()", "panicked", "called `", "assertion", "0x", "/")  # Words of a library about its own code


def batches(path: Path, columns: Sequence[str] | None) -> Iterator[polars.DataFrame]:
    """Some rows at a time; `columns` are those that are needed."""
    with _sound(path):
        names, left, read = _opened(path)
        for part in read(names if columns is None else [name for name in columns if name in names]):
            part.validate(full=True)
            left -= part.num_rows
            if part.num_rows:
                made = polars.from_arrow(part)
                frame = made if isinstance(made, polars.DataFrame) else made.to_frame()
                frame.columns = part.schema.names  # polars makes up one for a column without a name
                yield frame
        if left:
            raise InputError("fewer rows than the file says that it has", "all of them", "Write it again.", shown(path))


def shape(path: Path) -> tuple[list[str], int]:
    """The columns, and the number of rows."""
    with _sound(path):
        names, n_rows, _ = _opened(path)
        return names, n_rows


def metadata_of(path: Path) -> dict[bytes, bytes]:
    import pyarrow.parquet

    with _sound(path):
        return dict(pyarrow.parquet.read_metadata(path).metadata or {})


def _opened(path: Path) -> tuple[list[str], int, Callable[[list[str]], Iterable[Any]]]:
    """The columns, the number of rows, and what reads some columns in batches."""
    import pyarrow.dataset
    import pyarrow.parquet

    with path.open("rb") as stream:
        start = stream.read(8)
    if path.suffix.lower() == ".parquet":
        file = pyarrow.parquet.ParquetFile(path)
        names, n_rows = file.schema_arrow.names, file.metadata.num_rows

        def read(columns: list[str]) -> Iterable[Any]:
            some = None if columns == names else columns  # which reads `a.b` with `a`
            return (part.select(columns) for part in file.iter_batches(ROWS, columns=some))

    elif start.startswith(b"FEA1"):
        raise InputError(
            "Feather version 1", "version 2 (Arrow IPC)", "Write it again with a current library.", shown(path)
        )
    elif start.startswith(b"ARROW1"):
        opened = pyarrow.dataset.dataset(path, format="ipc", partitioning=None)
        names, n_rows = opened.schema.names, opened.count_rows()
        sizes = {"batch_size": ROWS, "batch_readahead": 2, "fragment_readahead": 1}
        read = partial(opened.to_batches, **sizes)
    else:
        with pyarrow.OSFile(str(path)) as stream, pyarrow.ipc.open_stream(stream) as reader:
            table = reader.read_all()
        table.validate(full=True)
        names, n_rows = table.column_names, table.num_rows

        def read(columns: list[str]) -> Iterable[Any]:
            return table.select(columns).to_batches(ROWS)  # type: ignore[no-any-return]

    check.unique(names, "column")
    if not names or not n_rows:
        raise InputError("a table without rows", "at least one row", "Check the file.", shown(path))
    return names, n_rows, read


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """What goes wrong while a file is decoded becomes one error, without the words of a library about its own code."""
    form = "Parquet" if path.suffix.lower() == ".parquet" else "Arrow"
    try:
        yield
    except InputError as error:
        raise InputError(error.got, error.expected, error.hint, error.where or shown(path)) from None
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
