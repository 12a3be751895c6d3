"""The report as Markdown (GitHub's flavour), for a pull request; names are shown, never markup."""

import re

from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents
from probtruth.report.tables.cells import LONGEST, Table
from probtruth.report.words.numbers import plain
from probtruth.report.words.sentences import Name, Sentence

_SPECIAL = re.compile(r"([\\`*_\[\]|~$@])")
_IN_NAMES = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:@])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown(result: Result, content: Contents | None = None) -> str:
    """What the page says, without its figures; long tables are folded.

    Arguments: `content` are the contents, where they were made already.
    """
    content = contents(result) if content is None else content
    parts = [f"## {_text(content.verdict.headline)}"]
    if content.verdict.failing:
        parts.append(_list(("**Do not rely on the numbers below.**", *map(_escape, content.verdict.failing))))
    parts += [_text(line) for line in content.verdict.details]
    parts += [_escape(plain(result.note))] if result.note else []
    if content.warnings:
        parts += ["### Before you use this", _list(tuple(_escape(plain(line)) for line in content.warnings))]
    tables = {name: _table(table) for name, table in content.tables.items() if table is not None}

    def shown(*names: str) -> list[str]:
        return [tables[name] for name in names if name in tables]

    parts += shown("models", "other", *(("matrix", "pairs") if result.comparison.pairs else ()))
    parts += [_table(table) for table in content.group_pairs]
    parts += [_text(content.in_groups)] if content.in_groups else []
    parts += shown("by_group", "group_matrix", "ranks")
    parts += [_text(content.best_set)] if content.best_set else []
    parts += shown("calibration", "divided", "disputed", "agreements", "quality", "copies")
    parts += shown("diagnostics", "sensitivity", "predictive", "companions", "audit")
    parts.append(_escape(content.alignment))
    parts += [_code(content.command, "sh")] if content.command is not None else []
    parts += shown("settings")
    parts += ["### How to cite", _escape(content.citation), _code(content.bibtex, "bibtex")]
    parts += [_list(tuple(map(_escape, content.sources)))] if content.sources else []
    return "\n\n".join(parts) + "\n"


def _code(text: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    shown = "\n".join(map(plain, text.split("\n")))
    return f"{fence}{language}\n{shown}\n{fence}"


def _table(table: Table) -> str:
    rule = " | ".join("---:" if column.numeric else "---" for column in table.columns)
    head = " | ".join(_text(column.title) or " " for column in table.columns)
    rows = "\n".join(f"| {' | '.join(_text(cell.text) or ' ' for cell in row)} |" for row in table.rows)
    note = f"\n\n{_text(table.note)}" if table.note else ""
    grid = f"| {head} |\n| {rule} |\n{rows}{note}"
    title = _escape(plain(table.caption))
    if table.kind == "dense" or len(table.rows) > LONGEST:
        return f"<details><summary>{title} ({len(table.rows)} rows)</summary>\n\n{grid}\n\n</details>"
    return f"### {title}\n\n{grid}"


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
