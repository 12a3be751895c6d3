"""Scores of files larger than memory, written as a file."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from probtruth import frames
from probtruth.comparison.evidence.soundness import soundness, weighted_means
from probtruth.comparison.evidence.structure import Structure
from probtruth.errors import InputError
from probtruth.io.scores import Piece, notes_of, write_pieces
from probtruth.io.tables.parquet_notes import check_out
from probtruth.io.tables.soft_batches import read_many_soft
from probtruth.streaming.disk_arrays import Table
from probtruth.streaming.opening import n_bytes, opened, scratch
from probtruth.streaming.prepared import Prepared, prepare
from probtruth.types import Audit, Truth


@dataclass(frozen=True)
class Written:
    """What was written: the models' mean scores, the number of items, and what alignment by name left out."""

    means: Mapping[str, float]
    n_items: int
    audit: Audit


def score_files(
    truth: object,
    files: Mapping[str, object],
    out: object,
    *,
    folder: object = None,
    client: object = None,
    memory: object = 2e9,
    item: str = "item",
    kind: str = "probs",
    rule: object = "log",
    floor: object = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Written:
    """As `score`, for predictions in Parquet or Arrow files that need not fit into memory; writes the scores.

    Arguments: `truth` and `rule`, `floor` as in `score`, or the path of soft labels as in `evaluate_files`; `out` is
    the Parquet file that is written, with the columns item, model and score, as `probtruth score` writes it; `files`,
    `folder`, `client`, `memory`, `item`, `kind` and `on_progress` as in `evaluate_files`. With a client, the losses
    travel from the workers to this process.

    Returns: `means`, {model: mean score}, lower is better, infinite where an item's loss is; `n_items`, and the `audit`
    of what alignment by name left out.

    Errors: `InputError` as `score` and `read_predictions`, and where `out` cannot be written.

    >>> import pathlib, polars, tempfile
    >>> import probtruth as pt
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> polars.DataFrame({"item": ["x", "y"], "yes": [0.5, 0.25], "no": [0.5, 0.75]}).write_parquet(place / "a.parquet")
    >>> truth = pt.Truth.from_probs([[1, 0], [0, 1]], items=["x", "y"], labels=["yes", "no"])
    >>> written = pt.score_files(truth, {"a": place / "a.parquet"}, place / "scores.parquet")
    >>> round(written.means["a"], 4)
    0.4904
    """
    if isinstance(truth, str | Path):
        truth = read_many_soft(truth, item, None, n_bytes(memory))
    if not isinstance(truth, Truth):
        raise InputError(f"{type(truth).__name__}", "a Truth", "Use read_soft, infer_truth or Truth.from_probs.")
    check_out(out)
    tables = opened(list(files.items()), item, kind, n_bytes(memory))
    with scratch(folder, client) as place:
        ready = prepare(truth, tables, rule, floor)
        scored = ready.scored(Structure.ungrouped(ready.n_items), place("scores"), on_progress)
        facts, parts = ready.facts, scored.parts
        notes = notes_of(facts.rule, facts.higher_is_better, facts.known)
        with tempfile.TemporaryDirectory(prefix="probtruth-") as made:
            write_pieces(_pieces(ready, scored.tables(Path(made))), out, notes)
        found = weighted_means(parts, soundness(parts), np.ones(1))
    return Written(dict(zip(tables.models, found.tolist(), strict=True)), ready.n_items, facts.audit)


def _pieces(ready: Prepared, tables: Sequence[Table]) -> Iterator[Piece]:
    """All scores: model after model, items in the order of the reference."""
    names, size = frames.text(ready.scoring.reference.names), ready.scoring.files.size
    for model, table in zip(ready.scoring.files.models, tables, strict=True):
        for start in range(0, len(names), size):
            kept = ready.kept[start : start + size]
            yield names[start : start + size].filter(kept), model, table.read(start, start + size)[kept, 0]
