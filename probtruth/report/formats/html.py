"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probtruth.line.analysis.curves import DifferenceCurves
from probtruth.line.analysis.items import ListedItems
from probtruth.line.result import Result
from probtruth.report.contents import Contents, contents
from probtruth.report.plots.pictures import pictures
from probtruth.report.plots.svg import Picture
from probtruth.report.tables.cells import LONGEST, LONGEST_NAME, Cell
from probtruth.report.words.numbers import (
    decimals,
    favouring_a,
    interval_width,
    plain,
    short_names,
    shortened,
    significant,
    width,
)
from probtruth.report.words.sentences import Name, mean_of, measure, unit
from probtruth.report.words.verdict import CERTAINTY, EQUIVALENT
from probtruth.types.comparison import leaders

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
            title="".join(plain(piece)[:60] for piece in content.verdict.headline),
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


_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
THOUSANDTHS = 1000
LEAST_ERROR = 0.0005
"""Error of a probability read off the curves that is stated at least: what numbers of 32 bits and lines leave."""


def embedded(result: Result, explorable: bool) -> Markup:
    """What the page's script works on, as JSON: names, items and, if they may be explored, quantiles of differences.

    Nothing of it can end the element that holds it or be read as markup: `<`, `>` and `&` are written as escapes.
    """
    comparison = result.comparison
    names = list(result.scores.models)
    data: dict[str, Any] = {
        "names": [plain(name) for name in names],
        "short": list(short_names(names).values()),
        "higherIsBetter": comparison.higher_is_better,
        "measure": measure(comparison.rule),
        "compared": mean_of(comparison),
        "unit": unit(comparison.rule),
        "favouringA": favouring_a(comparison.higher_is_better),
        "leading": [names.index(str(row["model"])) for row in leaders(comparison.ranks)[:2]],
        "rope": comparison.rope,
        "places": decimals(map(interval_width, comparison.pairs)),
        "certainty": [[bound, words] for bound, words, _ in CERTAINTY],
        "equivalent": EQUIVALENT,
    }
    curves, listed = result.analysis.curves, result.analysis.listed
    if curves is not None and explorable:
        data["curves"] = _curves(curves, names)
    if listed is not None:
        data["items"] = _items(listed, names, result)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPED))


def _curves(curves: DifferenceCurves, names: Sequence[str]) -> dict[str, Any]:
    """Places in the order of the choice, and each curve as place, models, mean, and 32-bit quantiles in base64."""
    places = list(dict.fromkeys((curve.where, curve.group) for curve in curves.curves))
    grouped = len(places) > 1
    return {
        "error": max(curves.error, LEAST_ERROR),
        "probabilities": [round(float(p), 9) for p in curves.probabilities],
        "models": [names.index(model) for model in curves.models],
        "places": [_place_key(where, group, grouped) for where, group in places],
        "rows": [
            [
                places.index((curve.where, curve.group)),
                names.index(curve.a),
                names.index(curve.b),
                float(f"{curve.mean:.6g}"),
                base64.b64encode(np.asarray(curve.values, "<f4").tobytes()).decode(),  # the least byte first
            ]
            for curve in curves.curves
        ],
    }


def _place_key(where: str, group: str | None, grouped: bool) -> str:
    if group is not None:
        return plain(group)
    return {"": "all items, these groups" if grouped else "all items"}.get(where, where)


def _items(listed: ListedItems, names: Sequence[str], result: Result) -> dict[str, Any]:
    """The items in columns; probabilities and shares in thousandths."""
    data: dict[str, Any] = {
        "all": listed.n_all,
        "names": [plain(item) for item in listed.items],
        "models": [names.index(model) for model in listed.models],
        "scores": [[_brief(value) for value in row] for row in listed.scores.tolist()],
    }
    if listed.probs is not None and listed.columns is not None and listed.shares is not None:
        data["labels"] = [plain(label) for label in listed.labels]
        data["probs"] = [_thousandths(of_model) for of_model in listed.probs]
        if listed.votes is not None:
            data["votes"] = listed.votes.tolist()
        else:
            data["shares"] = _thousandths(listed.shares)
        if listed.columns.shape[1] < len(listed.labels):
            data["columns"] = listed.columns.tolist()
    for key, content in (("text", result.item_text), ("image", result.item_images)):
        if content:
            data[key] = [_line(content, item, key) for item in listed.items]
    return data


def _line(content: Mapping[str, str], item: str, key: str) -> str | None:
    value = content.get(item)
    return value if value is None or key == "image" else "\n".join(map(plain, value.split("\n")))


def _thousandths(values: np.ndarray) -> Any:
    return np.rint(values * THOUSANDTHS).astype(int).tolist()


def _brief(value: float) -> float | str | None:
    """Four significant digits; infinite as text, unknown as null."""
    if math.isnan(value):
        return None
    return float(f"{value:.4g}") if math.isfinite(value) else "inf" if value > 0 else "-inf"
