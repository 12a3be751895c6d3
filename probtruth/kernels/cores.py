"""How many cores of the host this process may use."""

import os


def n_cores() -> int:
    """At least 1; fewer than the machine has where the process is bound to some of them."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
