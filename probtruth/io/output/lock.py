"""A lock on an open file or folder that one process holds at a time; the system releases it when the process ends."""

import os
import sys
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
