"""The command line: parse, call, print; one function for each command, each in the file of its name.

Everything heavy is imported inside the commands, so that `--help` is quick.
"""

import _thread
import shlex
import signal
import sys
import threading
from typing import Annotated, Any

import typer

from probtruth.cli import interrupts, settings
from probtruth.cli import options as opt
from probtruth.cli.blocks import WIDTH, PanelCommand, PanelGroup, spread
from probtruth.cli.commands.check import check
from probtruth.cli.commands.choose_gold import choose_gold
from probtruth.cli.commands.compare import compare
from probtruth.cli.commands.demo import demo
from probtruth.cli.commands.info import info
from probtruth.cli.commands.monitor import monitor
from probtruth.cli.commands.plan import plan
from probtruth.cli.commands.run import run
from probtruth.cli.commands.score import score
from probtruth.cli.commands.truth import truth
from probtruth.cli.commands.validate import validate
from probtruth.cli.streams import guarded_streams
from probtruth.errors import InputError, MissingExtraError, PosteriorError
from probtruth.redaction import redacted

COMMANDS = (demo, run, truth, score, compare, check, info, monitor, plan, choose_gold, validate)

app = typer.Typer(
    name="probtruth",
    cls=PanelGroup,
    help="Which probabilistic model is better when the reference labels are uncertain.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)
for command in COMMANDS:
    app.command(cls=PanelCommand)(spread(command))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"probtruth {version('probtruth')}")
        raise typer.Exit


@app.callback()
def every_command(
    context: opt.Context,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Options of repeated runs (probtruth.toml if there is one), or 'off'."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Which probabilistic model is better when the reference labels are uncertain."""
    if {"-h", "--help"} & set(sys.argv):
        return
    context.obj, context.default_map = settings.load(config, context)


REPLACED = "--kind"
"""The option that a proposed command has once; others are added."""

AGAIN = 0.05
"""Seconds after which a Ctrl-C that was dropped comes again."""


def main() -> None:
    """Runs a command. Exit status: 0 done, 1 no answer is supported, 2 bad usage or bad input."""
    with guarded_streams():
        _run()


def _run() -> None:
    before, sys.unraisablehook = sys.unraisablehook, _unraisable
    try:
        interrupts.begin()
        app()
    except SystemExit as stop:
        if stop.code == interrupts.INTERRUPTED:
            _stop(*interrupts.ending())
        raise
    except KeyboardInterrupt:
        _stop(*interrupts.ending())
    except Exception as error:
        if interrupts.WATCH.heard.is_set():  # what a library made of it
            _stop(*interrupts.ending())
        _refuse(error)
    finally:
        interrupts.LIMIT.stop()
        sys.unraisablehook = before


def _refuse(error: Exception) -> None:
    """Ends the command with the message and the status of an error; one that is no input's fault goes on."""
    if isinstance(error, InputError | MissingExtraError):
        _stop(f"{error}{_command_with(getattr(error, 'options', ()))}", 2)
    if isinstance(error, PosteriorError):
        _stop(str(error), 1)
    if isinstance(error, MemoryError):
        _stop("got more data than memory holds, expected less. Hint: score fewer items or models at a time.", 2)
    raise error


def _command_with(options: tuple[str, ...]) -> str:
    """The command line with other options, to paste; nothing where an error proposes none."""
    if not options:
        return ""
    words = [word for word in sys.argv[1:] if not (options[0] == REPLACED and word.startswith(f"{REPLACED}="))]
    while options[0] == REPLACED and REPLACED in words:
        del words[words.index(REPLACED) : words.index(REPLACED) + 2]
    return f" Run: {redacted(shlex.join(['probtruth', *words, *options]))}"


def _stop(message: str, status: int) -> None:
    print(f"probtruth: {message}", file=sys.stderr)
    raise SystemExit(status)


def _unraisable(lost: Any) -> None:
    """Ctrl-C that fell into a callback, where Python drops it, is sent again once that is over."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
    elif hasattr(signal, "setitimer"):  # which also ends a wait, and starts no thread inside a callback
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    else:
        threading.Timer(AGAIN, _thread.interrupt_main).start()
