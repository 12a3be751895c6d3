"""Docstrings are plain paragraphs with `code` in single backticks; this turns them into reStructuredText.

Napoleon has made fields of the arguments before, one line for each.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any

PARTS = ("Formula", "Returns", "Errors", "Source", "Example")
"""The words that begin the parts of a docstring."""

_PART = re.compile(rf"^({'|'.join(PARTS)}):\s*")
_FIELD = re.compile(r":\w+ [^:]+: ?")
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
        elif _FIELD.match(block[0]):
            result += [line for field in _fields(block) for line in field]
        else:
            result += _paragraph(block)
        result.append("")
    return result


def _fields(block: list[str]) -> Iterator[list[str]]:
    """The fields of a block, each with the lines that continue it."""
    starts = [at for at, line in enumerate(block) if _FIELD.match(line)]
    for start, end in itertools.pairwise([*starts, len(block)]):
        field = _FIELD.match(block[start])
        assert field is not None
        text = "\n".join([block[start][field.end() :], *block[start + 1 : end]])
        yield (field[0] + _inline(text)).split("\n")


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
    lines[:] = to_restructured(lines)


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", _process, priority=600)  # after Napoleon, which reads the arguments
    return {"parallel_read_safe": True, "parallel_write_safe": True}
