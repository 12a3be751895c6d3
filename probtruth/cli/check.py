"""`probtruth check`: what each file would be used as, read as the commands read it."""

import sys
from dataclasses import replace
from itertools import islice
from typing import Any

from probtruth import check as checks
from probtruth.check import count, shortlist
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.cli.reading import named_file
from probtruth.errors import InputError
from probtruth.io.formats import SCORE_TOOLS, LabelReading, MaybeText, ScoreReading
from probtruth.redaction import redacted

SHOWN = {"probabilities": "probabilities (predictions or soft labels)"}
MOST_TASKS = 12  # How many tasks of a log are listed with their metrics


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
type Checked = tuple[str, dict[str, Any], list[str]]  # What a file is, facts for --json, and lines of more


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
                kind, facts, lines = _checked(file, reading, cells, (model, score))
            except InputError as error:
                faults.append(error)
                continue
            known = {name: value for name in NOUNS if (value := facts.get(name)) is not None}
            words = [f"{kind} log" if kind in SCORE_TOOLS else SHOWN.get(kind, kind)]
            words += [count(n if isinstance(n, int) else len(n), NOUNS[name]) for name, n in known.items()]
            names = [f"{name}: {shortlist(facts[name], 12)}" for name in ("models", "labels") if name in facts]
            console.show(f"{redacted(file)}: {', '.join(words)}", *(f"  {line}" for line in (*names, *lines)))
            rows.append({"file": redacted(file), "kind": kind, **facts})
    console.emit({"files": rows, "faults": [str(fault) for fault in faults]})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def _checked(file: str, reading: LabelReading, cells: opt.Cells, columns: tuple[MaybeText, MaybeText]) -> Checked:
    """What a file or folder is; `columns` are those of the models and scores of a table."""
    from probtruth.io.annotations import annotations_in
    from probtruth.io.table import opened
    from probtruth.io.tools import tool_of

    name, path = named_file(file)
    tool = tool_of(path) or "table" if reading.format == "auto" else reading.format
    if tool in SCORE_TOOLS:
        return _log(tool, {name: path} if name else path)
    if tool == "table":
        return _table(path, reading, cells, columns)
    kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
    return _labels(annotations_in(opened(path), replace(reading, format=tool)), kinds.get(tool, f"{tool} export"))


def _votes(votes: Any) -> Checked:
    facts = {"models": list(votes.models), "n_votes": len(votes.outcome)}
    if votes.prompts_named:
        facts["n_items"] = len(votes.items)
    if votes.annotator is not None:
        facts["n_annotators"] = len(votes.annotators)
    return "votes on pairs of models", facts, list(votes.notes)


def _table(path: Any, reading: LabelReading, cells: opt.Cells, of_scores: tuple[MaybeText, MaybeText]) -> Checked:
    """What a table holds, by its kind."""
    from probtruth.io.kinds import Board, Hard, LongScores, Soft, kind_of, score_kind
    from probtruth.io.predictions import read_predictions
    from probtruth.io.table import opened
    from probtruth.io.vote_columns import vote_columns
    from probtruth.io.votes import votes_of
    from probtruth.line.inputs import reference_of

    table = opened(path)
    how = ScoreReading(reading.item, *of_scores, replicate=reading.replicate, missing=reading.missing)
    votes = vote_columns(table.columns)
    if votes is not None:
        return _votes(votes_of(table, votes))
    try:
        of_models = score_kind(table, how)
    except InputError:
        of_models = None
    if isinstance(of_models, LongScores | Board):
        return _scores(table, how)
    try:
        kind = kind_of(table, reading)
    except InputError as error:
        item = reading.column("item") if reading.item is not None else _only_names(table)
        once = item in table.columns and not table.whole[0].get_column(item).is_duplicated().any()
        if not once:  # several rows of an item are votes
            raise
        try:
            read = read_predictions({redacted(str(path)): table}, None, item, cells.kind, cells.renormalise)
        except InputError as other:
            raise (error if cells == opt.Cells() and error.expected.startswith("to know which") else other) from None
    else:
        if not isinstance(kind, Soft):
            known = reference_of(table, {}, reading)
            return _labels(known, "labels, one for each item" if isinstance(kind, Hard) else "annotations, long form")
        read = read_predictions({redacted(str(path)): table}, None, reading.item, cells.kind, cells.renormalise)
    lines = [f"{count(rows, 'row')} divided by their sums" for _, rows, _, _ in read.audit.renormalised]
    if reading.item is None and "item" not in table.columns:
        lines.append(f"took the column {checks.quote(_only_names(table))} as the items")
    lines += read.notes
    return "probabilities", {"n_items": len(read.index.items), "labels": list(read.index.labels)}, lines


