"""How the fuzzer changes a file: tokens joined into text, values exchanged inside JSON, archives and tables."""

import csv
import datetime
import io
import json
import random
import zipfile
import zlib
from typing import Any

import polars

LONGEST = 16_384
"""Bytes of a mutated file."""
TOKENS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\r\n", b"\n", b'"', b",", b"\t", b"nan", b"-inf"),
    *(b"1e999", b"1e-320", b"9007199254740993", b"9" * 400, b"{}", b"[", b"\\ud800", b"\\u0000", b"null", b"PAR1"),
    *(b"ARROW1", b"\xff\xff\xff\x7f", b"2026-11-21", b"../../x", b"=1+1", b"item", b"item,item", b"PK\x03\x04"),
    *("\u202e".encode(),),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**400, 2**53 + 1, 2**64, 1.5, float("nan"), float("inf"), 5e-324, "", " ", "\0", "\ud800"),
    *("x" * 5000, "../../x", "=1+1", "<b>", [], {}, [[]], [None], {"": None}, ["a", 1], "1e5", "-1", "NaN", "C", "I"),
)
CELLS = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "0.5",
        "1.5",
        "1e-17",
        "0.1",
        "nan",
        "NA",
        "null",
        "inf",
        "-Infinity",
        "1e400",
        "5e-324",
    ),
    *("9007199254740993", "1" * 40, "0x1", "1,5", "1_000", "007", "7.0", "true", "2026-11-21", "\u0661", "\u202ea"),
    *("a", "b", "x", "m", "item", "model", "label", "weight", "*", "^a.*$", "a\nb", '"', "../../x", "=1+1", "<b>"),
)
"""Of a table: numbers at the edges of what is allowed, names that mean something, and markup."""
COLUMNS: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**53 + 1, -(2**63), 0.5, 1.5, -0.5, float("nan"), float("inf"), 5e-324, "", "a", "0.5"),
    *(b"\xff\x00", [0.5], [], [None], {"a": 1}, datetime.date(2026, 11, 21), datetime.datetime(2026, 11, 21, 1)),
    *(datetime.timedelta(1), "x" * 3000, "\u202ea", "../../x"),
)
TYPES = (
    *(polars.Int8, polars.UInt64, polars.Float32, polars.String, polars.Categorical, polars.Binary, polars.Boolean),
    *(polars.Date, polars.Decimal(38, 2), polars.List(polars.Float64), polars.Null),
)


def edited_text(data: bytes, draw: random.Random) -> bytes:
    """With hostile tokens joined in, or pieces left out or doubled."""
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, size = draw.randrange(len(made) + 1), draw.choice((1, 3, 9, 40))
        edit = draw.randrange(4)
        if edit == 0:
            del made[at : at + size]
        elif edit == 1:
            made[at:at] = made[at : at + size] * draw.choice((1, 2, 8))
        else:
            made[at : at + draw.choice((0, 1, 4))] = draw.choice(TOKENS)
    return bytes(made[:LONGEST])


def edited_cells(data: bytes, draw: random.Random, separator: str) -> bytes:
    """A table of text with one to four cells, rows or columns changed, so that most of it stays sound."""
    try:
        rows = [row for row in csv.reader(io.StringIO(data.decode()), delimiter=separator) if row]
    except (ValueError, csv.Error):
        return edited_text(data, draw)
    if not rows:
        return edited_text(data, draw)
    for _ in range(draw.choice((1, 1, 2, 4))):
        row, edit = draw.randrange(len(rows)), draw.random()
        cell = draw.randrange(max(len(rows[row]), 1))
        if edit < 0.4:
            rows[row][cell : cell + 1] = [draw.choice(CELLS)]
        elif edit < 0.6:
            rows[row][cell : cell + 1] = draw.choice(rows)[cell : cell + 1]
        elif edit < 0.7:
            rows.insert(row, list(draw.choice(rows)))
        elif edit < 0.8:
            del rows[row][cell : cell + 1]
        elif edit < 0.9:
            rows = [[*line, line[cell] if cell < len(line) else ""] for line in rows]
        elif len(rows) > 1:
            del rows[row]
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator=draw.choice(("\n", "\n", "\r\n"))).writerows(rows)
    return stream.getvalue().encode(errors="surrogatepass")[:LONGEST]


