"""Tables larger than memory: Parquet and Arrow files, or folders of them, some rows at a time.

A run of hours reads a file several times, and finds out if it is no longer the one that was opened.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import Address, Location, location, matching
from probtruth.io.tables import objects
from probtruth.io.tables.binary import decoded
from probtruth.io.tables.handed import Decoded
from probtruth.io.tables.read import (
    Block,
    Joined,
    guarded,
    members,
    path_of,
    read_table,
    regular,
    same_columns,
    shown,
)
from probtruth.kernels.host import ahead

LEAST, MOST = 1 << 10, 1 << 18
"""Rows of a batch, whatever the memory."""
COPIES = 40
"""How often a batch of probabilities fits into the memory it is given: decoded, checked, scored and read ahead."""
SUFFIXES = (".parquet", ".arrow", ".ipc", ".feather")
LOOKED_AT = 1 << 16
"""Bytes at both ends of a file that are looked at."""


type Cut = tuple[int, int, int, int]
"""A batch: number of the file, first row in it, number of rows, rows before in all files."""


@dataclass(frozen=True)
class Batch:
    """Some rows of a file; `start` counts them from the first row of the first file."""

    frame: polars.DataFrame
    source: Source
    start: int


@dataclass(frozen=True)
class FileState:
    """A file's size, time of change, number in its file system, and a digest of both ends.

    Of a table at an address, its number of rows and a digest of the first and last of them: `objects.ends`.
    """

    size: int
    changed: int
    number: int
    ends: str

    @classmethod
    def of(cls, path: Location) -> "FileState":
        """As the file is now."""
        if isinstance(path, Address):
            rows, ends = objects.ends(path)
            return cls(rows, 0, path.version or 0, ends)
        with path.open("rb") as stream:
            stat = os.fstat(stream.fileno())
            digest = hashlib.blake2b(stream.read(LOOKED_AT), digest_size=16)
            stream.seek(max(LOOKED_AT, stat.st_size - LOOKED_AT))
            digest.update(stream.read(LOOKED_AT))
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino, digest.hexdigest())


@dataclass(frozen=True)
class BigTable:
    """One file, or all the files of a folder or pattern in the order of their names, one below the other.

    `base` is the folder that relative names of files start from, wherever they are read; `states` is how the files were
    when they were opened. Of a `block`, `columns` are its own, by its names.
    """

    name: str
    files: tuple[str | Address, ...]
    rows: tuple[int, ...]
    columns: tuple[str, ...]
    base: str
    states: tuple[FileState, ...]
    block: Block | None = None

    def check_unchanged(self) -> None:
        """Raises `InputError` if a file is not the one that was opened any more."""
        paths = [file if isinstance(file, Address) else Path(self.base, file) for file in self.files]
        for path, state in zip(paths, self.states, strict=True):
            try:
                now = FileState.of(path)
            except OSError:
                now = None
            if now != state:
                raise InputError(
                    "a file that was replaced, changed or removed while it was read" if now else "a file that is gone",
                    "input that stays as it is until the run has ended",
                    "Run the same command again, once nothing writes to the file any more.",
                    shown(path),
                )

    def stored(self, columns: Sequence[str]) -> list[str]:
        """The names of columns in the files."""
        return [*columns] if self.block is None else [self.block.columns.get(name, name) for name in columns]

    @property
    def n_rows(self) -> int:
        """Rows of all files."""
        return sum(self.rows)

    def cuts(self, size: int) -> list[Cut]:
        """Batches of at most so many rows: file, first row in it, number of rows, rows before in all files."""
        cuts, before = [], 0
        for file, rows in enumerate(self.rows):
            cuts += [(file, start, min(size, rows - start), before + start) for start in range(0, rows, size)]
            before += rows
        return cuts

    def decoded(self, cut: Cut, columns: Sequence[str]) -> Decoded:
        """Some columns of one batch, as they are handed over."""
        number, start, rows, _ = cut
        file, stored = self.files[number], self.stored(columns)
        if isinstance(file, Address):
            return objects.rows(file, start, rows, stored)
        return _ask(b"r", {"path": file, "start": start, "rows": rows, "columns": stored}, self.base)

    def batch(self, cut: Cut, answer: Decoded) -> Batch:
        """The batch that was handed over."""
        file, start, _, before = cut
        source, frame = Source(shown(self.files[file]), before=start), answer.frame()
        if self.block is not None:
            frame, source = self.block.renamed(frame, source)
        return Batch(frame, source, before)

    def read(self, cut: Cut, columns: Sequence[str]) -> Batch:
        """Some columns of one batch."""
        return self.batch(cut, self.decoded(cut, columns))

    def batches(self, columns: Sequence[str], size: int, skip: frozenset[int] = frozenset()) -> Iterator[Batch]:
        """All batches but those that start at the rows of `skip`; the next is read while one is used.

        Errors: `InputError` if a file is another one by then.

        The thread that reads only waits for the decoder: Polars is used by one thread of this process at a time.
        """
        wanted = [cut for cut in self.cuts(size) if cut[3] not in skip]
        try:
            for cut, answer in zip(wanted, ahead(partial(self.decoded, columns=columns), wanted, 1), strict=True):
                yield self.batch(cut, answer)
        except objects.Unreached:
            raise
        except InputError:  # a file that was replaced reads as a damaged one
            self.check_unchanged()
            raise
        self.check_unchanged()

    def names(self, column: str, size: int, option: str = "item") -> polars.Series:
        """A whole column of names, as text or integers; see `frames.keys`."""
        frames.need_columns(self.columns, {option: column}, self.name)
        parts = [frames.keys(batch.frame, column, batch.source, option) for batch in self.batches([column], size)]
        alike = len({part.dtype for part in parts}) == 1
        return polars.concat(parts if alike else map(frames.text, parts))

    def repeated(self, names: polars.Series, column: str) -> InputError:
        """What is wrong with a column of items in which one stands twice."""
        twice = int((~names.is_first_distinct()).arg_max() or 0)
        return InputError(
            f"item {check.quote(names[twice])} a second time",
            "every item once",
            "Remove one of its rows.",
            self.at(twice, column),
        )

    def at(self, row: int, column: str | None = None) -> str:
        """Where a row of all files stands, in words."""
        parts = [(Source(shown(file)), rows) for file, rows in zip(self.files, self.rows, strict=True)]
        return Source(self.name, parts=parts).at(row, column)


def open_table(path: str | Path | Address | Block) -> BigTable:
    """A Parquet or Arrow file, such files of a folder or pattern with the same columns, or a block of their columns.

    Errors: `InputError` for other files, damaged ones, a folder without any, or files whose columns differ.
    """
    if isinstance(path, Block):
        whole = open_table(path.stored)
        return replace(whole, columns=(path.item, *path.columns), block=path)
    where = location(path)
    files, base = _files(where), os.getcwd()
    states = tuple(_state(file) for file in files)
    extents = [_extent(file, base) for file in files]
    columns = extents[0].columns
    for file, extent in zip(files, extents, strict=True):
        same_columns(extent.columns, columns, shown(file), shown(files[0]))
    rows = tuple(extent.rows for extent in extents)
    if not sum(rows):
        raise InputError("a table without rows", "at least one row", "Check the file.", shown(where))
    named = tuple(file if isinstance(file, Address) else str(file) for file in files)
    return BigTable(shown(where), named, rows, columns, base, states)


def _state(file: Location) -> FileState:
    return FileState.of(file) if isinstance(file, Address) else guarded(file, partial(FileState.of, file))


def _extent(file: Location, base: str) -> objects.Extent:
    if isinstance(file, Address):
        return objects.extent(file)
    answer = json.loads(_ask(b"e", {"path": str(file)}, base).data)
    return objects.Extent(answer["rows"], tuple(answer["columns"]))


def held(block: Block, memory: float) -> Block:
    """The block with its own columns in memory, of a table that may be larger."""
    table = open_table(block)
    batches = table.batches(table.columns, rows_within(memory, len(table.columns)))
    frame = polars.concat([batch.frame for batch in batches])
    return Block(Joined(frame), block.item, {label: label for label in block.columns}, block.counts)


def columns_of(path: str | Path | Address | Block) -> Sequence[str]:
    """The columns of a table; of Parquet and Arrow without reading its rows."""
    if isinstance(path, Block):
        return (path.item, *path.columns)
    where = location(path)
    if isinstance(where, Address) and can_stream(where):
        return objects.extent(objects.members(where)[0]).columns
    return open_table(path).columns if can_stream(path) else read_table(path)[0].columns


def can_stream(table: str | Path | Address | Block) -> bool:
    """Whether a path is a folder, or a file of a kind that can be read some rows at a time."""
    path = path_of(table)
    if isinstance(path, Address):
        return path.form not in ("text", "other")
    return path is not None and (path.is_dir() or path.suffix.lower() in SUFFIXES)


def has_several(path: Location) -> bool:
    """Whether a path stands for several files, which are always streamed: a folder, a pattern, or a table of some."""
    return path.several if isinstance(path, Address) else path.is_dir() or matching(path) is not None


def rows_within(memory: float, n_columns: int) -> int:
    """How many rows of so many numbers a batch may have, if it is to stay within a memory (bytes)."""
    return min(max(int(memory / (8 * COPIES * n_columns)), LEAST), MOST)


def n_bytes(path: Location) -> int:
    """The size of a file, or of all files of a folder; of an address, that of its numbers."""
    return sum(_size(file) for file in _files(path))


def _size(file: Location) -> int:
    if isinstance(file, Address):
        known = objects.extent(file)
        return 8 * known.rows * len(known.columns)
    return file.stat().st_size


def _files(path: Location) -> Sequence[Location]:
    if isinstance(path, Address):
        return members(path)
    several = matching(path)
    if several is not None:
        return [file for one in several for file in _files(one)]
    if not path.is_dir():
        regular(path)
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"the extension {path.suffix!r}",
                f"one of {', '.join(SUFFIXES)}, or a folder of such files, for input that is streamed",
                "Convert the file to Parquet.",
                shown(path),
            )
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise InputError("a folder without Parquet or Arrow files", "at least one", "Check the path.", shown(path))
    return files


def _ask(kind: bytes, question: dict[str, object], base: str) -> Decoded:
    path = str(question["path"])
    absolute = {**question, "path": str(Path(base, path))}
    form = "Parquet" if path.lower().endswith(".parquet") else "Arrow"
    return decoded(kind, json.dumps(absolute).encode(), form, shown(path))
