"""The first figures of objects that have none of their own: shares of labels, spreads of scores, counts."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from probtruth.check import count
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.line.result import Result
from probtruth.report.objects import label_shares
from probtruth.report.plots import axes as figures
from probtruth.report.plots.annotators import plot_annotators
from probtruth.report.plots.axes import BLUE, COLOURS, FRACTION, INK, text
from probtruth.report.plots.calibration import plot_curves, plot_reliability
from probtruth.report.plots.comparison import plot_forest
from probtruth.report.plots.nelson import plot_nelson
from probtruth.report.words.numbers import probability, short_names
from probtruth.report.words.sentences import with_unit
from probtruth.scoring.confusion.curves import Curves
from probtruth.scoring.confusion.expected import Confusion
from probtruth.scoring.nelson.risk import RiskProfile
from probtruth.truth.multilabel import MultilabelTruth
from probtruth.types import Annotations, Comparison, Predictions, Scores, Truth

LINE = 18
"""Points from one name of a legend to the next."""
MOST_ROWS = 20
"""Labels or models that a figure shows."""


def plot_result(shown: Result | Comparison, ax: Axes | None = None) -> Axes:
    """Differences of all pairs; of one model its reliability or, for bare scores, how they spread."""
    result = Result.of(shown)
    if result.comparison.pairs:
        return plot_forest(result.comparison, ax)
    calibrated = result.analysis.calibration
    if calibrated is not None:
        return plot_reliability(calibrated.curve, calibrated.event, ax=ax)
    if isinstance(result.scores, Scores):
        return plot_scores(result.scores, ax)
    raise InputError("one model whose scores were streamed", "scores in memory", "See its ranking().")


def plot_truth(truth: Truth, ax: Axes | None = None) -> Axes:
    """The skill of each annotator, where the method knows it; else the share of each label."""
    if truth.confusion is not None and len(truth.index.annotators) > 1:
        return plot_annotators(truth, ax)
    return plot_labels(truth, ax)


def plot_labels(shown: Annotations | Truth | Predictions, ax: Axes | None = None) -> Axes:
    """The mean share of each label: of votes, of the truth, or of each model's forecasts (four models at most)."""
    title = "mean probability of a label" if not isinstance(shown, Annotations) else "share of all annotations"
    return _shares(shown.index.labels, label_shares(shown), title, ax)


def plot_multilabel(truth: MultilabelTruth, ax: Axes | None = None) -> Axes:
    """The share of items that each label applies to."""
    return _shares(
        truth.index.labels, {"share": to_host(truth.probs).mean(0)}, "share of items that a label applies to", ax
    )


def _shares(
    labels: tuple[str, ...], shares: Mapping[str, Float[np.ndarray, " label"]], title: str, ax: Axes | None
) -> Axes:
    """A row for each label, the most frequent first, and a point for each series."""
    order = np.argsort(-np.mean(list(shares.values()), axis=0), kind="stable")[:MOST_ROWS]
    series = list(shares.items())[: len(COLOURS)]
    names, keys = short_names(labels[row] for row in order), short_names(name for name, _ in series)
    one = len(series) == 1
    ax = ax or figures.panel_of_rows(
        len(order), left=figures.room_for(names), right=60, top=14 if one else 14 + LINE * len(series)
    )
    for position, row in enumerate(order):
        figures.beside(ax, -0.03, position, names[labels[row]], "right")
        for shift, ((_, values), colour) in enumerate(zip(series, COLOURS, strict=False)):
            y = position + 0.16 * (shift - (len(series) - 1) / 2)
            ax.plot([0, values[row]], [y, y], color=colour, linewidth=2, alpha=0.6, solid_capstyle="butt")
            ax.plot(values[row], y, "o", color=colour, markersize=6)
        if one:
            figures.beside(ax, 1.03, position, probability(series[0][1][row]), "left")
    figures.finish(ax, len(order), title)
    ax.set_xlim(0, None)
    if not one:
        _legend(ax, [keys[name] for name, _ in series])
    return ax


