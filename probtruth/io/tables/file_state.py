"""What tells whether a file is still the one that was opened: a run of hours reads it several times."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from probtruth.errors import InputError
from probtruth.io.addresses import Address, Location
from probtruth.io.tables import objects
from probtruth.io.tables.read import shown

ENDS = 1 << 16
"""Bytes at both ends of a file that are looked at."""


@dataclass(frozen=True)
class FileState:
    """A file's size, time of change, number in its file system, and a digest of both ends.

    Of a table at an address, its number of rows and a digest of the first and last of them: `objects.ends`.
    """

    size: int
    changed: int
    number: int
    ends: str

    @classmethod
    def of(cls, path: Location) -> "FileState":
        """As the file is now."""
        if isinstance(path, Address):
            rows, ends = objects.ends(path)
            return cls(rows, 0, path.version or 0, ends)
        with path.open("rb") as stream:
            stat = os.fstat(stream.fileno())
            digest = hashlib.blake2b(stream.read(ENDS), digest_size=16)
            stream.seek(max(ENDS, stat.st_size - ENDS))
            digest.update(stream.read(ENDS))
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino, digest.hexdigest())


def check_unchanged(paths: Sequence[Location], states: Sequence[FileState]) -> None:
    """Raises `InputError` for a file that is not as it was."""
    for path, state in zip(paths, states, strict=True):
        try:
            now = FileState.of(path)
        except OSError:
            now = None
        if now != state:
            raise InputError(
                "a file that was replaced, changed or removed while it was read" if now else "a file that is gone",
                "input that stays as it is until the run has ended",
                "Run the same command again, once nothing writes to the file any more.",
                shown(path),
            )
