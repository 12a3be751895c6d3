"""`probtruth check`: what each file would be used as, and what all of them would be compared on."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from probtruth import check as checks
from probtruth.check import count
from probtruth.cli import options as opt
from probtruth.cli import settings
from probtruth.cli.reading import named_file, read_annotations, read_scores
from probtruth.errors import InputError
from probtruth.io.formats import ANNOTATION_FORMATS, ANNOTATION_TOOLS, SCORE_FORMATS, SCORE_TOOLS, refuse_others
from probtruth.redaction import redacted

if TYPE_CHECKING:
    import probtruth.types

AS_COUNTS = "read as counts with --format counts, or beside predictions that have every column as a label"
"""The line on a table of integers, which may be counts or something else."""


MOST_TASKS = 12
"""How many tasks of a log are listed with their metrics."""


@dataclass(frozen=True)
class CellReading:
    """How cells of probabilities are read."""

    kind: opt.Kind = "probs"
    renormalise: opt.Renormalise = False


@dataclass(frozen=True)
class CheckedFile:
    """What one file is: its kind, words on its sizes, lines on its content, and facts for `--json`."""

    kind: str
    words: tuple[str, ...]
    lines: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    content: Any = None
    """Annotations, or None."""


def check(
    context: opt.Context,
    columns: opt.AnnotationColumns,
    cells: CellReading,
    files: Annotated[
        list[str],
        opt.argument(metavar="[NAME=]FILE", help="Labels, predictions, soft labels, scores, logs or exports."),
    ],
    score: Annotated[str | None, opt.input_(metavar="NAME", help="The metric of logs; the column of a table.")] = None,
    task: opt.Task = None,
    metric: opt.Metric = None,
    filter: opt.Filter = None,
    format: Annotated[str, opt.input_(metavar="F", help="As of the command that will read them.")] = "auto",
    json: opt.Json = False,
) -> None:
    """Validate files and print what would be used of them."""
    console = settings.console(context, json)
    reading = opt.ScoreReading(higher_is_better=True, task=task, metric=metric, filter=filter)
    checks.one_of(format, tuple(dict.fromkeys((*SCORE_FORMATS, *ANNOTATION_FORMATS))), "--format")
    checked: list[tuple[str, CheckedFile]] = []
    faults: list[InputError] = []
    with console.progress("reading") as on_progress:
        for position, file in enumerate(files):
            on_progress(position, len(files))
            try:
                checked.append((file, _checked(file, columns, cells, format, score)))
            except InputError as error:
                faults.append(error)
    for file, one in checked:
        console.show(f"{redacted(file)}: {', '.join(one.words)}", *(f"  {line}" for line in one.lines))
    with console.progress("comparing"):
        notes = [] if faults else _together(checked, columns.item, cells, score, reading)
    console.show(*notes)
    rows = [{"file": redacted(file), "kind": one.kind, **one.facts} for file, one in checked]
    console.emit({"files": rows, "faults": [str(fault) for fault in faults], "notes": notes})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def _checked(
    file: str, columns: opt.AnnotationColumns, cells: CellReading, format: str, score: str | None
) -> CheckedFile:
    """What a file or folder is; `score` is the column of scores of a table.

    Errors: `InputError` if it is of no known kind, or has a fault in it.
    """
    from probtruth.io.loaders.detect import format_of

    name, path = named_file(file)
    tool = format_of(path) if format == "auto" else format
    if tool in SCORE_TOOLS:
        return _log(tool, {name: path} if name else path)
    if tool == "table":
        return _table(path, columns, cells, score or "score")
    kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
    return _annotations(read_annotations(path, columns, tool), kinds.get(tool, f"{tool} export"))


def _table(path: str | Path, columns: opt.AnnotationColumns, cells: CellReading, score: str) -> CheckedFile:
    from probtruth.io.annotations import read_annotations as read_table_of_annotations
    from probtruth.io.predictions import read_predictions_pairs
    from probtruth.io.tables.read import read_table

    table, source = read_table(path)
    names = set(table.columns)
    if {columns.item, columns.annotator, columns.label} <= names:
        return _annotations(read_table_of_annotations(path, *columns), "annotations, long form")
    if {columns.item, "model", score} <= names:
        return _scores(path, columns.item, score, columns.replicate if columns.replicate in names else None)
    if columns.item not in names:
        refuse_others(table.columns, source.name)
        raise InputError(
            f"the columns {checks.shortlist(table.columns, 12)}",
            f"a column {columns.item!r}",
            f"Name the column of items with --item. {checks.did_you_mean(columns.item, table.columns)}",
            source.name,
        )
    try:
        annotations = read_table_of_annotations(path, *columns, format="counts")
    except InputError:
        read = read_predictions_pairs([(redacted(str(path)), path)], None, columns.item, cells.kind, cells.renormalise)
    else:
        counts = _annotations(annotations, "annotations, counts per label")
        return replace(counts, lines=(*counts.lines, AS_COUNTS))
    labels, n_items = read.index.labels, len(read.index.items)
    words = ["probabilities (predictions or soft labels)", count(n_items, "item"), count(len(labels), "label")]
    words += [f"{count(rows, 'row')} divided by their sums" for _, rows, _, _ in read.audit.renormalised]
    facts = {"n_items": n_items, "labels": list(labels)}
    return CheckedFile("probabilities", tuple(words), (f"labels: {checks.shortlist(labels, 12)}",), facts)


def _scores(path: str | Path, item: str, score: str, replicate: str | None) -> CheckedFile:
    from probtruth.io.scores import notes_in, read_scores
    from probtruth.types import orientation

    try:
        upward = notes_in(path, score, None).higher_is_better
    except InputError:
        upward = None
    scores = read_scores(path, item, score=score, replicate=replicate, higher_is_better=upward or False)
    n_items, missing = len(scores.items), len(scores.audit.missing)
    words = (
        "scores",
        f"{n_items} items that all models have",
        count(len(scores.models), "model"),
        f"{missing} items that some model lacks",
    )
    facts = {"n_items": n_items, "models": list(scores.models), "missing": missing, "higher_is_better": upward}
    lines = [f"models: {checks.shortlist(scores.models, 12)}"]
    if upward is None:
        lines.append(f"which way {score!r} counts is not known: add --higher-is-better or --lower-is-better")
    else:
        lines.append(f"{score}: {'higher' if upward else 'lower'} is better")
    lines += [f"known by name, {way}: {', '.join(sorted(names))}" for way, names in orientation.BY_WAY.items()]
    return CheckedFile("scores", words, tuple(lines), facts)


def _annotations(annotations: "probtruth.types.Annotations", kind: str) -> CheckedFile:
    total, labels = int(annotations.multiplicity.sum()), list(annotations.index.labels)
    words = [count(total, "annotation"), count(annotations.n_items, "item"), count(len(labels), "label")]
    if annotations.n_annotators is not None:
        words.append(count(annotations.n_annotators, "annotator"))
    facts: dict[str, Any] = {"n_annotations": total, "n_items": annotations.n_items}
    facts |= {"n_annotators": annotations.n_annotators, "labels": labels}
    return CheckedFile(kind, (kind, *words), (f"labels: {checks.shortlist(labels, 12)}",), facts, annotations)


def _log(tool: str, files: Any) -> CheckedFile:
    from probtruth.io.loaders.detect import LISTED

    log = LISTED[tool](files)
    n_items = sum(number for _, number in log.tasks)
    sizes = ((len(log.models), "model"), (len(log.tasks), "task"), (n_items, "item"))
    lines = [f"models: {checks.shortlist(log.models, 12)}"]
    if len(log.tasks) > 1:
        lines.append(f"tasks: {checks.shortlist((name for name, _ in log.tasks), 12)}")
    if len(log.of_tasks) > 1:
        lines += [_of_task(*task) for task in islice(log.of_tasks.items(), MOST_TASKS)]
        lines.append("choose with --task TASK, --metric TASK=NAME and --filter TASK=NAME; else the first of each")
    else:
        lines.append(f"metrics: {checks.shortlist(log.metrics, 20)} (choose with --score)")
        if len(log.filters) > 1:
            lines.append(f"filters: {checks.shortlist(log.filters, 12)} (choose with --filter)")
    facts: dict[str, Any] = {"models": list(log.models), "tasks": dict(log.tasks), "metrics": list(log.metrics)}
    facts |= {"filters": list(log.filters), "n_items": n_items}
    return CheckedFile(tool, (f"{tool} log", *(count(*size) for size in sizes)), tuple(lines), facts)


def _of_task(task: str, filters: Mapping[str, Sequence[str]]) -> str:
    """A task's filters and metrics in the order of the log."""
    metrics = dict.fromkeys(name for names in filters.values() for name in names)
    words = f"{checks.quote(task)}: metrics {checks.shortlist(metrics)}"
    return f"{words}; filters {checks.shortlist(filters)}" if len(filters) > 1 else words


