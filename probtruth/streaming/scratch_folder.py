"""The folder of an unfinished run: one run at a time works in it, and only files of such runs are ever removed."""

import json
import os
import re
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from probtruth.errors import InputError
from probtruth.io.addresses import refuse
from probtruth.io.output.swap import held, lock, still_at
from probtruth.io.tables.read import shown

LOCK = "probtruth-unfinished.json"
"""The file that marks a folder as unfinished work; the run that works there has locked it and wrote its process."""
MADE = "probtruth-made-this-folder"
"""The empty file that says that a run made the folder: by its name, which a crash of the system does not zero."""
MARK = '{"probtruth": "unfinished work"'
"""How that file begins."""
STORES = ("asked", "other", "scores")
"""The folders within, one for each pass."""
OWN_FILES = re.compile(r"settings\.json|finished\.jsonl|(losses|sample)-[0-9]+|label-losses|label-variance|forecast")
"""What a folder of a pass may hold."""
TEMPORARY = "probtruth-"
"""How folders among the system's temporary ones are called, for work that no other run goes on with."""
EXPECTED = "a free name, an empty folder or unfinished work of probtruth"
HINT = "Choose another folder (scratch=), or another --out; nothing was removed."


@contextmanager
def scratch_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for unfinished work, locked meanwhile; its files go at the end, and stay if the block fails.

    The folder itself goes too, if this run or the interrupted one before it made it.

    Errors: `InputError` for a folder with anything else in it, a symbolic link, a file, the current folder or one above
    it, and for one in which another process works.
    """
    path = _usable(folder)
    try:
        path.mkdir(parents=True)
        (path / MADE).touch()
    except FileExistsError:
        pass
    except OSError as error:
        raise _unusable(f"a folder that cannot be made ({os.strerror(error.errno or 0).lower()})", path) from None
    descriptor = _locked(path)
    try:
        _no_foreign(path)
        _sign(descriptor)
        try:
            yield path
        except BaseException:
            if any(name in STORES for name in os.listdir(path)):
                raise
            _remove(path)
            raise
        _remove(path)
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder among the system's temporary ones, removed however the block ends; those of killed runs go first."""
    for left in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        _clear(left)
    path = Path(tempfile.mkdtemp(prefix=TEMPORARY))
    (path / MADE).touch()
    with held(path, _remove), scratch_folder(path):
        try:
            yield path
        finally:
            _remove_passes(path)


def _clear(path: Path) -> None:
    """Removes the temporary folder of a run that was killed: it is signed, and no process holds its lock."""
    with suppress(InputError, OSError):  # not ours, or gone meanwhile
        if path.is_symlink() or not path.is_dir():
            return
        _no_foreign(path)
        descriptor = os.open(path / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            signed = os.fstat(descriptor).st_size > 0  # else its run is about to lock it
            if signed and lock(descriptor) and still_at(descriptor, path / LOCK):
                _remove(path)
        finally:
            os.close(descriptor)


def remove_pass(folder: Path) -> None:
    """Removes the files of a pass by their names, then its folder, if nothing else is in it."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in list(folder.iterdir()):
        if _own(entry):
            entry.unlink(missing_ok=True)
    with suppress(OSError):  # not empty
        folder.rmdir()


def _usable(folder: str | os.PathLike[str]) -> Path:
    """The absolute path, if it is free or a folder that is empty or holds unfinished work alone."""
    text = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"scratch={text!r}", "the path of a folder", "Name a folder that does not exist yet.")
    refuse(text)
    path, here = Path(os.path.abspath(text)), Path(os.path.abspath(os.curdir))
    real, real_here = path.resolve(), here.resolve()
    if {path, real} & {here, real_here, *here.parents, *real_here.parents}:
        raise _unusable("the current folder or one above it", path)
    if path.is_symlink():
        raise _unusable("a symbolic link", path)
    if path.exists():
        if not path.is_dir():
            raise _unusable("a file", path)
        _no_foreign(path)
    return path


def _no_foreign(path: Path) -> None:
    """Raises where the folder has anything in it that an unfinished run did not write."""
    names = sorted(os.listdir(path))
    foreign = [name for name in names if not _known(path / name)]
    if names and (foreign or not {LOCK, MADE} & set(names)):
        raise _unusable(f"a folder with other files ({(foreign or names)[0]!r})", path)


def _known(entry: Path) -> bool:
    if entry.name == LOCK:
        return _marked(entry)
    if entry.name == MADE:
        return not entry.is_symlink() and entry.is_file() and entry.stat().st_size == 0
    if entry.name not in STORES or entry.is_symlink() or not entry.is_dir():
        return False
    return all(_own(inner) for inner in entry.iterdir())


def _marked(entry: Path) -> bool:
    """Whether a lock file is ours: it begins with the mark, or a crash of the system cut it off or zeroed it."""
    if entry.is_symlink() or not entry.is_file():
        return False
    with entry.open("rb") as stream:
        start = stream.read(len(MARK)).rstrip(b"\0")
    return MARK.encode().startswith(start)


def _own(entry: Path) -> bool:
    return OWN_FILES.fullmatch(entry.name) is not None and entry.is_file() and not entry.is_symlink()


def _locked(path: Path) -> int:
    """The lock file, open and locked.

    Errors: `InputError` where another process holds the lock, with its number.
    """
    file = path / LOCK
    while True:
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:  # the run that was here has just ended
            path.mkdir(parents=True, exist_ok=True)
            continue
        except OSError as error:
            raise _unusable(
                f"a folder that cannot be written ({os.strerror(error.errno or 0).lower()})", path
            ) from None
        try:
            free = lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise _unusable(f"a file system without locks ({error.strerror})", path) from None
        if free and still_at(descriptor, file):
            return descriptor
        owner = _notes(descriptor)
        os.close(descriptor)
        if not free:
            process, host = owner.get("process", "unknown"), owner.get("host", "this machine")
            raise InputError(
                f"a folder in which process {process} on {host} works",
                "one run at a time for an output",
                f"Wait until process {process} has ended, or end it; or choose another --out (or scratch=).",
                shown(path),
            )


def _sign(descriptor: int) -> None:
    """Writes who works here."""
    notes = {"probtruth": "unfinished work", "process": os.getpid(), "host": socket.gethostname()}
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps(notes).encode())
    os.fsync(descriptor)


def _notes(descriptor: int) -> dict[str, object]:
    """What the lock file says; nothing where it is empty or damaged."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        notes = json.loads(os.read(descriptor, 4096))
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def _remove_passes(path: Path) -> None:
    for name in STORES:
        remove_pass(path / name)


def _remove(path: Path) -> None:
    _remove_passes(path)
    (path / LOCK).unlink(missing_ok=True)
    if (path / MADE).exists():
        (path / MADE).unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's file is in it by now
            path.rmdir()


def _unusable(what: str, path: Path) -> InputError:
    return InputError(what, EXPECTED, HINT, shown(path))
