"""Figures by group: the two leading models in every group, and every model against the leading one."""

from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots import axes as figures
from probtruth.report.plots.axes import BLUE, RED, SIZE, text
from probtruth.report.plots.comparison import (
    MOST_NAMED,
    coloured_cell,
    comparison_in,
    difference_title,
    intervals,
    matrix_axes,
)
from probtruth.report.tables.pairs import against_leader, of_leaders
from probtruth.report.words.numbers import decimals, fixed, probability, short_names
from probtruth.types import Comparison
from probtruth.types.comparison import leaders, leading_pair

MOST_GROUPS = 60
"""Groups of a figure, the first by name."""
MOST_MODELS = 15
"""Models of the matrix, the best first."""


@check.checks_itself
def plot_groups(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """The difference of the two leading models in every group with 95 per cent intervals, partially pooled.

    Arguments: `comparison` is what `compare` returned, with groups; `ax` are the axes to draw on.

    Returns: the axes, in units of the score; the ROPE is shaded, and P(the model named there is better) stands beside.

    Errors: `InputError` for anything but a comparison with groups.

    >>> import probtruth as pt
    >>> frame = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8, "score": [*range(8), 2, 4, 3, 5, 7, 6, 9, 8]}
    >>> scores = pt.Scores.from_frame(frame | {"group": [*"uuuuvvvv"] * 2}, group="group", higher_is_better=False)
    >>> [text.get_text() for text in pt.figures.plot_groups(pt.compare(scores, engine="exact")).texts][:2]
    ['u', '>0.999']
    """
    known = comparison_in(comparison)
    rows = of_leaders(known)[:MOST_GROUPS]
    if not rows:
        raise _ungrouped()
    a, b = (short_names((name,))[name] for name in leading_pair(known.ranks))
    names = short_names(str(row["group"]) for row in rows)
    ax = ax or figures.panel_of_rows(len(rows), left=figures.room_for(names), right=96)
    words = [(names[str(row["group"])], probability(row["p_a_better"])) for row in rows]
    title, colours = f"{a} − {b}: {difference_title(known)}", (RED, BLUE) if known.higher_is_better else (BLUE, RED)
    return intervals(ax, rows, words, ("", "P(first)"), title, known.rope, colours)


@check.checks_itself
def plot_group_matrix(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Every model's mean minus that of the leading one in every group: blue where it is better, orange where not.

    Arguments: `comparison` is what `compare` returned, with groups; `ax` are the axes to draw on.

    Returns: the axes; the deeper the colour, the surer. Of many models the best 15 are drawn, of many groups 60.

    Errors: `InputError` for anything but a comparison with groups.

    >>> import probtruth as pt
    >>> frame = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8, "score": [*range(8), 2, 4, 3, 5, 7, 6, 9, 8]}
    >>> scores = pt.Scores.from_frame(frame | {"group": [*"uuuuvvvv"] * 2}, group="group", higher_is_better=False)
    >>> [text.get_text() for text in pt.figures.plot_group_matrix(pt.compare(scores, engine="exact")).texts]
    ['b', 'u', '+2.00', 'v', '+2.00']
    """
    known = comparison_in(comparison)
    cells = against_leader(known)
    if not cells:
        raise _ungrouped()
    models = [str(row["model"]) for row in leaders(known.ranks)[1 : MOST_MODELS + 1]]
    groups = list(dict.fromkeys(group for group, _ in cells))[:MOST_GROUPS]
    names, titles = short_names(groups), short_names(models, 18)
    numbered = len(models) > MOST_NAMED
    heads = [str(position) if numbered else titles[model] for position, model in enumerate(models, 2)]
    ax = matrix_axes(ax, len(groups), heads, numbered, figures.room_for(names))
    places = decimals([max(abs(gap) for gap, _ in cells.values()) / 4])
    for row, group in enumerate(groups):
        figures.beside(ax, -0.02, row, names[group], "right")
        for column, model in enumerate(models):
            if (group, model) not in cells:
                continue
            gap, p = cells[group, model]
            coloured_cell(ax, row, column, p)
            if len(models) <= MOST_NAMED:
                text(ax, column, row, fixed(gap, places, sign=True), align="center", size=SIZE - 1)
    return ax


def _ungrouped() -> InputError:
    return InputError("a comparison without groups", "one with groups", "Pass groups= to compare.")
