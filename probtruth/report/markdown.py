"""The verdict and the tables as Markdown (GitHub's flavour), for a pull request; names are shown, never markup."""

import re

from probtruth.report import tables
from probtruth.report.cells import Cell, Table
from probtruth.report.html import warnings_shown
from probtruth.report.interface import ResultLike
from probtruth.report.numbers import plain
from probtruth.report.verdict import verdict
from probtruth.report.words import Name, Sentence

_SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
_IN_NAMES = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:@])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown(result: ResultLike) -> str:
    """Verdict, warnings, models, matrix of P(row beats column), pairs and diagnostics."""
    said = verdict(result)
    parts = [f"## {_text(said.headline)}"]
    if said.failing:
        parts.append(_list(("**Do not rely on the numbers below.**", *map(_escape, said.failing))))
    parts += [_text(line) for line in said.details]
    parts += [_escape(plain(result.note))] if result.note else []
    if warnings := warnings_shown(result):
        parts += ["### Before you use this", _list(tuple(_escape(plain(line)) for line in warnings))]
    for table in (tables.models(result), tables.matrix(result), tables.pairs(result), tables.diagnostics(result)):
        parts.append(_table(table))
    if result.command is not None:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", result.command)), default=0))
        parts.append(f"{fence}sh\n{plain(result.command)}\n{fence}")
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rule = " | ".join("---:" if column.numeric else "---" for column in table.columns)
    head = " | ".join(_text(column.title) or " " for column in table.columns)
    rows = "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in table.rows)
    note = f"\n\n{_text(table.note)}" if table.note else ""
    return f"### {_escape(table.caption)}\n\n| {head} |\n| {rule} |\n{rows}{note}"


def _cell(cell: Cell) -> str:
    return _text(cell.text) or " "


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _text(sentence: Sentence) -> str:
    """Names stand apart from the direction of the text around them."""
    return "".join(
        f"\u2068{_escape(plain(piece), _IN_NAMES)}\u2069" if isinstance(piece, Name) else _escape(piece)
        for piece in sentence
    )


def _escape(text: str, special: re.Pattern[str] = _SPECIAL) -> str:
    """Text that Markdown shows as it is: no emphasis, no HTML, no table cell, no link, no mention."""
    return special.sub(r"\\\1", text.translate(_ENTITIES))