def edited_frame(frame: polars.DataFrame, draw: random.Random, form: str) -> bytes:
    """A sound table, changed in cells, rows, names or types, and written as `form`."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        name, edit = draw.choice(frame.columns or [""]), draw.random()
        try:
            if edit < 0.35:
                values = frame[name].to_list()
                values[draw.randrange(len(values))] = draw.choice((draw.choice(COLUMNS), draw.choice(values)))
                frame = frame.with_columns(polars.Series(name, values, strict=draw.random() < 0.8))
            elif edit < 0.5:
                kept = [name] if draw.random() < 0.7 else frame.columns
                frame = frame.with_columns(frame[one].cast(draw.choice(TYPES), strict=False) for one in kept)
            elif edit < 0.6:
                frame = frame.with_columns(polars.lit(draw.choice(COLUMNS), allow_object=False).alias(name))
            elif edit < 0.75:
                frame = frame.rename({name: draw.choice(CELLS)})
            elif edit < 0.85:
                frame = polars.concat([frame, frame.sample(1, seed=draw.randrange(99))])
            elif edit < 0.95:
                frame = frame.with_columns(frame[name].alias(draw.choice(CELLS)))
            else:
                frame = frame.drop(name) if len(frame.columns) > 1 else frame.head(0)
        except (polars.exceptions.PolarsError, TypeError, ValueError, OverflowError, IndexError):
            continue
    stream = io.BytesIO()
    try:
        if form == "parquet":
            frame.write_parquet(stream, compression=draw.choice(("zstd", "snappy", "gzip", "uncompressed")))
        else:
            frame.write_ipc(stream, compression=draw.choice(("zstd", "lz4", "uncompressed")))
    except polars.exceptions.PolarsError:
        return b""
    return stream.getvalue()[:LONGEST]


def edited_value(value: Any, draw: random.Random, depth: int = 0) -> Any:
    """With some value anywhere in it replaced, left out, doubled or renamed."""
    if not isinstance(value, list | dict) or not value or (depth and draw.random() < 0.15):
        return draw.choice(VALUES) if draw.random() < 0.9 else [value] * draw.choice((2, 50))
    made = list(value) if isinstance(value, list) else dict(value)
    key = draw.choice(range(len(made)) if isinstance(made, list) else list(made))
    edit = draw.random()
    if edit < 0.7:
        made[key] = edited_value(made[key], draw, depth + 1)
    elif edit < 0.8:
        del made[key]
    elif isinstance(made, list):
        made.insert(key, made[key])
    else:
        made[draw.choice(("", "item", "id", "Id", "\ud800", "score"))] = made.pop(key)
    return made


def edited_json(data: bytes, draw: random.Random) -> bytes:
    """A JSON document, or one of the lines of JSON lines, with a value changed; bytes where it is neither."""
    try:
        return json.dumps(edited_value(json.loads(data), draw)).encode()[:LONGEST]
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = json.dumps(edited_value(json.loads(lines[at]), draw)).encode()
    except (ValueError, RecursionError):
        return edited_text(data, draw)
    return b"\n".join(lines)[:LONGEST]


def edited_archive(data: bytes, draw: random.Random) -> bytes:
    """With a member's JSON changed, left out, doubled or renamed; bytes where it is no archive."""
    stream = io.BytesIO()
    broken = (
        ValueError,
        OSError,
        zipfile.BadZipFile,
        NotImplementedError,
        IndexError,
        RuntimeError,
        zlib.error,
        EOFError,
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after:
            members = before.namelist()
            chosen, edit = draw.choice(members), draw.random()
            for name in members:
                body = before.read(name)
                if name == chosen and edit < 0.7:
                    body = edited_json(body, draw)
                if name != chosen or edit < 0.8:
                    after.writestr(name, body)
                elif edit > 0.85:
                    name = draw.choice(("../../x.json", "summaries.json/", "header.json", "samples/x.json"))
                    after.writestr(name, body)
    except broken:
        return edited_text(data, draw)
    return stream.getvalue()
