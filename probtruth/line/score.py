"""Scores of predictions in memory or in files, handed back or written as a file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from probtruth import check, frames
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.evidence import soundness, weighted_means
from probtruth.errors import InputError
from probtruth.io.scores import Piece, notes_of, write_pieces, write_scores
from probtruth.io.tables.parquet_notes import check_out
from probtruth.io.tables.read import Block, shown
from probtruth.io.tables.wide import CellKind
from probtruth.io.truth import read_many_soft
from probtruth.kernels.exact_sums import weighted_mean
from probtruth.line.inputs import Models, Reference, files_of, is_soft, predictions_of, reference_of
from probtruth.line.larger_than_memory import Room
from probtruth.scoring import device_losses
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import score as score_in_memory
from probtruth.streaming.disk_store import DiskParts, NumberFile
from probtruth.streaming.prepared import Prepared, of_kind, opened, prepare
from probtruth.streaming.prepared import scratch as scratch_store
from probtruth.streaming.scratch_folder import temporary_folder
from probtruth.types import Annotations, Audit, Scores, Truth
from probtruth.types.arguments import RuleName
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import distributed

Files = Mapping[str, str | Path | Block]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, repr=False)
class WrittenScores(Brief):
    """What was written: the models' mean scores, the number of items, and what alignment by name left out.

    `warnings` are those about the predictions.
    """

    means: Mapping[str, float]
    n_items: int
    audit: Audit
    warnings: tuple[str, ...] = ()


@overload
def score(
    predictions: Models,
    truth: Reference,
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    *,
    item: str = "item",
    kind: CellKind = "probs",
    renormalise: bool = False,
) -> Scores: ...


@overload
def score(
    predictions: Models,
    truth: Reference,
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    *,
    out: str | Path,
    item: str = "item",
    kind: CellKind = "probs",
    renormalise: bool = False,
    client: "distributed.Client | None" = None,
    memory: float | None = None,
    scratch: str | Path | None = None,
    on_progress: Progress | None = None,
) -> WrittenScores: ...


@check.checks_itself
def score(
    predictions: Models,
    truth: Reference,
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    *,
    out: str | Path | None = None,
    item: str = "item",
    kind: CellKind = "probs",
    renormalise: bool = False,
    client: "distributed.Client | None" = None,
    memory: float | None = None,
    scratch: str | Path | None = None,
    on_progress: Progress | None = None,
) -> Scores | WrittenScores:
    """The expected loss of every model on every item when the label is drawn from the truth.

    Formula: sum_k t_k loss(p, k). Under the estimand `distribution` t is the unsmoothed vote share of the item where
    there are votes (unbiased, whatever the number of votes), else the given probabilities; under `class` it is the
    posterior probability of each class. Items are matched by name; items that one side lacks are dropped for all
    models and stand in the audit.

    Arguments: `predictions` may be {model: array, dataframe or path}, and `truth` soft labels or labels in the same
    forms, as `evaluate` takes them (`item`, `kind`, `renormalise`); `rule` is a name (see `probtruth.rules.RULES`) or a
    `ScoringRule`; `floor` replaces every probability below it, which makes infinite losses finite and the rule
    improper: the result then says `proper=False`. `order` lists the labels from low to high for "ranked-probability"
    (numbers are ordered by value).

    With `out`, a Parquet file with the columns item, model and score is written, as `probtruth score` writes it. Then
    predictions in files need not fit into memory; `client`, `memory`, `scratch` and `on_progress` as in `evaluate`.

    Arrays of JAX are scored on their devices in their own type: float32 losses are off by less than K eps times the
    size of their terms (eps = 6e-8, K labels). All else is computed in float64.

    Returns: `Scores`, lower is better, in units of the rule (nats for "log"); infinite losses stay infinite. With
    `out`: `means`, {model: mean score}, `n_items` and `audit` of what was written.

    Errors: `InputError` for an unknown rule, a floor outside (0, 1/K), no item in common, labels that are text where
    the rule needs their order, or where `out` cannot be written.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4]], "b": [[0.9, 0.1]]})
    >>> pt.score(pred, pt.Truth.from_probs([[0.7, 0.3]])).values.round(4).tolist()
    [[0.6325], [0.7645]]
    """
    check.own_threads()
    room = Room(memory, client, scratch)
    files = files_of(predictions)
    if client is not None and (out is None or files is None):
        raise InputError(
            "client= with scores in memory", "predictions in files, and out=", "Give {model: path} and out=path."
        )
    if out is not None:
        check_out(out)
    streams = out is not None and files is not None and room.streams_predictions(files.values())
    room.refuse_renormalise(streams and renormalise)
    if streams and is_soft(truth, item):
        known: Annotations | Truth = read_many_soft(truth, item, None, room.n_bytes)
    else:
        known = reference_of(truth, predictions, item)
    if isinstance(known, Annotations):
        raise InputError(
            "annotations as the truth",
            "soft labels, or a probtruth.Truth",
            "Make it with infer_truth(annotations) (command line: probtruth truth FILE --out soft.parquet).",
            shown(truth) if isinstance(truth, str | Path) else None,
        )
    if out is not None and files is not None and streams:
        return _stream(files, known, get_rule(rule, order), floor, out, item, kind, room, on_progress)
    tables = predictions_of(predictions, item, kind, None, known.index, renormalise)
    scores = score_in_memory(tables if files is None else device_losses.placed(tables), known, rule, floor, order)
    if out is None:
        return scores
    write_scores(scores, out)
    weights = np.full(len(scores.items), 1 / len(scores.items))
    means = {name: weighted_mean(row, weights) for name, row in zip(scores.models, scores.values, strict=True)}
    return WrittenScores(means, len(scores.items), scores.audit, tables.warnings)


def _stream(
    files: Files,
    truth: Truth,
    rule: ScoringRule,
    floor: float | None,
    out: str | Path,
    item: str,
    kind: CellKind,
    room: Room,
    on_progress: Progress | None,
) -> WrittenScores:
    """Scores the files some rows at a time; losses that a cluster computes travel to this process."""
    opened_files = opened(list(files.items()), item, kind, room.n_bytes)
    with scratch_store(room.scratch, room.client) as store:
        ready = prepare(truth, opened_files, rule, floor)
        scored = ready.stored(Structure.ungrouped(ready.n_items), store("scores"), on_progress)
        opened_files.check_unchanged()
        facts, parts = ready.facts, scored.parts
        notes = notes_of(facts.rule, facts.higher_is_better, facts.known)
        with temporary_folder() as folder:
            held, n_items = folder / "scores", ready.reference.n_items
            tables = parts.losses if isinstance(parts, DiskParts) else parts.fetched(held, n_items)
            write_pieces(_pieces(ready, tables), out, notes)
        means = weighted_means(parts, soundness(parts), np.ones(1))
    named = dict(zip(facts.models, means.tolist(), strict=True))
    return WrittenScores(named, ready.n_items, facts.audit, of_kind(opened_files))


def _pieces(ready: Prepared, tables: Sequence[NumberFile]) -> Iterator[Piece]:
    """All scores: model after model, items in the order of the reference."""
    names, size = frames.text(ready.reference.names), ready.files.size
    for model, table in zip(ready.files.models, tables, strict=True):
        for start in range(0, len(names), size):
            complete = ready.complete[start : start + size]
            yield names[start : start + size].filter(complete), model, table.read(start, start + size)[complete, 0]
