"""Calibration: reliability curves, Murphy diagrams, and miscalibration against discrimination.

ROC and precision-recall curves: what happened, solid, and what the model implies, dashed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots.axes import (
    COLOURS,
    DASHES,
    DOTS,
    FRACTION,
    INK,
    SIZE,
    chosen_models,
    keys,
    panel,
    spread,
    square,
    text,
)
from probtruth.report.words.numbers import fixed
from probtruth.scoring.confusion.curves import Curves
from probtruth.types.comparison import Row

if TYPE_CHECKING:
    import polars


@check.checks_itself
def plot_reliability(
    curve: "polars.DataFrame", label: str | None = None, models: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """Observed frequency against forecast probability of one label, with its band; calibrated is the dashed line.

    Arguments: `curve` is what `reliability_curve` returned; `label` is the event, needed where there are several of
    more than two (of two, the last is drawn); `models` are the names to show, all unless given, four at most; `ax` are
    the axes to draw on.

    Returns: the axes. Below the dashed line the model says more than happens. Points are bins or the ends of flat
    pieces, their area is the share of items. Outside a consistency band the curve is not explained by chance.

    Errors: `InputError` for an unknown label or model, too many models, or another table.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]})
    >>> curve = pt.calibration.reliability_curve(pred, pt.Truth.from_labels([0, 1, 1, 1], n_labels=2), band="none")
    >>> pt.figures.plot_reliability(curve).get_ylabel()
    'observed frequency'
    """
    rows, names = _chosen(curve, ("forecast", "observed", "weight", "low", "high"), label, models, "reliability_curve")
    ax = square(ax, "forecast probability", "observed frequency")
    for position, (name, colour, mark, words) in enumerate(keys(names)):
        mine = [row for row in rows if row["model"] == name]
        x, y, weight, low, high = (
            np.array([row[key] for row in mine]) for key in ("forecast", "observed", "weight", "low", "high")
        )
        known = np.isfinite(low) & np.isfinite(high)
        ax.fill_between(x[known], low[known], high[known], color=colour, alpha=0.2, linewidth=0)
        ax.plot(x, y, color=colour, linewidth=2)
        size = (8 if len(names) == 1 else 24) + 120 * weight
        ax.scatter(x, y, s=size, color=colour, marker=mark, linewidths=0, zorder=3, clip_on=False)
        text(ax, 0.03, 0.965 - 0.06 * position, words, colour)
    return ax


@check.checks_itself
def plot_murphy(
    diagram: "polars.DataFrame",
    label: str | None = None,
    models: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Murphy diagram: the mean loss at every threshold of decision, over the loss that no forecast can avoid.

    Arguments: `diagram` is what `murphy_diagram` returned; `label`, `models` and `ax` as in `plot_reliability`.

    Returns: the axes. Solid is the expected elementary score, the grey area the entropy of the labels. A model that is
    lower at every threshold is better under every proper rule for that event; where curves cross, the rule decides.

    Errors: `InputError` as in `plot_reliability`.

    Source: Ehm, Gneiting, Jordan and Krüger (2016), doi:10.1111/rssb.12154

    >>> import probtruth as pt
    >>> pred, truth = pt.Predictions.from_probs({"a": [[0.4, 0.6]]}), pt.Truth.from_probs([[0.3, 0.7]])
    >>> pt.figures.plot_murphy(pt.calibration.murphy_diagram(pred, truth)).get_xlabel()
    'threshold of decision'
    """
    rows, names = _chosen(diagram, ("threshold", "expected", "entropy"), label, models, "murphy_diagram")
    ax = panel(ax, "threshold of decision", "mean elementary score", left=68)
    first = [row for row in rows if row["model"] == names[0]]
    places, entropy = (np.array([row[key] for row in first]) for key in ("threshold", "entropy"))
    ax.fill_between(places, 0, entropy, color=INK, alpha=0.25, linewidth=0)
    peak = int(entropy.argmax())
    top = 0.0
    for position, (name, colour, mark, words) in enumerate(keys(names)):
        mine = [row for row in rows if row["model"] == name]
        values = np.array([row["expected"] for row in mine])
        (line,) = ax.plot([row["threshold"] for row in mine], values, color=colour, linewidth=2)
        if len(names) > 1:
            line.set(marker=mark, markevery=(0.03 * position, 0.13))
        text(ax, 0.98, 0.97 - 0.07 * position, words, colour, "right", "top", within=FRACTION)
        top = max(top, float(values.max()))
    ax.set_xlim(0, 1)
    ax.set_ylim(0, (1.06 + 0.09 * len(names)) * top)
    if entropy[peak] > 0.12 * top:
        text(ax, float(places[peak]), float(entropy[peak]) / 2, "entropy of the labels", INK, "center")
    return ax


