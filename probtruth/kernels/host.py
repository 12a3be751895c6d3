"""The host: memory and arrays on disk, how much is worked on at once, rounding, versions of packages."""

import math
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import DTypeLike

from probtruth.errors import InputError
from probtruth.version import __version__

# Rows of a table that are worked on at once, and the numbers that they hold at most; no less than one row.
BLOCK, CELLS = 4096, 1 << 20
PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")  # Where Linux says what this process has, and its limits

ROUNDING = 8 * np.finfo(np.float64).eps  # What spreads by no more than this, relative to the numbers, is one constant
TIE = 1e-12  # Two scores that differ by no more than this, relative to the largest, are the same

Numbers = Float[np.ndarray, " value"]
Places = Int[np.ndarray, " value"]


def in_order(values: Numbers) -> tuple[Places, Bool[np.ndarray, " value"]]:
    """The places of the values from the least up, and which of these are the first of their ties."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    with np.errstate(invalid="ignore"):  # of two infinities
        rises = ascending[1:] - ascending[:-1] > TIE * np.abs(ascending[:-1])
    return order, np.append(True, rises)


def distinct(values: Numbers) -> tuple[Float[np.ndarray, " point"], Places, Int[np.ndarray, " point"]]:
    """The distinct values, which of them each is, and how often each stands; values that tie are one."""
    order, first = in_order(values)
    point_of = np.empty(len(values), np.int64)
    point_of[order] = np.cumsum(first) - 1
    return values[order][first], point_of, np.bincount(point_of)


def block_rows(n_columns: int) -> int:
    """How many rows of so many numbers stay in the processor's cache while they are worked on."""
    return max(min(BLOCK, CELLS // n_columns), 1)


def free_memory() -> float:
    """Bytes of memory that are free: of the machine, or of the container's limit where that is less."""
    try:
        table = _table_of(PROC / "meminfo", ":")
        free = float(table["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else 4e9
    return min(free, *_free_in_groups())


def _free_in_groups() -> Iterator[float]:
    """What the limits of this process's control groups, and of those above, leave free (Linux, both versions)."""
    yield math.inf
    try:
        lines = (PROC / "self" / "cgroup").read_text().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if line.startswith("0::"):
            root, files = CGROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root, files = CGROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        group = root / path.lstrip("/")
        # inside a container the path may be that of the host, where the group is the root here
        for folder in (root, *(one for one in (group, *group.parents) if root in one.parents)):
            try:
                limit = float((folder / files[0]).read_text())  # "max" is no number: no limit
                used = float((folder / files[1]).read_text())
                # the kernel gives back pages of files that nobody used lately
                used -= float(_table_of(folder / "memory.stat", " ").get(files[2], 0))
            except (OSError, ValueError):
                continue
            yield max(limit - max(used, 0.0), 1.0)


def _table_of(path: Path, separator: str) -> dict[str, str]:
    parts = [line.partition(separator) for line in path.read_text(encoding="ascii").splitlines()]
    return {name: value for name, _, value in parts}


def temporary_folder() -> "tempfile.TemporaryDirectory[str]":
    """A folder that is removed when nobody holds it; `InputError` where none can be made."""
    try:
        return tempfile.TemporaryDirectory(prefix="probtruth-")
    except OSError as error:
        raise no_temporary(error) from None


def no_temporary(error: OSError) -> InputError:
    reason = os.strerror(error.errno).lower() if error.errno else "none"
    hint = "Set TMPDIR to a folder that can be written and has room."
    return InputError(f"no folder for temporary files ({reason})", "one that can be written", hint)


def empty_array(shape: Sequence[int], on_disk: bool, dtype: DTypeLike = np.float64) -> np.ndarray:
    """64-bit numbers without values; on disk they take their space at once, and free it when nobody holds them."""
    if not on_disk:
        return np.empty(shape, dtype)
    size = 8 * int(np.prod(shape))
    try:
        place = tempfile.TemporaryFile(prefix="probtruth-")  # noqa: SIM115  # closed below
    except OSError as error:
        raise no_temporary(error) from None
    with place as file:
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
