"""Paired measurements: every work once a round, on the same data; processor time, medians and ratios to a rival."""

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NOISY = 0.25  # quartiles of a ratio further apart than this share of it: the machine was not quiet
COLD = {"XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"}  # variables a user does not set

type Work = Callable[[], object]


@dataclass(frozen=True)
class Subject:
    """A table of the page: the first work is the rival of all that `rivals` does not name."""

    title: str
    works: dict[str, Work]
    wanted: dict[str, str]  # by work: a ratio or seconds
    text: str = ""
    rivals: dict[str, str] = field(default_factory=dict)
    rounds: int = 5
    warm_up: bool = True
    clock: Callable[[], float] = time.process_time


def of_processes() -> float:
    """Processor time of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def process(*words: str, cache: str | None = None) -> Work:
    """Python in a process of its own, as a user starts it; code is compiled anew unless a folder keeps it."""
    cached = {"JAX_COMPILATION_CACHE_DIR": cache} if cache else {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    environment = {name: value for name, value in os.environ.items() if name not in COLD} | cached

    def run() -> None:
        subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)

    return run


def anonymous_peak(code: str, *words: str) -> tuple[float, float]:
    """Seconds, and the most memory in GB without pages of files, of code in a process of its own (Linux)."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, *words])
    peak = 0
    while child.poll() is None:
        try:
            status = Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8")
            peak = max(peak, int(re.search(r"RssAnon:\s+(\d+)", status)[1]))
        except (FileNotFoundError, TypeError):
            break
        time.sleep(0.02)
    if child.wait():
        raise RuntimeError(f"status {child.returncode}")
    return time.perf_counter() - start, peak * 1024 / 1e9


def measured(subject: Subject) -> list[Sequence[str]]:
    """The rows of the subject's table: work, time, ratio to its rival with quartiles, what is wanted."""
    import jax

    taken: dict[str, list[float]] = {name: [] for name in subject.works}
    for turn in range(0 if subject.warm_up else 1, subject.rounds + 1):
        for name, work in subject.works.items():
            start = subject.clock()
            jax.block_until_ready(work())
            if turn:
                taken[name].append(subject.clock() - start)
    first = next(iter(taken))
    rows = []
    for name, seconds in taken.items():
        rival = taken[subject.rivals.get(name, first)]
        ratios = sorted(own / other for own, other in zip(seconds, rival, strict=True))
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
        spread = f"{middle:.2f} ({low:.2f} to {high:.2f}{', noisy' if high - low > NOISY * middle else ''})"
        if rival is seconds:
            spread = "1"
        time_taken = statistics.median(seconds)
        shown = f"{1e3 * time_taken:.3g} ms" if time_taken < 1 else f"{time_taken:.2f} s"
        rows.append((name, shown, spread, subject.wanted.get(name, "")))
    return rows
