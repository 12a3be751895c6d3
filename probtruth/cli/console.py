"""What is printed where: results on standard output, progress and notes on standard error.

The figure that `--plot` writes: a file of SVG, whole or not at all.

What run, demo and compare end with: the report is written, and the verdict shown.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Console:
    """`json`: the result as JSON on standard output and nothing else there; `quiet`: nothing on standard error.

    `command` is the command that makes the same result again.
    """

    json: bool
    quiet: bool
    command: str = ""

    def note(self, text: str) -> None:
        """A line on standard error."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def show(self, *renderables: Any) -> None:
        """Rich text, or lines as they are, on standard output, unless JSON goes there."""
        if not self.json:
            from rich.console import Console as Rich

            from probtruth.report.words.numbers import plain

            rich = Rich()
            for renderable in renderables:
                if isinstance(renderable, str):
                    print(plain(renderable))
                else:
                    rich.print(renderable)

    def emit(self, result: Mapping[str, Any]) -> None:
        """The result as JSON, where that was asked for."""
        if self.json:
            from probtruth.io.output.jsonable import dumps

            print(dumps(result))

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """A bar on standard error with the time left, once that is known; only on a terminal, and not in quiet."""
        if self.quiet or self.json or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console as Rich
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Rich(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


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


@dataclass(frozen=True)
class ItemContent:
    """Where the text and the image of each item stand (`FILE:COLUMN`), and the column of item names there."""

    text: str | None = None
    image: str | None = None
    item: str = "item"

    def check(self) -> None:
        """Raises before long work if one of them could not be read."""
        from probtruth.io.item_content import check_item_content

        for what, spec in (("text", self.text), ("image", self.image)):
            if spec is not None:
                check_item_content(spec, self.item, what)

    def of(self, result: Any) -> dict[str, dict[str, str]]:
        """What the report shows of the items that it lists.

        Errors: `InputError` where something cannot be read, or the items were streamed and are not listed.
        """
        from probtruth.errors import InputError
        from probtruth.io.item_content import read_item_images, read_item_text

        if self.text is None and self.image is None:
            return {}
        listed = result.analysis.listed
        if listed is None:
            raise InputError(
                "--item-text or --item-image with input that is streamed", "items in memory", "Raise --memory."
            )
        found = {}
        if self.text is not None:
            found["item_text"] = read_item_text(self.text, listed.items, self.item)
        if self.image is not None:
            found["item_images"] = read_item_images(self.image, listed.items, self.item)
        return found


NO_CONTENT = ItemContent()


def write_and_show(
    result: Any,
    out: str,
    console: Console,
    extra: Mapping[str, Any] | None = None,
    content: ItemContent = NO_CONTENT,
) -> None:
    """Writes the report, then shows the verdict; `extra` is added to the JSON on standard output."""
    from probtruth.report.formats import terminal
    from probtruth.report.write import write_report

    result = replace(result, **content.of(result))
    with console.progress("writing the report"):
        write_report(replace(result, command=console.command), out)
    console.show(*terminal.summary(result))
    console.note(f"report: {Path(out) / 'report.html'}")
    console.emit({**result.to_dict(), **(extra or {})})
