"""Files as tables: CSV, TSV, JSONL, Parquet and Arrow, with every text cell as it is written, whole or in batches."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import polars

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import location, matching, shown
from probtruth.io.tables import binary, csv_text, json_lines
from probtruth.kernels.host import free_memory
from probtruth.types.arguments import Frame, StrPath

MAGIC = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"PK\x03\x04": "a zip archive (or an Excel workbook; export the sheet as CSV)",
    b"\x1f\x8b": "gzip; decompress it first",
    b"\x28\xb5\x2f\xfd": "zstd; decompress it first",
    b"\x89HDF": "HDF5 or netCDF; export the table as Parquet",
}  # How common binary files begin, and what to do with them

BOM = b"\xef\xbb\xbf"  # The byte-order mark in UTF-8
SEPARATED = {".csv": ",", ".tsv": "\t"}
TEXTS = (*SEPARATED, ".jsonl", ".ndjson")
SHARE = 0.5  # of the memory that is free, what a reader's tables take unless it is said
COPIES = 3  # of the numbers of tables that are in memory at once while they are read and worked on
CHUNK = 1 << 24  # bytes of a text that become a batch


type Part = tuple[polars.DataFrame, Source]
"""Some rows of a table, and where they stand."""
type Parts = Callable[[Sequence[str]], Iterable[Part]]
"""What reads the columns of a table that are needed."""


@dataclass(frozen=True, eq=False)
class Joined:
    """A table from which several blocks of columns are read: a file, or a frame; memory reads it once."""

    table: StrPath | Frame

    @cached_property
    def whole(self) -> Part:
        return read_table(self.table)


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of a table as a table of its own: that of the items, and one for each label."""

    joined: Joined
    item: str
    columns: Mapping[str, str]  # the table's name of each label's column
    counts: bool = False  # of votes

    def renamed(self, frame: polars.DataFrame, source: Source) -> Part:
        """The columns of a frame under the names of the labels; messages name them as the table does."""
        series = {self.item: frame.get_column(self.item)} if self.item in frame.columns else {}
        series |= {label: frame.get_column(name) for label, name in self.columns.items() if name in frame.columns}
        return polars.DataFrame(series), replace(source, columns=self.columns)


def read_table(table: StrPath | Block | Frame, what: str = "the table") -> Part:
    """A file, a block of columns, or a dataframe (called `what`) as a polars frame, and where its rows stand."""
    if isinstance(table, Block):
        return table.renamed(*table.joined.whole)
    if not isinstance(table, str | Path):
        return frames.with_index(table), Source(what)
    return joined([*batches(table, whole=True)], shown(table))


def joined(parts: Sequence[Part], name: str) -> Part:
    """All rows of a table in one frame."""
    first, source = parts[0]
    for frame, own in parts:
        other = next((column for column in first.columns if frame[column].dtype != first[column].dtype), None)
        if other is not None:
            raise InputError(
                f"{frame[other].dtype} in column {check.quote(other)}",
                f"{first[other].dtype}, as in {source.name}",
                "Write all files alike.",
                own.name,
            )
    if len(parts) > 1:
        source = Source(name, parts=[(own, frame.height) for frame, own in parts], notes=source.notes)
        first = polars.concat([frame.select(first.columns) for frame, _ in parts])
    return first, source


def parts_of(table: StrPath | Block | Frame, on_disk: bool, what: str = "the table") -> tuple[Part, Parts]:
    """The first rows of a table, and what reads some of its columns as often as they are needed."""
    # texts are held unless they are too large; batches of Parquet are quicker, in memory that is used again and again
    stored = isinstance(table, str | Path)
    if not on_disk and not (stored and _files(table)[0].suffix.lower() in binary.SUFFIXES):  # type: ignore[arg-type]
        held = [*batches(table, whole=True)] if stored else [read_table(table, what)]
        return held[0], lambda columns: held
    rest = [batches(table)]  # goes on where all columns are needed: the first rows of a file take long to decode
    first = next(rest[0])

    def read(columns: Sequence[str]) -> Iterable[Part]:
        goes_on = rest and {*columns} == {*first[0].columns}
        return chain([first], rest.pop()) if goes_on else batches(table, columns)

    return first, read


def batches(
    table: StrPath | Block | Frame, columns: Sequence[str] | None = None, whole: bool = False
) -> Iterator[Part]:
    """A table some rows (or a `whole` text) at a time, each with where its rows stand; `columns` are those needed."""
    if isinstance(table, Block):
        wanted = [table.item, *(table.columns[name] for name in columns or table.columns if name != table.item)]
        yield from (table.renamed(*part) for part in batches(table.joined.table, wanted))
        return
    if not isinstance(table, str | Path):
        yield read_table(table)
        return
    files, first = _files(table), None
    for file in files:
        own = binary.shape(file)[0] if len(files) > 1 and file.suffix.lower() in binary.SUFFIXES else None
        for frame, source in _of_text(file, whole) if file.suffix.lower() in TEXTS else _of_binary(file, columns):
            first = first or own or frame.columns
            if len(files) > 1:
                _same_columns(own or frame.columns, first, source.name, shown(files[0]))
            yield frame, source


def _of_binary(file: Path, columns: Sequence[str] | None) -> Iterator[Part]:
    before = 0
    for frame in binary.batches(file, columns):
        yield frame, Source(shown(file), before=before)
        before += frame.height


def _of_text(file: Path, whole: bool) -> Iterator[Part]:
    """Pieces of a text that end where a line does, outside quotes; every piece of CSV begins with the header."""
    suffix, name = file.suffix.lower(), shown(file)
    if whole:
        yield text_table(read_bytes(file), suffix, name)
        return
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