def _together(
    checked: Sequence[tuple[str, CheckedFile]],
    item: str,
    cells: CellReading,
    score: str | None,
    reading: opt.ScoreReading,
) -> list[str]:
    """Lines on the files as one comparison; none if they are not meant for one.

    Logs are those of several models of one tool; tables are annotations (or soft labels) and predictions.

    Errors: `InputError` if they do not go together.
    """
    kinds = {one.kind for _, one in checked}
    if len(kinds) == 1 and kinds <= set(SCORE_TOOLS):
        return _logs_together(checked, score, reading)
    return _tables_together(checked, item, cells) if len(checked) > 1 else []


def _logs_together(
    checked: Sequence[tuple[str, CheckedFile]], score: str | None, reading: opt.ScoreReading
) -> list[str]:
    """How the models of logs are aligned; by metrics of each task where the logs have them by task."""
    files, logs = [file for file, _ in checked], [log for _, log in checked]
    metrics = [name for name in logs[0].facts["metrics"] if all(name in log.facts["metrics"] for log in logs)]
    if len({model for log in logs for model in log.facts["models"]}) < 2 or not (metrics or score):
        return []
    by_task = logs[0].kind == "lm-eval"
    columns = opt.ScoreColumns(score=score or ("score" if by_task else metrics[0]))
    try:
        scores = read_scores(files, columns, reading)
    except InputError:
        if score is None and not by_task and len(metrics) > 1:
            return ["to see how the models are aligned, add --score"]
        raise
    return [f"{count(len(scores.models), 'model')} by {scores.rule}: {_compared(len(scores.items), scores.audit)}"]


