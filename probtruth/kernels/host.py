"""The host: how many cores this process may use, work on several of them at once, free memory, versions of packages."""

import os
import platform
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice


def n_cores() -> int:
    """At least 1; fewer than the machine has if the process is bound to some of them."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


BLOCK, CELLS = 4096, 1 << 20
"""Rows of a table that are worked on at once, and the numbers that they hold at most; no less than one row."""


def block_rows(n_columns: int) -> int:
    """How many rows of so many numbers stay in the processor's cache while they are worked on."""
    return max(min(BLOCK, CELLS // n_columns), 1)


def ahead[S, T](step: Callable[[S], T], listed: Iterable[S], n_threads: int) -> Iterator[T]:
    """The result of `step` for each, in order; threads work on the next `n_threads` while the caller uses one.

    An iterator that is dropped half-way does not wait for its threads: the garbage collector may drop it in a thread
    that holds what they wait for.
    """
    coming: deque[Future[T]] = deque()
    left, dropped = iter(listed), False
    pool = ThreadPoolExecutor(n_threads)
    try:
        coming.extend(pool.submit(step, one) for one in islice(left, n_threads))
        while coming:
            result = coming.popleft().result()
            coming.extend(pool.submit(step, one) for one in islice(left, 1))
            yield result
    except GeneratorExit:
        dropped = True
        raise
    finally:
        pool.shutdown(wait=not dropped, cancel_futures=True)


def free_memory() -> float:
    """Bytes of memory that are free."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            table = dict(line.split(":", 1) for line in lines)
        return float(table["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else 4e9


PACKAGES = ("probtruth", "jax", "numpyro", "arviz", "numpy")
"""The packages whose versions a result names."""


def versions() -> dict[str, str]:
    """The versions of Python and of the packages in this process."""
    from importlib.metadata import version  # which takes longer to load than all else here

    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
