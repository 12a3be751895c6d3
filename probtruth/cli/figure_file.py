"""The figure that `--plot` writes: a file of SVG, whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("monitor", "plan", "validation")
"""The figures that the commands write; each name stands in the ids of its SVG."""


def check_plot(path: str | None) -> None:
    """Raises before long work if the figure could not be written."""
    if path is not None:
        from probtruth.io.output.folder import check_file

        check_file(path, _is_figure)


def write_plot(path: str, name: str, draw: Callable[[], Any], title: str, description: str) -> None:
    """Draws a figure (one of `NAMES`) in the style of the report, and writes it with a title and a description."""
    from probtruth.io.output.folder import whole_file
    from probtruth.report.plots.svg import picture, plain_style

    with plain_style():
        axes = draw()
    with whole_file(path, _is_figure) as work:
        work.write_text(picture(axes, name, title, description).alone, encoding="utf-8", newline="\n")


def _is_figure(path: Path) -> bool:
    """Whether a file is a figure that probtruth wrote: SVG with the ids that `picture` gives."""
    try:
        with path.open("rb") as stream:
            head = stream.read(2000)
    except OSError:
        return False
    return b"<svg" in head and any(f'id="{name}-title"'.encode() in head for name in NAMES)
