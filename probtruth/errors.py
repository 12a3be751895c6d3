"""The package's exceptions: each says what came, what was wanted and what to do."""

from probtruth import redaction as _redaction

__all__ = ("DeprecatedNameWarning", "InputError", "MissingExtraError", "PosteriorError", "ProbtruthError")

LONGEST_PART = 2000  # How many characters of each part a message shows, whatever a file holds


def _line(text: str) -> str:
    """The text on one line and of bounded length, with escapes for what would control a terminal."""
    text = _redaction.redacted(text)
    short = text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}..."
    return short.translate(_ESCAPES)


_ESCAPES = {code: repr(chr(code))[1:-1] for code in _redaction.CONTROLS | _redaction.NO_TEXT}


class ProbtruthError(Exception):
    """Base of every error that probtruth raises on purpose; its message is one line of characters that can be shown."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_line(message))


class InputError(ProbtruthError, ValueError):
    """Data or an option cannot be used as given; the command line exits with status 2.

    Arguments: `got` (what came), `expected` (what was wanted), `hint` (what to do), `where` (file, row, item).
    """

    def __init__(self, got: str, expected: str, hint: str, where: str | None = None) -> None:
        self.got, self.expected, self.hint, self.where = got, expected, hint, where
        prefix = f"{_line(where)}: " if where else ""
        Exception.__init__(self, f"{prefix}got {_line(got)}, expected {_line(expected)}. Hint: {_line(hint)}")

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str, str | None]]:
        """Pickles by its parts, so that it comes back whole from other processes."""
        return type(self), (self.got, self.expected, self.hint, self.where)


class PosteriorError(ProbtruthError, RuntimeError):
    """The data or the posterior does not support an answer; the command line exits with status 1."""


class MissingExtraError(ProbtruthError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class DeprecatedNameWarning(FutureWarning):
    """A name works for two more minor versions; the message says what to write instead.

    Python shows it to everyone who runs a script, not only to those who test one.
    """
