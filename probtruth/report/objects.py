"""What results show of themselves: a few lines, HTML for notebooks, a figure, a paragraph to quote (`types.shown`)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as RichTable

from probtruth.check import count
from probtruth.errors import InputError
from probtruth.line.result import Result
from probtruth.report import cite, latex, tables, terminal, terminal_study
from probtruth.report.about import facts
from probtruth.report.headline import headline
from probtruth.report.names import unmarked
from probtruth.study.plan import Plan
from probtruth.types import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST_ROWS = 4  # Models that the `repr` lists
COLUMNS = 100


def first_lines(shown: Result | Comparison | Plan) -> str:
    """What was compared, the verdict, the first rows of the ranking, and the first warning."""
    if isinstance(shown, Plan):
        return _of_plan(shown)
    result = Result.of(shown)
    lines = [f"{type(shown).__name__}: {', '.join(facts(result))}", unmarked(headline(result, result.first_standing))]
    lines += _as_text(terminal.grid(tables.models(result), FIRST_ROWS))
    more = len(result.comparison.ranks) - FIRST_ROWS
    if more > 0:
        lines.append(f"and {count(more, 'more model')}")
    computed = result.verdicts_computed
    lines += _first_of(list(dict.fromkeys(result.warnings if computed else result.warned)))
    if not computed:
        lines.append("verdicts under the other estimand are computed when they are read (.other)")
    return "\n".join(lines)


def _of_plan(plan: Plan) -> str:
    """What the study would show, the designs, and the first warning."""
    lines = [f"Plan: {plan.a} against {plan.b}", *wrap(terminal_study.plan_headline(plan), COLUMNS)]
    lines += _as_text(terminal.grid(terminal_study.plan_table(plan)))
    return "\n".join([*lines, *_first_of(plan.warnings)])


def _first_of(warnings: Sequence[str]) -> list[str]:
    return [f"{count(len(warnings), 'warning')} (.warnings); the first: {warnings[0]}"] if warnings else []


def _as_text(grid: RichTable) -> list[str]:
    with StringIO() as file:
        console = Console(width=COLUMNS, file=file, color_system=None, highlight=False, legacy_windows=False)
        console.print(grid)
        return [f"  {line.rstrip()}" for line in file.getvalue().rstrip().split("\n")]


def in_notebook(shown: Result | Comparison | Plan) -> str:
    """What the page opens with, and its table of models, as HTML without style sheets; of a plan its designs."""
    from probtruth.report import html  # with Matplotlib
    from probtruth.report.contents import contents

    if isinstance(shown, Plan):
        parts = [html.block(terminal_study.plan_headline(shown)), html.block(terminal_study.plan_table(shown))]
        parts.append(html.block(tuple(shown.warnings)))
        return f"<div>{''.join(parts)}</div>"
    result = Result.of(shown)
    content = contents(result)
    parts = [html.opening(content), *map(html.block, content.warnings), html.block(content.sections[0].blocks[0])]
    if content.figure is not None:
        unique = hashlib.sha256(repr(result.comparison.ranks).encode()).hexdigest()[:8]  # a page has many outputs
        figure = replace(content.figure, name=f"behind-{unique}")
        parts.append(html.block(figure))
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def plot(shown: Result | Comparison | Plan, ax: "Axes | None" = None) -> "Axes":
    """Differences of all pairs; of one model its reliability; of a plan its power."""
    if isinstance(shown, Plan):
        from probtruth.report.plots.study import plot_plan

        return plot_plan(shown, ax)
    result = Result.of(shown)
    if result.comparison.pairs:
        from probtruth.report.plots.comparison import plot_forest

        return plot_forest(result.comparison, ax)
    calibrated = result.analysis.calibration
    if calibrated is None:
        raise InputError("one model without labels", "two models, or labels", "See its ranking().")
    from probtruth.report.plots.calibration import plot_reliability

    return plot_reliability(calibrated.curve, calibrated.event, ax=ax)


def paragraph(shown: Result | Comparison, as_latex: bool) -> str:
    """The result as a paragraph of a paper."""
    text = cite.paragraph(Result.of(shown))
    return latex.shown(text) if as_latex else unmarked(text)
