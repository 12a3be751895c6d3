"""Output that is written whole or not at all: work goes to a hidden sibling, which takes the place in one step."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from probtruth.errors import InputError
from probtruth.io.output.swap import discard, exchange, sibling
from probtruth.io.tables.read import shown

OUR_FILES = (
    "report.html",
    "report.md",
    "report.tex",
    "result.json",
    "posterior.nc",
    "pairwise.csv",
    "models.csv",
    "annotators.csv",
    "soft.parquet",
    "scores.parquet",
    "figures/*.svg",
)
"""What a result of probtruth may hold; a folder with anything else in it is never replaced."""


@contextmanager
def whole_folder(out: object) -> Iterator[Path]:
    """A new folder to write into, which becomes `out` when the block ends, and vanishes if it fails.

    `out` may be absent, an empty folder, or an earlier result of probtruth (a `result.json` of ours and nothing but
    our own files), which stays until the new one takes its place.

    Errors: `InputError` where `out` is anything else, or cannot be written.
    """
    place = _place(out)
    with _input_errors(place), _made_parents(place):
        _replaceable(place)
        work = sibling(place)
        try:
            work.mkdir()
            yield work
            _put_folder(work, place)
        finally:
            discard(work)


@contextmanager
def whole_file(path: object, ours: Callable[[Path], bool]) -> Iterator[Path]:
    """A new file to write, which becomes `path` when the block ends, and vanishes if it fails.

    Arguments: `ours` says of an existing file whether probtruth wrote it; only such files, and empty ones, are
    replaced.

    Errors: `InputError` where something else is there, or it cannot be written.
    """
    place = _place(path)
    with _input_errors(place), _made_parents(place):
        _replaceable_file(place, ours)
        work = sibling(place)
        try:
            yield work
            os.replace(work, place)
        finally:
            discard(work)


def check_out(out: object) -> None:
    """Raises where `whole_folder(out)` would refuse: asked before long work, so that nothing is computed in vain."""
    place = _place(out)
    with _input_errors(place):
        _replaceable(place)
        _writable_above(place)


def check_file(path: object, ours: Callable[[Path], bool]) -> None:
    """Raises where `whole_file(path, ours)` would refuse, before long work."""
    place = _place(path)
    with _input_errors(place):
        _replaceable_file(place, ours)
        _writable_above(place)


def is_result(folder: Path) -> bool:
    """Whether a folder holds a `result.json` of probtruth and nothing but files that probtruth writes."""
    files = list(_contents(folder))
    if "result.json" not in files or not all(any(fnmatchcase(name, own) for own in OUR_FILES) for name in files):
        return False
    try:
        with (folder / "result.json").open(encoding="utf-8") as stream:
            result = json.load(stream)
    except (ValueError, RecursionError):
        return False
    versions = result.get("versions") if isinstance(result, dict) else None
    return isinstance(versions, dict) and "probtruth" in versions


def _contents(folder: Path) -> Iterator[str]:
    """Everything in the folder but `figures` itself, by its name below the folder; links are never followed."""
    for entry in folder.iterdir():
        if entry.name == "figures" and entry.is_dir() and not entry.is_symlink():
            yield from (f"figures/{figure.name}{_mark(figure)}" for figure in entry.iterdir())
        else:
            yield f"{entry.name}{_mark(entry)}"


def _mark(path: Path) -> str:
    return "" if path.is_file() and not path.is_symlink() else "/"


def _place(out: object) -> Path:
    text = os.fspath(out) if isinstance(out, os.PathLike) else out
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{text!r}", "the path of the output", "Name it with --out.")
    try:
        place, here = Path(os.path.abspath(text)), Path.cwd()
    except FileNotFoundError:
        raise InputError("a current folder that is gone", "one that exists", "Change to another folder.") from None
    if place == here or place in here.parents:
        raise InputError("the current folder or one above it", "a folder of its own", "Write --out results.", text)
    return place


def _replaceable(place: Path) -> None:
    """Raises unless the place is free, empty or held by an earlier result."""
    if place.is_symlink():
        raise _occupied("a symbolic link", place)
    if not place.exists():
        return
    if not place.is_dir():
        raise _occupied("a file", place)
    if any(place.iterdir()) and not is_result(place):
        raise _occupied("a folder with other files than a result of probtruth", place)


def _replaceable_file(place: Path, ours: Callable[[Path], bool]) -> None:
    """Raises unless the place is free, empty or held by a file of ours."""
    if place.is_symlink() or (place.exists() and not place.is_file()):
        raise _occupied("something that is not a plain file", place)
    if place.exists() and place.stat().st_size and not ours(place):
        raise _occupied("a file that probtruth did not write", place)


def _writable_above(place: Path) -> None:
    above = next(folder for folder in place.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "")
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "")


def _put_folder(work: Path, place: Path) -> None:
    """Gives the finished folder its place; what stood there must still be replaceable, else it stays."""
    _replaceable(place)
    try:
        os.rename(work, place)  # absent or empty
    except OSError:
        if not place.is_dir():
            raise
        exchange(work, place)
        try:
            _replaceable(work)
        except BaseException:  # somebody wrote into it meanwhile: it goes back
            exchange(work, place)
            raise


@contextmanager
def _made_parents(place: Path) -> Iterator[None]:
    """Makes the folders above, and removes those it made if the block fails."""
    absent = [folder for folder in place.parents if not folder.exists()]
    made: list[Path] = []
    try:
        for folder in reversed(absent):
            folder.mkdir()
            made.append(folder)
        yield
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):  # somebody else uses it by now
                folder.rmdir()
        raise


@contextmanager
def _input_errors(place: Path) -> Iterator[None]:
    """Failures of the file system become input errors; a closed pipe is not one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(error, place) from None


def _occupied(what: str, place: Path) -> InputError:
    return InputError(
        what,
        "a free name, an empty folder or an earlier result of probtruth",
        "Choose another path (--out).",
        shown(place),
    )


def _unwritable(error: OSError, place: Path) -> InputError:
    reason = os.strerror(error.errno).lower() if error.errno else str(error).split("\n")[0]
    return InputError(
        f"an output that cannot be written ({reason})",
        "a place with room and permission",
        "Choose another path (--out), or make room; nothing was written and nothing replaced.",
        shown(place),
    )
