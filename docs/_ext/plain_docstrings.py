"""Docstrings are plain paragraphs with `code` in single backticks; this turns them into reStructuredText."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import parameter_tables

PARTS = ("Formula", "Arguments", "Returns", "Errors", "Source", "Example")
"""The words that begin the parts of a docstring."""

_PART = re.compile(rf"^({'|'.join(PARTS)}):\s*")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\b(doi|arXiv):(\S+?)(?=[.,;)]*(?:\s|$))|(https?://\S+?)(?=[.,;)]*(?:\s|$))")
_SPECIAL = re.compile(r"([\\*|_])")
_HOSTS = {"doi": "https://doi.org/", "arXiv": "https://arxiv.org/abs/"}


def to_restructured(lines: list[str]) -> list[str]:
    """The same docstring with its parts in bold, code as literals, and addresses as links."""
    result: list[str] = []
    for block in _blocks(lines):
        if block[0].lstrip().startswith(">>>"):
            indent = len(block[0]) - len(block[0].lstrip())
            result += [line[indent:] for line in block]
        elif block[0].strip() == "Example:" and len(block) > 1:
            result += to_restructured(block[1:])
        else:
            result += _paragraph(block)
        result.append("")
    return result


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank line between them."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _paragraph(block: list[str]) -> list[str]:
    text = "\n".join(block)
    part = _PART.match(text.lstrip())
    head = f"**{part[1]}:** " if part else ""
    body = text.lstrip()[part.end() :] if part else text
    return (head + _inline(body)).split("\n")


def _inline(text: str) -> str:
    """Code becomes literals and addresses become links; whatever else reStructuredText would read as markup stays."""
    found, position = [], 0
    for code in _CODE.finditer(text):
        found += [_links(text[position : code.start()]), f"\\ ``{code[1]}``\\ "]
        position = code.end()
    return "".join([*found, _links(text[position:])])


def _links(text: str) -> str:
    found, position = [], 0
    for link in _LINK.finditer(text):
        found.append(_SPECIAL.sub(r"\\\1", text[position : link.start()]))
        address = link[3] or _HOSTS[link[1]] + link[2]
        shown = _SPECIAL.sub(r"\\\1", link[0]).replace("<", r"\<")
        found.append(f"\\ `{shown} <{address.replace('<', '%3C').replace('>', '%3E')}>`__\\ ")
        position = link.end()
    return "".join([*found, _SPECIAL.sub(r"\\\1", text[position:])])


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The docstring as reStructuredText; a table stands where a function's arguments or a class's fields were."""
    is_class = inspect.isclass(obj)
    rows = []
    if what in ("function", "method"):
        rows = parameter_tables.of_function(obj)
    elif is_class and not issubclass(obj, Exception):
        rows = parameter_tables.of_fields(obj) or parameter_tables.of_function(obj.__init__)
    if not rows:
        lines[:] = to_restructured(lines)
        return
    left, place = parameter_tables.without_arguments(lines, [row.name.strip("*") for row in rows])
    table = parameter_tables.as_markup(rows, _inline)
    lines[:] = [*to_restructured(left[:place]), "", *table, "", *to_restructured(left[place:])]


def _signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """A signature without types, which stand in the table."""
    if what not in ("function", "method") or not signature:
        return None
    shown = inspect.signature(obj)
    parameters = [
        one.replace(annotation=one.empty) for one in shown.parameters.values() if one.name not in ("self", "cls")
    ]
    return str(inspect.Signature(parameters)), returned


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
