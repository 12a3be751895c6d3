"""The report as Markdown (GitHub's flavour), for a pull request; names are shown, never markup."""

import re

from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents
from probtruth.report.tables.cells import LONGEST, Cell, Table
from probtruth.report.words.numbers import plain
from probtruth.report.words.sentences import Name, Sentence

_SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
_IN_NAMES = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:@])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown(result: Result, said: Contents | None = None) -> str:
    """What the page says, without its figures; long tables are folded.

    Arguments: `said` are the contents, where they were made already.
    """
    said = contents(result) if said is None else said
    parts = [f"## {_text(said.verdict.headline)}"]
    if said.verdict.failing:
        parts.append(_list(("**Do not rely on the numbers below.**", *map(_escape, said.verdict.failing))))
    parts += [_text(line) for line in said.verdict.details]
    parts += [_escape(plain(said.note))] if said.note else []
    if said.warnings:
        parts += ["### Before you use this", _list(tuple(_escape(plain(line)) for line in said.warnings))]
    parts += [_table(said.models), *_tables(said.other), _table(said.matrix), _table(said.pairs)]
    parts += [_table(table) for table in said.group_pairs]
    parts += [*([_text(said.in_groups)] if said.in_groups else []), *_tables(said.by_group, said.group_matrix)]
    parts += [*_tables(said.ranks), *([_text(said.best_set)] if said.best_set else [])]
    parts += [*_tables(said.calibration_numbers, *said.items, *said.annotators)]
    parts += [*_tables(said.diagnostics, said.sensitivity, said.predictive, said.companions, said.audit)]
    parts.append(_escape(said.alignment))
    parts += [_code(said.command, "sh")] if said.command is not None else []
    parts += [_table(said.settings, fold=True), "### How to cite", _escape(said.citation), _code(said.bibtex, "bibtex")]
    parts += [_list(tuple(map(_escape, said.sources)))] if said.sources else []
    return "\n\n".join(parts) + "\n"


def _tables(*tables: Table | None) -> list[str]:
    return [_table(table) for table in tables if table is not None]


def _code(text: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    shown = "\n".join(map(plain, text.split("\n")))
    return f"{fence}{language}\n{shown}\n{fence}"


def _table(table: Table, fold: bool = False) -> str:
    rule = " | ".join("---:" if column.numeric else "---" for column in table.columns)
    head = " | ".join(_text(column.title) or " " for column in table.columns)
    rows = "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in table.rows)
    note = f"\n\n{_text(table.note)}" if table.note else ""
    grid = f"| {head} |\n| {rule} |\n{rows}{note}"
    title = _escape(plain(table.caption))
    if fold or len(table.rows) > LONGEST:
        return f"<details><summary>{title} ({len(table.rows)} rows)</summary>\n\n{grid}\n\n</details>"
    return f"### {title}\n\n{grid}"


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