@check.checks_itself
def plot_decomposition(table: "polars.DataFrame", label: str | None = None, ax: Axes | None = None) -> Axes:
    """Miscalibration against discrimination of each model; along a dashed line the score is the same.

    Formula: score = miscalibration - discrimination + uncertainty, so that lines of equal score have slope 1.

    Arguments: `table` is what `calibration_decomposition` returned; `label` is the one to show where it judged each
    label, as in `plot_reliability`; `ax` are the axes to draw on.

    Returns: the axes, in units of the rule; better is to the right and below. Models whose score is infinite are named
    beside the axes instead.

    Errors: `InputError` for an unknown label, or another table.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]]})
    >>> truth = pt.Truth.from_labels([0, 1, 1], n_labels=2)
    >>> table = pt.calibration.calibration_decomposition(pred, truth, rule="brier", by="joint")
    >>> pt.figures.plot_decomposition(table).get_ylabel()
    'miscalibration'
    """
    columns = ("score", "miscalibration", "discrimination", "uncertainty")
    rows = _rows(table, columns, label, "calibration_decomposition")
    finite = [row for row in rows if np.isfinite(row["score"])]
    ax = panel(ax, "discrimination (more is better)", "miscalibration (less is better)", height=340, right=54)
    ax.set_ylabel("miscalibration", color=INK, size=SIZE)
    ax.set_xlabel("discrimination", color=INK, size=SIZE)
    lost = [str(row["model"]) for row in rows if row not in finite]
    if lost:
        text(ax, 0.02, 0.97, "infinite: " + check.shortlist(lost), vertical="top", within=FRACTION)
    if not finite:
        return ax
    x, y = (np.array([row[key] for row in finite]) for key in ("discrimination", "miscalibration"))
    room = max(float(np.ptp(x)), float(np.ptp(y)), 1e-3) * 0.35
    ax.set_xlim(float(x.min()) - room, float(x.max()) + 1.6 * room)
    ax.set_ylim(min(0.0, float(y.min()) - room), float(y.max()) + room)
    base = float(finite[0]["uncertainty"])
    left, right = ax.get_xlim()
    low, high = ax.get_ylim()
    for score in _even(base + low - right, base + high - left):
        start, edge = score - base + left, score - base + right
        ax.plot([left, right], [start, edge], color=INK, linewidth=0.8, alpha=0.5, linestyle=DASHES)
        if low < edge < high - 0.04 * (high - low):
            text(ax, right, edge, f"{score:.4g}", INK, shift=(4, 0), size=11)
    text(ax, 1, 1, "mean score", INK, "center", "bottom", (4, 6), 11, FRACTION)
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    heights = spread(y.tolist(), 0.07 * (high - low))
    for position, row in enumerate(finite):
        ax.plot(x[position], y[position], "o", color=COLOURS[0], markersize=8, zorder=4)
        text(ax, float(x[position]), float(heights[position]), str(row["model"]), COLOURS[0], shift=(9, 0))
    return ax


def _even(low: float, high: float) -> list[float]:
    """About six round numbers between the two."""
    size = 10 ** np.floor(np.log10((high - low) / 6))
    step = next(float(size * one) for one in (1, 2, 5, 10) if (high - low) / (size * one) <= 9)
    return [float(n * step) for n in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _rows(table: "polars.DataFrame", columns: Sequence[str], label: object, maker: str) -> list[Row]:
    """The rows of one label."""
    if not set(columns) <= set(getattr(table, "columns", ())):
        raise InputError(f"a {type(table).__name__}", f"the table of {maker}", f"Pass on what {maker} returned.")
    rows: list[Row] = list(table.to_dicts())
    known = list(dict.fromkeys(row["label"] for row in rows))
    if label is None and len(known) <= 2:
        wanted = known[-1]
    else:
        wanted = check.one_of(label, [str(one) for one in known], "label")
    return [row for row in rows if row["label"] == wanted]


def _chosen(
    table: "polars.DataFrame", columns: Sequence[str], label: object, models: Sequence[object] | None, maker: str
) -> tuple[list[Row], list[str]]:
    """The rows of one label, and the names of the models to show."""
    rows = _rows(table, columns, label, maker)
    return rows, chosen_models([str(row["model"]) for row in rows], models)


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
    ['area: actual (implied)', 'a 0.944 (0.768)']
    """
    curves = check.instance(curves, Curves, "roc_curves or precision_recall_curves")
    names = chosen_models([curve.model for curve in curves.curves], models)
    roc = curves.kind == "roc"
    x, y = ("false positive rate", "true positive rate") if roc else ("recall", "precision")
    ax = square(ax, x, y, diagonal=DOTS if roc else None)
    lines = [("area: actual (implied)", INK)]
    for name, colour, mark, words in keys(names):
        actual, implied = (curves.of(name, label, kind) for kind in (False, True))
        for curve, style, width in ((implied, DASHES, 1.4), (actual, "-", 2.0)):
            step = "default" if roc else "steps-pre"
            ax.plot(curve.x, curve.y, color=colour, linestyle=style, linewidth=width, drawstyle=step)
        if len(names) > 1:
            ax.lines[-1].set(marker=mark, markevery=0.13)
        lines.append((f"{words} {fixed(actual.area, 3)} ({fixed(implied.area, 3)})", colour))
    for row, (words, colour) in enumerate(lines):
        at, align = (0.97, "right") if roc else (0.03, "left")
        text(ax, at, 0.05 + 0.062 * (len(lines) - 1 - row), words, colour, align)
    return ax
