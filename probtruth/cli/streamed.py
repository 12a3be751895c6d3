"""Input larger than memory: how much memory a command may take, and what it needs to stream its files."""

import hashlib
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probtruth.cli import cluster, interrupts
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.io.tables.read

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
LEAST_MEMORY = 1e9
"""A run with less is refused: the libraries, what they compile and the process that decodes files take most of it."""
OWN_MEMORY = 7e8
"""What a run takes of its memory without any input."""


def known_memory(option: str | None) -> float:
    """The bytes that input may take of the memory that a run may (`2GB`, `1500MB`); by default half of what is free."""
    from probtruth.line.larger_than_memory import Room

    if option is None:
        return Room().n_bytes
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", option, re.IGNORECASE)
    size = float(match[1]) * UNITS[match[2].upper()] if match else 0.0
    if not 0 < size < math.inf:
        raise InputError(f"--memory {option}", "a size such as 2GB or 1500MB", "Leave it out for half of what is free.")
    if size < LEAST_MEMORY:
        raise InputError(
            f"--memory {option}",
            f"at least {LEAST_MEMORY / 1e9:g}GB",
            f"The program takes some {OWN_MEMORY / 1e9:g} GB before it reads anything.",
        )
    return max(size - OWN_MEMORY, 1.0)


def _whole(size: float) -> str:
    """The memory of a run whose input takes so many bytes."""
    return f"{(size + OWN_MEMORY) / 1e9:.3g} GB"


PER_ITEM = 100
"""Bytes that an item takes beside the batches: its name, its soft label and where each model has it."""


def need_items(table: "str | probtruth.io.tables.read.Block", memory: float, option: str | None) -> None:
    """Raises where soft labels do not fit into what `--memory` allows, which batches of predictions cannot help."""
    from probtruth.io.tables.batches import can_stream, open_table

    if option is None:
        return
    if not can_stream(table):
        need_table(table, memory, option, "Write it as Parquet")
        return
    opened = open_table(table)
    need = PER_ITEM * opened.n_rows
    if need > memory:
        raise InputError(
            f"{opened.n_rows:,} items, which take some {_whole(need)}",
            f"no more than the {_whole(memory)} of --memory",
            "Raise --memory, or split the items.",
            opened.name,
        )


CLASSES, TIMES = 3e8, 3
"""What the draws of classes take beside the annotations: so many times what reading these does, at most so much."""


def need_annotations(table: str, memory: float, option: str | None, classes: bool) -> None:
    """Raises where annotations would take more than `--memory` allows; before they are read.

    Arguments: `classes` is whether true classes are inferred from them.
    """
    counts = "Write how many annotators gave each label, item by item"
    need_table(table, memory, option, counts, (TIMES, CLASSES) if classes else (0, 0.0))


def need_table(
    table: "str | probtruth.io.tables.read.Block",
    memory: float,
    option: str | None,
    instead: str,
    beside: tuple[int, float] = (0, 0.0),
) -> None:
    """Raises where a table that is read whole would take more than `--memory` allows; before it is read.

    Arguments: `instead` is what the user can do in place of raising `--memory`; `beside` what is made of the table
    takes so many times as much, and no more than so many bytes.
    """
    from probtruth.io.tables.read import path_of, shown
    from probtruth.line.larger_than_memory import bytes_of_table

    path = path_of(table)
    need = 0.0 if option is None or path is None else bytes_of_table(path)
    need += min(beside[0] * need, beside[1])
    if need > memory:
        raise InputError(
            f"a table that takes some {_whole(need)} while it is read",
            f"no more than the {_whole(memory)} of --memory",
            f"{instead}, or raise --memory.",
            shown(path),
        )


def too_large(
    files: "Sequence[tuple[str, str | probtruth.io.tables.read.Block]]", memory: float, option: str | None
) -> bool:
    """Whether predictions are streamed: all files can be, and one is a folder or together they exceed the memory.

    Errors: `InputError` where they exceed what `--memory` allows and one of them cannot be streamed.
    """
    from probtruth.line.larger_than_memory import Room, bytes_whole

    tables = [table for _, table in files]
    if Room(memory).streams_predictions(tables):
        return True
    need = bytes_whole(tables)
    if option is not None and need > memory:
        raise InputError(
            f"predictions that take some {_whole(need)}, and not all as Parquet or Arrow",
            f"no more than the {_whole(memory)} of --memory",
            "Write all of them as Parquet, which is read in batches, or raise --memory.",
        )
    return False


@contextmanager
def streaming(
    what: str, out: str | None, memory: float, machine: opt.Machine, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """The arguments of a streamed call: the folder for unfinished work, the client, the memory and the progress."""
    resumes = "if this is interrupted, the same command goes on where it stopped"
    interrupts.LIMIT.resumes = out is not None and machine.dask is None
    if out is None:
        resumes = "with --out an interrupted run could go on where it stopped"
    where = resumes if machine.dask is None else f"on Dask ({machine.dask})"
    crew = cluster.Crew.of(machine, memory)
    console.note(f"streaming {what}, {crew.batches / 1e9:.3g} GB for batches; {where}")
    with cluster.workers(machine, crew, console) as client, console.progress(doing) as on_progress:
        yield {
            "scratch": None if out is None else _unfinished(out),
            "client": client,
            "memory": crew.batches,
            "on_progress": on_progress,
        }


@contextmanager
def working(
    streams: bool, what: str, out: str, memory: float, machine: opt.Machine, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """As `streaming` where the call streams; else the memory and the progress alone."""
    if streams:
        with streaming(what, out, memory, machine, console, doing) as how:
            yield how
    else:
        with console.progress(f"reading and {doing}") as on_progress:
            yield {"memory": memory, "on_progress": on_progress}


def _unfinished(out: str) -> Path:
    """The folder beside the output from which an interrupted run goes on; each output has its own."""
    path = Path(os.path.abspath(out))
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return path.with_name(f".{path.name[:40]}.{digest[:12]}.unfinished")
