"""What a result and a comparison show of themselves: a few lines, HTML for notebooks, a figure (`types.shown`)."""

import hashlib
from io import StringIO
from textwrap import indent
from typing import TYPE_CHECKING

from probtruth.check import count
from probtruth.errors import InputError
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.numbers import unmarked
from probtruth.report.verdict import verdict
from probtruth.report.words import with_unit
from probtruth.types import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST_ROWS = 4  # Models that the `repr` lists
MOST_ROWS = 10  # Models of the table in a notebook
LONGEST_NAME, COLUMNS = 32, 100
MOST_PAIRS = 28  # Pairs that a notebook draws


def first_lines(shown: Result | Comparison) -> str:
    """What was compared, the verdict, the first rows of the ranking, and the first warning."""
    from rich.console import Console

    from probtruth.report import terminal

    result = Result.of(shown)
    comparison = result.comparison
    better = "higher" if comparison.higher_is_better else "lower"
    items = count(len(result.scores.items), "item")
    head = (
        f"{type(shown).__name__}: {count(len(comparison.ranks), 'model')} on {items}, {with_unit(comparison.rule)}, "
        f"{better} is better"
    )
    with StringIO() as file:
        console = Console(width=COLUMNS, file=file, color_system=None, highlight=False, legacy_windows=False)
        console.print(terminal.grid(tables.models(result), LONGEST_NAME, FIRST_ROWS))
        grid = "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))
    more = len(comparison.ranks) - FIRST_ROWS
    rest = [f"and {count(more, 'more model')}"] if more > 0 else []
    warnings = list(dict.fromkeys(result.warnings))
    if warnings:
        rest.append(f"{count(len(warnings), 'warning')} (.warnings); the first: {warnings[0]}")
    return "\n".join([head, unmarked(verdict(result).headline), indent(grid, "  "), *rest])


def in_notebook(shown: Result | Comparison) -> str:
    """The verdict, its three numbers, the ranking and the forest as HTML without style sheets."""
    from probtruth.report import html  # with Matplotlib

    result = Result.of(shown)
    said = verdict(result)
    parts = [f'<p style="font-size:1.15em;font-weight:600">{html.shown(said.headline)}</p>']
    parts += [f'<p style="color:#d55e00">{html.shown(line)}</p>' for line in said.failing]
    parts += [f"<p>{html.shown(what)}: <b>{html.shown(value)}</b></p>" for what, value in said.numbers]
    table = tables.models(result)
    aligned = [f'style="text-align:{"right" if numeric else "left"};padding:0.15em 0.7em"' for numeric in table.numeric]

    def row(tag: str, cells: tuple[str, ...]) -> str:
        made = (f"<{tag} {style}>{html.shown(cell)}</{tag}>" for cell, style in zip(cells, aligned, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row("td", cells) for cells in table.rows[:MOST_ROWS])
    parts.append(f"<table><thead>{row('th', table.heads)}</thead><tbody>{body}</tbody></table>")
    parts.append(_forest(result))
    warnings = list(dict.fromkeys(result.warnings))
    parts += [f"<p>{count(len(warnings), 'warning')}: {html.shown(warnings[0])}</p>"] if warnings else []
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def _forest(result: Result) -> str:
    """The differences of all pairs as SVG; nothing for one model."""
    comparison = result.comparison
    if not comparison.pairs:
        return ""
    from probtruth.report.plots.comparison import plot_forest
    from probtruth.report.plots.svg import picture, plain_style

    with plain_style():
        ax = plot_forest(comparison, most=MOST_PAIRS)
    unique = hashlib.sha256(repr(comparison.ranks).encode()).hexdigest()[:8]  # one page holds many outputs
    return picture(ax, f"forest-{unique}", "Differences of all pairs", "Means with 95% intervals.").inline


def plot(shown: Result | Comparison, ax: "Axes | None" = None) -> "Axes":
    """Differences of all pairs; of one model its reliability."""
    result = Result.of(shown)
    if result.comparison.pairs:
        from probtruth.report.plots.comparison import plot_forest

        return plot_forest(result.comparison, ax)
    calibrated = result.analysis.calibration
    if calibrated is None:
        raise InputError("one model without labels", "two models, or labels", "See its ranking().")
    from probtruth.report.plots.calibration import plot_reliability

    return plot_reliability(calibrated.curve, calibrated.event, ax=ax)
