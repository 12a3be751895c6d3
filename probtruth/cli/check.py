"""`probtruth check`: what each file would be used as, read as the commands read it."""

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from probtruth.check import count, quote, shortlist
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.cli.reading import named_file
from probtruth.errors import InputError
from probtruth.io.formats import SCORE_TOOLS, LabelReading, MaybeText, ScoreReading
from probtruth.redaction import redacted

LISTED = 12  # How many names are listed
FORMS = (
    "annotations (columns 'item', 'annotator', 'label', or counts of votes by label), scores ('item', 'model', "
    "'score', or a column for each model), votes ('model_a', 'model_b', 'winner') or probabilities by label"
)
type Checked = tuple[str, Sequence[str]]  # What a file is, and lines of what it holds


def check(
    console: Console,
    reading: LabelReading,
    cells: opt.Cells,
    files: list[str],
    model: MaybeText = None,
    score: MaybeText = None,
) -> None:
    """Validate files and print what would be used of them."""
    rows = []
    faults = []
    how = {"replicate": reading.replicate, "annotator": reading.annotator, "missing": reading.missing}
    columns = ScoreReading(reading.item, model, score, **how)
    with console.progress("reading") as on_progress:
        for position, file in enumerate(files):
            on_progress(position, len(files))
            try:
                kind, lines = _checked(file, reading, cells, columns)
            except InputError as error:
                faults.append(error)
                continue
            console.show(f"{redacted(file)}: {kind}", *(f"  {line}" for line in lines))
            rows.append({"file": redacted(file), "kind": kind, "holds": lines})
    console.emit({"files": rows, "faults": [str(fault) for fault in faults]})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def _checked(file: str, reading: LabelReading, cells: opt.Cells, columns: ScoreReading) -> Checked:
    """What a file or folder is; `columns` are those of a table of scores."""
    from probtruth.io.annotations import annotations_in
    from probtruth.io.table import opened
    from probtruth.io.tools import tool_of

    name, path = named_file(file)
    tool = tool_of(path) or "table" if reading.format == "auto" else reading.format
    if tool in SCORE_TOOLS:
        return f"{tool} log", _of_log(tool, {name: path} if name else path)
    if tool in ("table", "soft"):
        return _table(path, name, reading, cells, columns)
    kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
    labels = annotations_in(opened(path), replace(reading, format=tool))
    return kinds.get(tool, f"{tool} export"), [repr(labels), *labels.notes]


def _table(path: str | Path, name: str, reading: LabelReading, cells: opt.Cells, columns: ScoreReading) -> Checked:
    """What a table, perhaps with a name, holds, by its kind."""
    from probtruth.frames import cells as cells_of
    from probtruth.io.kinds import Board, Hard, LongScores, Soft, kind_of, score_kind
    from probtruth.io.scores import of_runs, scores_of
    from probtruth.io.table import opened
    from probtruth.io.tables.columns import is_numeric
    from probtruth.io.vote_columns import Votes
    from probtruth.io.votes import votes_of
    from probtruth.line.inputs import reference_of

    table = opened(path)
    of_models = None
    with suppress(InputError):
        of_models = score_kind(table, columns)
    if isinstance(of_models, Votes):
        votes = votes_of(table, of_models)
        return "votes on pairs of models", [repr(votes), *votes.notes]
    if columns.replicate is None and "replicate" in table.columns:
        columns = replace(columns, replicate="replicate")
    if isinstance(of_models, LongScores | Board):
        return "scores", _of_scores(partial(scores_of, table, of_models), columns)
    if columns.column("score") in table.columns and reading.column("label") not in table.columns:
        return "scores of one model", _of_scores(partial(of_runs, {name or redacted(table.name): table}), columns)
    try:
        kind = kind_of(table, reading)
    except InputError as error:
        frame = table.whole[0]
        item = reading.column("item")
        texts = [column.name for column in frame if not is_numeric(column)]
        if item not in frame.columns and reading.item is None and len(texts) == 1:
            item = texts[0]  # the one column of text
        several = item not in frame.columns or cells_of(frame, item).is_duplicated().any()
        several = several or len({*texts, item}) == frame.width
        if error.got.startswith("the columns ") and several:
            hint = f"For scores, name the columns with --item, --model, --score. Annotations: {error.hint}"
            raise InputError(error.got, FORMS, hint, table.name) from None
        if several or (cells == opt.Cells() and error.expected.startswith("to know which")):
            raise
        return _probabilities(table, item, cells)
    if isinstance(kind, Soft):
        return _probabilities(table, reading.item, cells)
    labels = reference_of(table, {}, reading)
    form = "labels, one for each item" if isinstance(kind, Hard) else "annotations, long form"
    return form, [repr(labels), *getattr(labels, "notes", ())]


