"""What all figures are made of: panels, text in the colour of what it names, labels that do not lie on each other.

Figures take data and `ax=` and return the axes: object API only, no pyplot, no global state. Backgrounds are
transparent and the colours (Okabe and Ito's blue and vermilion, a middle grey) stand out on white and on black alike,
also for readers who do not see all colours. Text is set as plain text: names hold no mathematics.
"""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from matplotlib.transforms import Transform

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.numbers import width

# Text, axes and points: 4.2 to 1 or more against white and against near-black.
INK = "#767b83"
# Better and worse: Okabe and Ito's blue and vermilion.
BLUE, RED = "#0072b2", "#d55e00"
# Okabe and Ito's green, and their purple a little darker: 3 to 1 or more against white and near-black.
GREEN, PURPLE = "#009e73", "#b06a9a"
COLOURS = (BLUE, RED, GREEN, PURPLE)  # One for each thing that is compared; no more are told apart at a glance
# The mark of each, so that they are told apart in grey too, and the character that stands for it in words.
MARKERS = (("o", "●"), ("^", "▲"), ("s", "■"), ("D", "◆"))
FRACTION = "axes fraction"  # For words at a place in fractions of the axes
DASHES, DOTS = (0, (4, 3)), (0, (1, 2))
WIDTH = 480  # Points, which are the CSS pixels of the page
ROW = 26
SIZE = 13

Number = float | int


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself: it belongs to no pyplot, which would show it otherwise."""

    def _repr_png_(self) -> bytes:
        with BytesIO() as stream:
            self.savefig(stream, format="png", dpi=100, bbox_inches="tight")
            return stream.getvalue()


class NotebookAxes(Axes):
    """The axes of such a figure, which stand for it as the value of a cell."""

    def _repr_png_(self) -> bytes | None:
        figure = self.get_figure(root=True)
        return figure._repr_png_() if isinstance(figure, NotebookFigure) else None


def _new(width: Number, height: Number, left: Number, right: Number, top: Number, bottom: Number) -> Axes:
    """Empty axes on a figure of their own; its size and the margins in points."""
    box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    figure = NotebookFigure(figsize=(width / 72, height / 72), facecolor="none")
    axes: Axes = figure.add_axes(box, axes_class=NotebookAxes, facecolor="none")
    return axes


def small_square() -> Axes:
    """Empty axes as wide as high, for one of several panels side by side."""
    return _new(306, 306, left=52, right=12, top=12, bottom=46)


def panel_of_rows(
    rows: int, left: Number, right: Number, row: Number = ROW, top: Number = 26, bottom: Number = 42
) -> Axes:
    """Axes on a figure of the page's width, as high as its rows need; margins in points."""
    return _new(WIDTH, top + rows * row + bottom, left, right, top, bottom)


def name_margin(names: Mapping[str, str], least: int = 0) -> float:
    """Points that the widest name needs beside the axes."""
    return 14 + 7.4 * max(least, *(width(name) for name in names.values()))


def row_text(ax: Axes, x: Number, position: Number, words: str, align: str) -> None:
    """Text at a row, `x` in fractions of the axes."""
    text(ax, x, position, words, align=align, within=ax.get_yaxis_transform())


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
        ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        formatter = ScalarFormatter(useOffset=False)
        formatter.set_scientific(False)
        ax.xaxis.set_major_formatter(formatter)


def panel(
    ax: Axes | None, x: str, y: str, width: Number = WIDTH, height: Number = 320, left: Number = 56, right: Number = 20
) -> Axes:
    """These axes, or new ones of that size in points, with few lines and the unit on each axis."""
    ax = ax or _new(width, height, left, right, top=16, bottom=46)
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


def square(
    ax: Axes | None, x: str, y: str, right: Number = 20, diagonal: tuple[int, tuple[int, ...]] | None = DASHES
) -> Axes:
    """A panel from 0 to 1 on both axes, as wide as high, with its diagonal in dashes unless these are None."""
    ax = panel(ax, x, y, width=380 + right, height=406, left=56, right=right)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    if diagonal is not None:
        ax.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=diagonal)
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
    within: str | Transform = "data",
) -> None:
    """Words at a place in units of the data (or `within` what else), shifted by points; names hold no mathematics."""
    ax.annotate(
        words,
        (x, y),
        xytext=shift,
        xycoords=within,  # type: ignore[arg-type]
        textcoords="offset points",
        ha=align,
        va=vertical,
        color=colour,
        size=size,
        parse_math=False,
        annotation_clip=False,
    )


def spread(places: Sequence[float], gap: float) -> Float[np.ndarray, " place"]:
    """The places shifted as little as needed to stand at least a gap apart, their order kept."""
    wanted = np.asarray(places, np.float64)
    order = np.argsort(wanted, kind="stable")
    shifted = wanted[order]
    for _ in range(200):
        close = np.flatnonzero(np.diff(shifted) < gap - 1e-9)
        if not len(close):
            break
        for at in close:
            short = max(0.0, gap - (shifted[at + 1] - shifted[at])) / 2
            shifted[at] -= short
            shifted[at + 1] += short
    result = np.empty_like(shifted)
    result[order] = shifted
    return result


def chosen_models(known: Iterable[str], models: Sequence[object] | None) -> list[str]:
    """The models to show, each once: all that are known unless some are named, and no more than colours."""
    names = list(dict.fromkeys(known))
    chosen = names if models is None else [check.one_of(name, names, "model") for name in models]
    few(chosen, "models")
    return chosen


def keys(names: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Each name with its colour, its mark and the words that name it beside the lines; one alone needs no mark."""
    several = len(names) > 1
    known = zip(names, COLOURS, MARKERS, strict=False)
    return [(name, colour, mark, f"{sign} {name}" if several else name) for name, colour, (mark, sign) in known]


def few(names: Sequence[str], what: str) -> None:
    """An error if there are more things to compare than colours."""
    if len(names) > len(COLOURS):
        raise InputError(
            f"{len(names)} {what}", f"at most {len(COLOURS)} in one figure", f"Choose some with {what}=[...]."
        )
