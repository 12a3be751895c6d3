"""The command `probtruth`, and `python -m probtruth`: from its first moment on, Ctrl-C ends it with one line.

Until a command begins nothing has been written and nothing needs to be cleared away, so that the process may end at
once; the import of a library that Ctrl-C falls into would end in whatever that library makes of it.
"""

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""Exit status after Ctrl-C, by convention."""


def main() -> None:
    """Runs a command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else whoever started it wants another
        signal.signal(signal.SIGINT, end_at_once)
    from probtruth.cli import main as command_line

    try:
        command_line()
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is written or cleared away


def end_at_once(number: int, frame: FrameType | None) -> None:
    """A handler of signals: one line, and the end."""
    os.write(2, b"probtruth: interrupted: nothing was written\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
