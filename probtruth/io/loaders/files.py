"""Which files a loader reads: one, several, a folder of them, or some for each model."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.tables.read import shown

type Paths = str | Path | Iterable[str | Path]
type LogFiles = Paths | Mapping[str, Paths]
"""A file or folder, several of them, or those of each model by its name."""


def log_files(files: LogFiles, patterns: tuple[str, ...]) -> list[tuple[str | None, Path]]:
    """The files, each with the name of its model (None: without one).

    `files` is a path, a list of paths, or {model name: path or list of paths}; a folder stands for the files below it
    that match one of the patterns, in the order of their paths.

    Errors: `InputError` if there is no file, or one stands twice.
    """
    pairs: list[tuple[str | None, Path]]
    if isinstance(files, Mapping):
        models = [name_text(model) for model in files]
        check.unique(models, "model")
        if not all(model.strip() and "\0" not in model for model in models):
            raise InputError("a blank model name", "a name for every model", "Write {'my model': path}.")
        pairs = [
            (model, path) for model, own in zip(models, files.values(), strict=True) for path in _paths(own, patterns)
        ]
    else:
        pairs = [(None, path) for path in _paths(files, patterns)]
    if not pairs:
        raise InputError("no file", "at least one", "Give a path, a list of paths, or {'my model': path}.")
    check.unique([shown(path) for _, path in pairs], "file")
    return pairs


def _paths(files: Paths, patterns: tuple[str, ...]) -> list[Path]:
    paths: list[Path] = []
    for file in [files] if isinstance(files, (str, bytes, Path)) or not isinstance(files, Iterable) else files:
        if not isinstance(file, (str, Path)):
            raise InputError(type(file).__name__, "the path of a file or folder", "Give a path, or a list of paths.")
        paths += _expanded(Path(file), patterns)
    return paths


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
