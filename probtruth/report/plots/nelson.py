"""Figures of Nelson's assessment: model against source probability, and their ratio."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.report.numbers import fixed
from probtruth.report.plots.axes import COLOURS, DOTS, INK, square, text
from probtruth.scoring.nelson.profile import MARKS, RiskProfile

BUBBLE = 260  # Area in square points of the largest bubble; the others are in proportion to their true events
SHAPES = {
    "decisiveness": ("^", "▲"),
    "accuracy": ("o", "●"),
    "robustness": ("v", "▼"),
}


def plot_nelson(risk: RiskProfile, model: str | None = None, ax: Axes | None = None) -> Axes:
    """Model probability against source probability: bubbles of the bins, the three marks, the identity line.

    Arguments:
        risk: what `risk_profile` returned.
        model: a name, needed where there are several.
        ax: the axes to draw on.

    Returns: the axes. Bubbles on the dashed line are calibrated; their area is the number of true events. The line
    through robustness, accuracy and decisiveness has an angle of 45 degrees where the model is calibrated, more where
    it is overconfident, less where it is underconfident. Of two labels each has small marks, the second in rings.

    Errors: `InputError` for an unknown model.

    Source: Nelson (2017), doi:10.3390/e19060286, Figures 3, 5 and 6.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]})
    >>> risk = pt.nelson.risk_profile(pred, pt.Truth.from_labels([0, 1, 1, 0], n_labels=2))
    >>> pt.figures.plot_nelson(risk).get_xlabel()
    'source probability'
    """
    position = _position(risk, model)
    ax = square(ax, "source probability", "model probability")
    bins: list[Any] = [row for row in risk.bins if row["model"] == risk.models[position] and row["n_true"]]
    largest = max([row["n_true"] for row in bins], default=1.0)
    two = len(risk.labels) <= 2
    for order, label in enumerate(risk.labels):
        mine = [row for row in bins if row["label"] == label]
        if not mine:
            continue
        colour = COLOURS[order if two else 0]
        rings = two and order > 0  # told apart without colour
        solid = max(0.2, min(0.6, 6 / len(mine)))
        x = [row["source"] for row in mine]
        y = [row["reported"] for row in mine]
        area = [BUBBLE * row["n_true"] / largest for row in mine]  # or rings, whose area is the same
        face, edge = ("none", colour) if rings else (colour, "none")
        solid = min(1.0, 2 * solid) if two else solid
        ax.scatter(x, y, s=area, facecolors=face, edgecolors=edge, alpha=solid, linewidths=1.2)
        if two:
            source, reported = risk.source_by_label[position, order], risk.model_by_label[position, order]
            _marks(ax, source, reported, risk, colour, 5, "none" if rings else "full")
            sign = "○" if rings else "●"
            text(
                ax,
                0.03,
                0.965 - 0.06 * order,
                f"{sign} label {label}",
                colour,
            )
    marks = _marks(
        ax,
        risk.source[position],
        risk.model[position],
        risk,
        INK,
        8,
    )
    for row, (name, (_, mean)) in enumerate(marks.items()):
        _, sign = SHAPES[name]
        text(
            ax,
            0.97,
            0.22 - 0.06 * row,
            f"{sign} {name} {fixed(mean, 2)}",
            align="right",
        )
    text(
        ax,
        0.97,
        0.04,
        f"angle {fixed(float(risk.angle[position]), 0)}°",
        align="right",
    )
    return ax


def plot_divergence(risk: RiskProfile, model: str | None = None, ax: Axes | None = None) -> Axes:
    """The divergence probability: the model's mark projected from the origin to a source probability of 1.

    Formula: P_model = P_source * P_div, so that the line through (0, 0) and (P_source, P_model) reaches P_div at 1.

    Arguments:
        risk, model: as in `plot_nelson`.
        ax: the axes to draw on.

    Returns: the axes.

    Errors: `InputError` for an unknown model.

    Source: Nelson (2017), doi:10.3390/e19060286, Figure 7.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]})
    >>> risk = pt.nelson.risk_profile(pred, pt.Truth.from_labels([0, 1, 1, 0], n_labels=2))
    >>> [entry.get_text() for entry in pt.figures.plot_divergence(risk).texts]
    ['P_model 0.474', 'P_source 0.707', 'P_div 0.670']
    """
    position = _position(risk, model)
    at = risk.powers.index(0.0)  # that of the accuracy
    reported = float(risk.model[position, at])
    source, ratio = float(risk.source[position, at]), float(risk.divergence[position, at])
    ax = square(ax, "source probability", "model probability", side=380, right=90)
    ax.plot([0, 1], [0, ratio], color=COLOURS[0], linewidth=2)
    ax.plot(
        [0, source, source],
        [reported, reported, 0],
        color=INK,
        linewidth=1,
        linestyle=DOTS,
    )
    ax.plot(source, reported, "o", color=COLOURS[0], markersize=9)
    ax.plot(1, ratio, "D", color=COLOURS[1], markersize=8, clip_on=False)
    ax.set_ylim(0, max(1.0, 1.05 * ratio))
    text(
        ax,
        0,
        reported,
        f"P_model {fixed(reported, 3)}",
        COLOURS[0],
        shift=(8, 9),
    )
    text(
        ax,
        source,
        0,
        f"P_source {fixed(source, 3)}",
        INK,
        shift=(8, 12),
    )
    text(
        ax,
        1,
        ratio,
        f"P_div {fixed(ratio, 3)}",
        COLOURS[1],
        shift=(10, 0),
    )
    return ax


def _position(risk: RiskProfile, model: object) -> int:
    """The position of the model, which may be left out where there is one."""
    models = check.instance(risk, RiskProfile, "risk_profile").models
    if model is None and len(models) == 1:
        return 0
    return models.index(check.one_of(model, models, "model"))


def _marks(
    ax: Axes, source: np.ndarray, reported: np.ndarray, risk: RiskProfile, colour: str, size: int, fill: Any = "full"
) -> dict[str, tuple[float, float]]:
    """The three marks joined by a line."""
    at = [risk.powers.index(power) for power in MARKS.values()]
    points = dict(zip(MARKS, zip(source[at].tolist(), reported[at].tolist(), strict=True), strict=True))
    ax.plot(source[at], reported[at], color=colour, linewidth=1.6, zorder=3)
    for name, (x, y) in points.items():
        mark, _ = SHAPES[name]
        ax.plot(x, y, mark, color=colour, markersize=size, fillstyle=fill, zorder=4, clip_on=False)
    return points
