"""Figures of Nelson's assessment: model against source probability, and their ratio."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from probtruth import check
from probtruth.report.numbers import fixed
from probtruth.report.plots.axes import COLOURS, INK, square, text
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
    it is overconfident, less where it is underconfident. Of two labels the second has rings.

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
        _bubbles(ax, mine, largest, colour, rings)
        if two:
            sign = "○" if rings else "●"
            text(
                ax,
                0.03,
                0.965 - 0.06 * order,
                f"{sign} label {label}",
                colour,
            )
    at = [risk.powers.index(power) for power in MARKS.values()]
    source = risk.source[position, at]
    reported = risk.model[position, at]
    ax.plot(source, reported, color=INK, linewidth=1.6, zorder=3)
    for row, (name, x, mean) in enumerate(zip(MARKS, source.tolist(), reported.tolist(), strict=True)):
        mark, sign = SHAPES[name]
        ax.plot(x, mean, mark, color=INK, markersize=8, zorder=4, clip_on=False)
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


def _bubbles(ax: Axes, bins: Sequence[Any], largest: float, colour: str, rings: bool) -> None:
    """Bubbles, or rings, whose area is the number of true events."""
    x = [row["source"] for row in bins]
    y = [row["reported"] for row in bins]
    area = [BUBBLE * row["n_true"] / largest for row in bins]
    face, edge = ("none", colour) if rings else (colour, "none")
    ax.scatter(x, y, s=area, facecolors=face, edgecolors=edge, alpha=0.5, linewidths=1.2)


def _position(risk: RiskProfile, model: object) -> int:
    """The position of the model, which may be left out where there is one."""
    models = check.instance(risk, RiskProfile, "risk_profile").models
    if model is None and len(models) == 1:
        return 0
    return models.index(check.one_of(model, models, "model"))
