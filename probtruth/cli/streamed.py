"""Input larger than memory: how much memory a command may take, and what it needs to stream its files.

The Dask cluster that `--dask` names: one that runs somewhere, or workers of this machine.
"""

import hashlib
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probtruth.cli import time_limit
from probtruth.cli.console import Console
from probtruth.errors import InputError, MissingExtraError
from probtruth.kernels.cores import n_cores

LOCAL = "local"
ONE_CORE = {"POLARS_MAX_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""What limits a worker, and the process that decodes for it, to one core: there is a worker for each."""
SECONDS = 10
"""How long a scheduler may take to answer."""


@contextmanager
def client(address: str | None) -> Iterator[Any]:
    """A client of the scheduler at an address, of a worker for each core of this machine (`local`), or None."""
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "got --dask without the package distributed, expected it installed. Hint: pip install 'probtruth[dask]'"
        ) from None
    if address == LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=n_cores(),
                threads_per_worker=1,
                env=ONE_CORE,
                dashboard_address="127.0.0.1:0",
                silence_logs=40,
            ) as cluster,
            distributed.Client(cluster) as connected,
        ):
            yield connected
        return
    try:
        connected = distributed.Client(address, timeout=SECONDS)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = str(error).split("\n")[0]
        raise InputError(
            f"--dask {address} ({reason})", f"the address of a Dask scheduler, or {LOCAL!r}", "Write tcp://HOST:8786."
        ) from None
    with connected:
        yield connected


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


PER_ITEM = 100
"""Bytes that an item takes beside the batches: its name, its soft label and where each model has it."""


def need_items(path: str, memory: float) -> None:
    """Raises where the items of a file of soft labels do not fit into the memory, which batches cannot help."""
    from probtruth.io.tables.batches import can_stream, open_table

    n_items = open_table(path).n_rows if can_stream(path) else 0
    if PER_ITEM * n_items > memory:
        raise InputError(
            f"{n_items:,} items, which take some {(PER_ITEM * n_items + OWN_MEMORY) / 1e9:.3g} GB",
            f"no more than the {(memory + OWN_MEMORY) / 1e9:.3g} GB of --memory",
            "Raise --memory, or split the items.",
            path,
        )


def too_large(files: Sequence[tuple[str, str]], memory: float) -> bool:
    """Whether predictions are streamed: all files can be, and one is a folder or together they exceed the memory."""
    from probtruth.line.larger_than_memory import Room

    return Room(memory).streams_predictions([path for _, path in files])


@contextmanager
def streaming(
    what: str, out: str | None, memory: float, dask: str | None, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """The arguments of a streamed call: the folder for unfinished work, the client, the memory and the progress."""
    resumes = "if this is interrupted, the same command goes on where it stopped"
    time_limit.LIMIT.resumes = out is not None and dask is None
    if out is None:
        resumes = "with --out an interrupted run could go on where it stopped"
    console.note(
        f"streaming {what}, {memory / 1e9:.3g} GB for batches; {resumes if dask is None else f'on Dask ({dask})'}"
    )
    with client(dask) as cluster, console.progress(doing) as on_progress:
        yield {
            "scratch": None if out is None else _unfinished(out),
            "client": cluster,
            "memory": memory,
            "on_progress": on_progress,
        }


def _unfinished(out: str) -> Path:
    """The folder beside the output from which an interrupted run goes on; each output has its own."""
    path = Path(os.path.abspath(out))
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return path.with_name(f".{path.name[:40]}.{digest[:12]}.unfinished")
