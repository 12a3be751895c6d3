"""Tables some rows at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars

from probtruth import frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import location
from probtruth.io.tables import binary
from probtruth.io.tables.read import (
    SEPARATED,
    TEXTS,
    Block,
    guarded,
    members,
    read_table,
    regular,
    same_columns,
    shown,
    text_table,
)
from probtruth.kernels.host import free_memory
from probtruth.types.arguments import Frame, StrPath

SHARE = 0.5  # of the memory that is free, what predictions or scores take unless it is said
CHUNK = 1 << 24  # bytes of a text that become a batch


def memory_limit(memory: float | None) -> float:
    limit = SHARE * free_memory() if memory is None else memory
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise InputError(f"memory={memory!r}", "a positive number of bytes", "Write memory=2e9.")
    return float(limit)


def size_of(table: StrPath | Block | Frame) -> float:
    """The bytes that the numbers of a table take as float64, roughly."""
    if isinstance(table, Block):
        whole = table.joined.table
        return size_of(whole) * len(table.columns) / len(columns_of(whole))
    if not isinstance(table, str | Path):
        return 8.0 * frames.as_polars(table).height * frames.as_polars(table).width
    return sum(_size(file) for file in members(location(table)))


def _size(file: Path) -> float:
    regular(file)
    return binary.size_of(file) if file.suffix.lower() in binary.SUFFIXES else float(file.stat().st_size)


def columns_of(table: StrPath | Block | Frame) -> Sequence[str]:
    """The columns of a table; of Parquet and Arrow without reading its rows."""
    if isinstance(table, Block):
        return (table.item, *table.columns)
    if not isinstance(table, str | Path):
        return frames.as_polars(table).columns
    file = members(location(table))[0]
    regular(file)
    return binary.columns_of(file) if file.suffix.lower() in binary.SUFFIXES else next(batches(file))[0].columns


def batches(
    table: StrPath | Block | Frame, columns: Sequence[str] | None = None
) -> Iterator[tuple[polars.DataFrame, Source]]:
    """A table some rows at a time, each with where its rows stand; `columns` are those that are needed."""
    if isinstance(table, Block):
        wanted = [table.item, *(table.columns[name] for name in columns or table.columns if name != table.item)]
        yield from (table.renamed(*part) for part in batches(table.joined.table, wanted))
        return
    if not isinstance(table, str | Path):
        yield read_table(table)
        return
    files = members(location(table))
    first: Sequence[str] | None = None
    for file in files:
        if len(files) > 1:
            own = columns_of(file)
            same_columns(own, first or own, shown(file), shown(files[0]))
            first = first or own
        regular(file)
        if file.suffix.lower() in binary.SUFFIXES:
            before = 0
            for frame in binary.batches(file, columns):
                yield frame, Source(shown(file), before=before)
                before += frame.height
        elif file.suffix.lower() in TEXTS:
            yield from _of_text(file)
        else:
            yield read_table(file)


def _of_text(file: Path) -> Iterator[tuple[polars.DataFrame, Source]]:
    """Pieces of a text that end where a line does, outside quotes; every piece of CSV begins with the header."""
    suffix, name = file.suffix.lower(), shown(file)
    header, rest, before = b"", b"", 0
    with guarded(file, lambda: file.open("rb")) as stream:
        while True:
            block = stream.read(CHUNK)
            data = rest + block
            end = data.rfind(b"\n") + 1 if block else len(data)
            odd = suffix in SEPARATED and data.count(b'"', 0, end) % 2
            if block and (odd or not end):
                rest = data
                continue
            piece, rest = data[:end], data[end:]
            if piece.strip() or not (header or before):
                yield text_table(header + piece, suffix, name, before - header.count(b"\n"))
            if suffix in SEPARATED and not header:
                header = _first_row(piece)
            before += piece.count(b"\n")
            if not block:
                return


def _first_row(data: bytes) -> bytes:
    """The bytes up to the end of the first row, which may be quoted."""
    end = data.find(b"\n")
    while data.count(b'"', 0, end) % 2 or not data[:end].strip():
        end = data.find(b"\n", end + 1)
    return data[: end + 1]
