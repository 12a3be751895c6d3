"""Exchanging a finished file or folder for an earlier one in one step, so that there is never half of one.

A lock on an open file or folder that one process holds at a time; the system releases it when the process ends. What
is temporary, so that a process that ends within a block can remove it.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    BYTE = 1 << 30
    """The byte that is locked: far behind the text, which other processes can still read."""

    def lock(descriptor: int) -> bool:
        """Whether this process holds the lock now; False where another one does."""
        os.lseek(descriptor, BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def lock(descriptor: int) -> bool:
        """Whether this process holds the lock now; False where another one does."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def still_at(descriptor: int, path: Path) -> bool:
    """Whether the path still names what was opened: another process may have removed it before the lock was taken."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


HELD: dict[Path, Callable[[Path], None]] = {}
"""The temporary files and folders of this process, and what removes each."""


@contextmanager
def held(path: Path, remove: Callable[[Path], None]) -> Iterator[None]:
    """Within the block the path is temporary."""
    HELD[path] = remove
    try:
        yield
    finally:
        HELD.pop(path, None)


def clear_held() -> None:
    """Removes what is temporary in this process, which ends before its blocks do."""
    for path, remove in list(HELD.items()):
        with suppress(OSError):
            remove(path)


PATIENCE, STEP = 10.0, 0.005
"""Seconds that a writer waits for another one, which replaces its output in an instant, and between two looks."""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Within the block no other writer looks at, clears or replaces what is in the folder.

    The folder itself is locked. Where the system has no such locks, or another writer stands still, the block runs
    without.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            for _ in range(int(PATIENCE / STEP)):
                if lock(descriptor):
                    break
                time.sleep(STEP)
        yield
    finally:
        os.close(descriptor)


AT_FDCWD = -100
RENAME_EXCHANGE = 2
RENAME_SWAP = 2


def sibling(path: Path, ending: str = "tmp") -> Path:
    """A hidden name beside the path that nobody uses."""
    return path.with_name(f"{_start(path)}{secrets.token_hex(6)}.{ending}")


def _start(path: Path) -> str:
    return f".{path.name[:40]}.probtruth-"


@contextmanager
def work_beside(path: Path, folder: bool) -> Iterator[Path]:
    """An empty hidden file or folder beside the path, locked while its writer lives and discarded at the end."""
    descriptor = None
    while descriptor is None:
        work = sibling(path)
        work.mkdir() if folder else work.touch(exist_ok=False)
        descriptor = _locked(work)
    try:
        with held(work, discard):
            yield work
    finally:
        if descriptor >= 0:
            os.close(descriptor)
        discard(work)


def left_over(path: Path) -> Iterator[Path]:
    """Hidden files and folders beside the path whose writer was killed, each locked while the caller looks at it.

    Without the lock a writer that has just made one, and not locked it yet, would go on in what the caller removes.
    """
    pattern = re.compile(re.escape(_start(path)) + r"[0-9a-f]{12}\.tmp")
    for entry in list(path.parent.iterdir()):
        descriptor = _locked(entry) if pattern.fullmatch(entry.name) and not entry.is_symlink() else None
        if descriptor is not None and descriptor != UNLOCKED:
            try:
                yield entry
            finally:
                os.close(descriptor)


UNLOCKED = -1
"""In place of a descriptor, where the system has no locks for folders."""


def _locked(work: Path) -> int | None:
    """An open descriptor with the lock; None where another process took it, and may have removed what was new."""
    try:
        descriptor = os.open(work, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:
        return UNLOCKED
    try:
        if lock(descriptor) and still_at(descriptor, work):
            return descriptor
    except OSError:
        os.close(descriptor)
        return UNLOCKED
    os.close(descriptor)
    return None


def exchange(one: Path, other: Path) -> None:
    """Exchanges two folders: in one step where the system can, else by three renames that are undone on failure."""
    if _exchange_at_once(one, other):
        return
    aside = sibling(other, "old")
    os.rename(other, aside)
    try:
        os.rename(one, other)
    except BaseException:
        os.rename(aside, other)
        raise
    os.rename(aside, one)


def _exchange_at_once(one: Path, other: Path) -> bool:
    """Whether the system exchanged them; False where it does not know how."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            call = system.renamex_np
            arguments: tuple[object, ...] = (os.fsencode(one), os.fsencode(other), ctypes.c_uint(RENAME_SWAP))
        else:
            call = system.renameat2
            arguments = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), ctypes.c_uint(RENAME_EXCHANGE))
    except (OSError, AttributeError, TypeError):
        return False
    if call(*arguments) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def discard(path: Path) -> None:
    """Removes a temporary file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
