"""Arrays that lie in a temporary file instead of memory."""

import os
import tempfile
from collections.abc import Sequence

import numpy as np

from probtruth.errors import InputError


def empty_array(shape: Sequence[int], on_disk: bool) -> np.ndarray:
    """An array of float64 without values; on disk it takes its room at once, and frees it when nobody holds it."""
    if not on_disk:
        return np.empty(shape)
    size = 8 * int(np.prod(shape))
    with tempfile.TemporaryFile(prefix="probtruth-") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # else a full disk would end the process where the array is written
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise InputError(
                f"no room for {size / 1e9:.3g} GB of numbers ({os.strerror(error.errno or 0).lower()})",
                "a disk with that much room, or more memory",
                "Set TMPDIR to a folder on another disk, or raise memory= (command line: --memory).",
                tempfile.gettempdir(),
            ) from None
        return np.memmap(file, np.float64, "r+", shape=tuple(shape))


def lies_on_disk(table: object) -> bool:
    """Whether an array, or the one that it is a view of, is such a file."""
    while isinstance(table, np.ndarray):
        if isinstance(table, np.memmap):
            return True
        table = table.base
    return False
