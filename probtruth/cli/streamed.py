"""Input larger than memory: how much memory a command may take, and what it needs to stream its files."""

import hashlib
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probtruth.cli import cluster, interrupts
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.io.tables.read

    type Table = str | probtruth.io.tables.read.Block
    """The path of a table, or some of its columns."""

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
LEAST_MEMORY = 1e9
"""A run with less is refused: the libraries, what they compile and the process that decodes files take most of it."""
OWN_MEMORY = 7e8
"""What a run takes of its memory without any input."""


PER_ITEM = 100
"""Bytes that an item takes beside the batches: its name, its soft label and where each model has it."""
CLASSES, TIMES = 3e8, 3
"""What the draws of classes take beside the annotations: so many times what reading these does, at most so much."""


@dataclass(frozen=True)
class Memory:
    """The bytes that input may take of what a run may; `option` is `--memory`, without which nothing is refused."""

    n_bytes: float
    option: str | None = None

    @classmethod
    def of(cls, option: str | None) -> "Memory":
        """From a size (`2GB`, `1500MB`); without one, half of what is free.

        Errors: `InputError` for what is no size, and for one that the program alone would take.
        """
        from probtruth.line.larger_than_memory import Room

        if option is None:
            return cls(Room().n_bytes)
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", option, re.IGNORECASE)
        size = float(match[1]) * UNITS[match[2].upper()] if match else 0.0
        if not 0 < size < math.inf:
            hint = "Leave it out for half of what is free."
            raise InputError(f"--memory {option}", "a size such as 2GB or 1500MB", hint)
        if size < LEAST_MEMORY:
            hint = f"The program takes some {OWN_MEMORY / 1e9:g} GB before it reads anything."
            raise InputError(f"--memory {option}", f"at least {LEAST_MEMORY / 1e9:g}GB", hint)
        return cls(max(size - OWN_MEMORY, 1.0), option)

    def need(self, size: float, what: str, hint: str, where: str | None = None) -> None:
        """Raises where so many bytes of input are more than `--memory` allows; `what` (with `{}`) takes them."""
        if self.option is not None and size > self.n_bytes:
            taken, allowed = (f"{(number + OWN_MEMORY) / 1e9:.3g} GB" for number in (size, self.n_bytes))
            raise InputError(what.format(f"some {taken}"), f"no more than the {allowed} of --memory", hint, where)

    def need_items(self, table: "Table") -> None:
        """Raises where soft labels do not fit, which batches of predictions cannot help."""
        from probtruth.io.tables.batches import can_stream, open_table

        if self.option is None:
            return
        if not can_stream(table):
            self.need_table(table, "Write it as Parquet")
            return
        opened = open_table(table)
        what = f"{opened.n_rows:,} items, which take {{}}"
        self.need(PER_ITEM * opened.n_rows, what, "Raise --memory, or split the items.", opened.name)

    def need_annotations(self, table: str, classes: bool) -> None:
        """Raises where annotations do not fit; before they are read. `classes`: true ones are inferred from them."""
        counts = "Write how many annotators gave each label, item by item"
        self.need_table(table, counts, (TIMES, CLASSES) if classes else (0, 0.0))

    def need_table(self, table: "Table", instead: str, beside: tuple[int, float] = (0, 0.0)) -> None:
        """Raises where a table that is read whole does not fit; before it is read.

        Arguments: `instead` is what the user can do in place of raising `--memory`; `beside` what is made of the table
        takes so many times as much, and no more than so many bytes.
        """
        from probtruth.io.tables.read import path_of, shown
        from probtruth.line.larger_than_memory import bytes_of_table

        path = path_of(table)
        if self.option is not None and path is not None:
            read = bytes_of_table(path)
            size = read + min(beside[0] * read, beside[1])
            what, hint = "a table that takes {} while it is read", f"{instead}, or raise --memory."
            self.need(size, what, hint, shown(path))

    def streams(self, files: Sequence[tuple[str, "Table"]]) -> bool:
        """Whether predictions are streamed: all files can be, and one is a folder or together they exceed the memory.

        Errors: `InputError` where they exceed what `--memory` allows and one of them cannot be streamed.
        """
        from probtruth.line.larger_than_memory import Room, bytes_whole

        tables = [table for _, table in files]
        if Room(self.n_bytes).streams_predictions(tables):
            return True
        what = "predictions that take {}, and not all as Parquet or Arrow"
        hint = "Write all of them as Parquet, which is read in batches, or raise --memory."
        self.need(bytes_whole(tables), what, hint)
        return False


@contextmanager
def streaming(
    what: str, out: str | None, memory: Memory, machine: opt.Machine, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """The arguments of a streamed call: the folder for unfinished work, the client, the memory and the progress."""
    resumes = "if this is interrupted, the same command goes on where it stopped"
    interrupts.LIMIT.resumes = out is not None and machine.dask is None
    if out is None:
        resumes = "with --out an interrupted run could go on where it stopped"
    where = resumes if machine.dask is None else f"on Dask ({machine.dask})"
    crew = cluster.Crew.of(machine, memory.n_bytes)
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
    streams: bool, what: str, out: str, memory: Memory, machine: opt.Machine, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """As `streaming` where the call streams; else the memory and the progress alone."""
    if streams:
        with streaming(what, out, memory, machine, console, doing) as how:
            yield how
    else:
        with console.progress(f"reading and {doing}") as on_progress:
            yield {"memory": memory.n_bytes, "on_progress": on_progress}


def _unfinished(out: str) -> Path:
    """The folder beside the output from which an interrupted run goes on; each output has its own."""
    path = Path(os.path.abspath(out))
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return path.with_name(f".{path.name[:40]}.{digest[:12]}.unfinished")
