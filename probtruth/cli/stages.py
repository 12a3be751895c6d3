"""`probtruth truth`: soft labels from annotations; `probtruth score`: scores of predictions against soft labels."""

from pathlib import Path
from typing import Any

from probtruth.check import MaybeNumber, count, literal
from probtruth.cli import options as opt
from probtruth.cli.console import Console, cache_compiled_code
from probtruth.io.formats import LabelReading, MaybeText

CSV_LACKS = (
    "CSV holds the probabilities alone: method, estimand and votes, which `score` needs for unbiased scores of "
    "opinions, are in Parquet only"
)  # The note on soft labels as CSV


def truth(
    console: Console,
    reading: LabelReading,
    file: str,
    method: MaybeText = None,
    estimand: MaybeText = None,
    exclude_annotator: list[str] | None = None,
    out: MaybeText = None,
    seed: int = 0,
) -> None:
    """Infer soft labels and how good annotators are. Without --out, print a summary only."""
    cache_compiled_code()
    from probtruth.frames import lookalikes
    from probtruth.io.annotations import annotations_in
    from probtruth.io.table import opened
    from probtruth.io.truth import check_soft_out, write_soft
    from probtruth.line.labelled import drifts, truth_dict, unsettled
    from probtruth.report import terminal
    from probtruth.truth.annotators import annotators
    from probtruth.truth.infer import infer_truth

    if out is not None:
        check_soft_out(out)
    with console.progress("reading annotations"):
        annotations = annotations_in(opened(file), reading)
        if exclude_annotator:
            annotations = annotations.without_annotators(exclude_annotator)
        annotations, unlabelled = annotations.annotated()
    notes = [*annotations.notes]
    if annotations.excluded:
        notes.append(f"{count(len(annotations.excluded), 'annotator')} left out as requested")
    if unlabelled:
        notes.append(f"{len(unlabelled)} items without annotations left out")
    with console.progress("inferring"):
        options: dict[str, Any] = {"method": method, "estimand": estimand, "seed": seed}
        inferred = infer_truth(annotations, **options, draws=0)
    quality = None if annotations.annotator is None else annotators(annotations)
    if out is not None:
        write_soft(inferred, out)
        if Path(out).suffix.lower() == ".csv":
            notes.append(CSV_LACKS)
        notes.append(f"soft labels of {inferred.n_items} items written to {out}")
    for note in (*lookalikes(annotations.index.labels, "label"), *unsettled(inferred), *drifts(inferred), *notes):
        console.note(note)
    known = truth_dict(inferred, quality)
    if out is None:
        console.show(*terminal.truth_summary(known))
    console.emit(known)


def score(
    console: Console,
    reading: LabelReading,
    cells: opt.Cells,
    truth: str,
    predictions: list[str],
    out: str,
    rule: str = "log",
    floor: MaybeNumber = None,
    each: str = "item",
    memory: MaybeText = None,
) -> None:
    """Score predictions against soft labels, or each annotator's. A row for each item (and annotator) and model."""
    cache_compiled_code()
    import numpy as np

    from probtruth.io.predictions import model_files, opened_models, read_predictions
    from probtruth.io.scores import write_scores
    from probtruth.io.tables.parquet_notes import check_parquet_out
    from probtruth.line.inputs import reference_of
    from probtruth.line.score import score, score_each
    from probtruth.scoring.rules import get_rule
    from probtruth.types import Index, Predictions, Truth
    from probtruth.types.arguments import ScoredUnit

    chosen = opt.chosen_rule(rule)
    check_parquet_out(out)
    files = opened_models(model_files(predictions))
    with console.progress("reading and scoring"):
        limit = opt.n_bytes(memory)
        item = reading.item
        known: Any = reference_of(truth, files, reading, memory=limit)
        read = []

        def reader(tables: Any, column: MaybeText, index: Index | None) -> Predictions:
            read.append(read_predictions(tables, index, column, cells.kind, cells.renormalise, memory=limit))
            return read[-1]

        if literal(each, ScoredUnit, "--each") == "annotation":
            scores = score_each(files, known, get_rule(chosen), floor, reader, item)
        else:
            index = known.index if isinstance(known, Truth) else None
            tables = reader(files, item, index)
            scores = score(tables, truth if index is None else known, chosen, floor, item=item)
    write_scores(scores, out)
    for tables in read:
        for note in (*tables.notes, *tables.warnings):
            console.note(note)
    for model, rows, low, high in scores.audit.renormalised:
        console.note(f"{rows} rows of {model!r} divided by their sums ({low:.6g} to {high:.6g}), as you chose")
    means = {name: float(np.nanmean(row)) for name, row in zip(scores.models, scores.values, strict=True)}
    console.note(f"scores of {len(means)} models on {len(scores.items)} items written to {out}")
    name = chosen if isinstance(chosen, str) else chosen.name
    for model, mean in means.items():
        console.show(f"{model}: {mean:.6g} mean {name} score")
    console.emit({"rule": name, "floor": floor, "n_items": len(scores.items), "models": means})
