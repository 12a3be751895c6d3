"""The figure of annotators: how good each is, with intervals and flags."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from probtruth import check
from probtruth.check import as_float
from probtruth.line.analysis.annotators import annotator_rows
from probtruth.report.numbers import short_names
from probtruth.report.plots import axes as figures
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED
from probtruth.truth.annotators import NO_SKILL
from probtruth.types import Truth
from probtruth.types.comparison import Row

MOST = 30  # Annotators that are drawn: of more, the best and the worst half of them


def plot_annotators(truth: Truth, ax: Axes | None = None) -> Axes:
    """Skill of each annotator with its 95 per cent interval, best first; flagged ones are orange, with the flag.

    Formula: skill is kappa with the class, (accuracy - chance) / (1 - chance): 1 is always right, 0 is by chance.

    Arguments: `truth` is what `infer_truth` returned, of a method that knows annotators; `ax` are the axes to draw on.

    Returns: the axes. Of many annotators the best and the worst 15 are drawn.

    Errors: `InputError` for a truth that says nothing of annotators.

    >>> import probtruth as pt
    >>> from probtruth import demo
    >>> truth = pt.infer_truth(demo.load()[0], "dawid-skene-em", draws=0)
    >>> pt.figures.plot_annotators(truth).get_xlabel()
    'skill (kappa with the class)'
    """
    known = check.instance(truth, Truth, "infer_truth")
    return draw_annotators(best_and_worst(annotator_rows(known)), ax)


def best_and_worst(rows: Sequence[Row]) -> list[Row]:
    """All annotators or, of many, the best and the worst half."""
    return list(rows) if len(rows) <= MOST else [*rows[: MOST // 2], *rows[-MOST // 2 :]]


def draw_annotators(rows: Sequence[Row], ax: Axes | None = None) -> Axes:
    """Each annotator's skill and its interval, from the rows of `annotator_rows`."""
    names = short_names(str(row["annotator"]) for row in rows)
    flagged = any(row["flag"] for row in rows)
    ax = ax or figures.panel_of_rows(len(rows), left=12 + figures.name_margin(names), right=86 if flagged else 16)
    for position in (0.0, NO_SKILL):
        ax.axvline(position, color=INK, linewidth=1, linestyle="-" if position == 0 else DASHES)
    for position, row in enumerate(rows):
        colour = RED if row["flag"] else BLUE
        low, high, skill = (as_float(row[key]) for key in ("skill_low", "skill_high", "skill"))
        if low is not None and high is not None:
            ax.plot([low, high], [position, position], color=colour, linewidth=2.2, solid_capstyle="butt")
        if skill is not None:
            ax.plot(skill, position, "o", color=colour, markersize=6)
        figures.row_text(ax, -0.03, position, names[str(row["annotator"])], "right")
        figures.row_text(ax, 1.03, position, str(row["flag"]), "left")
    figures.finish(ax, len(rows), "skill (kappa with the class)")
    ax.set_xlim(min(-0.02, ax.get_xlim()[0]), max(1.0, ax.get_xlim()[1]))
    return ax
