"""The host: memory and arrays on disk, how much is worked on at once, versions of packages."""

import os
import platform
import tempfile
from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from probtruth.errors import InputError
from probtruth.version import __version__

# Rows of a table that are worked on at once, and the numbers that they hold at most; no less than one row.
BLOCK, CELLS = 4096, 1 << 20


def block_rows(n_columns: int) -> int:
    """How many rows of so many numbers stay in the processor's cache while they are worked on."""
    return max(min(BLOCK, CELLS // n_columns), 1)


def free_memory() -> float:
    """Bytes of memory that are free."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            table = dict(line.split(":", 1) for line in lines)
        return float(table["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else 4e9


def empty_array(shape: Sequence[int], on_disk: bool, dtype: DTypeLike = np.float64) -> np.ndarray:
    """64-bit numbers without values; on disk they take their space at once, and free it when nobody holds them."""
    if not on_disk:
        return np.empty(shape, dtype)
    size = 8 * int(np.prod(shape))
    with tempfile.TemporaryFile(prefix="probtruth-") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # else a full disk would end the process where the array is written
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise InputError(
                f"no space for {size / 1e9:.3g} GB of numbers ({os.strerror(error.errno or 0).lower()})",
                "a disk with that much space, or more memory",
                "Set TMPDIR to a folder on another disk, or raise memory= (command line: --memory).",
                tempfile.gettempdir(),
            ) from None
        return np.memmap(file, dtype, "r+", shape=tuple(shape))


def empty_like(table: np.ndarray) -> np.ndarray:
    """An array of float64 without values, of the shape of a table and on disk where that is."""
    return empty_array(table.shape, lies_on_disk(table))


def lies_on_disk(table: object) -> bool:
    """Whether an array, or the one that it is a view of, is such a file."""
    while isinstance(table, np.ndarray):
        if isinstance(table, np.memmap):
            return True
        table = table.base
    return False


PACKAGES = ("jax", "numpyro", "arviz", "numpy")  # The packages whose versions a result names


def versions() -> dict[str, str]:
    """The versions of Python, of this package and of those that it computes with."""
    from importlib.metadata import version  # which takes longer to load than all else here

    found = {"python": platform.python_version(), "probtruth": __version__}
    for name in PACKAGES:
        found[name] = version(name)
    return found
