"""The report as Markdown (GitHub's flavour), for a pull request; names are shown, never markup."""

import re
from collections.abc import Sequence

from probtruth.line.result import Result
from probtruth.report.contents import Block, Code, Contents, Fold, contents
from probtruth.report.names import MARKED
from probtruth.report.tables import Table

SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
IN_NAMES = re.compile(r"([\\`*_{}\[\]()#|~$:@!]|^[+\-.=])")
NUMBERED = re.compile(r"^(\d+)\.")  # Markdown starts a list with it
MOST_ITEMS = 10  # Rows of the list of items, as many as stand open on the page
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown(result: Result, content: Contents | None = None) -> str:
    """What the page says, without its figures; long tables are folded."""
    content = contents(result) if content is None else content
    said = content.verdict
    parts = [f"## {shown(said.headline)}"]
    if said.failing:
        parts += ["**Do not rely on the numbers below.**", _block(said.failing)]
    numbers = [f"- {shown(what)}: {shown(value)}" for what, value in said.numbers]
    parts.append("\n".join(numbers))
    if content.note:
        parts.append(shown(content.note))
    if content.warnings:
        parts += ["### Before you use this", *map(_block, content.warnings)]
    parts.append(_block(Fold("Assumptions", said.details)))
    for section in content.sections:
        parts += [f"### {section.title}", *map(_block, section.blocks)]
    return "\n\n".join(filter(None, parts)) + "\n"


def shown(text: str) -> str:
    """Text that Markdown shows as it is: no emphasis, no HTML, no table cell, no link, no mention."""
    pieces = MARKED.split(text.translate(ENTITIES))
    pieces[::2] = [SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [NUMBERED.sub(r"\1\\.", IN_NAMES.sub(r"\\\1", name)) for name in pieces[1::2]]
    return "".join(pieces)


def _block(part: Block) -> str:
    match part:
        case str():
            return shown(part)
        case tuple():
            lines = [f"- {shown(line)}" for line in part]
            return "\n".join(lines)
        case Table():
            return _table(part)
        case Fold():
            inside = "\n\n".join(map(_block, part.blocks))
            return f"<details><summary>{shown(part.title)}</summary>\n\n{inside}\n\n</details>"
        case Code():
            runs = re.findall("`+", part.text)
            longest = max(map(len, runs), default=0)
            fence = "`" * max(3, 1 + longest)
            return f"{fence}{part.language}\n{part.text}\n{fence}"
        case _:
            return ""


def _table(table: Table) -> str:
    rules = ["---:" if numeric else "---" for numeric in table.numeric]
    lines = [f"**{shown(table.caption)}**", "", _row(table.heads), f"| {' | '.join(rules)} |"]
    rows = table.rows
    if table.kind == "items":
        rows = rows[:MOST_ITEMS]
    lines += [_row(row) for row in rows]
    if table.note:
        lines += ["", shown(table.note)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    texts = [shown(cell) or " " for cell in cells]
    return f"| {' | '.join(texts)} |"
