"""The host: free memory, how much is worked on at once, versions of packages."""

import os
import platform
import sys

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


PACKAGES = ("jax", "numpyro", "arviz", "numpy")  # The packages whose versions a result names


def versions() -> dict[str, str]:
    """The versions of Python, of this package and of those that it computes with."""
    from importlib.metadata import version  # which takes longer to load than all else here

    own = sys.modules["probtruth"].__version__  # also where the package is not installed
    return {"python": platform.python_version(), "probtruth": own, **{name: version(name) for name in PACKAGES}}