def _tables_together(checked: Sequence[tuple[str, CheckedFile]], item: str, cells: CellReading) -> list[str]:
    from probtruth.io.predictions import read_predictions_pairs

    labelled = [(file, one) for file, one in checked if one.kind.startswith(("annotations", *ANNOTATION_TOOLS))]
    probabilities = [file for file, one in checked if one.kind == "probabilities"]
    if len(labelled) > 1 or not probabilities or len(labelled) + len(probabilities) < len(checked):
        return []
    index = labelled[0][1].content.index if labelled else None
    pairs = [(name or redacted(str(path)), path) for name, path in map(named_file, probabilities)]
    predictions = read_predictions_pairs(pairs, index, item, cells.kind, cells.renormalise)
    what = f"{redacted(labelled[0][0])} and {count(len(probabilities), 'model')}" if labelled else "the files"
    lines = [f"{what}: {_compared(len(predictions.index.items), predictions.audit)}"]
    unused = [] if index is None else [label for label in predictions.index.labels if label not in index.labels]
    if unused:
        lines.append(f"labels that no annotator used: {checks.shortlist(unused)}")
    return lines


def _compared(n_items: int, audit: "probtruth.types.Audit") -> str:
    left_out = ", ".join(audit.counts())
    words = f"{count(n_items, 'item')} compared; "
    words += f"left out: {left_out}" if left_out else "none missing, extra or twice"
    if audit.prompts:
        words += f"; {len(audit.prompts)} asked in other words ({checks.shortlist(audit.prompts, 3)})"
    return words
