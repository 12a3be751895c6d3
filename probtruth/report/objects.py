"""What a result and a comparison show of themselves: a few lines, HTML for notebooks, a figure (`types.shown`)."""

import hashlib
from dataclasses import replace
from io import StringIO
from textwrap import indent
from typing import TYPE_CHECKING

from probtruth.check import count
from probtruth.errors import InputError
from probtruth.line.result import Result
from probtruth.report import tables
from probtruth.report.about import facts
from probtruth.report.numbers import unmarked
from probtruth.report.verdict import verdict
from probtruth.types import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST_ROWS = 4  # Models that the `repr` lists
LONGEST_NAME, COLUMNS = 32, 100


def first_lines(shown: Result | Comparison) -> str:
    """What was compared, the verdict, the first rows of the ranking, and the first warning."""
    from rich.console import Console

    from probtruth.report import terminal

    result = Result.of(shown)
    head = f"{type(shown).__name__}: {', '.join(facts(result))}"
    with StringIO() as file:
        console = Console(width=COLUMNS, file=file, color_system=None, highlight=False, legacy_windows=False)
        console.print(terminal.grid(tables.models(result), LONGEST_NAME, FIRST_ROWS))
        grid = "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))
    more = len(result.comparison.ranks) - FIRST_ROWS
    rest = [f"and {count(more, 'more model')}"] if more > 0 else []
    if lines := list(dict.fromkeys(result.warnings)):
        rest.append(f"{count(len(lines), 'warning')} (.warnings); the first: {lines[0]}")
    return "\n".join([head, unmarked(verdict(result).headline), indent(grid, "  "), *rest])


def in_notebook(shown: Result | Comparison) -> str:
    """What the page opens with, and its table of models, as HTML without style sheets."""
    from probtruth.report import html  # with Matplotlib
    from probtruth.report.contents import contents

    content = contents(Result.of(shown))
    unique = hashlib.sha256(repr(Result.of(shown).comparison.ranks).encode()).hexdigest()[:8]  # a page has many outputs
    figure = [] if content.figure is None else [replace(content.figure, name=f"behind-{unique}")]
    parts = (*content.warnings, content.sections[0].blocks[0], *figure)
    return f'<div style="max-width:60em">{html.opening(content)}{"".join(map(html.block, parts))}</div>'


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
