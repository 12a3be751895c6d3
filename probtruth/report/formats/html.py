"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents
from probtruth.report.embedded import LEAST_ERROR, embedded
from probtruth.report.plots.pictures import pictures
from probtruth.report.plots.svg import Picture
from probtruth.report.tables.cells import LONGEST, LONGEST_NAME, Cell
from probtruth.report.words.numbers import plain, shortened, significant, width
from probtruth.report.words.sentences import Name
from probtruth.report.words.verdict import Verdict

SCRIPTS = ("page", "sort", "pairs", "items")
"""The parts of the page's script, in their order."""


def html(result: Result, drawn: Mapping[str, Picture] | None = None, content: Contents | None = None) -> str:
    """The page.

    Arguments: `drawn` are the figures and `content` the contents, where they were made already.
    """
    content = contents(result) if content is None else content
    drawn = pictures(result) if drawn is None else drawn
    style, script = _asset("style.css"), "\n".join(_asset(f"script/{name}.js") for name in SCRIPTS)
    curves, calibration = result.analysis.curves, result.analysis.calibration
    explorable = curves is not None and not content.verdict.failing
    browsable = result.analysis.listed is not None
    return (
        _environment()
        .get_template("template.html.j2")
        .render(
            policy=_policy(style, script, bool(result.item_images)),
            data=embedded(result, explorable),
            explorable=explorable,
            browsable=browsable,
            error=0 if curves is None else max(curves.error, LEAST_ERROR),
            style=Markup(style),
            script=Markup(script),
            title=_title(content.verdict),
            result=result,
            content=content,
            tables=content.tables,
            calibration=calibration,
            calibrated=() if calibration is None else shortened(calibration.models, LONGEST_NAME).values(),
            figures=drawn,
            sections=_sections(content, drawn, explorable, browsable),
            longest=LONGEST,
            compared="metric" if result.comparison.settings.get("metric") else "mean",
        )
    )


def _sections(
    content: Contents, drawn: Mapping[str, Picture], explorable: bool, browsable: bool
) -> list[tuple[str, str]]:
    """Anchors and titles of the sections that the page has."""
    tables = {name for name, table in content.tables.items() if table is not None and table.rows}
    known = (
        ("models", "Models", True),
        ("pairs", "Pairs", "pairs" in tables),
        ("explore", "Your own question", explorable),
        ("groups", "By group", "by_group" in tables),
        ("ranks", "Who could be best", "ranks" in drawn),
        ("calibration", "Calibration", "calibration" in tables),
        ("items", "Items", bool(tables & {"divided", "disputed"}) or browsable),
        ("annotators", "Annotators", bool(tables & {"agreements", "quality", "copies"})),
        ("checks", "Checks", True),
        ("reading", "How to read the numbers", True),
        ("made", "How this was made", True),
    )
    return [(slug, title) for slug, title, there in known if there]


def _title(verdict: Verdict) -> str:
    return "".join(plain(piece)[:60] for piece in verdict.headline)


def _asset(name: str) -> str:
    return files("probtruth.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str, images: bool) -> str:
    """A content security policy that allows the page's own style and script, by hash, and nothing else.

    Arguments: `images`: pictures that the page itself holds are allowed too.
    """
    allowed = {"style-src": style, "script-src": script}
    hashes = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in allowed.items()}
    parts = ["default-src 'none'", *(f"{name} 'sha256-{value}'" for name, value in hashes.items())]
    parts += ["img-src data:"] if images else []
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'"])


def _sort_key(value: float | str | None) -> str:
    """What the page's script sorts by; empty for unknown."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "" if value is None else repr(value) if isinstance(value, float) else plain(value)


def _room(cell: Cell) -> Markup:
    """The class of a cell of text: short ones stay on one line, long ones get a wide column."""
    columns = sum(map(width, cell.text))
    return Markup(' class="one"' if columns <= 30 else ' class="wide"' if columns > 60 else "")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("probtruth.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tests: dict[str, Any] = environment.tests
    tests["name"] = lambda piece: isinstance(piece, Name)
    environment.filters["plain"] = plain
    environment.filters["room"] = _room
    environment.filters["small"] = lambda value: significant(value, 1)
    environment.filters["markup"] = Markup
    environment.filters["sort_key"] = _sort_key
    return environment
