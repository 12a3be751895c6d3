"""The report as one self-contained page: no request leaves it, and nothing in the data can become markup."""

import base64
import hashlib
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probtruth.report import tables
from probtruth.report.cells import Cell, Table
from probtruth.report.interface import ResultLike
from probtruth.report.numbers import count, plain, width
from probtruth.report.pictures import pictures
from probtruth.report.sources import citation, sources
from probtruth.report.svg import Picture
from probtruth.report.verdict import Verdict, verdict
from probtruth.report.words import MEASURES, Name, measure, unit


def html(result: ResultLike, drawn: Mapping[str, Picture] | None = None) -> str:
    """The page.

    Arguments: `drawn` are the figures, where they were made already.
    """
    drawn = pictures(result) if drawn is None else drawn
    style, script = _asset("style.css"), _asset("sort.js")
    said = verdict(result)
    return (
        _environment()
        .get_template("template.html.j2")
        .render(
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            title=_title(said),
            verdict=said,
            note=result.note,
            warnings=warnings_shown(result),
            facts=facts(result),
            figures=drawn,
            models=tables.models(result),
            matrix=tables.matrix(result),
            pairs=tables.pairs(result),
            group_pairs=_group_pairs(result),
            items=[table for table in (tables.disputed(result), tables.divided(result)) if table is not None],
            companions=tables.companions(result) if result.comparison.companions else None,
            diagnostics=tables.diagnostics(result),
            audit=tables.audit(result),
            settings=tables.settings(result),
            command=result.command,
            rope=result.comparison.rope,
            citation=citation(result),
            sources=sources(result),
        )
    )


def facts(result: ResultLike) -> list[tuple[str, ...]]:
    """What was compared, in a few words each."""
    found = result.to_dict().get("truth") or {}
    scores = result.scores
    said: list[tuple[str, ...]] = [(count(len(scores.models), "model"),), (count(len(scores.items), "item"),)]
    for key, noun in (("n_labels", "label"), ("n_annotators", "annotator")):
        if isinstance(found.get(key), int):
            said.append((count(found[key], noun),))
    for key, noun in (("groups", "group"), ("clusters", "cluster")):
        number = result.comparison.settings.get(key)
        if isinstance(number, int):
            said.append((count(number, noun),))
    if result.truth is not None:
        said.append((f"truth: {result.truth.method}, estimand {result.truth.estimand}",))
    better = "higher" if result.comparison.higher_is_better else "lower"
    name = measure(scores.rule) if scores.rule in MEASURES else Name(scores.rule)
    said.append((name, f" in {unit(scores.rule)}" if unit(scores.rule) else "", f", {better} is better"))
    return said


def warnings_shown(result: ResultLike) -> tuple[str, ...]:
    """The warnings, each once, without those on sampling, which stand with the failing diagnostics."""
    return tuple(dict.fromkeys(said for said in result.warnings if not said.startswith("sampling:")))


def _group_pairs(result: ResultLike) -> list[Table]:
    return [
        tables.pairs(result, rows, f"Differences, {name}") for name, rows in result.comparison.group_results.items()
    ]


def _title(said: Verdict) -> str:
    return "".join(plain(piece)[:60] for piece in said.headline)


def _asset(name: str) -> str:
    return files("probtruth.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """A content security policy that allows the page's own style and script, by hash, and nothing else."""
    allowed = {"style-src": style, "script-src": script}
    hashes = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in allowed.items()}
    parts = ["default-src 'none'", *(f"{name} 'sha256-{value}'" for name, value in hashes.items())]
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
    environment.filters["markup"] = Markup
    environment.filters["sort_key"] = _sort_key
    return environment
