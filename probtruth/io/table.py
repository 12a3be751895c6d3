"""Any input as one table, made once: a file or several, an address, a dataframe, a dict of columns, a named array."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import frame_numbers, frames
from probtruth.check import MaybeNumber, MaybeStrings, Source, parts_of, shortlist
from probtruth.errors import InputError
from probtruth.frames import polars_names
from probtruth.io.addresses import is_path, location, shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.tables import binary
from probtruth.io.tables.read import files_of, parts_of_text
from probtruth.io.tools import tool_of
from probtruth.kernels.host import free_memory

OWN = "probtruth: "  # How a column begins that probtruth writes beside those of a table
ENOUGH = 10_000  # Rows by which columns are told
CELLS = 1 << 22  # but no more than so many cells
FEWEST = 100  # and no fewer rows than these
SHARE = 0.5  # of the memory that is free, what a reader's tables take unless it is said
COPIES = 3  # of the numbers of tables that are in memory at once while they are read and worked on

type Part = tuple[DataFrame, Source]
"""Some rows of a table, and where they stand."""


class Table(ABC):
    """A table whose rows come in parts, and what is known of it before they are read.

    `name` is what messages call it. `row_names` are the names of its rows that stand in no column (an index of pandas,
    a coordinate of xarray), and `index_columns` the columns that hold the same. Without `has_names` its columns have
    positions only, because an array was made a table.
    """

    name: str
    row_names: MaybeStrings = None
    index_columns: Texts = ()
    has_names: bool = True
    stored: bool = False  # whether it lies in files
    single: bool = False  # whether it was a Series
    batched: bool = False  # whether its numbers lie on disk while they are worked on
    tool: MaybeText = None  # what wrote it, if it is no table but a log or an export

    @property
    @abstractmethod
    def head(self) -> Part:
        """The first rows, with all columns."""

    @property
    @abstractmethod
    def size(self) -> float:
        """The bytes that its numbers take as float64, roughly."""

    @abstractmethod
    def rows(self, columns: MaybeStrings = None) -> Iterable[Part]:
        """All rows in parts, with at least these columns."""

    @property
    def sample(self) -> Part:
        """The rows by which it is told what the columns are."""
        frame, source = self.head
        return frame.head(_enough(frame.width)), source

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.head[0].columns

    @property
    def numbers_rows(self) -> bool:
        """Whether its rows are numbered rather than named, as those of a frame are that was filtered or sorted."""
        names = self.row_names
        return names is not None and not self.index_columns and all(name.isdecimal() for name in names)

    @cached_property
    def whole(self) -> Part:
        """All rows as one frame."""
        return self.together([*self.rows()])

    def together(self, parts: Sequence[Part]) -> Part:
        """Some of its parts as one frame."""
        first, source = parts[0]
        if len(parts) == 1:
            return first, source
        source = Source.of_parts([(own, frame.height) for frame, own in parts])
        columns = [_column(name, [frame.get_column(name) for frame, _ in parts]) for name in first.columns]
        return frames.of_columns(columns), replace(source, name=self.name)

    def with_items(self, item: MaybeText) -> "Table":
        """The same table, with a column of the names of its items where they stand in none, or in several."""
        parts = [] if item is None or item in self.columns else parts_of(item)
        if len(parts) < 2 or not set(parts) <= set(self.columns):
            return self
        frame, source = self.whole
        names = joined([frames.cells(frame, name) for name in parts])
        return FrameTable(
            frames.of_columns([names.alias(str(item)), *frame]),
            self.name,
            source=source,
            stored=self.stored,
            batched=self.batched,
        )

    def with_own_items(self, item: MaybeText) -> "Table":
        """As `with_items`, where the column of items may be called otherwise: `item` was said of another table too."""
        there = item is not None and {item, *parts_of(item)} & {*self.columns}
        return self.with_items(item if there else None)

    def metadata(self) -> Mapping[bytes, bytes]:
        """What a Parquet file says of itself."""
        return {}


@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A dataframe, or what is like one, as a frame of polars."""

    frame: DataFrame
    name: str
    row_names: MaybeStrings = None
    index_columns: Texts = ()
    has_names: bool = True
    single: bool = False
    source: Source | None = None
    stored: bool = False
    batched: bool = False

    @property
    def head(self) -> Part:
        return self.frame, self.source or Source(self.name)

    @property
    def size(self) -> float:
        return 8.0 * self.frame.height * self.frame.width

    def rows(self, columns: MaybeStrings = None) -> Iterable[Part]:
        return [self.head]

    def with_items(self, item: MaybeText) -> Table:
        name = "item" if item is None else item
        together = set(parts_of(name)) <= set(self.frame.columns)
        misspelt = name != "item" and self.numbers_rows  # which is no name for row numbers
        if self.row_names is None or name in self.frame.columns or together or misspelt:
            return super().with_items(item)
        names = polars_names(self.row_names).alias(name)
        rest = [column for column in self.frame if column.name not in self.index_columns]
        return replace(self, frame=frames.of_columns([names, *rest]), row_names=None, index_columns=())