def _legend(ax: Axes, names: list[str]) -> None:
    """The names of the series above the panel, each in its colour, one below the other."""
    for position, (name, colour) in enumerate(zip(reversed(names), reversed(COLOURS[: len(names)]), strict=True)):
        text(ax, 0, 1, name, colour, vertical="bottom", shift=(0, 6 + LINE * position), within=FRACTION)


def plot_scores(scores: Scores, ax: Axes | None = None) -> Axes:
    """Where the items' scores lie for each model: 90% of them, half of them, and the mean; as they were given."""
    sign = -1.0 if scores.higher_is_better else 1.0
    values = sign * scores.values
    with np.errstate(invalid="ignore"):
        means = values.mean(1)
    order = np.argsort(np.nan_to_num(sign * means, nan=np.inf), kind="stable")[:MOST_ROWS]
    names = short_names(scores.models[row] for row in order)
    ax = ax or figures.panel_of_rows(len(order), left=figures.room_for(names), right=24, top=14)
    for position, row in enumerate(order):
        finite = values[row][np.isfinite(values[row])]
        figures.beside(ax, -0.03, position, names[scores.models[row]], "right")
        if len(finite):
            low, first, third, high = np.quantile(finite, [0.05, 0.25, 0.75, 0.95])
            ax.plot([low, high], [position, position], color=INK, linewidth=1.4, solid_capstyle="butt")
            ax.plot([first, third], [position, position], color=BLUE, linewidth=6, alpha=0.45, solid_capstyle="butt")
        if np.isfinite(means[row]):
            ax.plot(means[row], position, "o", color=BLUE, markersize=6)
        else:
            infinite = count(int(np.isinf(values[row]).sum()), "item")
            end = float(finite.max()) if len(finite) else 0.0
            text(ax, end, position - 0.3, f"infinite on {infinite}", align="right")
    figures.finish(ax, len(order), f"{with_unit(scores.rule)} of an item: 90%, half, mean")
    return ax


def plot_first_curves(curves: Curves, ax: Axes | None = None) -> Axes:
    """The curves of the first label, for four models at most."""
    models = list(dict.fromkeys(curve.model for curve in curves.curves))[: len(COLOURS)]
    return plot_curves(curves, curves.curves[0].label, models, ax)


def plot_first_profile(risk: RiskProfile, ax: Axes | None = None) -> Axes:
    """Model against source probability of the first model."""
    return plot_nelson(risk, risk.models[0], ax)


def plot_confusion(confusion: Confusion, ax: Axes | None = None) -> Axes:
    """Expected counts of the first model: a row for each label, a column for each response, as shares of the row."""
    counts = confusion.counts[0][:MOST_ROWS, :MOST_ROWS]
    labels = confusion.labels[:MOST_ROWS]
    names = short_names(labels, 14)
    ax = ax or figures.panel_of_rows(len(labels), left=12 + figures.room_for(names), right=14, top=34, bottom=30)
    with np.errstate(invalid="ignore"):
        shares = counts / counts.sum(1, keepdims=True)
    for position, label in enumerate(labels):
        figures.beside(ax, -0.02, position, names[label], "right")
        text(ax, position, -0.62, names[label], INK, "center", "bottom")
        for column, share in enumerate(shares[position]):
            depth = 0.45 * float(np.nan_to_num(share))
            ax.bar(column, 1, 0.98, bottom=position - 0.5, color=BLUE, alpha=depth, linewidth=0)
            text(ax, column, position, probability(share), align="center")
    ax.set_xlim(-0.5, len(labels) - 0.5)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_axis_off()
    words = f"P(response | label) of {confusion.models[0]}"
    text(ax, 0, 0, words, vertical="top", shift=(0, -8), within=FRACTION)
    return ax
