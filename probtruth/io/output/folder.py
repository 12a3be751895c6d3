"""Output that is written whole or not at all: work goes to a hidden sibling, which is renamed to the output."""

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
from probtruth.io.addresses import refuse
from probtruth.io.tables.read import shown

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
    target = _output(out)
    with _work(target, _replaceable, folder=True) as work:
        yield work
        _put(work, target)


@contextmanager
def whole_file(path: str | os.PathLike[str], ours: Callable[[Path], bool]) -> Iterator[Path]:
    """A new file to write, which becomes `path` when the block ends, and vanishes if it fails."""
    target = _output(path)
    with _work(target, lambda path: _replaceable_file(path, ours), folder=False) as work:
        yield work
        os.replace(work, target)


def check_out(out: str | os.PathLike[str]) -> None:
    """Raises where `whole_folder(out)` would refuse: called before long work, so that nothing is computed in vain."""
    target = _output(out)
    with _input_errors(target):
        _replaceable(target)
        _writable_above(target)


def check_file(path: str | os.PathLike[str], ours: Callable[[Path], bool]) -> None:
    """Raises where `whole_file(path, ours)` would refuse, before long work."""
    target = _output(path)
    with _input_errors(target):
        _replaceable_file(target, ours)
        _writable_above(target)


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


def _writable_above(target: Path) -> None:
    above = next(folder for folder in target.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "")
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "")


@contextmanager
def _work(target: Path, check: Callable[[Path], None], folder: bool) -> Iterator[Path]:
    """An empty hidden file or folder beside the target; what is not renamed goes, and so do the folders made above."""
    made: list[Path] = []
    work = _sibling(target)
    with _input_errors(target):
        try:
            check(target)
            for above in reversed([above for above in target.parents if not above.exists()]):
                above.mkdir()
                made.append(above)
            work.mkdir() if folder else work.touch(exist_ok=False)
            yield work
        except BaseException:
            _discard(work)
            for above in reversed(made):
                with suppress(OSError):  # somebody else uses it by now
                    above.rmdir()
            raise


def _put(work: Path, target: Path) -> None:
    """Moves the finished folder to its path; what is there must still be replaceable, or it comes back."""
    while True:
        _replaceable(target)
        try:
            os.rename(work, target)  # absent or empty
            return
        except OSError:
            if not target.is_dir():
                raise
        aside = _sibling(target)
        try:
            os.rename(target, aside)
        except FileNotFoundError:
            continue  # another writer was quicker
        try:
            _replaceable(aside)
            os.rename(work, target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # another writer put its result there
                _discard(aside)
                continue
            os.rename(aside, target)
            raise
        except BaseException:  # somebody wrote into it meanwhile
            os.rename(aside, target)
            raise
        _discard(aside)
        return


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
        raise _unwritable(error, target) from None


def _occupied(what: str, target: Path) -> InputError:
    return InputError(
        what,
        "a free name, an empty folder or an earlier result of probtruth",
        "Choose another path (--out).",
        shown(target),
    )


def _unwritable(error: OSError, target: Path) -> InputError:
    reason = os.strerror(error.errno).lower() if error.errno else str(error).split("\n")[0]
    return InputError(
        f"an output that cannot be written ({reason})",
        "a folder with room and permission",
        "Choose another path (--out), or make room; nothing was written and nothing replaced.",
        shown(target),
    )
