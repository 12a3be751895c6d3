"""What the items are, for the report to show: a text or an image of each, from a column of a file.

Images are read from local files only, are known by their first bytes, and become data URIs.
"""

import base64
from collections.abc import Collection
from pathlib import Path

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, with_column
from probtruth.io.tables.read import read_table
from probtruth.redaction import redacted

LARGEST_IMAGE = 1 << 20  # Bytes of one image
LARGEST_TOTAL = 50 << 20  # Bytes of all images, and of all texts, that a page holds
# The first bytes of the images that a browser shows without running anything.
KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}


SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def check_item_content(spec: str, item: str = "item", what: str = "text") -> None:
    """Raises before long work if the column of texts or of images (`what`) could not be read."""
    _column(spec, None, item, what)


def read_item_text(spec: str, items: Collection[str], item: str = "item") -> dict[str, str]:
    """The text of each of the items that the file has, from `FILE:COLUMN` (split at the last colon)."""
    texts = {name: text for name, (text, _) in _column(spec, items, item, "text").items()}
    total = sum(len(text.encode()) for text in texts.values())
    if total > LARGEST_TOTAL:
        raise _too_large("texts", total, spec)
    return texts


def read_item_images(spec: str, items: Collection[str], item: str = "item") -> dict[str, str]:
    """The image of each of the items that the file has, as a data URI, from `FILE:COLUMN` of paths."""
    images: dict[str, str] = {}
    total = 0
    table = with_column(spec)[0]
    if is_address(table):
        raise InputError("images that a table at an address names", "a local table", "Copy it here.", redacted(table))
    folder = Path(table).parent
    for name, (path, where) in _column(spec, items, item, "image").items():
        if "://" in path or path.startswith("data:"):
            raise InputError(check.quote(path), "the path of a local file", "Fetch the images first.", where)
        content = _bytes(folder / path, where)
        total += len(content)
        if total > LARGEST_TOTAL:
            raise _too_large("images", total, spec)
        images[name] = f"data:image/{_kind(content, path, where)};base64,{base64.b64encode(content).decode()}"
    return images


def read_content(spec: str, items: Collection[str], item: str = "item") -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the items or, where all cells are paths of images, their images; the other of the two is empty."""
    cells = _column(spec, items, item, "text")
    if all(Path(cell).suffix.lower() in SUFFIXES for cell, _ in cells.values()):
        return {}, read_item_images(spec, items, item)
    return read_item_text(spec, items, item), {}


def _bytes(path: Path, where: str) -> bytes:
    try:
        if not path.is_file():
            raise InputError(f"no file {check.quote(str(path))}", "an image", "Check the path.", where)
        with path.open("rb") as stream:
            content = stream.read(LARGEST_IMAGE + 1)
    except OSError as error:
        raise InputError(f"{check.quote(str(path))}: {error.strerror}", "an image", "Check it.", where) from None
    if len(content) > LARGEST_IMAGE:
        limit = f"at most {LARGEST_IMAGE >> 20} MiB an image"
        raise InputError(f"{check.quote(str(path))}, which is larger", limit, "Make it smaller.", where)
    return content


def _kind(content: bytes, path: str, where: str) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    for start, kind in KINDS.items():
        if content.startswith(start):
            return kind
    raise InputError(f"{check.quote(path)}, which is no image", "PNG, JPEG, GIF or WebP", "Convert it.", where)


def _column(spec: str, items: Collection[str] | None, item: str, what: str) -> dict[str, tuple[str, str]]:
    """Each item's cell (None: of all that the file has) and where it stands; blank cells are left out."""
    path, column = with_column(spec)
    if not (path and column):
        raise InputError(check.quote(spec), "FILE:COLUMN", "Write --show items.csv:column.")
    table, source = read_table(path)
    frames.need_columns(table.columns, {"item": item, what: column}, source.name)
    codes, names = frames.encode(table, item, source, "item")
    wanted, cells = set(names if items is None else items), table[column].to_list()
    contents: dict[str, tuple[str, str]] = {}
    for row, code in enumerate(codes.tolist()):
        name, cell = names[code], cells[row]
        if name not in wanted or cell is None or cell == "":
            continue
        text = str(cell)
        if contents.setdefault(name, (text, source.at(row, column)))[0] != text:
            raise InputError(
                f"item {check.quote(name)} with two {what}s", "one for each item", "Make them agree.",
                source.at(row, column),
            )  # fmt: skip
    if not contents:
        raise InputError(
            f"no {what} of any item", "items named as in the data", "Names are compared as text.", source.name
        )
    return contents


def _too_large(what: str, total: int, where: str) -> InputError:
    limit = f"at most {LARGEST_TOTAL >> 20} MiB in a page"
    return InputError(f"{what} of {total >> 20} MiB", limit, "Leave --show out, or name fewer.", where)
