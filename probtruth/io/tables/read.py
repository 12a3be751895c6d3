"""Files as bytes and as strict text, and tables of text: CSV, TSV and JSON lines, whole or in pieces of rows."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from polars import DataFrame

from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import BINARIES, DELTA_LOG, TABLES, location, matching, of_delta, shown
from probtruth.io.tables import csv_text, json_lines
from probtruth.types.arguments import StrPath

MAGIC = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack it, or export the sheet as CSV",
    b"\x1f\x8b": "gzip; decompress it first",
    b"\x28\xb5\x2f\xfd": "zstd; decompress it first",
    b"<!DOCTYPE": "a page of HTML; download the file itself",
    b"<html": "a page of HTML; download the file itself",
    b"version https://git-lfs": "a pointer of Git LFS; fetch the file with git lfs pull",
    b"\x89HDF": "HDF5 or netCDF; export the table as Parquet",
}  # How common binary files begin, and what to do with them

BOM = b"\xef\xbb\xbf"  # The byte-order mark in UTF-8
JSON = ".json"  # A list of objects, or one a line, which is read whole
SEPARATED = {".csv": ",", ".tsv": "\t"}
STANDARD_INPUT = "Standard input is not read: save what comes from it as a file."
CHUNK = 1 << 24  # bytes of a text that become a piece


def files_of(where: Path) -> list[Path]:
    """The files that a path stands for: one, those of a pattern, the Parquet and Arrow files of a folder."""
    files = []
    for one in matching(where) or [where]:
        inside = [one]
        if guarded(one, one.is_dir):
            if (one / DELTA_LOG).is_dir():
                raise of_delta(shown(one))
            inside = [file for file in sorted(one.iterdir()) if file.suffix.lower() in BINARIES and file.is_file()]
        else:
            regular(one)
        if not inside:
            raise InputError("a folder without Parquet or Arrow files", "at least one", "Check the path.", shown(one))
        if inside[0].suffix.lower() not in TABLES:
            raise InputError(
                f"the extension {one.suffix!r}" if one.suffix else "a file without an extension",
                f"one of {', '.join(TABLES)}",
                "Convert the file, or rename it after what it holds.",
                shown(one),
            )
        files += inside
    return files


def read_bytes(path: StrPath) -> bytes:
    where = location(path)
    regular(where)
    return guarded(where, where.read_bytes)


def regular(path: Path) -> None:
    """Raises where there is no file, or what is there is none."""
    mode = guarded(path, path.stat).st_mode
    if not stat.S_ISREG(mode):
        raise InputError(
            "a folder" if stat.S_ISDIR(mode) else "a device or pipe", "a file", "Give the path of a file.", shown(path)
        )


def guarded[T](path: Path, read: Callable[[], T]) -> T:
    """What reading a file returns; `InputError` where the system does not let it be read."""
    try:
        return read()
    except OSError as error:
        absent = error.errno == errno.ENOENT
        hint = "Check the path." if absent else "Check the file and its permissions."
        raise InputError(
            "no such file" if absent else os.strerror(error.errno or 0).lower(),
            "a file that can be read",
            STANDARD_INPUT if str(path) == "-" else hint,
            shown(path),
        ) from None
    except ValueError as error:
        raise InputError(str(error), "the path of a file", "Check the path.", shown(path)) from None


def utf8(data: bytes, name: str, before: int = 0) -> bytes:
    """The bytes, if they are text in UTF-8; without the byte-order mark. So many lines come `before`."""
    for start, what in MAGIC.items():
        if data.startswith(start):
            raise InputError(f"what looks like {what.split(';')[0]}", "text", f"It seems to be {what}.", name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("text in UTF-16", "text in UTF-8", "Save the file as UTF-8.", name)
    data = data if before else data.removeprefix(BOM)
    faults = {"a NUL byte": data.find(b"\0")}
    try:
        data.decode()
    except UnicodeDecodeError as error:
        faults[f"the byte 0x{data[error.start]:02x}, which is not UTF-8"] = error.start
    # parsers drop a second mark from one line and keep it in another
    faults["a second byte-order mark"] = 0 if data.startswith(BOM) else data.find(b"\n" + BOM)
    for what, at in faults.items():
        if at >= 0:
            line = data.count(b"\n", 0, at + 1) + 1 + before
            raise InputError(what, "text in UTF-8", "Save the file as UTF-8 text.", f"{name}, line {line}")
    return data


def parts_of_text(file: Path, whole: bool) -> Iterator[tuple[DataFrame, Source]]:
    """The rows of a file, all at once or some at a time."""
    suffix = file.suffix.lower()
    name = shown(file)
    pieces = _pieces(file, name, whole or suffix == JSON)
    if suffix in SEPARATED:
        yield from csv_text.parse((piece for piece, _ in pieces), SEPARATED[suffix], name, whole)
        return
    for piece, before in pieces:
        if piece.strip() or not before:
            listed = suffix == JSON and piece.lstrip().startswith(b"[")
            yield json_lines.parse(piece, name, listed, before)


def _pieces(file: Path, name: str, whole: bool) -> Iterator[tuple[bytes, int]]:
    """The text of a file, whole or in pieces that end where a line does, and how many lines come before each."""
    if whole:
        yield utf8(read_bytes(file), name), 0
        return
    rest = b""
    before = 0
    with guarded(file, lambda: file.open("rb")) as stream:
        while block := stream.read(CHUNK):
            data = rest + block
            end = data.rfind(b"\n") + 1
            if end:
                yield utf8(data[:end], name, before), before
                before += data.count(b"\n")
            rest = data[end:]
    yield utf8(rest, name, before), before
