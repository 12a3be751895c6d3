"""Output that is written whole or not at all: work goes to a hidden sibling, which is renamed to the output.

Of several runs into one folder at once, each ends with its whole result or an error, and one whole result is there.
"""

import errno
import glob
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from probtruth.errors import InputError
from probtruth.io.addresses import is_address, shown
from probtruth.io.tables.json_lines import HALF
from probtruth.redaction import redacted
from probtruth.types.arguments import StrPath

# What a result of probtruth may hold beside its figures; a folder with anything else in it is never replaced.
OUR_FILES = [
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
]
# The names of its figures, in `figures`.
FIGURES = [
    "behind-leader",
    "ranks",
    "differences",
    "frontier",
    "by-group",
    "by-annotator-group",
    "annotators",
    "item-differences",
    "reliability-[0-9]*",
    "source-[0-9]*",
]
FORMS = (".svg", ".pdf")
WORK, ASIDE = ".tmp", ".old"  # How the name of a new output ends while it is written, and that of the one it replaces


# Which files of a path's own kind a new one may replace; None for the folder of a result.
type Ours = Callable[[Path], bool] | None


@contextmanager
def whole(out: StrPath, ours: Ours = None) -> Iterator[Path]:
    """A new folder (or file) to write into, which becomes `out` when the block ends, and vanishes if it fails."""
    target = _target(out)
    hidden = f"{_hidden(target)}{secrets.token_hex(6)}"
    work = target.with_name(hidden + WORK)
    aside = target.with_name(hidden + ASIDE)
    made = []
    with _input_errors(target):
        try:
            _put_back(target)
            _replaceable(target, ours)
            for above in reversed([above for above in target.parents if not above.exists()]):
                above.mkdir(exist_ok=True)
                made.append(above)
            work.mkdir() if ours is None else work.touch(exist_ok=False)
            yield work
            _replaceable(target, ours)
            if target.is_dir():
                os.rename(target, aside)
                _replaceable(aside, ours)  # again: something may have come in between
            os.replace(work, target)
        except BaseException:
            with suppress(OSError):  # none is aside, or another run has put its result there
                os.rename(aside, target)
            _discard(work)
            if is_result(aside):
                _discard(aside)
            for above in reversed(made):
                with suppress(OSError):  # somebody else uses it by now
                    above.rmdir()
            raise
    _discard(aside)


def _hidden(target: Path) -> str:
    return f".{target.name[:40]}.probtruth-"


def _put_back(target: Path) -> None:
    """Puts back a result that a run set aside before it was killed."""
    for aside in sorted(target.parent.glob(f"{glob.escape(_hidden(target))}*{ASIDE}")):
        if not os.path.lexists(target):
            os.rename(aside, target)
        elif is_result(aside):
            _discard(aside)


def check_out(out: StrPath, ours: Ours = None) -> None:
    """Raises where `whole(out, ours)` would refuse: called before long work, so that nothing is computed in vain."""
    target = _target(out)
    with _input_errors(target):
        _put_back(target)
        _replaceable(target, ours)
        above = next(folder for folder in target.parents if folder.exists())
        if not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def need_suffix(out: StrPath, *suffixes: str) -> str:
    """How the path of an output ends, which must be one of these."""
    suffix = Path(out).suffix.lower()
    if suffix not in suffixes:
        raise InputError(
            f"the path {str(out)!r}", f"a path that ends in {' or '.join(suffixes)}", "Name the output so."
        )
    return suffix


def is_result(folder: Path) -> bool:
    """Whether a folder holds a `result.json` of probtruth and nothing but files that probtruth writes."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (name == "figures" if path.is_dir() else _is_ours(name)):
            return False
    try:
        return "probtruth" in dict(json.loads((folder / "result.json").read_bytes())["versions"])
    except (OSError, ValueError, RecursionError, TypeError, LookupError):
        return False


def _is_ours(name: str) -> bool:
    folder, _, figure = name.rpartition("/")
    if folder != "figures":
        return name in OUR_FILES
    stem, form = os.path.splitext(figure)
    return form in FORMS and any(fnmatchcase(stem, one) for one in FIGURES)


def _target(out: StrPath) -> Path:
    text = os.fspath(out) if isinstance(out, os.PathLike) else out
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{text!r}", "the path of the output", "Name it with --out.")
    if HALF.search(text):  # which some writers cannot take
        raise InputError(f"{text!r}, which is not UTF-8", "a path in UTF-8", "Choose another path (--out).")
    if is_address(text):
        raise InputError("an address", "a local path", "Write it here, and copy it afterwards.", redacted(text))
    try:
        target, here = Path(os.path.abspath(text)), Path.cwd()
    except FileNotFoundError:
        raise InputError("a current folder that is gone", "one that exists", "Change to another folder.") from None
    if target == here or target in here.parents:
        raise InputError("the current folder or one above it", "a folder of its own", "Write --out results.", text)
    return target


def _replaceable(target: Path, ours: Ours) -> None:
    """Raises unless the path is free, empty or what probtruth wrote."""
    kind = ""
    if target.is_symlink():
        kind = "a symbolic link"
    elif not target.exists():
        return
    elif ours is not None and not target.is_file():
        kind = "something that is not a plain file"
    elif ours is not None and target.stat().st_size and not ours(target):
        kind = "a file that probtruth did not write"
    elif ours is None and not target.is_dir():
        kind = "a file"
    elif ours is None and any(target.iterdir()) and not is_result(target):
        kind = "a folder with other files than a result of probtruth"
    if kind:
        raise InputError(
            kind,
            "a free name, an empty folder or an earlier result of probtruth",
            "Choose another path (--out).",
            shown(target),
        )


def _discard(path: Path) -> None:
    """Under another name, so that no other run puts back what is half deleted."""
    gone = path.with_name(path.name + WORK)
    try:
        os.rename(path, gone)
    except FileNotFoundError:
        return
    if gone.is_dir() and not gone.is_symlink():
        shutil.rmtree(gone, ignore_errors=True)
    else:
        gone.unlink(missing_ok=True)


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
