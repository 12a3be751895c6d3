"""Files as tables: CSV, TSV, JSONL, Parquet and Arrow, with every text cell as it is written."""

import errno
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import strerror
from pathlib import Path

import polars

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import location, matching, origin
from probtruth.io.tables import binary, csv_text, json_lines
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


@dataclass(frozen=True, eq=False)
class Joined:
    """A table from which several blocks of columns are read: a file, or a frame; memory reads it once."""

    table: StrPath | Frame

    @cached_property
    def whole(self) -> tuple[polars.DataFrame, Source]:
        return read_table(self.table)


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of a table as a table of its own: that of the items, and one for each label.

    `columns` are the table's names of the labels' columns; `counts` says that they count votes.
    """

    joined: Joined
    item: str
    columns: Mapping[str, str]
    counts: bool = False

    def renamed(self, frame: polars.DataFrame, source: Source) -> tuple[polars.DataFrame, Source]:
        """The columns of a frame under the names of the labels; messages name them as the table does."""
        series = {self.item: frame.get_column(self.item)} if self.item in frame.columns else {}
        series |= {label: frame.get_column(name) for label, name in self.columns.items() if name in frame.columns}
        return polars.DataFrame(series), replace(source, columns=self.columns)


def read_table(table: StrPath | Block | Frame, what: str = "the table") -> tuple[polars.DataFrame, Source]:
    """A file, a block of columns, or a dataframe (called `what`) as a polars frame, and where its rows stand."""
    if isinstance(table, Block):
        return table.renamed(*table.joined.whole)
    if not isinstance(table, str | Path):
        return frames.as_polars(table), Source(what)
    where = location(table)
    files = members(where)
    if len(files) > 1:
        return _joined([read_table(file) for file in files], shown(where), [shown(file) for file in files])
    file, name = files[0], shown(files[0])
    regular(file)
    if file.suffix.lower() in binary.SUFFIXES:
        return binary.whole(file), Source(name)
    if file.suffix.lower() not in TEXTS:
        raise InputError(
            f"the extension {file.suffix!r}" if file.suffix else "a file without an extension",
            f"one of {', '.join((*TEXTS, *binary.SUFFIXES))}",
            "Convert the file, or rename it after what it holds.",
            name,
        )
    return text_table(read_bytes(file), file.suffix.lower(), name)


def members(path: Path) -> list[Path]:
    """The files that a pattern stands for; the Parquet and Arrow files of a folder."""
    several = matching(path) or [path]
    return [file for one in several for file in (_of_folder(one) if guarded(one, one.is_dir) else [one])]


def _of_folder(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in binary.SUFFIXES and file.is_file())
    if not files:
        raise InputError("a folder without Parquet or Arrow files", "at least one", "Check the path.", shown(folder))
    return files


def has_several(path: Path) -> bool:
    """Whether a path stands for several files: a folder or a pattern."""
    return path.is_dir() or matching(path) is not None


def _joined(
    parts: Sequence[tuple[polars.DataFrame, Source]], name: str, names: Sequence[str]
) -> tuple[polars.DataFrame, Source]:
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
    if sorted(columns) != sorted(first):
        raise InputError(
            f"the columns {check.shortlist(columns)}",
            f"those of {first_name}: {check.shortlist(first)}",
            "Give all files of a folder or pattern the same columns.",
            name,
        )


def shown(path: str | Path) -> str:
    """A path as messages show it: as it is, unless it holds characters that would break the line."""
    text = origin(path)
    return text if text.isprintable() else repr(text)


def read_bytes(path: str | Path) -> bytes:
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
        hint = "Check the path." if error.errno == errno.ENOENT else "Check the file and its permissions."
        raise InputError(_reason(error), "a file that can be read", hint, shown(path)) from None
    except ValueError as error:
        raise InputError(str(error), "the path of a file", "Check the path.", shown(path)) from None


def _reason(error: OSError) -> str:
    return "no such file" if error.errno == errno.ENOENT else strerror(error.errno or 0).lower()


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


def text_table(data: bytes, suffix: str, name: str, before: int = 0) -> tuple[polars.DataFrame, Source]:
    data = utf8(data, name, before)
    if suffix in SEPARATED:
        separator = csv_text.separator_of(data, SEPARATED[suffix])
        frame, source = csv_text.parse(data, separator, name, before)
        words = f"{name}: read as separated by {csv_text.SEPARATORS[separator]}"
        return frame, source if separator == SEPARATED[suffix] else replace(source, notes=(words, *source.notes))
    return json_lines.parse(data, name, before)


SEPARATED = {".csv": ",", ".tsv": "\t"}
TEXTS = (*SEPARATED, ".jsonl", ".ndjson")
