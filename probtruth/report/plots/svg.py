"""Figures as SVG text without scripts or outside references, in the page and as files, and as PDF for LaTeX."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from xml.sax.saxutils import quoteattr

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG

from probtruth.report.plots.axes import BLUE, INK, RED

# Fonts of the viewer, and colours that follow the colour scheme of the page, or of the file by itself.
COLOURS = ((INK, "currentColor"), (BLUE, f"var(--blue,{BLUE})"), (RED, f"var(--red,{RED})"))
STYLE = (
    "svg text{font-family:system-ui,-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif!important}"
    "svg{color:#4b5058}@media(prefers-color-scheme:dark){svg{color:#b4bac3;--blue:#4aa3df;--red:#f08a3c}}"
    + "".join(f'[style*="{of}: {old}"]{{{of}:{new}!important}}' for old, new in COLOURS for of in ("fill", "stroke"))
)
SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


@contextmanager
def plain_style() -> Iterator[None]:
    with matplotlib.style.context(["default", {"svg.fonttype": "none"}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the viewer's fonts show it
        yield


def inline(ax: Axes, name: str, words: str) -> str:
    """The figure of the axes as an element of a page, on which `name` is unique; `words` are read aloud."""
    buffer = StringIO()
    with plain_style(), matplotlib.rc_context({"svg.hashsalt": name}):  # of which identifiers are made
        canvas = FigureCanvasSVG(ax.get_figure(root=True))
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))  # type: ignore[no-untyped-call]
    made = re.sub(
        r"<style.*?</style>",
        "",
        buffer.getvalue().partition("<svg")[2],
        count=1,
        flags=re.DOTALL,
    )
    opening, _, rest = re.sub(r'<g id="[^"]*"', "<g", made).partition(">")  # nothing refers to groups
    opening = re.sub(r' (xmlns\S*|version)="[^"]*"', "", opening)
    return f'<svg role="img" aria-label={quoteattr(words)}{opening}>{rest}'


def alone(svg: str) -> str:
    """The element as a file of its own."""
    opening, _, rest = svg.partition(">")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<svg {SPACES}{opening[4:]}><style>{STYLE}</style>{rest}'


def pdf(ax: Axes) -> bytes:
    """The figure of the axes as a PDF, the same bytes whenever it is made; its text can be searched and copied."""
    buffer = BytesIO()
    with plain_style(), matplotlib.rc_context({"pdf.fonttype": 42}):
        canvas = FigureCanvasPdf(ax.get_figure(root=True))
        canvas.print_pdf(buffer, metadata={"CreationDate": None})  # type: ignore[no-untyped-call]
    return buffer.getvalue()
