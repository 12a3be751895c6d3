"""When files are too large to be held in memory, and the run that streams them."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probtruth.cli.console import Console
from probtruth.cli.logs import Reading, tool_of
from probtruth.errors import InputError

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def known_memory(given: str | None) -> float:
    """The memory that a run may take, in bytes: `2GB`, `500MB`; by default half of what is free."""
    from probtruth.line.larger_than_memory import Room

    if given is None:
        return Room().n_bytes
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", given, re.IGNORECASE)
    size = float(found[1]) * UNITS[found[2].upper()] if found else 0.0
    if not 0 < size < math.inf:
        raise InputError(f"--memory {given}", "a size such as 2GB or 500MB", "Leave it out for half of what is free.")
    return size


def too_large(files: Sequence[tuple[str, str]], memory: float) -> bool:
    """Whether the files are streamed: all of a kind that can be, and a folder among them or too large to be held."""
    from probtruth.line.larger_than_memory import Room

    return Room(memory).streams_predictions([path for _, path in files])


def streams_scores(
    files: Sequence[str],
    columns: Mapping[str, Any],
    reading: Reading,
    options: Mapping[str, Any],
    memory: float,
    dask: str | None = None,
) -> bool:
    """Whether scores are streamed: a folder or too large a table, and nothing is asked that needs it whole.

    Replicates, and other likelihoods than the default, need it whole.

    Errors: `InputError` where that is asked of a cluster, or another file.
    """
    from probtruth.io.tables.batches import can_stream
    from probtruth.line.larger_than_memory import Room

    whole = columns["replicate"] is not None or options["likelihood"] != "auto" or options["replicates"] is not None
    if whole or len(files) > 1 or not can_stream(files[0]) or tool_of(files, reading.format) != "table":
        if dask is not None:
            raise InputError(
                "--dask for scores that are compared in memory",
                "one table in Parquet or Arrow, or a folder of such files, without replicates and another likelihood",
                "Leave --dask out.",
            )
        return False
    if dask is not None:
        return True
    return Room(memory).streams_scores(files[0])


def unfinished(out: str) -> Path:
    """The folder beside the output in which an interrupted run finds what was finished."""
    place = Path(os.path.abspath(out))
    return place.with_name(f".{place.name[:40]}.unfinished")


def note(console: Console, what: str, memory: float, dask: str | None = None) -> None:
    """Says that something is streamed, and what becomes of it if it is interrupted."""
    where = "if this is interrupted, the same command goes on where it stopped" if dask is None else f"on Dask ({dask})"
    console.note(f"streaming {what}, {memory / 1e9:.3g} GB for batches; {where}")


def stream(
    reference: Any,
    files: Sequence[tuple[str, str]],
    item: str,
    kind: str,
    memory: float,
    specs: Mapping[str, str | None],
    settings: Mapping[str, Any],
    out: str,
    console: Console,
    dask: str | None = None,
) -> Any:
    """The result of streaming the files; what is finished stays beside the output until all of it is.

    Arguments: `dask` names a cluster whose workers read and score the files instead.
    """
    from probtruth import check
    from probtruth.cli.cluster import client
    from probtruth.io.groups import read_groups
    from probtruth.line.evaluate import evaluate

    check.unique([name for name, _ in files], "model")
    given: dict[str, Any] = {
        f"{what}s": read_groups(spec, None, item, what) for what, spec in specs.items() if spec is not None
    }
    note(console, f"{len(files)} models' files", memory, dask)
    with client(dask) as cluster, console.progress("scoring, then sampling") as on_progress:
        return evaluate(
            reference,
            dict(files),
            scratch=unfinished(out),
            client=cluster,
            memory=memory,
            item=item,
            kind=kind,
            **given,
            **settings,
            on_progress=on_progress,
        )


def stream_scores(
    reference: Any,
    files: Sequence[tuple[str, str]],
    memory: float,
    options: Mapping[str, Any],
    out: str,
    console: Console,
    dask: str | None = None,
) -> tuple[Mapping[str, float], int]:
    """Writes the scores of the files; the models' means, and the number of items."""
    from probtruth import check
    from probtruth.cli.cluster import client
    from probtruth.line.score import score

    check.unique([name for name, _ in files], "model")
    note(console, f"{len(files)} models' files", memory, dask)
    with client(dask) as cluster, console.progress("scoring") as on_progress:
        written = score(
            dict(files),
            reference,
            out=out,
            scratch=unfinished(out),
            client=cluster,
            memory=memory,
            **options,
            on_progress=on_progress,
        )
    return written.means, written.n_items


def stream_comparison(
    path: str,
    columns: Mapping[str, Any],
    higher: bool | None,
    options: Mapping[str, Any],
    memory: float,
    out: str,
    console: Console,
    dask: str | None = None,
) -> Any:
    """The comparison of a table of scores that is streamed; `dask` names a cluster whose workers read the scores."""
    from probtruth.cli.cluster import client
    from probtruth.line.result import Result

    names = {what: column for what, column in columns.items() if what != "replicate"}
    asked = {what: options[what] for what in ("rope", "engine", "strict", "seed")}
    note(console, path, memory, dask)
    with client(dask) as cluster, console.progress("reading, then sampling") as on_progress:
        return Result.of_scores(
            path,
            scratch=unfinished(out),
            client=cluster,
            memory=memory,
            **names,
            higher_is_better=higher,
            **asked,
            on_progress=on_progress,
        )


def means_of(scores: Any) -> Mapping[str, float]:
    """The models' mean scores, from sums that do not depend on the order of the items."""
    import numpy as np

    from probtruth.kernels.exact_sums import weighted_mean

    weights = np.full(len(scores.items), 1 / len(scores.items))
    return {name: weighted_mean(row, weights) for name, row in zip(scores.models, scores.values, strict=True)}
