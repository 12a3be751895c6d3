"""Figures as SVG text without scripts or outside references: in the page, and as files of their own."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from xml.sax.saxutils import escape

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG

from probtruth.report.plots.axes import BLUE, INK, RED

FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
# Colours follow the colour scheme of the page, or of the file by itself.
COLOURS = {INK: "currentColor", BLUE: f"var(--blue, {BLUE})", RED: f"var(--red, {RED})"}
STYLE = (
    "<style>svg{color:#4b5058}path{stroke-linejoin:round}@media(prefers-color-scheme:dark)"
    "{svg{color:#b4bac3;--blue:#4aa3df;--red:#f08a3c}}</style>"
)
IN_TAG = "(?=[^<>]*>)"  # What stands between tags is data
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class Picture:
    """A figure as SVG: `inline` for the page, `alone` for a file; `title` and `description` are read aloud."""

    name: str
    title: str
    description: str
    inline: str
    alone: str
    note: str = ""


@contextmanager
def plain_style() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the user's settings are."""
    settings = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the viewer's fonts show it
        matplotlib.rcParams.update(settings)
        matplotlib.rcParams["svg.fonttype"] = "none"
        yield


def picture(ax: Axes, name: str, title: str, description: str, note: str = "") -> Picture:
    """The figure of the axes; `name` is unique on the page and becomes the name of the file."""
    buffer = BytesIO()
    with plain_style():
        matplotlib.rcParams["svg.hashsalt"] = name
        canvas = FigureCanvasSVG(ax.get_figure(root=True))
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))  # type: ignore[no-untyped-call]
    text = NOT_IN_XML.sub("\ufffd", buffer.getvalue().decode())
    text = re.sub(r"<style.*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL)
    for pattern, value in _changes(name):
        text = re.sub(pattern + IN_TAG, value, text)
    opening, _, rest = text.partition(">")
    head = f'{opening} role="img" aria-labelledby="{name}-title {name}-desc">'
    named = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>{rest}'
    named = NOT_IN_XML.sub("\ufffd", named)
    alone = f'<?xml version="1.0" encoding="utf-8"?>\n{head}{STYLE}{named}'
    inline = re.sub(r' xmlns(:xlink)?="[^"]*"', "", head) + named
    return Picture(name, title, description, inline, alone, note)


def _changes(name: str) -> Iterator[tuple[str, str]]:
    """Identifiers that are unique on the page, fonts of the viewer, colours that follow the page."""
    yield r'(?<=<g) id="[^"]*"', ""  # nothing refers to groups
    yield r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-"
    yield r'font-family: [^;"]*', f"font-family: {FONTS}"
    yield r'\b(width|height)="([\d.]+)pt"', r'\1="\2"'
    for colour, value in COLOURS.items():
        yield f": {colour}", f": {value}"
