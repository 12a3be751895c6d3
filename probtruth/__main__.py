"""The command `probtruth`, and `python -m probtruth`: from its first moment to its last, Ctrl-C ends it with one line.

Until a command begins nothing has been written and nothing needs to be cleared away, so that the process may end at
once; the import of a library that Ctrl-C falls into would end in whatever that library makes of it.
"""

import _signal  # type: ignore[import-not-found]  # `signal` loads modules, into which a Ctrl-C may fall
import atexit
import os


def main() -> None:
    """Runs a command."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, end_at_once)
        atexit.register(_signal.signal, _signal.SIGINT, _signal.SIG_IGN)  # Python has no ears then: no line could come
    from probtruth.cli import interrupts
    from probtruth.cli import main as command_line

    try:
        if _signal.getsignal(_signal.SIGINT) in (end_at_once, _signal.SIG_IGN):  # else its starter wants another
            interrupts.WATCH.start()
        try:
            command_line()
        finally:
            interrupts.WATCH.stop()
    except KeyboardInterrupt:  # between two lines of what else would say so
        interrupts.leave()
    except SystemExit as end:
        if interrupts.WATCH.heard.is_set():  # a library that is half imported has nothing more to say
            os._exit(int(end.code or 0))
        raise


def end_at_once(number: int, frame: object) -> None:
    """A handler of signals: one line, and the end."""
    os.write(2, b"probtruth: interrupted: nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    main()
