"""Files as tables: CSV, TSV, JSONL, Parquet and Arrow, with every text cell as it is written."""

import errno
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import strerror
from pathlib import Path

import polars

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import Address, Location, location, matching
from probtruth.io.tables import binary, csv_text, json_lines, objects
from probtruth.redaction import redacted

MAGIC = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"PK\x03\x04": "a zip archive (or an Excel workbook; export the sheet as CSV)",
    b"\x1f\x8b": "gzip; decompress it first",
    b"\x28\xb5\x2f\xfd": "zstd; decompress it first",
    b"\x89HDF": "HDF5 or netCDF; export the table as Parquet",
}
"""How common binary files begin, and what to do with them."""

BOM = b"\xef\xbb\xbf"
"""The byte-order mark in UTF-8."""


@dataclass(frozen=True, eq=False)
class Joined:
    """A table from which several blocks of columns are read: a path or an address, or a frame; memory reads it once."""

    table: Location | polars.DataFrame

    @cached_property
    def whole(self) -> tuple[polars.DataFrame, Source]:
        """The frame, and where its rows stand."""
        return (self.table, Source()) if isinstance(self.table, polars.DataFrame) else read_table(self.table)


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of a table as a table of its own: that of the items, and one for each label.

    `columns` are the table's names of the labels' columns; `counts` says that they count votes.
    """

    joined: Joined
    item: str
    columns: Mapping[str, str]
    counts: bool = False

    @property
    def path(self) -> Location | None:
        """The file, or the folder of files; None for a frame."""
        return None if isinstance(self.joined.table, polars.DataFrame) else self.joined.table

    @property
    def stored(self) -> Location:
        """The file, or the folder of files.

        Errors: `InputError` for a frame.
        """
        if self.path is None:
            raise InputError("columns of a dataframe", "those of a file", "Write the table as Parquet.")
        return self.path

    def renamed(self, frame: polars.DataFrame, source: Source) -> tuple[polars.DataFrame, Source]:
        """The columns of a frame under the names of the labels; messages name them as the table does."""
        series = {self.item: frame.get_column(self.item)} if self.item in frame.columns else {}
        series |= {label: frame.get_column(name) for label, name in self.columns.items() if name in frame.columns}
        return polars.DataFrame(series), replace(source, columns=self.columns)


def path_of(table: str | Path | Address | Block) -> Location | None:
    """Where a table is stored; None for a block of a frame."""
    return table.path if isinstance(table, Block) else location(table)


def read_table(path: str | Path | Address | Block) -> tuple[polars.DataFrame, Source]:
    """A file, or a block of columns, as a polars frame, and where its rows stand.

    The extension names the format: `.csv`, `.tsv`, `.jsonl` or `.ndjson`, `.parquet`, `.arrow`, `.feather` or `.ipc`.
    All cells of CSV and TSV are text as written (`007` stays `007`); a byte-order mark is skipped, CRLF is a line end.
    The files that a pattern matches are one table, in the order of their names. Addresses are read as `io.addresses`
    says.

    Errors: `InputError` with file and line for everything that is not one sound table: missing or unreadable files,
    other encodings than UTF-8, NUL bytes, ragged rows, repeated column names, nested values, no rows.
    """
    if isinstance(path, Block):
        return path.renamed(*path.joined.whole)
    where = location(path)
    files = members(where)
    if len(files) > 1:
        return _joined([read_table(file) for file in files], shown(where), [shown(file) for file in files])
    where = files[0]
    if isinstance(where, Address) and where.form not in ("text", "other"):
        return objects.frame(where)
    name = shown(where)
    reader = _READERS.get(where.suffix.lower())
    if reader is None:
        if isinstance(where, Path):
            regular(where)
        raise InputError(
            f"the extension {where.suffix!r}" if where.suffix else "a file without an extension",
            f"one of {', '.join(_READERS)}",
            "Convert the file, or rename it after what it holds.",
            name,
        )
    if reader is binary.parquet and isinstance(where, Path) and name == str(where):  # a name that can be handed on
        return binary.parquet_at(where, read_ends(where), guarded(where, where.stat).st_size, name)
    return reader(read_bytes(where), name)


def members(where: Location) -> Sequence[Location]:
    """The files that a pattern stands for; a path that is none stands for itself, and so does a table of several files.

    Errors: `InputError` for a pattern that matches nothing.
    """
    return objects.members(where) if isinstance(where, Address) else matching(where) or [where]


def _joined(
    parts: Sequence[tuple[polars.DataFrame, Source]], name: str, names: Sequence[str]
) -> tuple[polars.DataFrame, Source]:
    """The files of a pattern one below the other."""
    first, _ = parts[0]
    for (frame, _), own in zip(parts, names, strict=True):
        same_columns(frame.columns, first.columns, own, names[0])
        other = next((column for column in first.columns if frame[column].dtype != first[column].dtype), None)
        if other is not None:
            raise InputError(
                f"{frame[other].dtype} in column {check.quote(other)}",
                f"{first[other].dtype}, as in {names[0]}",
                "Write all files alike.",
                own,
            )
    table = polars.concat([frame.select(first.columns) for frame, _ in parts])
    return table, Source(name, parts=tuple((source, frame.height) for frame, source in parts))


def same_columns(columns: Sequence[str], first: Sequence[str], name: str, first_name: str) -> None:
    """Raises where a file has other columns than the first."""
    if sorted(columns) != sorted(first):
        raise InputError(
            f"the columns {check.shortlist(columns)}",
            f"those of {first_name}: {check.shortlist(first)}",
            "Give all files of a folder or pattern the same columns.",
            name,
        )


def shown(path: str | Path | Address | None) -> str:
    """A path as messages show it: as it is, unless it holds characters that would break the line."""
    if path is None:
        return Source().name
    text = redacted(str(path))
    return text if text.isprintable() else repr(text)


def read_bytes(path: str | Path | Address) -> bytes:
    """All of a regular file, or of a text at an address.

    Errors: `InputError` for what is missing, a folder, a device or pipe, or may not be read.
    """
    where = location(path)
    if isinstance(where, Address):
        return objects.text(where)
    regular(where)
    return guarded(where, where.read_bytes)


def read_ends(path: Path) -> bytes:
    """A Parquet file without its rows: its first mark and its footer, whose length stands before the last mark.

    Errors: as `read_bytes`.
    """
    regular(path)

    def read() -> bytes:
        with path.open("rb") as stream:
            mark, size = stream.read(4), stream.seek(0, 2)
            stream.seek(max(size - 8, 4))
            footer = int.from_bytes(stream.read(4), "little")
            stream.seek(max(size - 8 - footer, 4))
            return mark + stream.read()

    return guarded(path, read)


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
        hint = "Check the path." if error.errno == errno.ENOENT else "Check the file and its permissions."
        raise InputError(_reason(error), "a file that can be read", hint, shown(path)) from None
    except ValueError as error:
        raise InputError(str(error), "the path of a file", "Check the path.", shown(path)) from None


def _reason(error: OSError) -> str:
    return "no such file" if error.errno == errno.ENOENT else strerror(error.errno or 0).lower()


def utf8(data: bytes, name: str) -> bytes:
    """The bytes, if they are text in UTF-8; without the byte-order mark."""
    for start, what in MAGIC.items():
        if data.startswith(start):
            raise InputError(f"what looks like {what.split(';')[0]}", "text", f"It seems to be {what}.", name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("text in UTF-16", "text in UTF-8", "Save the file as UTF-8.", name)
    data = data.removeprefix(BOM)
    again = 0 if data.startswith(BOM) else data.find(b"\n" + BOM)
    if again >= 0:  # parsers drop it from one line and keep it in another
        line = data.count(b"\n", 0, again + 1) + 1
        hint = "The file seems to be joined of several; save it as UTF-8 without these marks."
        raise InputError("a second byte-order mark", "one at most, at the start", hint, f"{name}, line {line}")
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(
            "a NUL byte",
            "text in UTF-8",
            "The file is binary, damaged, or in UTF-16; save it as UTF-8 text.",
            f"{name}, line {data.count(b'\n', 0, nul) + 1}",
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"the byte 0x{data[error.start]:02x}, which is not UTF-8",
            "text in UTF-8",
            "Save the file as UTF-8.",
            f"{name}, line {data.count(b'\n', 0, error.start) + 1}",
        ) from None
    return data


def _separated(separator: str) -> Callable[[bytes, str], tuple[polars.DataFrame, Source]]:
    def read(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
        text = csv_text.dissect(utf8(data, name), separator, name)
        frame = polars.read_csv(
            text.rows,
            has_header=False,
            schema=dict.fromkeys(text.header, polars.String),
            separator=separator,
            quote_char='"' if b'"' in text.rows else None,
            infer_schema=False,
        )
        check.length(frame.height, len(text.lines), f"rows of {name}")
        return frame, Source(name, lines=text.lines)

    return read


def _json_lines(data: bytes, name: str) -> tuple[polars.DataFrame, Source]:
    return json_lines.parse(utf8(data, name), name)


_READERS: dict[str, Callable[[bytes, str], tuple[polars.DataFrame, Source]]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": binary.parquet,
    ".arrow": binary.arrow,
    ".feather": binary.arrow,
    ".ipc": binary.arrow,
}
"""How each extension is read."""
