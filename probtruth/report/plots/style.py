"""What the plots share: a panel, text in the colour of what it names, and labels that do not lie on each other."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probtruth.errors import InputError
from probtruth.report.plots.axes import BLUE, INK, RED, SIZE, WIDTH
from probtruth.report.words.numbers import MINUS

GREEN, PURPLE = "#009e73", "#b06a9a"
"""Okabe and Ito's green, and their purple a little darker: 3 to 1 or more against white and near-black."""
COLOURS = (BLUE, RED, GREEN, PURPLE)
"""One for each thing that is compared; no more are told apart at a glance."""
DASHES = (0, (4, 3))

Number = float | int


def panel(
    ax: Axes | None, x: str, y: str, width: Number = WIDTH, height: Number = 320, left: Number = 56, right: Number = 20
) -> Axes:
    """The axes given, or new ones of that size in points, with few lines and the unit on each axis."""
    if ax is None:
        bottom, top = 46, 16
        figure = Figure(figsize=(width / 72, height / 72), facecolor="none")
        box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
        ax = figure.add_axes(box, facecolor="none")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(INK)
    ax.set_xlabel(x, color=INK, size=SIZE, parse_math=False)
    ax.set_ylabel(y, color=INK, size=SIZE, parse_math=False)
    ax.tick_params(labelsize=SIZE - 1, labelcolor=INK, color=INK)
    ax.grid(visible=True, color=INK, alpha=0.18, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def square(ax: Axes | None, x: str, y: str, right: Number = 20) -> Axes:
    """A panel from 0 to 1 on both axes, as wide as high."""
    ax = panel(ax, x, y, width=380 + right, height=406, left=56, right=right)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    return ax


def text(
    ax: Axes,
    x: Number,
    y: Number,
    words: str,
    colour: str = INK,
    align: str = "left",
    vertical: str = "center",
    shift: tuple[Number, Number] = (0, 0),
    size: Number = SIZE,
) -> None:
    """Words at a place in units of the data, moved by points."""
    ax.annotate(
        words,
        (x, y),
        xytext=shift,
        textcoords="offset points",
        ha=align,
        va=vertical,
        color=colour,
        size=size,
        parse_math=False,
        annotation_clip=False,
    )


def spread(places: Sequence[float], gap: float) -> Float[np.ndarray, " place"]:
    """The places moved as little as needed to stand at least a gap apart, their order kept."""
    wanted = np.asarray(places, np.float64)
    order = np.argsort(wanted, kind="stable")
    moved = wanted[order]
    for _ in range(200):
        close = np.flatnonzero(np.diff(moved) < gap - 1e-9)
        if not len(close):
            break
        for at in close:
            short = max(0.0, gap - (moved[at + 1] - moved[at])) / 2
            moved[at] -= short
            moved[at + 1] += short
    result = np.empty_like(moved)
    result[order] = moved
    return result


def short(value: float, digits: int = 3) -> str:
    """A number without its leading zero."""
    sign, words = MINUS if value < 0 else "", f"{abs(value):.{digits}f}"
    return sign + (words[1:] if words.startswith("0.") else words)


def few(names: Sequence[str], what: str) -> None:
    """An error if there are more things to compare than colours."""
    if len(names) > len(COLOURS):
        raise InputError(
            f"{len(names)} {what}", f"at most {len(COLOURS)} in one figure", f"Choose some with {what}=[...]."
        )
