"""Figures that take data and `ax=` and return the axes: object API only, no pyplot, no global state.

Backgrounds are transparent and the colours (Okabe and Ito's blue and vermilion, a middle grey) stand out on white and
on black alike, also for readers who do not see all colours. Text is set as plain text: names hold no mathematics.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from probtruth.report.words.numbers import INFINITE, MINUS, as_float, probability, short_names, width

INK = "#767b83"
"""Text, axes and points: 4.2 to 1 or more against white and against near-black."""
BLUE, RED = "#0072b2", "#d55e00"
"""Better and worse: Okabe and Ito's blue and vermilion."""
WIDTH = 480
"""Points, which are the CSS pixels of the page."""
ROW = 26
SIZE = 13

Row = Mapping[str, Any]
Number = float | int


def behind_leader(rows: Sequence[Row], rope: Number | None = None, unit: str = "", ax: Axes | None = None) -> Axes:
    """How much worse each model is than the leading one, with 95 per cent intervals.

    Arguments: `rows`, best first, have `model`, `advantage` (of the leader, positive), `low`, `high` and `p_best`; the
    leader's own advantage is 0 and its interval None. `unit` is the title of the axis.
    """
    names = short_names(str(row["model"]) for row in rows)
    ax = ax or panel_of_rows(len(rows), left=room_for(names), right=66)
    _band(ax, rope)
    ax.axvline(0, color=INK, linewidth=1)
    for place, row in enumerate(rows):
        _interval(ax, place, as_float(row["advantage"]), as_float(row["low"]), as_float(row["high"]), right=RED)
        beside(ax, -0.03, place, names[str(row["model"])], "right")
        beside(ax, 1.03, place, probability(row["p_best"]), "left")
    beside(ax, 1.03, -0.95, "P(best)", "left")
    finish(ax, len(rows), unit)
    return ax


def forest(
    pairs: Sequence[Row],
    rope: Number | None = None,
    unit: str = "",
    ax: Axes | None = None,
    higher_is_better: bool = False,
) -> Axes:
    """Differences of pairs with 95 per cent intervals: an interval to the left of 0 favours the model named there.

    Arguments: `pairs` have `a`, `b`, `difference`, `low`, `high` (a minus b, negative favours a, or positive where
    `higher_is_better`); `rope` is shaded.
    """
    left, right = ("b", "a") if higher_is_better else ("a", "b")
    names = short_names(str(row[side]) for row in pairs for side in ("a", "b"))
    ax = ax or panel_of_rows(len(pairs), left=room_for(names, 10), right=room_for(names, 10))
    _band(ax, rope)
    ax.axvline(0, color=INK, linewidth=1)
    for place, row in enumerate(pairs):
        _interval(ax, place, as_float(row["difference"]), as_float(row["low"]), as_float(row["high"]), BLUE, BLUE)
        beside(ax, -0.04, place, names[str(row[left])], "right")
        beside(ax, 1.04, place, names[str(row[right])], "left")
    beside(ax, -0.04, -0.95, "← favours", "right")
    beside(ax, 1.04, -0.95, "favours →", "left")
    finish(ax, len(pairs), unit)
    return ax


