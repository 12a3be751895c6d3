"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from probtruth.line.result import Result
from probtruth.report.contents import MOST_WARNINGS, Block, Code, Contents, Figure, Fold, Lines, contents
from probtruth.report.numbers import NAME, plain, short_names, unmarked
from probtruth.report.plots.pictures import pictures
from probtruth.report.plots.svg import Picture
from probtruth.report.table import Table
from probtruth.types.comparison import leaders

WIDE = 3  # Columns up to which a table stays one on a narrow screen; wider ones become a card for each row
CLASS = ' class="num"'  # Of a cell that is set flush right
FILES = (
    "This folder also holds report.md (this page for a pull request), report.tex (tables for a paper), result.json "
    "(all numbers), models.csv, pairwise.csv, items.parquet (each item), posterior.nc (draws, for ArviZ) and figures/."
)


def html(result: Result, drawn: Mapping[str, Picture] | None = None, content: Contents | None = None) -> str:
    """The page."""
    content = contents(result) if content is None else content
    page = _Page(pictures(result) if drawn is None else drawn)
    style, script = _asset("style.css"), _asset("page.js")
    images = "img-src data:; " if result.item_images else ""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; style-src-attr 'unsafe-inline'; "
        f"script-src {_hash(script)}; {images}base-uri 'none'; form-action 'none'"
    )
    said, anchors = (
        content.verdict,
        "".join(f'<li><a href="#{section.anchor}">{section.title}</a></li>' for section in content.sections),
    )
    numbers = "".join(f"<div><dt>{shown(what)}</dt><dd>{shown(value)}</dd></div>" for what, value in said.numbers)
    failing = "".join(f"<li>{shown(line)}</li>" for line in said.failing)
    parts = [
        f'<header class="{said.level}"><div>',
        f'<p class="facts">{"".join(f"<span>{shown(fact)}</span>" for fact in content.facts)}</p>',
        f"<h1>{shown(said.headline)}</h1>",
        f'<p class="note">{shown(content.note)}</p>' if content.note else "",
        f'<div class="alert" role="alert"><strong>Do not rely on the numbers below.</strong><ul>{failing}</ul></div>'
        if failing
        else "",
        f"<dl>{numbers}</dl></div>",
        page.block(Figure(("behind-leader",), "")),
        "</header>",
        f'<nav aria-label="Contents"><ol>{anchors}</ol></nav>',
        page.warnings(content.warnings),
        page.block(Fold("What this rests on", said.details)),
    ]
    for section in content.sections:
        parts.append(f'<section aria-labelledby="{section.anchor}"><h2 id="{section.anchor}">{section.title}</h2>')
        parts += map(page.block, section.blocks)
        parts.append("</section>")
    title = escape(unmarked(said.headline))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + f'\n<p class="note">{FILES}</p>\n</main>\n'
        f'<script type="application/json" id="data">{_items(result)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def shown(text: str) -> str:
    """Text as HTML, with names apart from the direction of the text around them."""
    pieces = NAME.split(text)
    if len(pieces) == 1:
        return escape(text)
    shown = [f"<bdi>{escape(piece)}</bdi>" if place % 2 else escape(piece) for place, piece in enumerate(pieces)]
    return "".join(shown)


