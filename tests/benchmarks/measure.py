"""Paired measurements: every work once a round, in one process on the same data; medians, and the spread of ratios."""

import importlib
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import jax

NOISY = 0.25
"""Quartiles of a ratio further apart than this share of it: the machine was not quiet."""


@dataclass(frozen=True)
class Work:
    """Something to be timed, with its goal as a ratio to the first work of its section.

    `note`, asked after the measurement, is added to the name.
    """

    name: str
    run: Callable[[], object]
    goal: str = ""
    per: float = 1.0
    note: Callable[[], str] | None = None


PEAK = """
import re
from pathlib import Path
children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
states = (Path("/proc", process, "status").read_text() for process in ("self", *children))
print(sum(int(re.search(r"VmHWM:\\s+(\\d+)", state)[1]) for state in states) * 1024)
"""
"""On Linux; `getrusage` would have a new process begin with what the one that started it had."""


@dataclass(frozen=True)
class Process:
    """Code in a process of its own, imports and compilation included; `memory` is the most that it ever took.

    What a process that it started (a decoder) took at most is added to that.
    """

    code: str
    arguments: tuple[str, ...] = ()
    peaks: list[int] = field(default_factory=list)

    def __call__(self) -> None:
        words = [sys.executable, "-c", self.code + PEAK, *self.arguments]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        self.peaks.append(int(done.stdout.split()[-1]))

    def memory(self) -> str:
        """In words, after the measurement."""
        return f"at most {max(self.peaks) / 1e9:.2f} GB of memory"


@dataclass(frozen=True)
class Row:
    """Medians over the rounds; the ratio is to the first work of the same round."""

    name: str
    seconds: float
    ratio: float
    low: float
    high: float
    goal: str

    @property
    def noisy(self) -> bool:
        """Whether the ratios of the rounds disagree."""
        return self.high - self.low > NOISY * self.ratio


@dataclass(frozen=True)
class Section:
    """A table of the page: its first work is what the others are compared with; `clock` gives seconds."""

    title: str
    text: str
    works: Sequence[Work]
    rounds: int = 15
    skipped: Sequence[str] = ()
    warm_up: bool = True
    clock: Callable[[], float] = time.perf_counter


def of_processes() -> float:
    """Processor time of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(section: Section) -> list[Row]:
    """Times every work once a round, after one round (unless there is no `warm_up`) that compiles and fills caches."""
    taken: dict[str, list[float]] = {work.name: [] for work in section.works}
    for turn in range(0 if section.warm_up else 1, section.rounds + 1):
        for work in section.works:
            start = section.clock()
            jax.block_until_ready(work.run())
            if turn:
                taken[work.name].append((section.clock() - start) / work.per)
    first = taken[section.works[0].name]
    rows = []
    for work in section.works:
        ratios = sorted(own / floor for own, floor in zip(taken[work.name], first, strict=True))
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
        name = work.name if work.note is None else f"{work.name}: {work.note()}"
        rows.append(Row(name, statistics.median(taken[work.name]), middle, low, high, work.goal))
    return rows


def optional(name: str) -> ModuleType | None:
    """A peer, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
