"""Results go to standard output, progress and notes to standard error; what commands begin and end with."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.cli import settings
from probtruth.cli.fail_if import Gate
from probtruth.errors import InputError


@dataclass(frozen=True)
class Console:
    """`json`: the result as JSON on standard output and nothing else there."""

    json: bool
    command: str = ""

    @classmethod
    def of(cls, context: Any, json: bool) -> "Console":
        """The console of a command, with its command line; notes the file of settings."""
        made = cls(json, settings.command_line(context.obj))
        if context.obj is not None:
            made.note(f"settings from {context.obj.name}")
        return made

    def note(self, text: str) -> None:
        """A line on standard error."""
        print(text, file=sys.stderr)

    def show(self, *renderables: Any) -> None:
        """Rich text, or lines as they are, on standard output, unless JSON goes there."""
        if not self.json:
            from rich.console import Console as Rich

            from probtruth.report.numbers import plain

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


NAMES = ("monitor", "plan")  # The figures that the commands write; each name stands in the ids of its SVG


def check_plot(path: str | None) -> None:
    """Raises before long work if the figure could not be written."""
    if path is not None:
        from probtruth.io.output.folder import check_file

        check_file(path, _is_figure)


def write_plot(
    path: str | None, name: str, shown: Any, title: str, words: Callable[[Any], str], **options: str
) -> None:
    """Draws a figure (one of `NAMES`) in the style of the report, where there is a path, and writes it."""
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
        head = path.read_bytes()[:2000]
    except OSError:
        return False
    return b"<svg" in head and any(f'id="{name}-title"'.encode() in head for name in NAMES)


def conclude(result: Any, out: str | None, show: str | None, item: str, console: Console, gate: Gate | None) -> None:
    """Writes the report if there is a folder for it, shows the verdict, and ends with the status of the gate."""
    from probtruth.report import terminal

    if show is not None:
        from probtruth.io.item_content import read_content

        listed = result.analysis.listed
        if listed is None:
            raise InputError("--show with --metric", "a scoring rule", "Leave it out.")
        texts, images = read_content(show, listed["item"].to_list(), item)
        result = replace(result, item_text=texts, item_images=images)
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


CACHE = "PROBTRUTH_CACHE"  # Environment variable: a folder for compiled code, or `off`


def use_jax(device: str | None = None) -> None:
    """Points JAX, which need not be loaded yet, at the cache of compiled code, and at a device that is named."""
    folder = os.environ.get(CACHE, "")
    if folder.lower() not in ("off", "0", "no"):
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", folder or str(home / "probtruth" / "jax"))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    if device is not None:
        check.one_of(device, ("cpu", "gpu"), "--device")
        import jax

        try:
            jax.config.update("jax_default_device", jax.devices(device)[0])
        except RuntimeError:
            hint = "Install a JAX for it (pip install 'probtruth[gpu]'), or leave --device out."
            raise InputError(f"--device {device} where JAX finds none", "a device of this machine", hint) from None
