"""What input larger than memory needs: open files, a bound on batches, and a place for what is half done."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.tables.batches import LEAST, MOST, rows_within
from probtruth.streaming.score_batches import Files, open_files
from probtruth.streaming.scratch_folder import scratch_folder
from probtruth.types.predictions import of_logits

DRAWS = 2500
"""Of each chain, as in `compare`."""


def n_bytes(memory: object) -> float:
    """The memory that batches may take, as a positive number."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
        raise InputError(f"memory={memory!r}", "a positive number of bytes", "Write memory=2e9.")
    return float(memory)


@contextmanager
def scratch(folder: str | os.PathLike[str] | None, client: object) -> Iterator[Callable[[str], object]]:
    """Where the losses of each pass are: a client, or a folder whose files are removed unless the block fails."""
    if client is not None:
        yield lambda name: client
    elif folder is None:
        with tempfile.TemporaryDirectory(prefix="probtruth-") as made:
            yield lambda name: Path(made) / name
    else:
        with scratch_folder(folder) as path:
            yield lambda name: path / name


def of_kind(files: Files) -> tuple[str, ...]:
    """The warning about logits that are plainly probabilities, by the first rows of each file."""
    if files.kind != "logits":
        return ()
    named = zip(files.models, files.tables, strict=True)
    firsts = ((name, table.read(table.cuts(LEAST)[0], files.labels)) for name, table in named if table.n_rows)
    return of_logits(name for name, first in firsts if check.surely_simplex(files.checked(first)))


def opened(files: Sequence[tuple[str, str | Path]], item: str, kind: str, memory: float, least: int = 1) -> Files:
    """The files of at least so many models, with as many rows to a batch as the memory allows."""
    if len(files) < least:
        raise InputError(f"{len(files)} models", f"at least {least}", "Add another model.")
    tables = open_files(files, item, kind, MOST)
    return replace(tables, size=rows_within(memory, len(tables.labels)))
