"""The package's exceptions: each says what came, what was wanted and what to do."""


class ProbtruthError(Exception):
    """Base of every error that probtruth raises on purpose."""


class InputError(ProbtruthError, ValueError):
    """Data or an option cannot be used as given; the command line exits with status 2.

    Arguments: `got` (what came), `expected` (what was wanted), `hint` (what to do), `where` (file, row, item).
    """

    def __init__(self, got: str, expected: str, hint: str, where: str | None = None) -> None:
        self.got, self.expected, self.hint, self.where = got, expected, hint, where
        place = f"{where}: " if where else ""
        super().__init__(f"{place}got {got}, expected {expected}. Hint: {hint}")


class PosteriorError(ProbtruthError, RuntimeError):
    """The data or the posterior does not support an answer; the command line exits with status 1."""


class MissingExtraError(ProbtruthError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""
