"""Results go to standard output, progress and notes to standard error; what commands begin and end with."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer import Context

from probtruth.check import Strings
from probtruth.cli import settings
from probtruth.cli.fail_if import Gate
from probtruth.errors import InputError
from probtruth.io.formats import MaybeText


@dataclass(frozen=True)
class Console:
    """`json`: the result as JSON on standard output and nothing else there."""

    context: Context = None  # type: ignore[assignment]  # every command has one
    json: bool = False

    @property
    def command(self) -> str:
        """The command as it was typed."""
        return settings.command_line(self.context.obj)

    def refuse(self, unused: Strings, beside: str) -> None:
        """Raises for an option that was typed and does nothing beside others."""
        for param in self.context.command.params:
            source = self.context.get_parameter_source(param.name or "")
            if param.name in unused and getattr(source, "name", "") == "COMMANDLINE":
                raise InputError(f"{param.opts[0]} with {beside}", "options that say something of it", "Leave it out.")

    def note(self, text: str) -> None:
        """A line on standard error."""
        print(text, file=sys.stderr)

    def show(self, *renderables: Any) -> None:
        """Rich text, or lines as they are, on standard output, unless JSON goes there."""
        if not self.json:
            from rich.console import Console as Rich

            from probtruth.report.names import plain

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
        """A bar on standard error with the time left; only on a terminal."""
        if self.json or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console as Rich
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Rich(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def check_output(out: MaybeText, show: MaybeText = None, item: str = "item") -> None:
    """Raises before long work for an output that could not be written."""
    if out is not None:
        from probtruth.io.output.folder import check_out

        check_out(out)
    if show is not None:
        from probtruth.io.item_columns import read_content

        if out is None:
            raise InputError("--show without --out", "a folder for the report, which shows it", "Add --out results.")
        read_content(show, None, item)


def conclude(result: Any, out: MaybeText, show: MaybeText, item: str, console: Console, gate: Gate | None) -> None:
    """Writes the report if there is a folder for it, shows the verdict, and ends with the status of the gate."""
    texts: dict[str, str] = {}
    images: dict[str, str] = {}
    if show is not None:
        from probtruth.io.item_columns import read_content

        listed = result.analysis.listed
        if listed is None:
            raise InputError("--show with a result that lists no items", "scores of items by a rule", "Leave it out.")
        texts, images = read_content(show, listed["item"].to_list(), item)
    compared = result.comparison
    found = None if gate is None else gate.judged(compared.pairs, result.scores.models, compared.rope)
    if out is not None:
        from probtruth.report.write import write_report

        with console.progress("writing the report"):
            write_report(result, out, command=console.command, texts=texts, images=images)
    if not console.json:
        from probtruth.report import terminal

        console.show(*terminal.summary(result))
    if out is not None:
        console.note(f"report: {Path(out) / 'report.html'}")
    console.emit({**result.to_dict(), **({} if found is None else {"fail_if": found})})
    if found is not None:
        console.show(*found["words"])
        if found["status"]:
            raise SystemExit(found["status"])


def cache_compiled_code() -> None:
    """Has JAX, which need not be loaded yet, keep what it compiles, unless its own variables say otherwise."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home: nothing is kept
        return
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(home / "probtruth" / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
