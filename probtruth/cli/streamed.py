"""Input larger than memory: how much memory a command may take, and what it needs to stream its files.

The Dask cluster that `--dask` names: one that runs somewhere, or workers of this machine.
"""

import hashlib
import logging
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probtruth.cli import interrupts
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.errors import InputError, MissingExtraError
from probtruth.kernels.host import n_cores

if TYPE_CHECKING:
    import probtruth.io.tables.read

LOCAL = "local"
LOOPBACK = "127.0.0.1"
ONE_CORE = {"POLARS_MAX_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""What limits a worker, and the process that decodes for it, to one core: there is a worker for each."""


@contextmanager
def workers(machine: opt.Machine, console: Console) -> Iterator[Any]:
    """Workers of the scheduler that `--dask` names, or one for each core of this machine (`local`); None without it.

    Errors: `InputError` where there is no scheduler of Dask, no worker, or no package to speak with them.
    """
    if machine.dask is None:
        yield None
        return
    if not 0 < machine.dask_timeout < math.inf:
        raise InputError(f"--dask-timeout {machine.dask_timeout:g}", "seconds above 0", "Leave it out for 30.")
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "got --dask without the package distributed, expected it installed. Hint: pip install 'probtruth[dask]'"
        ) from None
    from probtruth.streaming.dask_workers import Workers

    logger = logging.getLogger("distributed")
    level, started = logger.level, _local if machine.dask == LOCAL else _at
    logger.setLevel(logging.CRITICAL + 1)  # what it says, one message says
    try:
        with started(distributed, machine, console) as connected:
            yield Workers(connected, machine.dask_timeout)
    finally:
        logger.setLevel(level)


@contextmanager
def _local(distributed: Any, machine: opt.Machine, console: Console) -> Iterator[Any]:
    """A client of workers of this machine, which listen on loopback and ask for a certificate made for this run."""
    try:
        security = distributed.Security.temporary()
    except ImportError:
        security = None
        console.note(
            "any user of this machine can connect to the workers while they run, and run code as you: "
            "pip install 'probtruth[dask]' brings the package cryptography, which closes them"
        )
    with (
        distributed.LocalCluster(
            n_workers=n_cores(),
            threads_per_worker=1,
            env=ONE_CORE,
            host=LOOPBACK,
            protocol="tcp://" if security is None else "tls://",
            security=security,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


@contextmanager
def _at(distributed: Any, machine: opt.Machine, console: Console) -> Iterator[Any]:
    """A client of the scheduler at an address, with Dask's own settings of security."""
    from probtruth.streaming.dask_workers import NoAnswer, within

    seconds = machine.dask_timeout
    try:
        connected = within(
            seconds + 1, partial(distributed.Client, machine.dask, timeout=seconds, set_as_default=False)
        )
    except (NoAnswer, OSError, ValueError, TypeError, RuntimeError, ImportError) as error:  # TimeoutError is an OSError
        reason = str(error).split("\n")[0] or "what is there does not answer as a scheduler does"
        raise InputError(
            f"--dask {machine.dask} ({reason})",
            f"the address of a Dask scheduler, or {LOCAL!r}",
            "Write tcp://HOST:8786; tls:// needs the certificates that Dask's settings name (distributed.comm.tls).",
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


def need_items(table: "str | probtruth.io.tables.read.Block", memory: float) -> None:
    """Raises where the items of a file of soft labels do not fit into the memory, which batches cannot help."""
    from probtruth.io.tables.batches import can_stream, open_table

    if not can_stream(table):
        return
    opened = open_table(table)
    need = PER_ITEM * opened.n_rows
    if need > memory:
        raise InputError(
            f"{opened.n_rows:,} items, which take some {(need + OWN_MEMORY) / 1e9:.3g} GB",
            f"no more than the {(memory + OWN_MEMORY) / 1e9:.3g} GB of --memory",
            "Raise --memory, or split the items.",
            opened.name,
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
            f"predictions that take some {(need + OWN_MEMORY) / 1e9:.3g} GB, and not all as Parquet or Arrow",
            f"no more than the {(memory + OWN_MEMORY) / 1e9:.3g} GB of --memory",
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
    console.note(f"streaming {what}, {memory / 1e9:.3g} GB for batches; {where}")
    with workers(machine, console) as cluster, console.progress(doing) as on_progress:
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
