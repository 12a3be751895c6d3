"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from probtruth.line.result import Result
from probtruth.report.contents import Block, Code, Contents, Figure, Fold, Panels, contents
from probtruth.report.names import MARKED, unmarked
from probtruth.report.plots.svg import STYLE
from probtruth.report.tables import Table

FEW_COLUMNS = 3  # Up to which a table stays one on a narrow screen; larger ones become a card for each row
SEPARATOR = "\x1f"  # Between the cells of a row, which are escaped at once
FILES = (
    "This folder also holds report.md (this page for a pull request), report.tex (tables for a paper), result.json "
    "(all numbers), models.csv, pairwise.csv, items.parquet (each item), posterior.nc (draws, for ArviZ) and figures/ "
    "(SVG, and PDF for LaTeX)."
)


def html(result: Result, content: Contents | None = None) -> str:
    content = contents(result) if content is None else content
    style, script = _asset("style.css") + STYLE, _asset("page.js")
    body = "\n".join([*_header(content), *_sections(content)])
    images = "img-src data:; " if "<img " in body else ""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; style-src-attr 'unsafe-inline'; "
        f"script-src {_hash(script)}; {images}base-uri 'none'; form-action 'none'"
    )
    title = escape(unmarked(content.verdict.headline))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}\n"
        f'<p class="note">{FILES}</p>\n</main>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _header(content: Contents) -> Iterator[str]:
    """The verdict with its figure, the warnings and the assumptions."""
    facts = "".join(f"<span>{shown(fact)}</span>" for fact in content.facts)
    yield f'<header class="{content.verdict.level}"><div>'
    yield f'<p class="facts">{facts}</p>'
    yield opening(content)
    yield "</div>"
    if content.figure is not None:
        yield block(content.figure)
    yield "</header>"
    yield '<nav aria-label="Contents"><ol>'
    for section in content.sections:
        yield f'<li><a href="#{_anchor(section)}">{section.title}</a></li>'
    yield "</ol></nav>"
    if content.warnings:
        yield '<section class="alert" aria-labelledby="warnings"><h2 id="warnings">Before you use this</h2>'
        yield from map(block, content.warnings)
        yield "</section>"
    yield block(Fold("Assumptions", content.verdict.details))


def _sections(content: Contents) -> Iterator[str]:
    for section in content.sections:
        anchor = _anchor(section)
        yield f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{section.title}</h2>'
        yield from map(block, section.blocks)
        yield "</section>"


def _anchor(section: Fold) -> str:
    return section.title.lower().replace(" ", "-")


def opening(content: Contents) -> str:
    """The headline, what speaks against it, and its numbers."""
    said = content.verdict
    parts = [f"<h1>{shown(said.headline)}</h1>"]
    if content.note:
        parts.append(f'<p class="note">{shown(content.note)}</p>')
    if said.failing:
        failing = f"<strong>Do not rely on the numbers below.</strong>{block(said.failing)}"
        parts.append(f'<div class="alert" role="alert">{failing}</div>')
    numbers = [f"<div><dt>{shown(what)}</dt><dd>{shown(value)}</dd></div>" for what, value in said.numbers]
    return "".join([*parts, "<dl>", *numbers, "</dl>"])


def shown(text: str) -> str:
    """Text as HTML, with names apart from the direction of the text around them."""
    return MARKED.sub(r"<bdi>\1</bdi>", escape(text))


def block(part: Block) -> str:
    match part:
        case str():
            return f"<p>{shown(part)}</p>"
        case tuple():
            lines = "".join(f"<li>{shown(line)}</li>" for line in part)
            return f"<ul>{lines}</ul>"
        case Table():
            return _table(part)
        case Figure():
            return f"<figure>{part.svg}<figcaption>{shown(part.caption)}</figcaption></figure>"
        case Panels():
            panels = "".join(f"<div><p>{shown(one.caption)}</p>{one.svg}</div>" for one in part.figures)
            return f'<figure class="panels"><div>{panels}</div><figcaption>{shown(part.caption)}</figcaption></figure>'
        case Fold():
            inside = "".join(map(block, part.blocks))
            return f"<details><summary>{shown(part.title)}</summary>{inside}</details>"
        case Code():
            return f'<pre tabindex="0" aria-label="{part.language}"><code>{shown(part.text)}</code></pre>'


def _table(table: Table) -> str:
    """A table that a narrow screen scrolls or, where it has many columns, shows as a card for each row."""
    ordered = table.kind != "list"
    cards = ordered and len(table.heads) > FEW_COLUMNS
    classes = [table.kind]
    if cards:
        classes.append("cards")
    if ordered and len(table.rows) > 1:
        classes.append("sortable")
    name = " ".join(filter(None, classes))
    heads, tags, body = "", [], ""
    for head, numeric in zip(table.heads, table.numeric, strict=True):
        flush = ' class="num"' if numeric else ""
        title = f' data-title="{escape(unmarked(head))}"' if cards else ""
        heads += f'<th scope="col"{flush}>{shown(head)}</th>'
        tags.append(f"<td{flush}{title}>")
    for place, row in enumerate(table.rows):
        first, *rest = shown(SEPARATOR.join(row)).split(SEPARATOR)
        text, image = table.behind[place] if table.behind else (None, None)
        inside = f'<p class="content">{escape(text)}</p>' if text else ""
        if image:
            inside += f'<img src="{escape(image)}" alt="Image of {escape(unmarked(row[0]))}">'
        if inside:
            first = f"<details><summary>{first}</summary>{inside}</details>"
        cells = "".join([f"{tag}{cell}</td>" for tag, cell in zip(tags[1:], rest, strict=True)])
        body += f'<tr><th scope="row">{first}</th>{cells}</tr>'
    note = f'<p class="note">{shown(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(unmarked(table.caption))}">'
        f'<table class="{name}"><caption>{shown(table.caption)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _asset(name: str) -> str:
    text = files("probtruth.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(text: str) -> str:
    """What a content security policy allows a text by."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
