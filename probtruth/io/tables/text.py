"""CSV, TSV and JSON lines as tables, whole or in pieces that end where a row does."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from polars import DataFrame

from probtruth.check import Source
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.tables import csv_text, json_lines
from probtruth.io.tables.read import guarded, read_bytes, utf8

JSON = ".json"  # A list of objects, which is read whole
SEPARATED = {".csv": ",", ".tsv": "\t"}
CHUNK = 1 << 24  # bytes of a text that become a piece


def parts(file: Path, whole: bool) -> Iterator[tuple[DataFrame, Source]]:
    """The rows of a file, all at once or some at a time; every piece of CSV begins with the header."""
    suffix = file.suffix.lower()
    name = shown(file)
    if whole or suffix == JSON:
        yield table(read_bytes(file), suffix, name)
        return
    header = b""
    before = 0
    for piece in _pieces(file, SEPARATED.get(suffix)):
        if piece.strip() or not (header or before):
            yield table(header + piece, suffix, name, before - header.count(b"\n"))
        if suffix in SEPARATED and not header:
            separator = csv_text.separator_of(piece, SEPARATED[suffix])
            header = csv_text.first_row(piece, separator)
        before += piece.count(b"\n")


def _pieces(file: Path, usual: MaybeText) -> Iterator[bytes]:
    """The bytes of a file in pieces that end where a line does, outside the quoted cells of CSV."""
    rest = b""
    separator = None
    with guarded(file, lambda: file.open("rb")) as stream:
        while block := stream.read(CHUNK):
            data = rest + block
            if usual is None:
                end = data.rfind(b"\n") + 1
            else:
                separator = separator or csv_text.separator_of(data, usual)
                end = csv_text.end_of_rows(data, separator)
            if end:
                yield data[:end]
            rest = data[end:]
    yield rest


def table(data: bytes, suffix: str, name: str, before: int = 0) -> tuple[DataFrame, Source]:
    """The table of a text; so many lines come `before` it."""
    data = utf8(data, name, before)
    if suffix not in SEPARATED:
        return json_lines.parse(data, name, suffix == JSON, before)
    usual = SEPARATED[suffix]
    separator = csv_text.separator_of(data, usual)
    frame, source = csv_text.parse(data, separator, name, before)
    if separator != usual:
        words = f"{name}: read as separated by {csv_text.SEPARATORS[separator]}"
        source = replace(source, notes=(words, *source.notes))
    return frame, source
