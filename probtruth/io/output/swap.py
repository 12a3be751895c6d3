"""Exchanging a finished file or folder for an earlier one in one step, so that there is never half of one."""

import ctypes
import errno
import os
import secrets
import shutil
import sys
from pathlib import Path

AT_FDCWD = -100
RENAME_EXCHANGE = 2
RENAME_SWAP = 2


def sibling(path: Path) -> Path:
    """A hidden name beside the path that nobody uses."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.tmp")


def exchange(one: Path, other: Path) -> None:
    """Exchanges two folders: in one step where the system can, else by three renames that are undone on failure."""
    if _exchange_at_once(one, other):
        return
    aside = sibling(other)
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
