"""`probtruth check`: what each file would be used as, read as the commands read it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from probtruth.check import count, quote, shortlist
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.cli.reading import named_file
from probtruth.errors import InputError
from probtruth.io.formats import SCORE_TOOLS, LabelReading, MaybeText, ScoreReading
from probtruth.redaction import redacted

SHOWN = {"probabilities": "probabilities (predictions or soft labels)"}
LISTED = 12  # How many names of a kind are listed
# The facts that the first line counts.
NOUNS = {
    "n_annotations": "annotation",
    "n_votes": "vote",
    "models": "model",
    "tasks": "task",
    "n_items": "item",
    "labels": "label",
    "n_annotators": "annotator",
}


@dataclass(frozen=True)
class Checked:
    """What a file is, facts for --json, and lines of more."""

    kind: str
    facts: Mapping[str, Any]
    lines: Sequence[str] = ()

    def in_words(self) -> Iterator[str]:
        """The facts in words, and the names of models and labels."""
        said = [f"{self.kind} log" if self.kind in SCORE_TOOLS else SHOWN.get(self.kind, self.kind)]
        for fact, noun in NOUNS.items():
            if fact in self.facts:
                number = self.facts[fact]
                said.append(count(number if isinstance(number, int) else len(number), noun))
        yield ", ".join(said)
        for names in ("models", "labels"):
            if names in self.facts:
                yield f"  {names}: {shortlist(self.facts[names], LISTED)}"
        for line in self.lines:
            yield f"  {line}"


def check(
    context: opt.Context,
    reading: LabelReading,
    cells: opt.Cells,
    files: list[str],
    model: MaybeText = None,
    score: MaybeText = None,
    json: bool = False,
) -> None:
    """Validate files and print what would be used of them."""
    console = Console.of(context, json)
    rows: list[dict[str, Any]] = []
    faults: list[InputError] = []
    with console.progress("reading") as on_progress:
        for position, file in enumerate(files):
            on_progress(position, len(files))
            try:
                checked = _checked(file, reading, cells, ScoreReading(reading.item, model, score))
            except InputError as error:
                faults.append(error)
                continue
            first, *more = checked.in_words()
            console.show(f"{redacted(file)}: {first}", *more)
            rows.append({"file": redacted(file), "kind": checked.kind, **checked.facts})
    console.emit({"files": rows, "faults": [str(fault) for fault in faults]})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def _checked(file: str, reading: LabelReading, cells: opt.Cells, of_scores: ScoreReading) -> Checked:
    """What a file or folder is."""
    from probtruth.io.loaders.readers import format_of, read_label_file

    name, path = named_file(file)
    tool = format_of(path) if reading.format == "auto" else reading.format
    if tool in SCORE_TOOLS:
        return _log(tool, {name: path} if name else path)
    if tool == "table":
        how = replace(of_scores, replicate=reading.replicate, missing=reading.missing)
        return _table(path, reading, cells, how)
    kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
    return _labels(read_label_file(path, replace(reading, format=tool)), kinds.get(tool, f"{tool} export"))


def _table(path: str | Path, reading: LabelReading, cells: opt.Cells, how: ScoreReading) -> Checked:
    """What a table holds, by its kind."""
    from probtruth.io.kinds import Hard, LongScores, Soft, kind_of, score_kind
    from probtruth.io.table import opened
    from probtruth.io.vote_columns import vote_columns
    from probtruth.io.votes import votes_of
    from probtruth.line.inputs import reference_of

    table = opened(path)
    votes = vote_columns(table.columns)
    if votes is not None:
        return _votes(votes_of(table, votes))
    names = {how.column(role) for role in ("item", "model", "score")}
    if names <= set(table.columns) and isinstance(score_kind(table, how), LongScores):
        return _scores(table, how)
    try:
        kind = kind_of(table, reading)
    except InputError as error:
        item = reading.column("item") if reading.item is not None else _only_names(table)
        several = item not in table.columns or table.whole[0].get_column(item).is_duplicated().any()
        if several or (cells == opt.Cells() and error.expected.startswith("to know which")):
            raise
        return _probabilities(table, item, cells)
    if isinstance(kind, Soft):
        return _probabilities(table, reading.item, cells)
    known = reference_of(table, {}, reading)
    return _labels(known, "labels, one for each item" if isinstance(kind, Hard) else "annotations, long form")


def _only_names(table: Any) -> str:
    """The column of items: `item` or, where there is none, the one column of text."""
    from probtruth.io.tables.columns import of_numbers

    columns = table.columns
    texts = [*columns]
    for name in of_numbers(table.head[0], columns):
        texts.remove(name)
    return texts[0] if "item" not in columns and len(texts) == 1 else "item"


def _probabilities(table: Any, item: MaybeText, cells: opt.Cells) -> Checked:
    from probtruth.io.predictions import read_predictions

    read = read_predictions({redacted(table.name): table}, None, item, cells.kind, cells.renormalise)
    lines = [f"{count(rows, 'row')} divided by their sums" for _, rows, _, _ in read.audit.renormalised]
    if item is not None:
        lines.append(f"took the column {quote(item)} as the items")
    facts = {"n_items": len(read.index.items), "labels": list(read.index.labels)}
    return Checked("probabilities", facts, [*lines, *read.notes])


def _votes(votes: Any) -> Checked:
    facts = {"models": list(votes.models), "n_votes": len(votes.outcome)}
    if votes.prompts_named:
        facts["n_items"] = len(votes.items)
    if votes.annotator is not None:
        facts["n_annotators"] = len(votes.annotators)
    return Checked("votes on pairs of models", facts, votes.notes)


def _scores(table: Any, how: ScoreReading) -> Checked:
    from probtruth.io.scores import notes_in, read_scores
    from probtruth.io.tables import parquet_notes

    score = how.column("score")
    upward: bool | None = None
    with suppress(InputError):
        upward, *_ = notes_in(parquet_notes.of(table), score, None, table.name)
    way = f"which way {score!r} counts is not known: add --higher-is-better or --lower-is-better to `probtruth compare`"
    if upward is not None:
        way = f"{score}: {'higher' if upward else 'lower'} is better"
    replicate = "replicate" if how.replicate is None and "replicate" in table.columns else how.replicate
    columns = {"item": how.item, "model": how.model, "score": how.score, "replicate": replicate}
    scores = read_scores(table, **columns, missing=how.none, higher_is_better=upward or False)
    lines = [f"{quote(model)} lacks {count(lacks, 'item')}" for model, lacks, _ in scores.audit.by_model if lacks]
    facts = {"n_items": len(scores.items), "models": list(scores.models), "missing": len(scores.audit.missing)}
    return Checked("scores", {**facts, "higher_is_better": upward}, [*lines, way, *scores.notes])


def _labels(labels: Any, kind: str) -> Checked:
    """Annotations, or one known label for each item."""
    facts: dict[str, Any] = {"n_items": len(labels.index.items), "labels": list(labels.index.labels)}
    if hasattr(labels, "multiplicity"):
        facts["n_annotations"] = int(labels.multiplicity.sum())
    if labels.index.annotators:
        facts["n_annotators"] = len(labels.index.annotators)
    return Checked(kind, facts, getattr(labels, "notes", ()))


def _log(tool: str, files: Any) -> Checked:
    from probtruth.io.loaders.readers import listed_in

    log = listed_in(tool, files)
    filters = sorted({name for by_filter in log.of_tasks.values() for name in by_filter if name})
    facts = {"models": log.models, "tasks": log.tasks, "metrics": list(log.metrics), "filters": filters}
    lines = []
    if len(log.tasks) > 1 and filters:  # lm-eval
        lines.append(f"tasks: {shortlist(log.tasks, LISTED)}")
        for task, by_filter in islice(log.of_tasks.items(), LISTED):
            metrics = dict.fromkeys(chain(*by_filter.values()))
            words = f"{quote(task)}: metrics {shortlist(metrics)}"
            lines.append(f"{words}; filters {shortlist(by_filter)}" if len(by_filter) > 1 else words)
        lines.append("choose with --task TASK, --metric TASK=NAME and --filter TASK=NAME; else the first of each")
    else:
        lines.append(f"metrics: {shortlist(log.metrics, 20) or 'none that is a number'} (choose with --score)")
        if len(filters) > 1:
            lines.append(f"filters: {shortlist(filters, LISTED)} (choose with --filter)")
    return Checked(tool, {**facts, "n_items": sum(log.tasks.values())}, lines)
