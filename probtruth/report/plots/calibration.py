"""Reliability curves, and ROC and precision-recall curves: what happened, solid, what the model implies, dashed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.report.names import plain
from probtruth.report.numbers import fixed
from probtruth.report.plots.axes import DASHES, INK, keys, square, text
from probtruth.scoring.calibration.reliability import COLUMNS
from probtruth.scoring.confusion.curves import Curves

if TYPE_CHECKING:
    import polars


def plot_reliability(
    curve: "polars.DataFrame", label: str | None = None, models: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """Observed frequency against forecast probability of one label, with its band; calibrated is the dashed line.

    Arguments:
        curve: what `reliability_curve` returned.
        label: the event, needed where there are several of more than two (of two, the last is drawn).
        models: the names to show, all unless given, four at most.
        ax: the axes to draw on.

    Returns: the axes. Below the dashed line the model is overconfident. Points are the ends of flat pieces,
    their area is the share of items. Outside the band the curve is not explained by chance.

    Errors: `InputError` for an unknown label or model, too many models, or another table.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]})
    >>> curve = pt.calibration.reliability_curve(pred, pt.Truth.from_labels([0, 1, 1, 1], n_labels=2), n_resamples=0)
    >>> pt.figures.plot_reliability(curve).get_ylabel()
    'observed frequency'
    """
    if not set(COLUMNS) <= set(getattr(curve, "columns", ())):
        hint = "Pass on what reliability_curve returned."
        raise InputError(f"a {type(curve).__name__}", "the table of reliability_curve", hint)
    labels = curve["label"].unique(maintain_order=True).to_list()
    event = labels[-1]
    if label is not None or len(labels) > 2:
        event = frames.one_name(label, labels, "label")
    shown = keys(curve["model"], models)
    smallest = 8 if len(shown) == 1 else 24
    ax = square(ax, "forecast probability", "observed frequency")
    for position, key in enumerate(shown):
        of_model = curve["model"] == key.name
        of_event = curve["label"].eq_missing(event)
        rows = curve.filter(of_model & of_event)
        forecast, observed = rows["forecast"].to_numpy(), rows["observed"].to_numpy()
        low, high = rows["low"].to_numpy(), rows["high"].to_numpy()  # drawn where they are finite
        ax.fill_between(forecast, low, high, color=key.colour, alpha=0.2, linewidth=0)
        ax.plot(forecast, observed, color=key.colour, linewidth=2)
        area = smallest + 120 * rows["weight"].to_numpy()
        look: Any = {"color": key.colour, "marker": key.mark, "linewidths": 0, "zorder": 3, "clip_on": False}
        ax.scatter(forecast, observed, s=area, **look)
        text(ax, 0.03, 0.965 - 0.06 * position, key.words, key.colour)
    return ax


def plot_curves(
    curves: Curves, label: str | None = None, models: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """ROC or precision-recall curves of one label: actual solid, implied by the model's own probabilities dashed.

    Arguments:
        curves: what `roc_curves` or `precision_recall_curves` returned.
        label: the event, needed where there are several.
        models: the names to show, all unless given, four at most.
        ax: the axes to draw on.

    Returns: the axes, with both areas of each model in words. A dashed ROC curve above its solid one is that of an
    overconfident model.

    Errors: `InputError` for an unknown label or model, or too many models.

    Source: Fawcett (2006), doi:10.1016/j.patrec.2005.10.010; Nelson (2017), doi:10.3390/e19060286, Figures 2 and 4.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]})
    >>> curves = pt.confusion.roc_curves(pred, pt.Truth.from_probs([[0, 1], [0.5, 0.5], [1, 0]]))
    >>> [entry.get_text() for entry in pt.figures.plot_curves(curves).texts]
    ['area: actual (implied)', 'a 0.944 (0.768)']
    """
    curves = check.instance(curves, Curves, "roc_curves or precision_recall_curves")
    shown = keys([curve.model for curve in curves.curves], models)
    roc = curves.kind == "roc"
    x, y = ("false positive rate", "true positive rate") if roc else ("recall", "precision")
    ax = square(ax, x, y, side=380, diagonal=roc)
    step = "default" if roc else "steps-pre"
    lines = [("area: actual (implied)", INK)]
    for key in shown:
        actual = curves.of(key.name, label, False)
        implied = curves.of(key.name, label, True)
        ax.plot(implied.x, implied.y, color=key.colour, linestyle=DASHES, linewidth=1.4, drawstyle=step)
        ax.plot(actual.x, actual.y, color=key.colour, linewidth=2.0, drawstyle=step)
        if key.words:
            ax.lines[-1].set(marker=key.mark, markevery=0.13)
        areas = f"{fixed(actual.area, 3)} ({fixed(implied.area, 3)})"
        lines.append((f"{key.words or plain(key.name)} {areas}", key.colour))
    at, align = (0.97, "right") if roc else (0.03, "left")
    for row, (words, colour) in enumerate(lines, 1):
        text(
            ax,
            at,
            0.05 + 0.062 * (len(lines) - row),
            words,
            colour,
            align,
        )
    return ax
