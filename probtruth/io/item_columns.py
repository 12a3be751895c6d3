"""What a column of a file says of each item: its group or cluster, or the text or image that the report shows of it.

Images are read from local files in the table's folder only, are known by their first bytes, and become data URIs.
"""

import base64
from collections.abc import Collection, Iterable
from pathlib import Path

from polars import DataFrame

from probtruth import check, frames
from probtruth.check import MaybeStrings, Source, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, with_column
from probtruth.io.table import opened
from probtruth.io.tables.read import guarded, regular
from probtruth.redaction import redacted


def read_groups(spec: str, items: MaybeStrings, item: str = "item", what: str = "group") -> dict[str, str]:
    """The group of each of the items (None: of all that the file has), from `FILE:COLUMN` (split at the last colon)."""
    table, source, column = file_and_column(spec, f"--{what}s", item)
    known = one_each(table, item, column, frames.names(table, column, source, what), source, what)
    absent = [name for name in items or () if name not in known]
    if absent:
        raise InputError(
            f"no {what} for {len(absent)} of {len(items or ())} items ({shortlist(absent, 3)})",
            f"a {what} for every item",
            f"Add them. {check.AS_TEXT}",
            source.at(column=column),
        )
    return known if items is None else {name: known[name] for name in items}


def file_and_column(spec: str, option: str, item: str = "item") -> tuple[DataFrame, Source, str]:
    """The table and the column that are named as `FILE:COLUMN`."""
    path, column = with_column(spec)
    if not (path and column):
        raise InputError(quote(spec), "FILE:COLUMN", f"Write {option} table.csv:column.")
    table, source = opened(path).with_items(item).whole
    role = "annotator" if option == "--annotator-groups" else "item"
    hint = f"Write {option} FILE:COLUMN; --{role} names the column of {role}s."
    check.need_columns(table.columns, {role: item, "value": column}, source.name, hint)
    return table, source, column


def one_each[V](
    table: DataFrame, item: str, column: str, values: Iterable[V], source: Source, what: str
) -> dict[str, V]:
    """The value of each item that has one; the rows of an item must agree."""
    known: dict[str, V] = {}
    for row, (name, value) in enumerate(zip(frames.names(table, item, source, "item"), values, strict=True)):
        if value is not None and known.setdefault(name, value) != value:
            raise InputError(
                f"a second {what} of item {quote(name)}",
                f"one {what} for each item",
                "Make its rows agree.",
                source.at(row, column),
            )
    return known


LARGEST_IMAGE = 1 << 20  # Bytes of one image
LARGEST_TOTAL = 50 << 20  # Bytes of all texts, or images, that a page holds
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
# The first bytes of the images that a browser shows without running anything.
KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif", b"RIFF": "webp"}


def read_content(spec: str, items: Collection[str] | None, item: str = "item") -> tuple[dict[str, str], dict[str, str]]:
    """The texts of items in `FILE:COLUMN`; where all cells are paths of images, the second has these as data URIs.

    Blank cells are left out. Without `items` the column is looked at, before long work.
    """
    table, source, column = file_and_column(spec, "--show", item)
    cells = [str(cell) if cell else None for cell in table[column].to_list()]
    texts = one_each(table, item, column, cells, source, "text")
    contents = {name: text for name, text in texts.items() if text and name in (items or texts)}
    if not contents:
        raise InputError(
            "no text of any item",
            "items named as in the data",
            "Names are compared as text.",
            source.name,
        )
    if items is None:
        return {}, {}
    are_images = all(cell.lower().endswith(SUFFIXES) for cell in contents.values())
    if are_images:
        path, _ = with_column(spec)
        if is_address(path):
            raise InputError(
                "images of a table at an address",
                "a local table",
                "Copy it here.",
                redacted(path),
            )
        contents = {name: _image(Path(path).parent, cell, source.at(column=column)) for name, cell in contents.items()}
    total = sum(len(content.encode()) for content in contents.values())
    if total > LARGEST_TOTAL:
        raise InputError(
            f"texts or images of {total >> 20} MiB",
            f"at most {LARGEST_TOTAL >> 20} MiB in a page",
            "Leave --show out, or name fewer.",
            spec,
        )
    return ({}, contents) if are_images else (contents, {})


def _image(folder: Path, path: str, where: str) -> str:
    # a page is passed on: a table from elsewhere must not put any image of this disk into it
    place = guarded(folder / path, (folder / path).resolve)
    if not place.is_relative_to(guarded(folder, folder.resolve)):
        raise InputError(
            quote(path),
            "an image in the folder of the table, or in a folder in it",
            "Copy the images beside the table.",
            where,
        )
    regular(folder / path)
    if (folder / path).stat().st_size > LARGEST_IMAGE:
        raise InputError(quote(path), f"an image of at most {LARGEST_IMAGE >> 20} MiB", "Make it smaller.", where)
    content = guarded(folder / path, (folder / path).read_bytes)
    kind = next((kind for start, kind in KINDS.items() if content.startswith(start)), None)
    if kind is None:
        raise InputError(
            f"{quote(path)}, which is no image",
            "PNG, JPEG, GIF or WebP",
            "Convert it.",
            where,
        )
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