def _only_names(table: Any) -> str:
    """The column of items: `item` or, where there is none, the one column of text."""
    from probtruth.io.tables.columns import some_number

    frame, _ = table.head
    texts = [name for name in frame.columns if not some_number(frame, name)]
    return texts[0] if "item" not in frame.columns and len(texts) == 1 else "item"


def _scores(table: Any, how: ScoreReading) -> Checked:
    from probtruth.io.scores import notes_in, read_scores
    from probtruth.io.tables import parquet_notes

    score = how.column("score")
    try:
        upward, *_ = notes_in(parquet_notes.of(table), score, None, table.name)
    except InputError:
        upward = None
    named: dict[str, Any] = {role: getattr(how, role) for role in ("item", "model", "score", "replicate")}
    if how.replicate is None and "replicate" in table.columns:
        named["replicate"] = "replicate"
    scores = read_scores(table, **named, missing=how.none, higher_is_better=upward or False)
    way = (
        f"which way {score!r} counts is not known: add --higher-is-better or --lower-is-better to `probtruth compare`"
        if upward is None
        else f"{score}: {'higher' if upward else 'lower'} is better"
    )
    missing = len(scores.audit.missing)
    facts = {"n_items": len(scores.items), "models": list(scores.models), "missing": missing}
    lines = [f"{count(missing, 'item')} left out, without any score"] if missing else []
    for model, lacks, _ in scores.audit.by_model:
        lines += [f"{checks.quote(model)} lacks {count(lacks, 'item')}"] if lacks else []
    return "scores", {**facts, "higher_is_better": upward}, [*lines, way, *scores.notes]


def _labels(labels: Any, kind: str) -> Checked:
    """Annotations, or one known label for each item."""
    facts: dict[str, Any] = {"n_items": len(labels.index.items), "labels": list(labels.index.labels)}
    if hasattr(labels, "multiplicity"):
        facts |= {"n_annotations": int(labels.multiplicity.sum()), "n_annotators": labels.n_annotators}
    return kind, facts, list(getattr(labels, "notes", ()))


def _log(tool: str, files: Any) -> Checked:
    from probtruth.io.loaders.readers import listed_in

    log = listed_in(tool, files)
    by_filter = {name for own in log.of_tasks.values() for name in own if name}
    lines = [f"tasks: {shortlist(log.tasks, 12)}"] if len(log.tasks) > 1 else []
    if len(log.tasks) > 1 and by_filter:  # lm-eval
        for task, filters in islice(log.of_tasks.items(), MOST_TASKS):
            metrics = dict.fromkeys(name for names in filters.values() for name in names)
            words = f"{checks.quote(task)}: metrics {shortlist(metrics)}"
            lines.append(f"{words}; filters {shortlist(filters)}" if len(filters) > 1 else words)
        lines.append("choose with --task TASK, --metric TASK=NAME and --filter TASK=NAME; else the first of each")
    else:
        named = f"{shortlist(log.metrics, 20)} (choose with --score)" if log.metrics else "none that is a number"
        lines.append(f"metrics: {named}")
        if len(by_filter) > 1:
            lines.append(f"filters: {shortlist(sorted(by_filter), 12)} (choose with --filter)")
    facts = {"models": log.models, "tasks": log.tasks, "metrics": list(log.metrics), "filters": sorted(by_filter)}
    return tool, {**facts, "n_items": sum(log.tasks.values())}, lines
