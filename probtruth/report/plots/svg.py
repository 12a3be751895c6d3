"""Figures as SVG without styles, scripts or outside references: for a page under a strict policy, and for a file.

Matplotlib writes `style` attributes, which a page that forbids inline styles ignores; here they become presentation
attributes, the figures' grey becomes `currentColor`, and what identifies the machine or the day is left out.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as Tree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from probtruth.report.plots.axes import BLUE, INK, RED

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
ALONE = (
    "svg{color:#4b5058}@media(prefers-color-scheme:dark){svg{color:#b4bac3}"
    ".bf{fill:#4aa3df}.bs{stroke:#4aa3df}.rf{fill:#f08a3c}.rs{stroke:#f08a3c}}"
)
"""Colours in a file of its own, by the reader's colour scheme; the page's own style says the same."""
_DROPPED = ("font", "font-stretch", "font-variant", "font-style")


@dataclass(frozen=True)
class Picture:
    """A figure as text of SVG: `inline` for the page, `alone` for a file; `title` and `description` are read aloud.

    `note` says what is left out, if anything.
    """

    name: str
    title: str
    description: str
    inline: str
    alone: str
    note: str = ""


@contextmanager
def plain_style() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the reader's settings are; figures for the report are made under it."""
    settings = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
        matplotlib.rcParams.update(settings)
        matplotlib.rcParams["svg.fonttype"] = "none"
        yield


def picture(ax: Axes, name: str, title: str, description: str, note: str = "") -> Picture:
    """The figure of the axes; `name` is unique on the page and becomes the name of the file."""
    root = _parse(ax, name)
    _clean(root, name)
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Tree.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(position, element)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc", "font-family": FONTS}
    inline = re.sub(r' xmlns(:xlink)?="[^"]*"', "", _text(root), count=2)  # HTML knows both
    style = Tree.Element(f"{{{SVG}}}style")
    style.text = ALONE
    root.insert(2, style)
    return Picture(
        name, title, description, inline, '<?xml version="1.0" encoding="utf-8"?>\n' + _text(root) + "\n", note
    )


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters of names that no XML file may hold, however they are written."""


def _parse(ax: Axes, name: str) -> Tree.Element:
    figure = ax.figure.figure if isinstance(ax.figure.figure, Figure) else ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    buffer = BytesIO()
    with plain_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the reader's fonts show it, not ours
        matplotlib.rcParams["svg.hashsalt"] = name
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Tree.fromstring(_NOT_IN_XML.sub("\ufffd", buffer.getvalue().decode()))


def _clean(root: Tree.Element, name: str) -> None:
    parents = {child: parent for parent in root.iter() for child in parent}
    for element in list(root.iter()):
        tag = element.tag.removeprefix(f"{{{SVG}}}")
        if tag in ("metadata", "style"):
            parents[element].remove(element)
            continue
        _presentation(element, tag)
    used = set(
        re.findall(r"#([\w-]+)", " ".join(value for element in root.iter() for value in element.attrib.values()))
    )
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in used:
                    element.set("id", f"{name}-{value}")
                else:
                    del element.attrib["id"]
            elif key == f"{{{XLINK}}}href" or "url(#" in value:
                element.set(key, re.sub(r"#([\w-]+)", rf"#{name}-\1", value))
    for size in ("width", "height"):
        root.set(size, root.attrib[size].removesuffix("pt"))


def _presentation(element: Tree.Element, tag: str) -> None:
    """Style declarations as attributes; the figures' grey as the colour of the text around."""
    style = element.attrib.pop("style", "")
    declared = dict(part.split(":", 1) for part in style.split(";") if ":" in part)
    values = {key.strip(): value.strip() for key, value in declared.items()}
    if "font" in values and (size := re.search(r"([\d.]+)px", values["font"])):
        values["font-size"] = size.group(1)
    for key, value in values.items():
        if key not in _DROPPED and key != "font-family" and not key.startswith("-"):
            element.set(key, value.removesuffix("px") if key == "font-size" else value)
    for key in ("fill", "stroke"):
        if element.get(key) == INK:
            element.set(key, "currentColor")
        for colour, letter in ((BLUE, "b"), (RED, "r")):
            if element.get(key) == colour:
                element.set("class", f"{element.get('class', '')} {letter}{key[0]}".strip())
    if tag == "path" and "stroke" in element.attrib:
        element.set("stroke-linejoin", element.get("stroke-linejoin", "round"))


def _text(root: Tree.Element) -> str:
    Tree.register_namespace("", SVG)
    Tree.register_namespace("xlink", XLINK)
    return Tree.tostring(root, encoding="unicode")
