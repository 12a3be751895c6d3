"""The figure of annotators: how good each is, with intervals and flags."""

from matplotlib.axes import Axes

from probtruth import check
from probtruth.line.analysis.annotators import annotator_rows
from probtruth.report.names import short_names
from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, margin_for
from probtruth.report.plots.comparison import intervals
from probtruth.truth.annotators import NO_SKILL
from probtruth.types import Truth
from probtruth.types.pairs import Pair

MOST = 30  # Annotators that are drawn: of more, the best and the worst half of them


def plot_annotators(truth: Truth, ax: Axes | None = None) -> Axes:
    """Skill of each annotator with its 95 per cent interval, best first, and the flag; one that holds 0 is hollow.

    Formula: skill is kappa with the class, (accuracy - chance) / (1 - chance): 1 is always right, 0 is by chance.

    Arguments:
        truth: what `infer_truth` returned, of a method that knows annotators.
        ax: the axes to draw on.

    Returns: the axes. Of many annotators the best and the worst 15 are drawn.

    Errors: `InputError` for a truth that says nothing of annotators.

    >>> import probtruth as pt
    >>> from probtruth import demo
    >>> truth = pt.infer_truth(demo.load()[0], "dawid-skene-em", draws=0)
    >>> pt.figures.plot_annotators(truth).get_xlabel()
    'skill (kappa with the class)'
    """
    chosen = annotator_rows(check.instance(truth, Truth, "infer_truth"))
    if len(chosen) > MOST:
        chosen = [*chosen[: MOST // 2], *chosen[-MOST // 2 :]]
    names = short_names(str(row["annotator"]) for row in chosen)
    skills, words = [], []
    for row in chosen:
        name = str(row["annotator"])
        skill, low, high = (check.as_float(row[column]) for column in ("skill", "skill_low", "skill_high"))
        skills.append(Pair(name, name, skill, low, high))
        words.append((names[name], str(row["flag"])))
    flagged = any(flag for _, flag in words)
    margins = (12 + margin_for(names.values()), 86 if flagged else 16)
    ax = intervals(
        ax,
        skills,
        words,
        ("", ""),
        "skill (kappa with the class)",
        None,
        (RED, BLUE),
        margins,
    )
    ax.axvline(NO_SKILL, color=INK, linewidth=1, linestyle=DASHES)
    left, right = ax.get_xlim()
    ax.set_xlim(min(-0.02, left), max(1.0, right))
    return ax
