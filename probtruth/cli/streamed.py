"""Input larger than memory: how much memory a command may take, and what it needs to stream its files."""

import hashlib
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probtruth.cli.cluster import client
from probtruth.cli.console import Console
from probtruth.errors import InputError

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def known_memory(option: str | None) -> float:
    """The memory that a run may take, in bytes: `2GB`, `500MB`; by default half of what is free."""
    from probtruth.line.larger_than_memory import Room

    if option is None:
        return Room().n_bytes
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", option, re.IGNORECASE)
    size = float(match[1]) * UNITS[match[2].upper()] if match else 0.0
    if not 0 < size < math.inf:
        raise InputError(f"--memory {option}", "a size such as 2GB or 500MB", "Leave it out for half of what is free.")
    return size


def too_large(files: Sequence[tuple[str, str]], memory: float) -> bool:
    """Whether predictions are streamed: all files can be, and one is a folder or together they exceed the memory."""
    from probtruth.line.larger_than_memory import Room

    return Room(memory).streams_predictions([path for _, path in files])


@contextmanager
def streaming(
    what: str, out: str, memory: float, dask: str | None, console: Console, doing: str
) -> Iterator[dict[str, Any]]:
    """The arguments of a streamed call: the folder for unfinished work, the client, the memory and the progress."""
    resumes = "if this is interrupted, the same command goes on where it stopped"
    console.note(
        f"streaming {what}, {memory / 1e9:.3g} GB for batches; {resumes if dask is None else f'on Dask ({dask})'}"
    )
    with client(dask) as cluster, console.progress(doing) as on_progress:
        yield {"scratch": _unfinished(out), "client": cluster, "memory": memory, "on_progress": on_progress}


def _unfinished(out: str) -> Path:
    """The folder beside the output from which an interrupted run goes on; each output has its own."""
    path = Path(os.path.abspath(out))
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return path.with_name(f".{path.name[:40]}.{digest[:12]}.unfinished")
