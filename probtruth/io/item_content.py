"""What the items are, for the report to show: a text or an image of each, from a column of a file.

Images are read from local files in the table's folder only, are known by their first bytes, and become data URIs.
"""

import base64
from collections.abc import Collection
from pathlib import Path

from probtruth.check import quote
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, with_column
from probtruth.io.groups import file_and_column, one_each
from probtruth.io.tables.read import guarded, regular
from probtruth.redaction import redacted

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
    if "://" in path or path.startswith("data:"):
        raise InputError(
            quote(path),
            "the path of a local file",
            "Fetch the images first.",
            where,
        )
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
        raise InputError(
            f"{quote(path)}, which is larger",
            f"at most {LARGEST_IMAGE >> 20} MiB an image",
            "Make it smaller.",
            where,
        )
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
