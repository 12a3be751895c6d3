"""What is printed where: results on standard output, progress and notes on standard error."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
