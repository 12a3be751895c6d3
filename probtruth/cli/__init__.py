"""The command line: parse, call, print.

Everything heavy is imported inside the commands, so that `--help` is quick.
"""

import atexit
import codecs
import gc
import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from probtruth.check import MaybeText, quote
from probtruth.cli import options as opt
from probtruth.cli import settings
from probtruth.cli.check import check
from probtruth.cli.compare import compare
from probtruth.cli.options import WIDTH, PanelCommand, UsageError, spread
from probtruth.cli.run import demo, run
from probtruth.cli.stages import score, truth
from probtruth.cli.study import choose_gold, monitor, plan, validate
from probtruth.errors import InputError, MissingExtraError, PosteriorError
from probtruth.io.addresses import fetched_once
from probtruth.version import __version__

COMMANDS = (demo, run, truth, score, compare, check, plan, choose_gold, monitor, validate)

app = typer.Typer(
    name="probtruth",
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
        print(f"probtruth {__version__}")
        raise typer.Exit


@app.callback()
def every_command(
    context: opt.Context,
    config: Annotated[
        MaybeText,
        typer.Option(metavar="FILE", help="Options of repeated runs (probtruth.toml if there is one), or 'off'."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Which probabilistic model is better when the reference labels are uncertain."""
    if {"-h", "--help"} & set(sys.argv):
        return
    context.obj = settings.load(config, context)


INTERRUPTED, CLOSED_PIPE = 130, 141  # Exit statuses after Ctrl-C, and where nothing reads standard output any more
# What stands for a character in an encoding that lacks it; a question mark for all others.
PLAIN = {"−": "-", "–": "-", "≥": ">=", "≤": "<=", "≈": "~", "×": "x", "…": "...", "’": "'", "→": "->", "█": "#"}


def main() -> None:
    """Runs a command. Exit status: 0 done, 1 no answer is supported, 2 bad usage or bad input."""
    # what packages make at their import stays: to look it through, now and at the end, takes a third of a small command
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    codecs.register_error("probtruth", _in_plain)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # as long as the process
        with suppress(AttributeError, OSError, ValueError):
            getattr(sys, name).reconfigure(errors="probtruth")
    try:
        with fetched_once():
            status = app(standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except UsageError.__base__ as error:
        error.show()
        status = error.exit_code
    except (InputError, MissingExtraError, PosteriorError) as error:
        _stop(str(error), 1 if isinstance(error, PosteriorError) else 2)
    except MemoryError:
        _stop("got more data than memory holds, expected less. Hint: score fewer items or models at a time.", 2)
    except (OSError, SystemExit) as stop:
        failed = stop if isinstance(stop, OSError) else stop.__context__
        if not isinstance(failed, OSError):
            raise
        with suppress(AttributeError, OSError, ValueError):  # what is left in the buffer goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
        if isinstance(failed, BrokenPipeError):
            raise SystemExit(CLOSED_PIPE) from None
        if failed.filename is not None:
            reason = os.strerror(failed.errno or 0).lower()
            _stop(f"{quote(failed.filename)}: got {reason}, expected a path that can be read. Hint: Check the path.", 2)
        _stop(f"got {failed}, expected output that can be written. Hint: send it elsewhere, or make room.", 2)
    if status == INTERRUPTED:
        _stop("interrupted: what --out names is as it was, or written whole", INTERRUPTED)
    raise SystemExit(status)


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end


def _stop(message: str, status: int) -> NoReturn:
    print(f"probtruth: {message}", file=sys.stderr)
    raise SystemExit(status)
