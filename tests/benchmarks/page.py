"""docs/performance.md from measured tables: machine in words, versions, the command."""

import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from probtruth.kernels.host import n_cores
from tests.benchmarks.measure import Row, Section

PACKAGES = (
    "numpy",
    "jax",
    "scikit-learn",
    "scoringrules",
    "polars",
    "numpyro",
    "crowd-kit",
    "baycomp",
    "pymc",
    "nutpie",
)
NOTES = Path(__file__).with_name("notes.md")


def table(section: Section, rows: Sequence[Row]) -> str:
    """One section as Markdown."""
    lines = [f"## {section.title}", ""]
    if section.text:
        lines += [section.text, ""]
    lines += ["| work | time | ratio | quartiles of the ratio | goal |", "|---|---|---|---|---|"]
    for row in rows:
        spread = f"{row.low:.2f} to {row.high:.2f}{' (noisy)' if row.noisy else ''}"
        lines.append(f"| {row.name} | {_time(row.seconds)} | {row.ratio:.2f} | {spread} | {row.goal} |")
    if section.skipped:
        lines += ["", f"Not installed, skipped: {', '.join(section.skipped)}."]
    return "\n".join(lines) + "\n"


def page(parts: Sequence[str], earlier: str = "") -> str:
    """The whole page; what stands in an earlier one and was not measured again stays."""
    head = [
        "# Performance",
        "",
        "Written by `python -m tests.benchmarks`, a section at a time: all of a table is measured in one process on",
        "the same data, every work once a round, and reports medians; a ratio is to the first row of its table in the",
        "same round. A row is called noisy where the quartiles of its ratio are more than a quarter of it apart. Bold",
        "rows are probtruth's.",
        "",
        f"Machine: {machine()}. Load when the sections measured last ended: {os.getloadavg()[0]:.1f}.",
        "",
        f"Versions: {versions()}.",
        "",
    ]
    notes = NOTES.read_text(encoding="utf-8")
    sections = {_title(part): part for part in re.split(r"(?m)^(?=## )", earlier)[1:] if _title(part) != _title(notes)}
    sections |= {_title(part): part for part in parts}
    return "\n".join([*head, *(part.rstrip() + "\n" for part in sections.values()), notes])


def _title(part: str) -> str:
    return part.split("\n", 1)[0]


def machine() -> str:
    """Processor, cores and memory in words."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    return f"{name}, {n_cores()} cores, {memory:.0f} GiB of memory, {platform.system()}"


def versions() -> str:
    """Python and the packages that took part."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"