def rank_probabilities(
    models: Sequence[str], probability_of_rank: Float[np.ndarray, "model rank"], ax: Axes | None = None
) -> Axes:
    """P(rank = r) of each model as a bar in the column of the rank; the number stands above where there is room."""
    n_models, n_ranks = probability_of_rank.shape
    names = short_names(models)
    roomy = n_ranks <= 7
    ax = ax or panel_of_rows(n_models, left=room_for(names), right=12, row=ROW + 12 if roomy else ROW)
    full = 0.62 if roomy else 0.85
    for place, model in enumerate(models):
        floor = place + 0.42
        ax.plot([0.5, n_ranks + 0.5], [floor, floor], color=INK, linewidth=0.6, alpha=0.5)
        for rank in range(n_ranks):
            p = float(probability_of_rank[place, rank])
            if p >= 0.001:
                ax.bar(rank + 1, -full * p, 0.7, bottom=floor, color=BLUE, linewidth=0)
            if roomy and p >= 0.005:
                write(ax, rank + 1, floor - full * p - 0.04, probability(p), "center", "bottom", size=10)
        beside(ax, -0.03, place + 0.1, names[model], "right")
    finish(ax, n_models, "rank (1 is best)")
    ax.set_xlim(0.5, n_ranks + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(min(n_ranks, 12), integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    ax.grid(visible=False)
    return ax


def loss_curve(truth: float = 0.7, ax: Axes | None = None) -> Axes:
    """Expected log and Brier loss of every response to a yes-no item that is `yes` with probability `truth`.

    Log: -y ln p - (1 - y) ln(1 - p), in nats, least at p = y, where it is the entropy of the label; Brier: |p - e|²
    summed over both labels, least at the same place. Neither minimum is 0: the label itself is uncertain.
    """
    response = np.linspace(0.005, 0.995, 397)
    log = -truth * np.log(response) - (1 - truth) * np.log1p(-response)
    brier = 2 * (truth * (1 - response) ** 2 + (1 - truth) * response**2)
    ax = ax or panel_of_rows(8, left=46, right=20)
    ax.axvline(truth, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    for values, colour, name, x, y in (
        (log, RED, "log loss (nats)", 0.24, 1.16),
        (brier, BLUE, "Brier score", 0.05, 0.74),
    ):
        lowest = int(values.argmin())
        ax.plot(response, values, color=colour, linewidth=2)
        ax.plot(response[lowest], values[lowest], "o", color=colour, markersize=5)
        note = f"{values[lowest]:.3f}".lstrip("0")
        write(ax, response[lowest] + 0.015, values[lowest] - 0.04, note, "left", "top", colour)
        write(ax, x, y, name, "left", "bottom", colour)
    write(ax, truth + 0.015, 2.2, f"label {probability(truth)}", "left", "top")
    finish(ax, None, "response: probability of yes")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 2.2)
    ax.set_ylabel("expected loss", color=INK, size=SIZE)
    ax.tick_params(axis="y", labelsize=SIZE, labelcolor=INK, color=INK)
    return ax


def small_square() -> Axes:
    """Empty axes as wide as high, for one of several panels side by side."""
    side, left, bottom, rest = 306, 52, 46, 12
    box = (left / side, bottom / side, (side - left - rest) / side, (side - bottom - rest) / side)
    return Figure(figsize=(side / 72, side / 72), facecolor="none").add_axes(box, facecolor="none")


def panel_of_rows(
    rows: int,
    left: Number,
    right: Number,
    row: Number = ROW,
    top: Number = 26,
    bottom: Number = 42,
) -> Axes:
    """Axes on a figure of the page's width, as high as its rows need; margins in points."""
    height = top + rows * row + bottom
    figure = Figure(figsize=(WIDTH / 72, height / 72), facecolor="none")
    box = (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, rows * row / height)
    return figure.add_axes(box, facecolor="none")


def room_for(names: Mapping[str, str], least: int = 0) -> float:
    """Points that the widest name needs beside the axes."""
    return 14 + 6.9 * max(least, *(width(name) for name in names.values()))


def _band(ax: Axes, rope: Number | None) -> None:
    if rope is not None and rope > 0:
        ax.axvspan(-rope, rope, color=INK, alpha=0.22, linewidth=0)


def _interval(
    ax: Axes,
    place: Number,
    centre: float | None,
    low: float | None,
    high: float | None,
    left: str = BLUE,
    right: str = BLUE,
) -> None:
    """A point and its interval; what is infinite is written at the edge it lies beyond."""
    if centre is None or not np.isfinite(centre):
        shown = "not known" if centre is None else f"{MINUS if centre < 0 else ''}{INFINITE}"
        side = 0.5 if centre is None else float(centre > 0)
        align = "center" if centre is None else "right" if centre > 0 else "left"
        ax.text(side, place, shown, transform=ax.get_yaxis_transform(), ha=align, va="center", color=INK, size=SIZE)
        return
    crosses = low is None or high is None or low <= 0 <= high
    colour = INK if crosses else left if centre < 0 else right
    if low is not None and high is not None and np.isfinite([low, high]).all():
        ax.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
    ax.plot(centre, place, "o", color=colour, markersize=6)


def write(
    ax: Axes,
    x: Number,
    y: Number,
    text: str,
    align: str,
    vertical: str = "center",
    colour: str = INK,
    size: Number = SIZE,
) -> None:
    """Words at a place in units of the data, without mathematics."""
    ax.text(x, y, text, ha=align, va=vertical, color=colour, size=size, parse_math=False)


def beside(ax: Axes, x: Number, place: Number, text: str, align: str) -> None:
    """Text at a row, `x` in fractions of the axes."""
    where = ax.get_yaxis_transform()
    ax.text(x, place, text, transform=where, ha=align, va="center", color=INK, size=SIZE, parse_math=False)


def finish(ax: Axes, rows: int | None, title: str) -> None:
    """What all figures share: few lines, rows from the top, the unit on the axis, no offset notation."""
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(INK)
    ax.set_xlabel(title, color=INK, size=SIZE, parse_math=False)
    ax.tick_params(axis="x", labelsize=SIZE, labelcolor=INK, color=INK)
    ax.grid(visible=True, axis="x" if rows is not None else "both", color=INK, alpha=0.22, linewidth=0.8)
    ax.set_axisbelow(True)
    if rows is not None:
        ax.set_yticks([])
        ax.set_ylim(rows - 0.5, -0.5)
        ax.margins(x=0.06)
        ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        formatter = ScalarFormatter(useOffset=False)
        formatter.set_scientific(False)
        ax.xaxis.set_major_formatter(formatter)
