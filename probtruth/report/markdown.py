"""The report as Markdown (GitHub's flavour), for a pull request; names are shown, never markup."""

import re

from probtruth.line.result import Result
from probtruth.report.contents import Block, Code, Contents, Fold, contents
from probtruth.report.numbers import NAME
from probtruth.report.table import Table

SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
IN_NAMES = re.compile(r"([\\`*_{}\[\]()#|~$:@!]|^[+\-.=]|^\d+(?=[.)]))")
MOST_ITEMS = 10  # Rows of the list of items, as many as stand open on the page
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown(result: Result, content: Contents | None = None) -> str:
    """What the page says, without its figures; long tables are folded."""
    content = contents(result) if content is None else content
    said = content.verdict
    parts = [f"## {shown(said.headline)}"]
    parts += ["**Do not rely on the numbers below.**", _block(said.failing)] if said.failing else []
    parts.append("\n".join(f"- {shown(what)}: {shown(value)}" for what, value in said.numbers))
    parts += [shown(content.note)] if content.note else []
    parts += ["### Before you use this", *map(_block, content.warnings)] if content.warnings else []
    parts.append(_block(Fold("What this rests on", said.details)))
    for section in content.sections:
        parts += [f"### {section.title}", *map(_block, section.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def shown(text: str) -> str:
    """Text that Markdown shows as it is: no emphasis, no HTML, no table cell, no link, no mention."""
    pieces = NAME.split(text.translate(ENTITIES))
    return "".join([(IN_NAMES if at % 2 else SPECIAL).sub(r"\\\1", piece) for at, piece in enumerate(pieces)])


def _block(part: Block) -> str:
    match part:
        case str():
            return shown(part)
        case tuple():
            return "\n".join(f"- {shown(line)}" for line in part)
        case Table():
            return _table(part)
        case Fold():
            inside = "\n\n".join(map(_block, part.blocks))
            return f"<details><summary>{shown(part.title)}</summary>\n\n{inside}\n\n</details>"
        case Code():
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", part.text)), default=0))
            return f"{fence}{part.language}\n{part.text}\n{fence}"
        case _:
            return ""


def _table(table: Table) -> str:
    rule = " | ".join("---:" if numeric else "---" for numeric in table.numeric)
    lines = [f"**{shown(table.caption)}**", "", f"| {' | '.join(map(shown, table.heads))} |", f"| {rule} |"]
    rows = table.rows[:MOST_ITEMS] if table.kind == "items" else table.rows
    lines += [f"| {' | '.join([shown(cell) or ' ' for cell in row])} |" for row in rows]
    return "\n".join([*lines, *(["", shown(table.note)] if table.note else [])])
