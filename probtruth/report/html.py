"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
from html import escape
from importlib.resources import files

from probtruth.line.result import Result
from probtruth.report.contents import Block, Code, Contents, Figure, Fold, Panels, contents
from probtruth.report.numbers import NAME, unmarked
from probtruth.report.plots.svg import STYLE
from probtruth.report.table import Table

WIDE = 3  # Columns up to which a table stays one on a narrow screen; wider ones become a card for each row
CLASS = ' class="num"'  # Of a cell that is set flush right
FILES = (
    "This folder also holds report.md (this page for a pull request), report.tex (tables for a paper), result.json "
    "(all numbers), models.csv, pairwise.csv, items.parquet (each item), posterior.nc (draws, for ArviZ) and figures/."
)


def html(result: Result, content: Contents | None = None) -> str:
    content = contents(result) if content is None else content
    style, script = _asset("style.css") + STYLE, _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; style-src-attr 'unsafe-inline'; "
        f"script-src {_hash(script)}; {'img-src data:; ' if result.item_images else ''}"
        "base-uri 'none'; form-action 'none'"
    )
    said = content.verdict
    anchors = {section.title: section.title.lower().replace(" ", "-") for section in content.sections}
    parts = [
        f'<header class="{said.level}"><div>',
        f'<p class="facts">{"".join(f"<span>{shown(fact)}</span>" for fact in content.facts)}</p>',
        opening(content),
        f"</div>{'' if content.figure is None else block(content.figure)}</header>",
        '<nav aria-label="Contents"><ol>',
        *(f'<li><a href="#{anchor}">{title}</a></li>' for title, anchor in anchors.items()),
        "</ol></nav>",
        '<section class="alert" aria-labelledby="warnings"><h2 id="warnings">Before you use this</h2>'
        f"{''.join(map(block, content.warnings))}</section>"
        if content.warnings
        else "",
        block(Fold("What this rests on", said.details)),
    ]
    for section in content.sections:
        anchor = anchors[section.title]
        parts.append(f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{section.title}</h2>')
        parts += [*map(block, section.blocks), "</section>"]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(unmarked(said.headline))}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + f'\n<p class="note">{FILES}</p>\n</main>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def opening(content: Contents) -> str:
    said = content.verdict
    numbers = "".join(f"<div><dt>{shown(what)}</dt><dd>{shown(value)}</dd></div>" for what, value in said.numbers)
    failing = f"<strong>Do not rely on the numbers below.</strong>{block(said.failing)}"
    return (
        f"<h1>{shown(said.headline)}</h1>"
        + (f'<p class="note">{shown(content.note)}</p>' if content.note else "")
        + (f'<div class="alert" role="alert">{failing}</div>' if said.failing else "")
        + f"<dl>{numbers}</dl>"
    )


def shown(text: str) -> str:
    """Text as HTML, with names apart from the direction of the text around them."""
    return NAME.sub(r"<bdi>\1</bdi>", escape(text))


def block(part: Block) -> str:
    match part:
        case str():
            return f"<p>{shown(part)}</p>"
        case tuple():
            return f"<ul>{''.join(f'<li>{shown(line)}</li>' for line in part)}</ul>"
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
    """A table that a narrow screen scrolls or, where it is wide, shows as a card for each row."""
    plain_facts = table.kind == "list"
    cards = len(table.heads) > WIDE and not plain_facts
    kinds = [table.kind, "cards" * cards, "sortable" * (not plain_facts and len(table.rows) > 1)]
    classes = [CLASS if numeric else "" for numeric in table.numeric]
    titles = [f' data-title="{escape(unmarked(head))}"' if cards else "" for head in table.heads]
    heads = "".join(f'<th scope="col"{of}>{shown(head)}</th>' for head, of in zip(table.heads, classes, strict=True))
    rows = []
    for place, row in enumerate(table.rows):
        first, *rest = shown("\x1f".join(row)).split("\x1f")
        text, image = table.behind[place] if table.behind else (None, None)
        if text or image:
            inside = f'<p class="content">{escape(text)}</p>' if text else ""
            inside += f'<img src="{escape(image)}" alt="Image of {escape(unmarked(row[0]))}">' if image else ""
            first = f"<details><summary>{first}</summary>{inside}</details>"
        columns = zip(rest, classes[1:], titles[1:], strict=True)
        cells = "".join([f"<td{of}{title}>{cell}</td>" for cell, of, title in columns])
        rows.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(unmarked(table.caption))}">'
        f'<table class="{" ".join(filter(None, kinds))}"><caption>{shown(table.caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    ) + (f'<p class="note">{shown(table.note)}</p>' if table.note else "")


def _asset(name: str) -> str:
    return files("probtruth.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    """What a content security policy allows a text by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
