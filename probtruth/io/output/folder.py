"""Output that is written whole or not at all: work goes to a hidden sibling, which is renamed to the output.

Of several runs into one folder at once, each ends with its whole result or an error, and one whole result is there.
"""

import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from probtruth.errors import InputError
from probtruth.io.addresses import refuse, shown

OUR_FILES = (
    "report.html",
    "report.md",
    "report.tex",
    "result.json",
    "posterior.nc",
    "pairwise.csv",
    "models.csv",
    "items.parquet",
    "annotators.csv",
    "soft.parquet",
    "scores.parquet",
    "figures/*.svg",
)  # What a result of probtruth may hold; a folder with anything else in it is never replaced


@contextmanager
def whole_folder(out: str | os.PathLike[str]) -> Iterator[Path]:
    """A new folder to write into, which becomes `out` when the block ends, and vanishes if it fails."""
    with _work(_output(out), _replaceable, folder=True) as work:
        yield work


@contextmanager
def whole_file(path: str | os.PathLike[str], ours: Callable[[Path], bool]) -> Iterator[Path]:
    """A new file to write, which becomes `path` when the block ends, and vanishes if it fails."""
    with _work(_output(path), lambda path: _replaceable_file(path, ours), folder=False) as work:
        yield work


def check_out(out: str | os.PathLike[str]) -> None:
    """Raises where `whole_folder(out)` would refuse: called before long work, so that nothing is computed in vain."""
    _check(_output(out), _replaceable)


def check_file(path: str | os.PathLike[str], ours: Callable[[Path], bool]) -> None:
    """Raises where `whole_file(path, ours)` would refuse, before long work."""
    _check(_output(path), lambda path: _replaceable_file(path, ours))


def is_result(folder: Path) -> bool:
    """Whether a folder holds a `result.json` of probtruth and nothing but files that probtruth writes."""
    files = list(_contents(folder))
    if "result.json" not in files or not all(any(fnmatchcase(name, own) for own in OUR_FILES) for name in files):
        return False
    try:
        versions = json.loads((folder / "result.json").read_bytes())["versions"]
    except (ValueError, RecursionError, TypeError, LookupError):
        return False
    return isinstance(versions, dict) and "probtruth" in versions


def _contents(folder: Path) -> Iterator[str]:
    """The files in the folder and in `figures` by their names below it; anything else ends in a slash."""
    for entry in folder.iterdir():
        if entry.name == "figures" and entry.is_dir() and not entry.is_symlink():
            yield from (f"figures/{name}" for name in _contents(entry))
        else:
            yield entry.name if entry.is_file() and not entry.is_symlink() else f"{entry.name}/"


def _output(out: str | os.PathLike[str]) -> Path:
    text = os.fspath(out) if isinstance(out, os.PathLike) else out
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{text!r}", "the path of the output", "Name it with --out.")
    refuse(text)
    try:
        target, here = Path(os.path.abspath(text)), Path.cwd()
    except FileNotFoundError:
        raise InputError("a current folder that is gone", "one that exists", "Change to another folder.") from None
    if target == here or target in here.parents:
        raise InputError("the current folder or one above it", "a folder of its own", "Write --out results.", text)
    return target


def _check(target: Path, replaceable: Callable[[Path], None]) -> None:
    with _input_errors(target):
        replaceable(target)
        above = next(folder for folder in target.parents if folder.exists())
        if not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def _replaceable(target: Path) -> None:
    """Raises unless the path is free, empty or an earlier result."""
    if target.is_symlink():
        raise _occupied("a symbolic link", target)
    if not target.exists():
        return
    if not target.is_dir():
        raise _occupied("a file", target)
    if any(target.iterdir()) and not is_result(target):
        raise _occupied("a folder with other files than a result of probtruth", target)


def _replaceable_file(target: Path, ours: Callable[[Path], bool]) -> None:
    """Raises unless the path is free, empty or a file that probtruth wrote."""
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise _occupied("something that is not a plain file", target)
    if target.exists() and target.stat().st_size and not ours(target):
        raise _occupied("a file that probtruth did not write", target)


@contextmanager
def _work(target: Path, replaceable: Callable[[Path], None], folder: bool) -> Iterator[Path]:
    """An empty hidden file or folder beside the target, which it becomes; what fails goes, with folders made above."""
    made: list[Path] = []
    work, aside = _sibling(target), _sibling(target)
    with _input_errors(target):
        try:
            replaceable(target)
            for above in reversed([above for above in target.parents if not above.exists()]):
                above.mkdir(exist_ok=True)
                made.append(above)
            work.mkdir() if folder else work.touch(exist_ok=False)
            yield work
            if folder and target.is_dir():
                os.rename(target, aside)
                replaceable(aside)
            else:
                replaceable(target)
            os.replace(work, target)
        except BaseException:
            if aside.exists():
                _put_back(aside, target)
            _discard(work)
            for above in reversed(made):
                with suppress(OSError):  # somebody else uses it by now
                    above.rmdir()
            raise
    _discard(aside)


def _put_back(aside: Path, target: Path) -> None:
    """The earlier result at its place again, unless another run has put its own there."""
    try:
        os.rename(aside, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and is_result(aside):
            _discard(aside)


def _sibling(path: Path) -> Path:
    return path.with_name(f".{path.name[:40]}.probtruth-{secrets.token_hex(6)}.tmp")


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _input_errors(target: Path) -> Iterator[None]:
    """Failures of the file system become input errors; a closed pipe is not one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error).split("\n")[0]
        raise InputError(
            f"an output that cannot be written ({reason})",
            "a folder with room and permission",
            "Choose another path (--out), or make room; nothing was written and nothing replaced.",
            shown(target),
        ) from None


def _occupied(what: str, target: Path) -> InputError:
    return InputError(
        what,
        "a free name, an empty folder or an earlier result of probtruth",
        "Choose another path (--out).",
        shown(target),
    )
