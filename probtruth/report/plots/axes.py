"""What all figures are made of: panels, rows, text in the colour of what it names.

Figures take data and `ax=` and return the axes: object API only, no pyplot, no global state. Backgrounds are
transparent and the colours (Okabe and Ito's) stand out on white and on black alike, also for readers who do not see all
colours. Text is set as plain text: names hold no mathematics.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Transform
from rich.cells import cell_len

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.names import plain

INK = "#767b83"  # Text, axes and points: 4.2 to 1 or more against white and against near-black
BLUE, RED, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#b06a9a"  # the last a little darker than theirs
COLOURS = (BLUE, RED, GREEN, PURPLE)  # One for each thing that is compared; no more are told apart at a glance
MARKERS = (("o", "●"), ("^", "▲"), ("s", "■"), ("D", "◆"))  # Told apart in grey too, with the character for words
DASHES = (0, (4, 3))
DOTS = (0, (1, 2))
WIDTH, ROW = 480, 26  # Points, which are the CSS pixels of the page
BELOW = 46  # Points below the axes, for their title
INCH = 72  # Points
SIZE = 13

Number = float | int


class NotebookAxes(Axes):
    """Axes that a notebook shows as the value of a cell: their figure belongs to no pyplot, which would show it."""

    def _repr_png_(self) -> bytes:
        with BytesIO() as stream:
            self.get_figure(root=True).savefig(stream, format="png", dpi=100, bbox_inches="tight")  # type: ignore[union-attr]
            return stream.getvalue()


def panel(
    ax: Axes | None,
    x: str,
    y: str = "",
    width: Number = WIDTH,
    height: Number = 320,
    left: Number = 56,
    right: Number = 20,
    top: Number = 16,
) -> Axes:
    """These axes, or new ones of that size and those margins in points, with few lines and the unit on each axis."""
    if ax is None:
        inner_width, inner_height = width - left - right, height - BELOW - top
        box = (left / width, BELOW / height, inner_width / width, inner_height / height)
        figure = Figure(figsize=(width / INCH, height / INCH), facecolor="none")
        ax = figure.add_axes(box, axes_class=NotebookAxes, facecolor="none")
    for side, spine in ax.spines.items():
        spine.set(color=INK, visible=side == "bottom" or (side == "left" and bool(y)))
    ax.set_xlabel(x, color=INK, size=SIZE, parse_math=False)
    ax.set_ylabel(y, color=INK, size=SIZE, parse_math=False)
    ax.tick_params(labelsize=SIZE - 1, labelcolor=INK, color=INK)
    ax.grid(visible=True, axis="both" if y else "x", color=INK, alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def rows(ax: Axes | None, n: int, x: str, left: Number, right: Number, row: Number = ROW) -> Axes:
    """A panel with a row for each of n things, the first on top; no offset notation below."""
    ax = panel(ax, x, height=72 + n * row, left=left, right=right, top=26)
    ax.set_yticks([])
    ax.set_ylim(n - 0.5, -0.5)
    ax.margins(x=0.06)
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.ticklabel_format(axis="x", style="plain", useOffset=False)
    return ax


def margin_for(names: Iterable[str], least: int = 0) -> float:
    """Points that the widest name needs next to the axes."""
    return 14 + 7.4 * max(least, *map(cell_len, names))


def square(ax: Axes | None, x: str, y: str, side: Number = 240, right: Number = 20, diagonal: bool = True) -> Axes:
    """A panel from 0 to 1 on both axes, as wide as high, with its diagonal in dashes."""
    ax = panel(
        ax,
        x,
        y,
        width=side + 56 + right,
        height=side + 62,
        right=right,
    )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    if diagonal:
        ax.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=DASHES)
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
    look = {
        "ha": align,
        "va": vertical,
        "color": colour,
        "size": size,
        "parse_math": False,
        "annotation_clip": False,
    }
    ax.annotate(words, (x, y), shift, within, "offset points", **look)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Key:
    """A thing with its colour, its mark, and the words that name it next to its lines."""

    name: str
    colour: str
    mark: str
    words: str


def keys(names: Iterable[object], chosen: Sequence[object] | None = None, what: str = "model") -> list[Key]:
    """The key of each thing (all unless some are chosen); one without another needs no words."""
    shown = list(dict.fromkeys(map(str, names)))
    if chosen is not None:
        shown = [check.one_of(name, shown, what) for name in chosen]
    if len(shown) > len(COLOURS):
        most = f"at most {len(COLOURS)} in one figure"
        raise InputError(f"{len(shown)} {what}s", most, f"Choose some with {what}s=[...].")
    found = []
    for name, colour, (mark, sign) in zip(shown, COLOURS, MARKERS, strict=False):
        words = f"{sign} {plain(name)}" if len(shown) > 1 else ""
        found.append(Key(name, colour, mark, words))
    return found
