"""What public objects show of themselves: a few lines, a summary, a form for notebooks, a figure (`types.shown`).

Figures, and rooms that a class belongs to, are loaded when they are asked for.
"""

import hashlib
from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module
from io import StringIO
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth.check import count
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.line.result import Result
from probtruth.report.tables import models as tables
from probtruth.report.tables.cells import Column, Table, chance, loose, named, number, titled, words
from probtruth.report.words.numbers import exact, in_text, plain
from probtruth.report.words.sentences import Name, Sentence, with_unit
from probtruth.report.words.verdict import verdict
from probtruth.scoring.nelson.risk import MARKS
from probtruth.types import Annotations, Comparison, Predictions, Scores, Truth
from probtruth.types.arguments import StrPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS, WIDE = 100, 10_000
"""Columns of a summary, and of a table whose lines stay whole."""
MOST_ROWS = 10
"""Rows of a table in a notebook."""
FIRST_ROWS = 5
"""Models that the `repr` of a result lists."""
LONGEST = 32
FIGURE = 28
"""Pairs that a notebook draws; more would fill the screen."""


def report(shown: Result | Comparison, out: StrPath) -> None:
    """The report of a result or a comparison, in a folder."""
    from probtruth.report.write import write_report

    write_report(shown, out)


def first_lines(shown: Result | Comparison) -> str:
    """What was compared, the verdict and the first rows of the ranking."""
    result = Result.of(shown)
    from probtruth.report.formats import terminal

    head = f"{type(shown).__name__}: {count(len(result.comparison.ranks), 'model')} on {_items(result)}"
    table = tables.models(result)
    grid = indent(_written(WIDE, terminal.grid(table, LONGEST, FIRST_ROWS)), "  ")
    more = len(table.rows) - FIRST_ROWS
    rest = [f"and {count(more, 'more model')}"] if more > 0 else []
    return "\n".join([head, in_text(verdict(result).headline), grid, *rest])


def summary(shown: Any) -> str:
    """What an object says, as text."""
    parts = _renderables(shown)
    return _written(COLUMNS, *parts) if parts else repr(shown)


def _written(columns: int, *parts: Any) -> str:
    """What a terminal of so many columns shows."""
    from rich.console import Console

    with StringIO() as file:
        console = Console(width=columns, file=file, color_system=None, highlight=False, legacy_windows=False)
        console.print(*parts, sep="\n")
        return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))


def _renderables(shown: Any) -> tuple[Any, ...]:
    """What the command line prints of an object, else its first line and tables."""
    from probtruth.report.formats import terminal

    if isinstance(shown, Result | Comparison):
        return terminal.summary(Result.of(shown))
    if isinstance(shown, Truth):
        return terminal.truth_summary(shown)
    name = type(shown).__name__
    if name in ("Plan", "Monitor", "Validation"):
        study = import_module("probtruth.report.formats.terminal_study")
        return tuple(getattr(study, f"{name.lower()}_summary")(shown))
    if name not in TABLES:
        return ()
    return (shown.__repr__(), terminal.table(TABLES[name](shown), LONGEST))


def html(shown: Any) -> str:
    """An object as HTML without style sheets: a result by its verdict, ranking and forest, others by a small table."""
    if isinstance(shown, Result | Comparison):
        return _result_html(Result.of(shown))
    made = TABLES.get(type(shown).__name__)
    if made is None:
        return f"<pre>{escape(summary(shown))}</pre>"
    head = escape(repr(shown))
    return f'<div><p style="white-space:pre-wrap">{head}</p>{_grid(made(shown))}</div>'


def plot(shown: Any, ax: "Axes | None" = None) -> "Axes":
    """The figure to look at first.

    Errors: `InputError` for an object that has none.
    """
    name = type(shown).__name__
    if name not in FIGURES:
        raise InputError(f"a {name}", "an object with a figure", "See probtruth.figures for all figures.")
    module, _, function = FIGURES[name].partition(":")
    drawn: Axes = getattr(import_module(f"probtruth.report.plots.{module}"), function)(shown, ax=ax)
    return drawn