def text_table(data: bytes, suffix: str, name: str, before: int = 0) -> tuple[polars.DataFrame, Source]:
    data = utf8(data, name, before)
    if suffix not in SEPARATED:
        return json_lines.parse(data, name, before)
    separator = csv_text.separator_of(data, SEPARATED[suffix])
    frame, source = csv_text.parse(data, separator, name, before)
    words = f"{name}: read as separated by {csv_text.SEPARATORS[separator]}"
    return frame, source if separator == SEPARATED[suffix] else replace(source, notes=(words, *source.notes))


def _same_columns(columns: Sequence[str], first: Sequence[str], name: str, first_name: str) -> None:
    if sorted(columns) != sorted(first):
        raise InputError(
            f"the columns {check.shortlist(columns)}",
            f"those of {first_name}: {check.shortlist(first)}",
            "Give all files of a folder or pattern the same columns.",
            name,
        )


def columns_of(table: StrPath | Block | Frame) -> Sequence[str]:
    """The columns of a table; of Parquet and Arrow without reading its rows."""
    if isinstance(table, Block):
        return (table.item, *table.columns)
    if not isinstance(table, str | Path):
        return frames.with_index(table).columns
    file = _files(table)[0]
    return binary.shape(file)[0] if file.suffix.lower() in binary.SUFFIXES else next(batches(file))[0].columns


def size_of(table: StrPath | Block | Frame) -> float:
    """The bytes that the numbers of a table take as float64, roughly."""
    if isinstance(table, Block):
        whole = table.joined.table
        return size_of(whole) * len(table.columns) / len(columns_of(whole))
    if not isinstance(table, str | Path):
        frame = frames.with_index(table)
        return 8.0 * frame.height * frame.width
    size = 0.0
    for file in _files(table):
        names, rows = binary.shape(file) if file.suffix.lower() in binary.SUFFIXES else ([], 0)
        size += 8.0 * rows * len(names) if names else file.stat().st_size
    return size


def too_large(tables: Iterable[StrPath | Block | Frame], memory: float | None) -> bool:
    """Whether tables lie on disk while they are worked on: where they take more than `memory`, half of what is free."""
    limit = SHARE * free_memory() if memory is None else memory
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise InputError(f"memory={memory!r}", "a positive number of bytes", "Write memory=2e9.")
    return COPIES * sum(map(size_of, tables)) > limit


def _files(table: StrPath) -> list[Path]:
    """The files that a path stands for: one, those of a pattern, the Parquet and Arrow files of a folder."""
    where, files = location(table), []
    for one in matching(where) or [where]:
        if not guarded(one, one.is_dir):
            regular(one)
            if one.suffix.lower() not in (*TEXTS, *binary.SUFFIXES):
                raise InputError(
                    f"the extension {one.suffix!r}" if one.suffix else "a file without an extension",
                    f"one of {', '.join((*TEXTS, *binary.SUFFIXES))}",
                    "Convert the file, or rename it after what it holds.",
                    shown(one),
                )
            files.append(one)
            continue
        inside = [file for file in sorted(one.iterdir()) if file.suffix.lower() in binary.SUFFIXES and file.is_file()]
        if not inside:
            raise InputError("a folder without Parquet or Arrow files", "at least one", "Check the path.", shown(one))
        files += inside
    return files


def has_several(path: Path) -> bool:
    """Whether a path stands for several files: a folder or a pattern."""
    return path.is_dir() or matching(path) is not None


def read_bytes(path: StrPath) -> bytes:
    where = location(path)
    regular(where)
    return guarded(where, where.read_bytes)


def regular(path: Path) -> None:
    """Raises where there is no file, or what is there is none."""
    mode = guarded(path, path.stat).st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
        raise InputError(kind, "a file", "Give the path of a file.", shown(path))


def guarded[T](path: Path, read: Callable[[], T]) -> T:
    """What reading a file returns; `InputError` where the system does not let it be read."""
    try:
        return read()
    except OSError as error:
        absent = error.errno == errno.ENOENT
        reason = "no such file" if absent else os.strerror(error.errno or 0).lower()
        hint = "Check the path." if absent else "Check the file and its permissions."
        raise InputError(reason, "a file that can be read", hint, shown(path)) from None
    except ValueError as error:
        raise InputError(str(error), "the path of a file", "Check the path.", shown(path)) from None


def utf8(data: bytes, name: str, before: int = 0) -> bytes:
    """The bytes, if they are text in UTF-8; without the byte-order mark. So many lines come `before`."""
    for start, what in MAGIC.items():
        if data.startswith(start):
            raise InputError(f"what looks like {what.split(';')[0]}", "text", f"It seems to be {what}.", name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("text in UTF-16", "text in UTF-8", "Save the file as UTF-8.", name)
    data = data.removeprefix(BOM)
    try:
        data.decode()
        bad, what = data.find(b"\0"), "a NUL byte"
    except UnicodeDecodeError as error:
        bad, what = error.start, f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
        nul = data.find(b"\0", 0, bad)
        bad, what = (nul, "a NUL byte") if nul >= 0 else (bad, what)
    if bad < 0:  # parsers drop a second mark from one line and keep it in another
        bad, what = 0 if data.startswith(BOM) else data.find(b"\n" + BOM) + 1 or -1, "a second byte-order mark"
    if bad >= 0:
        line = data.count(b"\n", 0, bad) + 1 + before
        raise InputError(what, "text in UTF-8", "Save the file as UTF-8 text.", f"{name}, line {line}")
    return data
