"""Which files are read whole, and which some rows at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probtruth.errors import InputError
from probtruth.io.addresses import Address, Location, in_use, location
from probtruth.io.tables.batches import can_stream, has_several, n_bytes, open_table
from probtruth.io.tables.read import Block, guarded, members, path_of, regular
from probtruth.kernels.host import free_memory

SHARE = 0.5
"""Of the memory that is free, what a run takes unless it is told."""
EXPANSION = 8
"""Memory that predictions take for each byte of their Parquet or Arrow files, when they are read whole."""
LINE = {".csv": 65, ".tsv": 65, ".jsonl": 305, ".ndjson": 305}
"""Memory that a line of a text takes beside that, when a table is read whole; with tables of 39 to 302 MB, between
lines of 9 and 100 bytes, both together were 0.9 to 1.3 times what was taken."""
ROW = 260
"""Memory that a row of scores or annotations in Parquet or Arrow takes, when it is read whole."""
BYTES_PER_SCORE = 400
"""Memory that a row of a table of scores takes, when it is read whole."""


@dataclass(frozen=True)
class Room:
    """Where large input is worked on: `memory` in bytes (None: half of what is free), a Dask `client` whose workers do
    it, or the folder `scratch`, from which a run that was interrupted goes on."""

    memory: float | None = None
    client: Any = None
    scratch: str | Path | None = None

    @property
    def n_bytes(self) -> float:
        """The memory in bytes.

        Errors: `InputError` for what is no positive number.
        """
        memory = SHARE * free_memory() if self.memory is None else self.memory
        if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
            raise InputError(f"memory={memory!r}", "a positive number of bytes", "Write memory=2e9.")
        return float(memory)

    def streams_predictions(self, tables: Iterable[str | Path | Block]) -> bool:
        """Whether the files are read some rows at a time: on a cluster, several as one, or where they are too large."""
        tables = list(tables)
        self._refuse_secrets(tables)
        if self.client is not None or not all(can_stream(table) for table in tables):
            return self.client is not None
        return any(map(has_several, _paths(tables))) or bytes_whole(tables) > self.n_bytes

    def _refuse_secrets(self, tables: Iterable[str | Path | Block]) -> None:
        """Raises where workers of a cluster would need a secret of this process: they have their own, or none."""
        if self.client is None:
            return
        for table in map(path_of, tables):
            if isinstance(table, Address) and (table.secret or in_use().values):
                raise InputError(
                    "[storage_options]" if in_use().values else "an address with a user or a query",
                    "no secrets of this machine where workers of Dask read",
                    "Give the workers credentials in their own environment, or leave Dask out.",
                    str(table),
                )

    def refuse_renormalise(self, wanted: bool) -> None:
        """Raises where rows of predictions that are streamed are to be divided by their sums."""
        if wanted:
            raise InputError(
                "renormalise with predictions that are streamed",
                "predictions that fit into memory",
                "Renormalise the files first, or give more memory (memory=; command line: --memory).",
            )

    def streams_scores(self, path: str | Path) -> bool:
        """The same for a table of scores."""
        self._refuse_secrets([path])
        if self.client is not None or not can_stream(path):
            return self.client is not None
        return has_several(location(path)) or BYTES_PER_SCORE * open_table(path).n_rows > self.n_bytes


def _paths(tables: Iterable[str | Path | Block]) -> list[Location]:
    """The files; one from which several models come counts once."""
    tables = list(tables)
    blocks = {table.joined: table.stored for table in tables if isinstance(table, Block)}
    return [*blocks.values(), *(location(table) for table in tables if not isinstance(table, Block))]


def bytes_whole(tables: Iterable[str | Path | Block]) -> int:
    """Memory that predictions take while they are read whole; CSV and JSON Lines take 5 to 6 times their own bytes."""
    paths = _paths(tables)
    streamed = sum(n_bytes(path) for path in paths if can_stream(path))
    whole = [path for path in paths if isinstance(path, Path) and path.exists() and not can_stream(path)]
    return EXPANSION * (streamed + sum(path.stat().st_size for path in whole))


def bytes_of_table(path: Location) -> int:
    """Memory that a table of scores, annotations or soft labels takes while it is read whole.

    Of text, the lines are counted first. What is not known before it is read counts nothing: other files than tables,
    and text at an address.
    """
    if can_stream(path):
        return ROW * open_table(path).n_rows
    return sum(_bytes_of_text(file) for file in members(path) if isinstance(file, Path) and file.suffix.lower() in LINE)


CHUNK = 1 << 20
"""Bytes of a text that are looked through at once."""


def _bytes_of_text(file: Path) -> int:
    regular(file)

    def count() -> int:
        with file.open("rb") as stream:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(CHUNK), b""))

    return EXPANSION * file.stat().st_size + LINE[file.suffix.lower()] * guarded(file, count)
