"""The command line: parse, call, print. Everything heavy is imported inside the commands, so that `--help` is quick."""

import sys

from probtruth.cli import watching as watching
from probtruth.cli.app import app as app
from probtruth.errors import InputError, MissingExtraError, PosteriorError


def main() -> None:
    """Runs a command. Exit status: 0 done, 1 no answer is supported, 2 bad usage or bad input."""
    try:
        app()
    except (InputError, MissingExtraError) as error:
        _stop(str(error), 2)
    except PosteriorError as error:
        _stop(str(error), 1)
    except KeyboardInterrupt:
        _stop("interrupted: nothing was written", 130)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except MemoryError:
        _stop("got more data than memory holds, expected less. Hint: score fewer items or models at a time.", 2)


def _stop(message: str, status: int) -> None:
    print(f"probtruth: {message}", file=sys.stderr)
    raise SystemExit(status)