def _result_html(result: Result) -> str:
    verdict_of = verdict(result)
    head = f'<p style="font-size:1.15em;font-weight:600;margin:0.3em 0">{_marked(verdict_of.headline)}</p>'
    alert = "".join(f'<p style="color:#d55e00">{escape(line)}</p>' for line in verdict_of.failing)
    lead = "".join(f'<p style="margin:0.3em 0">{_marked(line)}</p>' for line in verdict_of.details[:1])
    warnings = len(dict.fromkeys(result.warnings))
    more = f'<p style="opacity:0.75">{count(warnings, "warning")}: see .warnings</p>' if warnings else ""
    return f'<div style="max-width:60em">{head}{alert}{lead}{_grid(tables.models(result))}{_forest(result)}{more}</div>'


def _forest(result: Result) -> str:
    """The differences of all pairs as SVG; nothing for one model."""
    if not result.comparison.pairs:
        return ""
    from probtruth.report.plots.comparison import best_pairs, difference_title, forest
    from probtruth.report.plots.svg import picture, plain_style

    comparison = result.comparison
    pairs, _ = best_pairs(comparison, FIGURE)
    with plain_style():
        ax = forest(pairs, comparison.rope, difference_title(comparison), higher_is_better=comparison.higher_is_better)
    unique = hashlib.sha256(repr(pairs).encode()).hexdigest()[:8]  # one page holds many outputs
    drawn = picture(ax, f"forest-{unique}", "Differences of all pairs", "Means with 95% intervals.")
    return f'<div style="overflow-x:auto">{drawn.inline}</div>'


def _grid(table: Table) -> str:
    """A table of HTML, its first rows."""
    pad = "padding:0.15em 0.7em"

    def cell(tag: str, content: Sentence, column: Column) -> str:
        return f'<{tag} style="text-align:{"right" if column.numeric else "left"};{pad}">{_marked(content)}</{tag}>'

    heads = "".join(cell("th", column.title, column) for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(cell('td', each.text, column) for each, column in zip(row, table.columns, strict=True))}</tr>"
        for row in table.rows[:MOST_ROWS]
    )
    more = len(table.rows) - MOST_ROWS
    rest = f'<p style="opacity:0.75">and {more:,} more</p>' if more > 0 else ""
    return f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{rest}'


def _marked(sentence: Sentence) -> str:
    """Names are shown, never markup, and apart from the direction of the text around them."""
    return "".join(
        f"<bdi><b>{escape(plain(piece))}</b></bdi>" if isinstance(piece, Name) else escape(piece) for piece in sentence
    )


def _items(result: Result) -> str:
    comparison = result.comparison
    better = "higher" if comparison.higher_is_better else "lower"
    return f"{count(len(result.scores.items), 'item')}, {with_unit(comparison.rule)}, {better} is better"


def label_shares(shown: Annotations | Truth | Predictions) -> dict[str, np.ndarray]:
    """The mean share of each label: of votes, of the truth, or of each model's forecasts."""
    if isinstance(shown, Predictions):
        return {
            model: probs.mean(0)
            for model, probs in zip(shown.models, to_host(shown.probs).astype(np.float64), strict=True)
        }
    if isinstance(shown, Truth):
        return {"probability": to_host(shown.probs).mean(0)}
    votes = shown.counts().sum(0)
    return {"share of votes": votes / votes.sum()}


def _of_labels(shown: Annotations | Truth | Predictions) -> Table:
    """The mean share of each label, in a column for each thing that has labels."""
    shares = label_shares(shown)
    titles = (titled("Label", False), *(Column((Name(plain(name)),)) for name in shares))
    rows = tuple(
        (named(label), *(chance(float(share)) for share in row))
        for label, *row in zip(shown.index.labels, *shares.values(), strict=True)
    )
    return Table("Share of each label", titles, rows)