@dataclass(frozen=True, eq=False)
class FileTable(Table):
    """One file, or several with the same columns; read as often as its rows are asked for only if `batched`."""

    path: Path
    batched: bool = False
    held: list[Part] = field(default_factory=list, init=False)
    stored: bool = field(default=True, init=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        return shown(self.path)

    @cached_property
    def tool(self) -> MaybeText:  # type: ignore[override]
        return tool_of(self.path)

    @cached_property
    def files(self) -> list[Path]:
        return files_of(self.path)

    @cached_property
    def binaries(self) -> list[binary.Binary]:
        """The files that are Parquet or Arrow, opened."""
        return [binary.opened(file) for file in self.files if binary.is_binary(file)]

    @cached_property
    def head(self) -> Part:
        of_others = [name for name in self.columns if not name.startswith(OWN)] if self.binaries else None
        parts: list[Part] = []
        n_rows = 0
        for frame, source in self.rows(of_others):
            parts.append((frame, source))
            n_rows += frame.height
            if n_rows >= _enough(frame.width):
                break
        return self.together(parts)

    @cached_property
    def columns(self) -> list[str]:  # type: ignore[override]
        return self.binaries[0].columns if self.binaries else self.head[0].columns

    @property
    def size(self) -> float:
        texts = sum(file.stat().st_size for file in self.files if not binary.is_binary(file))
        return texts + sum(8.0 * own.n_rows * len(own.columns) for own in self.binaries)

    def rows(self, columns: MaybeStrings = None) -> Iterable[Part]:
        # a text is parsed once and held; columns of a binary file are decoded where they are needed
        if self.batched or self.binaries:
            return self._parts(columns)
        if not self.held:
            self.held.extend(self._parts(None))
        return self.held

    def _parts(self, columns: MaybeStrings) -> Iterator[Part]:
        first: list[str] = []
        opened = {own.path: own for own in self.binaries}
        for file in self.files:
            own = opened.get(file)
            parts = parts_of_text(file, whole=not self.batched) if own is None else own.parts(columns)
            for frame, source in parts:
                names = frame.columns if own is None else own.columns
                first = first or names
                if sorted(names) != sorted(first):
                    raise InputError(
                        f"the columns {shortlist(names)}",
                        f"those of {shown(self.files[0])}: {shortlist(first)}",
                        "Give all files of a folder or pattern the same columns.",
                        source.name,
                    )
                yield frame, source

    def metadata(self) -> Mapping[bytes, bytes]:
        return self.binaries[0].metadata if len(self.binaries) == len(self.files) == 1 else {}


def _enough(n_columns: int) -> int:
    """The rows by which it is told what so many columns are, however many of them are in memory at once."""
    return max(FEWEST, min(ENOUGH, CELLS // max(n_columns, 1)))


def _column(name: str, parts: Sequence[Series]) -> Series:
    """A column in several parts, which are told by themselves: of several types it is text, without what is nested."""
    if len({part.dtype for part in parts}) == 1:
        return polars.concat(parts)
    values: list[object] = []
    for part in parts:
        values += [None] * len(part) if part.dtype.is_nested() else part.to_list()
    return frames.series(name, values)


def joined(columns: Sequence[Series]) -> Series:
    """The names that several columns give together; a slash in one is marked, so that no two items get one name."""
    marked = {}
    for at, column in enumerate(columns):
        marked[str(at)] = column.cast(String).str.replace_all("/", r"\/", literal=True)
    return DataFrame(marked).select(polars.concat_str(polars.all(), separator="/")).to_series()


_ONCE: ContextVar[dict[Path, FileTable] | None] = ContextVar("the files of a call", default=None)


@contextmanager
def opened_once() -> Iterator[None]:
    """Within this block a file of which two things are read is opened, and parsed, once."""
    token = _ONCE.set({})
    try:
        yield
    finally:
        _ONCE.reset(token)


def opened(source: object, what: str = "the table") -> Table:
    """A table as a caller has it (called `what` where it has no path); an address is fetched here, and nowhere else."""
    if isinstance(source, Table):
        return source
    if is_path(source):
        table = FileTable(location(source))
        once = _ONCE.get()
        return table if once is None else once.setdefault(table.path, table)
    source = frames.as_one(source)
    named = isinstance(source, frame_numbers.NamedNumbers) or frame_numbers.is_array_with_names(source)
    of_rows = getattr(source, "ndim", 0) == 2 and not frame_numbers.is_frame(source)  # an array
    if named or of_rows or frame_numbers.is_series(source):
        return _of_array(source, what)
    frame = frames.with_index(source)
    rows = frame_numbers.row_names(source)
    index = ()
    if rows is not None:
        index = tuple(name for name in source.index.names if name in frame.columns)  # type: ignore[attr-defined]
    has_names = frame_numbers.column_names(source, frame.columns) is not None
    return FrameTable(frame, what, rows, index, has_names)


VALUE = "value"  # The column of a Series without a name


def _of_array(source: Any, what: str) -> Table:
    """Named numbers, an array, or a Series: a column for each label, or one for all it says of an item."""
    own = frame_numbers.labelled(source)
    try:
        values = np.asarray(own.values)
    except ValueError:  # of several lengths
        hint = "Give a dataframe, a dict of columns, or an array."
        raise InputError(f"{what} as a {type(source).__name__}", "a table", hint) from None
    if values.ndim != 1:
        names = own.labels or [str(column) for column in range(values.shape[1])]
        columns = {name: values[:, column] for column, name in enumerate(names)}
        return FrameTable(frames.as_polars(columns), what, own.items, (), own.labels is not None)
    levels = frame_numbers.levels(source)
    name = source.name if isinstance(source.name, str) and source.name not in levels else VALUE
    frame = frames.as_polars({**levels, name: values.tolist()})
    return FrameTable(frame, what, own.items, tuple(levels), single=True)


def placed(tables: Sequence[Table], memory: MaybeNumber) -> list[Table]:
    """The tables; those that take more than `memory` (half of what is free) lie on disk while they are worked on."""
    limit = SHARE * free_memory() if memory is None else memory
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise InputError(f"memory={memory!r}", "a positive number of bytes", "Write memory=2e9.")
    if COPIES * sum(table.size for table in tables) <= limit:
        return [*tables]
    return [replace(table, batched=True) for table in tables]  # type: ignore[type-var]
