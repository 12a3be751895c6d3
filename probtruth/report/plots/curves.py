"""ROC and precision-recall curves: what happened, solid, and what the model implies, dashed."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots.axes import COLOURS, DASHES, INK, few, short, square, text
from probtruth.scoring.confusion.curves import Curves


@check.checks_itself
def plot_curves(
    curves: Curves, label: str | None = None, models: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """ROC or precision-recall curves of one label: actual solid, implied by the model's own probabilities dashed.

    Arguments: `curves` is what `roc_curves` or `precision_recall_curves` returned; `label` is the event, needed where
    there are several; `models` are the names to show, all unless given, four at most; `ax` are the axes to draw on.

    Returns: the axes, with both areas of each model in words. A dashed ROC curve above its solid one is over-confident.

    Errors: `InputError` for an unknown label or model, or too many models.

    Source: Fawcett (2006), doi:10.1016/j.patrec.2005.10.010; Nelson (2017), doi:10.3390/e19060286, Figures 2 and 4.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]})
    >>> curves = pt.confusion.roc_curves(pred, pt.Truth.from_probs([[0, 1], [0.5, 0.5], [1, 0]]))
    >>> [entry.get_text() for entry in pt.figures.plot_curves(curves).texts]
    ['area: actual (implied)', 'a .944 (.768)']
    """
    if not isinstance(curves, Curves):
        raise InputError(
            f"curves of type {type(curves).__name__}", "Curves", "Make them with roc_curves or precision_recall_curves."
        )
    known = list(dict.fromkeys(curve.model for curve in curves.curves))
    names = known if models is None else [check.one_of(name, known, "model") for name in models]
    few(names, "models")
    roc = curves.kind == "roc"
    ax = square(ax, "false positive rate" if roc else "recall", "true positive rate" if roc else "precision")
    if roc:
        ax.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=(0, (1, 2)))
    lines = [("area: actual (implied)", INK)]
    for name, colour in zip(names, COLOURS, strict=False):
        actual, implied = (curves.of(name, label, kind) for kind in (False, True))
        for curve, style, width in ((implied, DASHES, 1.4), (actual, "-", 2.0)):
            step = "default" if roc else "steps-pre"
            ax.plot(curve.x, curve.y, color=colour, linestyle=style, linewidth=width, drawstyle=step)
        lines.append((f"{name} {short(actual.area)} ({short(implied.area)})", colour))
    for row, (words, colour) in enumerate(lines):
        x, align = (0.97, "right") if roc else (0.03, "left")
        text(ax, x, 0.05 + 0.062 * (len(lines) - 1 - row), words, colour, align)
    return ax
