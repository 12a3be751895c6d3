"""The package's exceptions: each says what came, what was wanted and what to do, and shows no secret."""

import re

__all__ = ("DeprecatedNameWarning", "InputError", "MissingExtraError", "PosteriorError", "ProbtruthError")


_USER = r"(?P<user>[^\s/?#'\"]*@|[^\s/?#@'\"]*:(?!\d*(?:$|[^\w~%.-]))[^\s/?#@'\"]*)?"
_QUERY = r"(?P<query>[?#](?:(?!['\"](?:[\s,.;:)\]]|$))[^\s\"])*)?"
# Addresses: what stands before the host, and what follows a question mark.
_SECRETS = re.compile(rf"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]+:/{{1,2}}){_USER}(?P<rest>[^\s?#'\"]*){_QUERY}")


# Characters that control a terminal, end a line, or turn the direction of the text around them. Which of them a format
# escapes by itself differs; none of them passes.
CONTROLS = frozenset(
    (
        *range(0x20),
        *range(0x7F, 0xA0),
        *(0x61C, 0x200E, 0x200F, 0x2028, 0x2029),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
)
# Halves of surrogate pairs and codes that are no characters: neither UTF-8 nor XML holds them.
NO_TEXT = frozenset((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF))
LONGEST_PART = 2000  # How many characters of each part a message shows, whatever a file holds
_ESCAPES = {code: repr(chr(code))[1:-1] for code in CONTROLS | NO_TEXT}


def redacted(text: str) -> str:
    """The text with `***` for the user and the query of every address in it: these may be a password or a signature."""

    def hidden(match: re.Match[str]) -> str:
        query = match["query"] or ""
        if "=" in query or match["scheme"].lower().startswith("http"):  # else a pattern of files
            query = query and f"{query[0]}***"
        return f"{match['scheme']}{'***@' * bool(match['user'])}{match['rest']}{query}"

    return _SECRETS.sub(hidden, text) if ":/" in text else text


def _line(text: str) -> str:
    """The text on one line and of bounded length, with escapes for what would control a terminal."""
    text = redacted(text)
    short = text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}..."
    return short.translate(_ESCAPES)


class ProbtruthError(Exception):
    """Base of every error that probtruth raises on purpose; its message is one line of characters that can be shown."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_line(message))


class InputError(ProbtruthError, ValueError):
    """Data or an option cannot be used as given; the command line exits with status 2.

    Arguments: `got` (what came), `expected` (what was wanted), `hint` (what to do), `where` (file, row, item);
    `options` of the command line with which the command would probably do, for a command to paste.
    """

    def __init__(
        self, got: str, expected: str, hint: str, where: str | None = None, options: tuple[str, ...] = ()
    ) -> None:
        self.got, self.expected, self.hint, self.where, self.options = got, expected, hint, where, options
        prefix = f"{_line(where)}: " if where else ""
        Exception.__init__(self, f"{prefix}got {_line(got)}, expected {_line(expected)}. Hint: {_line(hint)}")

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str, str | None, tuple[str, ...]]]:
        """Pickles by its parts, so that it comes back whole from other processes."""
        return type(self), (self.got, self.expected, self.hint, self.where, self.options)


class PosteriorError(ProbtruthError, RuntimeError):
    """The data or the posterior does not support an answer; the command line exits with status 1."""


class MissingExtraError(ProbtruthError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class DeprecatedNameWarning(FutureWarning):
    """A name works for two more minor versions; the message says what to write instead.

    Python shows it to everyone who runs a script, not only to those who test one.
    """
