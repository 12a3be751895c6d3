"""What is printed where: results on standard output, progress and notes on standard error.

The figure that `--plot` writes: a file of SVG, whole or not at all.

What run, demo and compare end with: the report is written, and the verdict shown.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probtruth.cli.fail_if import Gate


@dataclass
class Stages:
    """How many stages a command has (0: not known), and how many it has begun."""

    total: int = 0
    begun: int = 0


@dataclass(frozen=True)
class Console:
    """`json`: the result as JSON on standard output and nothing else there; `quiet`: nothing on standard error.

    `command` is the command that makes the same result again; `stages` counts those that the progress goes through.
    """

    json: bool
    quiet: bool
    command: str = ""
    stages: Stages = field(default_factory=Stages)

    def of_stages(self, total: int) -> "Console":
        """The same console for a command that goes through so many stages of progress."""
        return replace(self, stages=Stages(total))

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

            print(dumps(result, sys.stdout.encoding or "utf-8"))

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """A bar on standard error with the time left; only on a terminal, and not in quiet.

        The bar is that of the whole command: the stages that are done, and of this one the part that it reports.
        """
        stages = self.stages
        stages.begun += 1
        if self.quiet or self.json or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console as Rich
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        total, before = max(stages.total, stages.begun), stages.begun - 1
        words = what if total == 1 else f"{stages.begun}/{total} {what}"
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Rich(stderr=True), transient=True) as bar:
            task = bar.add_task(words, total=total, completed=before)
            yield lambda done, all: bar.update(task, completed=before + done / max(all, 1))


NAMES = ("monitor", "plan", "validation")
"""The figures that the commands write; each name stands in the ids of its SVG."""


def check_plot(path: str | None) -> None:
    """Raises before long work if the figure could not be written."""
    if path is not None:
        from probtruth.io.output.folder import check_file

        check_file(path, _is_figure)


def write_plot(
    path: str | None, name: str, shown: Any, title: str, words: Callable[[Any], str], **options: str
) -> None:
    """Draws a figure (one of `NAMES`) in the style of the report, where there is a path, and writes it.

    Arguments: `title` and `words` of what is shown are read aloud; `options` are those of the figure.
    """
    if path is None:
        return
    from probtruth import figures
    from probtruth.io.output.folder import whole_file
    from probtruth.report.plots.svg import picture, plain_style

    with plain_style():
        axes = getattr(figures, f"plot_{name}")(shown, **options)
    with whole_file(path, _is_figure) as work:
        work.write_text(picture(axes, name, title, words(shown)).alone, encoding="utf-8", newline="\n")


def _is_figure(path: Path) -> bool:
    """Whether a file is a figure that probtruth wrote: SVG with the ids that `picture` gives."""
    try:
        with path.open("rb") as stream:
            head = stream.read(2000)
    except OSError:
        return False
    return b"<svg" in head and any(f'id="{name}-title"'.encode() in head for name in NAMES)


def conclude(result: Any, out: str | None, console: Console, gate: Gate | None = None) -> None:
    """Writes the report if there is a folder for it, shows the verdict, and ends with the status of the gate."""
    from probtruth.report.formats import terminal

    if out is not None:
        from probtruth.report.write import write_report

        with console.progress("writing the report"):
            write_report(replace(result, command=console.command), out)
    passed = None if gate is None else gate.judged(result.comparison, result.scores.models)
    console.show(*terminal.summary(result))
    if out is not None:
        console.note(f"report: {Path(out) / 'report.html'}")
    console.emit({**result.to_dict(), **({} if passed is None else {"fail_if": passed.to_dict()})})
    if passed is not None:
        console.show(*passed.words)
        if passed.status:
            raise SystemExit(passed.status)
