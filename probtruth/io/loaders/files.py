"""Which files a loader reads: one, several, a folder of them, or some for each model."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.tables.read import shown


def log_files(files: object, patterns: tuple[str, ...]) -> list[tuple[str | None, Path]]:
    """The files, each with the name of its model where one was given.

    `files` is a path, a list of paths, or {model name: path or list of paths}; a folder stands for the files below it
    that match one of the patterns, in the order of their paths.

    Errors: `InputError` where there is no file, or one stands twice.
    """
    found: list[tuple[str | None, Path]]
    if isinstance(files, Mapping):
        models = [name_text(model) for model in files]
        check.unique(models, "model")
        if not all(model.strip() and "\0" not in model for model in models):
            raise InputError("a blank model name", "a name for every model", "Write {'my model': path}.")
        found = [(m, path) for m, v in zip(models, files.values(), strict=True) for path in _paths(v, patterns)]
    else:
        found = [(None, path) for path in _paths(files, patterns)]
    if not found:
        raise InputError("no file", "at least one", "Give a path, a list of paths, or {'my model': path}.")
    check.unique([shown(path) for _, path in found], "file")
    return found


def _paths(given: object, patterns: tuple[str, ...]) -> list[Path]:
    if isinstance(given, (str, Path)):
        return _expanded(Path(given), patterns)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return [path for one in given for path in _expanded(_a_path(one), patterns)]
    return [_a_path(given)]


def _a_path(given: object) -> Path:
    if not isinstance(given, (str, Path)):
        raise InputError(type(given).__name__, "the path of a file or folder", "Give a path, or a list of paths.")
    return Path(given)


def _expanded(path: Path, patterns: tuple[str, ...]) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        inside = sorted({file for pattern in patterns for file in path.rglob(pattern) if file.is_file()})
    except (OSError, ValueError) as error:
        raise InputError(str(error), "the path of a file or folder", "Check the path.", shown(path)) from None
    if not inside:
        wanted = " or ".join(patterns)
        raise InputError("a folder without such files", wanted, "Check the path.", shown(path))
    return inside