def _scores(scores: Scores) -> Table:
    """Each model's mean score and how the items spread, in the scores' own orientation."""
    sign = -1.0 if scores.higher_is_better else 1.0
    columns = ("Mean", "SD", "Lowest", "Median", "Highest")
    rows = []
    for model, values in zip(scores.models, sign * scores.values, strict=True):
        finite = values[np.isfinite(values)]
        with np.errstate(invalid="ignore"):
            spread = [values.mean(), values.std(ddof=1) if len(finite) == len(values) > 1 else np.nan]
        rows.append(
            (named(model), *(loose(float(each)) for each in (*spread, values.min(), np.median(values), values.max())))
        )
    return Table(f"{with_unit(scores.rule)} of an item", (titled("Model", False), *map(titled, columns)), tuple(rows))


def _rule(rule: Any) -> Table:
    """What is known of a rule."""
    low, high = map(exact, rule.range)
    proper = "strictly proper" if rule.strictly_proper else "proper" if rule.proper else "not proper"
    facts = {"Formula": rule.formula, "Range": f"{low} to {high}", "Propriety": proper, "Source": rule.source}
    rows = tuple((words(key), words(value)) for key, value in facts.items())
    return Table(rule.name, (titled("Rule", False), titled(rule.name, False)), rows)


def _frame(caption: str, make: Callable[[Any], Any]) -> Callable[[Any], Table]:
    """A table from the dataframe that an object makes of itself."""

    def made(shown: Any) -> Table:
        frame = make(shown)
        numeric = [kind.is_numeric() for kind in frame.dtypes]
        columns = tuple(titled(name, flag) for name, flag in zip(frame.columns, numeric, strict=True))
        rows = tuple(
            tuple(
                loose(value) if flag else words("" if value is None else plain(value))
                for value, flag in zip(row, numeric, strict=True)
            )
            for row in frame.iter_rows()
        )
        return Table(caption, columns, rows)

    return made


def _of_multilabel(truth: Any) -> Table:
    rows = tuple(
        (named(label), number(p, 3)) for label, p in zip(truth.index.labels, to_host(truth.probs).mean(0), strict=True)
    )
    return Table("Share of items that a label applies to", (titled("Label", False), titled("Share of items")), rows)


def _averages(confusion: Any) -> Any:
    """The metrics that are not of one label."""
    table = confusion.table()
    return table.filter(table["label"].is_null()).select("model", "metric", "average", "value", "low", "high")


TABLES: Mapping[str, Callable[[Any], Table]] = {
    "Annotations": _of_labels,
    "Predictions": _of_labels,
    "Truth": _of_labels,
    "MultilabelTruth": _of_multilabel,
    "Scores": _scores,
    "ScoringRule": _rule,
    "Confusion": _frame("Expected metrics", _averages),
    "Curves": _frame("Areas under the curves", lambda curves: curves.areas()),
    "RiskProfile": _frame("Generalised means", lambda risk: risk.table().select("model", *MARKS)),
}
"""The small table of a class, by its name."""


FIGURES: Mapping[str, str] = {
    "Annotations": "objects:plot_labels",
    "Predictions": "objects:plot_labels",
    "Truth": "objects:plot_truth",
    "MultilabelTruth": "objects:plot_multilabel",
    "Scores": "objects:plot_scores",
    "Comparison": "objects:plot_result",
    "Result": "objects:plot_result",
    "ScoringRule": "rules:plot_rule",
    "Confusion": "objects:plot_confusion",
    "Curves": "objects:plot_first_curves",
    "RiskProfile": "objects:plot_first_profile",
    "Plan": "study:plot_plan",
    "Monitor": "study:plot_monitor",
    "Validation": "study:plot_validation",
}
"""The figure of a class to look at first: the module and the function that draw it, by the name of the class."""
