"""Standard output and standard error of a command, whatever they lead to: a closed pipe, a full disk, ASCII, nothing.

What a report says in characters that the stream lacks is written in others; standard error that cannot be written is
left unwritten. Standard output that cannot be written ends the command with a status of its own.
"""

import codecs
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

CLOSED_PIPE = 141
"""Exit status where the reader of standard output is gone, as of other programs that SIGPIPE ends."""
UNWRITABLE = 2
"""Exit status where standard output cannot be written for another reason."""
PLAIN = {"−": "-", "–": "-", "≥": ">=", "≤": "<=", "≈": "~", "×": "x", "…": "...", "’": "'", "→": "->", "█": "#"}
"""What stands for a character in an encoding that lacks it; a question mark for all others."""


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Within the block, what goes to standard output and error never ends in a traceback."""
    _fill_closed()
    codecs.register_error("probtruth", _in_plain)
    before = sys.stdout, sys.stderr
    out, err = Output(sys.stdout), Guarded(sys.stderr)
    sys.stdout, sys.stderr = out, err  # type: ignore[assignment]  # all that is used of a stream
    try:
        yield
    finally:
        try:
            err.flush()
            out.flush()
        finally:
            sys.stdout, sys.stderr = before


def _fill_closed() -> None:
    """Opens the null device in place of standard streams that are closed: other files would take their numbers."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # as long as the process


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end


class Guarded:
    """A text stream that writes what its encoding lacks in plainer characters, and goes on into nothing if it fails."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._number = stream, None
        with suppress(AttributeError, OSError, ValueError):
            stream.reconfigure(errors="probtruth")  # type: ignore[attr-defined]
        with suppress(AttributeError, OSError, ValueError):
            self._number = stream.fileno()

    def __getattr__(self, name: str) -> Any:
        """All else is the stream's own."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Writes text."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._lost(error)
        return len(text)

    def flush(self) -> None:
        """Writes what is in the buffer."""
        try:
            self._stream.flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        """What is in the buffer, and all that follows, goes nowhere."""
        if self._number is not None:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._number)
            os.close(null)


class Output(Guarded):
    """Standard output: a result that is not written whole ends the command."""

    def _lost(self, error: OSError) -> None:
        super()._lost(error)
        if error.errno == errno.EPIPE:
            raise SystemExit(CLOSED_PIPE)
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        print(
            f"probtruth: got standard output that cannot be written ({reason}), expected a terminal, a pipe or a file "
            "with room. Hint: Send it elsewhere; what --out names is written.",
            file=sys.stderr,
        )
        raise SystemExit(UNWRITABLE)
