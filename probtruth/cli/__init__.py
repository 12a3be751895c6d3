"""The command line: parse, call, print. Everything heavy is imported inside the commands, so that `--help` is quick."""

import _thread
import shlex
import signal
import sys
import threading
from typing import Any

from probtruth.cli import time_limit
from probtruth.cli.app import app as app
from probtruth.cli.streams import guarded_streams
from probtruth.errors import InputError, MissingExtraError, PosteriorError
from probtruth.redaction import redacted

INTERRUPTED = 130
"""Exit status after Ctrl-C, by convention."""

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
        if getattr(signal.getsignal(signal.SIGINT), "__name__", "") == "end_at_once":
            signal.signal(signal.SIGINT, signal.default_int_handler)  # what a command has begun, it clears away
        app()
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            _interrupted()
        raise
    except KeyboardInterrupt:
        _interrupted()
    except (InputError, MissingExtraError) as error:
        _stop(f"{error}{_command_with(getattr(error, 'options', ()))}", 2)
    except PosteriorError as error:
        _stop(str(error), 1)
    except MemoryError:
        _stop("got more data than memory holds, expected less. Hint: score fewer items or models at a time.", 2)
    finally:
        time_limit.LIMIT.stop()
        sys.unraisablehook = before


def _interrupted() -> None:
    if time_limit.LIMIT.over:
        _stop(time_limit.LIMIT.message(), 1)
    _stop("interrupted: nothing was written", INTERRUPTED)


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