class _Page:
    """Blocks as HTML; figures by their names."""

    def __init__(self, drawn: Mapping[str, Picture]) -> None:
        self.drawn = drawn

    def block(self, block: Block | None) -> str:
        """One block."""
        match block:
            case None:
                return ""
            case str():
                return f"<p>{shown(block)}</p>"
            case Table():
                return self.table(block)
            case Figure():
                return self.figure(block)
            case Fold():
                inside = "".join(map(self.block, block.blocks))
                return f"<details><summary>{shown(block.title)}</summary>{inside}</details>"
            case Code():
                return f'<pre tabindex="0" aria-label="{block.language}"><code>{shown(block.text)}</code></pre>'
            case Lines():
                return f"<ul>{''.join(f'<li>{shown(line)}</li>' for line in block.lines)}</ul>"

    def warnings(self, lines: tuple[str, ...]) -> str:
        """The first three, and the rest folded."""
        if not lines:
            return ""
        rest = Fold(f"{len(lines) - MOST_WARNINGS} more", (Lines(lines[MOST_WARNINGS:]),))
        return (
            '<section class="alert" aria-labelledby="warnings"><h2 id="warnings">Before you use this</h2>'
            f"{self.block(Lines(lines[:MOST_WARNINGS]))}{self.block(rest) if lines[MOST_WARNINGS:] else ''}</section>"
        )

    def figure(self, figure: Figure) -> str:
        """Figures side by side over their caption; nothing where one could not be drawn."""
        found = [self.drawn[name] for name in figure.names if name in self.drawn]
        if not found:
            return ""
        caption = shown(figure.caption)
        if not figure.models:
            note = f"{caption} {shown(found[0].note)}".strip()
            return f"<figure>{found[0].inline}<figcaption>{note}</figcaption></figure>"
        panels = "".join(
            f"<div><p>{shown(model)}</p>{picture.inline}</div>"
            for model, picture in zip(figure.models, found, strict=True)
        )
        return f'<figure class="panels"><div>{panels}</div><figcaption>{caption}</figcaption></figure>'

    def table(self, table: Table) -> str:
        """A table that a narrow screen scrolls or, where it is wide, shows as a card for each row."""
        cards = len(table.heads) > WIDE and table.kind in ("", "items")
        kinds = [table.kind] if table.kind else []
        kinds += ["cards"] if cards else []
        kinds += ["sortable"] if table.kind in ("", "items") and len(table.rows) > 1 else []
        heads = "".join(
            f'<th scope="col"{CLASS if numeric else ""}>{shown(head)}</th>'
            for head, numeric in zip(table.heads, table.numeric, strict=True)
        )
        titles = [f' data-title="{escape(unmarked(head))}"' if cards else "" for head in table.heads]
        rows = []
        for first, *rest in table.rows:
            columns = zip(rest, table.numeric[1:], titles[1:], strict=True)
            cells = [f"<td{CLASS if numeric else ''}{title}>{shown(cell)}</td>" for cell, numeric, title in columns]
            rows.append(f'<tr><th scope="row">{shown(first)}</th>{"".join(cells)}</tr>')
        note = f'<p class="note">{shown(table.note)}</p>' if table.note else ""
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(unmarked(table.caption))}">'
            f'<table class="{" ".join(kinds)}"><caption>{shown(table.caption)}</caption><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
        )


def _asset(name: str) -> str:
    return files("probtruth.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    """What a content security policy allows a text by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


INFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}  # What JSON has no number for; NaN is null
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def _items(result: Result) -> str:
    """The items that the page's script lists, as JSON: columns as in the table of items, text and images."""
    frame = result.analysis.listed
    if frame is None:
        return "null"
    models = [str(row["model"]) for row in leaders(result.comparison.ranks)[:2]]
    names = frame["item"].to_list()
    data: dict[str, Any] = {
        "all": len(result.scores.items),
        "names": [name if name.isascii() and name.isprintable() else plain(name) for name in names],
        "models": [plain(short) for short in short_names(models).values()],
        "scores": [
            [float(f"{v:.4g}") if -math.inf < v < math.inf else INFINITE.get(v) for v in frame[f"score_{model}"]]
            for model in models
        ],
    }
    if result.labelled is not None and "label" in frame.columns:
        label = {name: plain(name) for name in result.labelled.aligned.labels}
        named = result.analysis.named_shares(frame["index"].to_list())
        data["labels"] = [[[label[name], round(share, 3)] for name, share in row] for row in named]
        data["truth"] = [label[name] for name in frame["label"]]
        data["entropy"] = [round(value, 3) for value in frame["entropy"]]
        data["says"] = [[label[name] for name in frame[f"label_{model}"]] for model in models]
        data["probs"] = [[round(value, 4) for value in frame[f"p_{model}"]] for model in models]
    if result.item_text:
        data["text"] = [result.item_text.get(name) for name in names]
    if result.item_images:
        data["image"] = [result.item_images.get(name) for name in names]
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPED)