def _probabilities(table: Any, item: MaybeText, cells: opt.Cells) -> Checked:
    from probtruth.io.predictions import read_predictions
    from probtruth.io.tables.columns import is_numeric

    try:
        read = read_predictions({redacted(table.name): table}, None, item, cells.kind, cells.renormalise)
    except InputError as error:
        items = "item" if item is None else item
        numbers = [column for column in table.whole[0] if column.name != items and is_numeric(column)]
        fractions = any((column.cast(float, strict=False) % 1 != 0).any() for column in numbers)
        may_be_scores = "renormalise" in error.hint or "look like logits" in error.hint
        if not may_be_scores or len(numbers) < 2 or not fractions:
            raise
        command = f"probtruth compare FILE --item {shlex.quote(items)} --format wide"
        hint = f"If its columns are models, these are scores: {command}. {error.hint}"
        raise InputError(error.got, error.expected, hint, error.where) from None
    lines = [f"{count(rows, 'row')} divided by their sums" for _, rows, _, _ in read.audit.renormalised]
    if item is not None:
        lines.append(f"took the column {quote(item)} as the items")
    return "probabilities (predictions or soft labels)", [repr(read), *lines, *read.notes]


def _of_scores(read: Callable[[ScoreReading], Any], how: ScoreReading) -> list[str]:
    try:
        scores = read(how)
        said = repr(scores)
    except InputError as error:
        if not error.expected.startswith("to know whether more"):
            raise
        scores = read(replace(how, higher_is_better=False))
        unknown = "which way is not known (--higher-is-better or --lower-is-better)"
        said = repr(scores).replace("lower is better", unknown)
    lacking = [f"{quote(model)} lacks {count(lacks, 'item')}" for model, lacks, _ in scores.audit.by_model if lacks]
    return [said, *lacking, *scores.notes]


def _of_log(tool: str, files: Any) -> list[str]:
    from probtruth.io.loaders.readers import READERS
    from probtruth.types.index import sort_names

    samples = READERS[tool].samples(files)
    models = dict.fromkeys(one.model for one in samples)
    lines = [f"{count(len(models), 'model')}: {shortlist(models, LISTED)}"]
    tasks = sort_names({one.task for one in samples})
    for task in tasks[:LISTED]:
        of_task = [one for one in samples if one.task == task]
        metrics = dict.fromkeys(chain(*(one.values for one in of_task)))
        filters = dict.fromkeys(one.filter for one in of_task)
        n_items = count(len({one.item for one in of_task}), "item")
        words = f"task {quote(task)}, {n_items}: metrics {shortlist(metrics, 20)}"
        if len(filters) > 1:
            words += f"; filters {shortlist(filters, LISTED)}"
        lines.append(words)
    if len(tasks) > LISTED:
        lines.append(f"{len(tasks) - LISTED} tasks more")
    options = READERS[tool].arguments
    choices = [f"--{name}" for name in ("score", "task", "metric", "filter") if name in options]
    if choices:
        lines.append(f"choose with {', '.join(choices)}")
    return lines
