"""`probtruth check`: what each file would be used as, and what all of them would be compared on."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from probtruth import check as checks
from probtruth.check import count
from probtruth.cli import options as opt
from probtruth.cli.console import Console
from probtruth.cli.reading import named_file, named_files
from probtruth.errors import InputError
from probtruth.io.formats import (
    ANNOTATION_FORMATS,
    ANNOTATION_TOOLS,
    SCORE_FORMATS,
    SCORE_TOOLS,
    LabelReading,
    ScoreReading,
    refuse_others,
)
from probtruth.redaction import redacted

# The line on a table of integers, which may be counts or something else.
AS_COUNTS = "read as counts with --format counts, or beside predictions that have every column as a label"
MOST_TASKS = 12  # How many tasks of a log are listed with their metrics


@dataclass(frozen=True)
class Checked:
    """What one file is: its kind, its sizes in words, lines on its content, and facts for `--json`."""

    kind: str
    words: tuple[str, ...]
    lines: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    content: Any = None  # Labels, or None


def check(
    context: opt.Context,
    reading: LabelReading,
    cells: opt.Cells,
    files: list[str],
    score: str | None = None,
    task: list[str] | None = None,
    metric: list[str] | None = None,
    filter: list[str] | None = None,
    json: bool = False,
) -> None:
    """Validate files and print what would be used of them."""
    console = Console.of(context, json)
    checks.one_of(reading.format, tuple(dict.fromkeys((*SCORE_FORMATS, *ANNOTATION_FORMATS))), "--format")
    checked: list[tuple[str, Checked]] = []
    faults: list[InputError] = []
    with console.progress("reading") as on_progress:
        for position, file in enumerate(files):
            on_progress(position, len(files))
            try:
                checked.append((file, _checked(file, reading, cells, score)))
            except InputError as error:
                faults.append(error)
    for file, one in checked:
        console.show(f"{redacted(file)}: {', '.join(one.words)}", *(f"  {line}" for line in one.lines))
    notes = [] if faults else _together(checked, reading.item, cells, score, task, metric, filter)
    console.show(*notes)
    rows = [{"file": redacted(file), "kind": one.kind, **one.facts} for file, one in checked]
    console.emit({"files": rows, "faults": [str(fault) for fault in faults], "notes": notes})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def _checked(file: str, reading: LabelReading, cells: opt.Cells, score: str | None) -> Checked:
    """What a file or folder is; `score` is the column of scores of a table."""
    from probtruth.io.loaders.detect import format_of
    from probtruth.io.loaders.readers import read_label_file

    name, path = named_file(file)
    tool = format_of(path) if reading.format == "auto" else reading.format
    if tool in SCORE_TOOLS:
        return _log(tool, {name: path} if name else path)
    if tool == "table":
        return _table(path, reading, cells, score or "score")
    kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
    return _labels(read_label_file(path, replace(reading, format=tool)), kinds.get(tool, f"{tool} export"))


def _table(path: Any, reading: LabelReading, cells: opt.Cells, score: str) -> Checked:
    from probtruth.io.loaders.readers import read_label_file
    from probtruth.io.predictions import read_predictions
    from probtruth.io.tables.on_disk import columns_of
    from probtruth.line.inputs import stored_labels

    names, item, columns = set(columns_of(path)), reading.item, columns_of(path)
    if {item, reading.label} <= names:
        long = reading.annotator in names
        known = stored_labels(path, {}, replace(reading, format="table"))
        return _labels(known, "annotations, long form" if long else "labels, one for each item")
    if {item, "model", score} <= names:
        return _scores(path, item, score, reading.replicate if reading.replicate in names else None)
    if item not in names:
        refuse_others(columns, str(path))
        raise InputError(
            f"the columns {checks.shortlist(columns, 12)}",
            f"a column {item!r}",
            f"Name the column of items with --item. {checks.did_you_mean(item, columns)}",
            str(path),
        )
    try:
        counts = _labels(read_label_file(path, replace(reading, format="counts")), "annotations, counts per label")
        return replace(counts, lines=(*counts.lines, AS_COUNTS))
    except InputError:
        read = read_predictions({redacted(str(path)): path}, None, item, cells.kind, cells.renormalise)
    labels, n_items = read.index.labels, len(read.index.items)
    words = ["probabilities (predictions or soft labels)", count(n_items, "item"), count(len(labels), "label")]
    words += [f"{count(rows, 'row')} divided by their sums" for _, rows, _, _ in read.audit.renormalised]
    facts = {"n_items": n_items, "labels": list(labels)}
    return Checked("probabilities", tuple(words), (f"labels: {checks.shortlist(labels, 12)}",), facts)


def _scores(path: Any, item: str, score: str, replicate: str | None) -> Checked:
    from probtruth.io.scores import notes_in, read_scores
    from probtruth.types import orientation

    try:
        upward = notes_in(path, score, None).higher_is_better
    except InputError:
        upward = None
    scores = read_scores(path, item=item, score=score, replicate=replicate, higher_is_better=upward or False)
    n_items, missing = len(scores.items), len(scores.audit.missing)
    words = ("scores", f"{n_items} items that all models have", count(len(scores.models), "model"),
             f"{missing} items that some model lacks")  # fmt: skip
    way = (
        f"which way {score!r} counts is not known: add --higher-is-better or --lower-is-better" if upward is None
        else f"{score}: {'higher' if upward else 'lower'} is better"
    )  # fmt: skip
    known = [f"known by name, {way}: {', '.join(sorted(names))}" for way, names in orientation.BY_WAY.items()]
    facts = {"n_items": n_items, "models": list(scores.models), "missing": missing, "higher_is_better": upward}
    return Checked("scores", words, (f"models: {checks.shortlist(scores.models, 12)}", way, *known), facts)


def _labels(labels: Any, kind: str) -> Checked:
    """Annotations, or one known label for each item."""
    names, n_items = list(labels.index.labels), len(labels.index.items)
    facts: dict[str, Any] = {"n_items": n_items, "labels": names}
    words = [kind, count(n_items, "item"), count(len(names), "label")]
    if hasattr(labels, "multiplicity"):
        total = int(labels.multiplicity.sum())
        words.insert(1, count(total, "annotation"))
        words += [] if labels.n_annotators is None else [count(labels.n_annotators, "annotator")]
        facts |= {"n_annotations": total, "n_annotators": labels.n_annotators}
    return Checked(kind, tuple(words), (f"labels: {checks.shortlist(names, 12)}",), facts, labels)


def _log(tool: str, files: Any) -> Checked:
    from probtruth.io.loaders.detect import LISTED

    log = LISTED[tool](files)
    n_items = sum(number for _, number in log.tasks)
    sizes = ((len(log.models), "model"), (len(log.tasks), "task"), (n_items, "item"))
    lines = [f"models: {checks.shortlist(log.models, 12)}"]
    if len(log.tasks) > 1:
        lines.append(f"tasks: {checks.shortlist((name for name, _ in log.tasks), 12)}")
    if len(log.of_tasks) > 1:
        for task, filters in islice(log.of_tasks.items(), MOST_TASKS):
            metrics = dict.fromkeys(name for names in filters.values() for name in names)
            words = f"{checks.quote(task)}: metrics {checks.shortlist(metrics)}"
            lines.append(f"{words}; filters {checks.shortlist(filters)}" if len(filters) > 1 else words)
        lines.append("choose with --task TASK, --metric TASK=NAME and --filter TASK=NAME; else the first of each")
    else:
        lines.append(f"metrics: {checks.shortlist(log.metrics, 20)} (choose with --score)")
        if len(log.filters) > 1:
            lines.append(f"filters: {checks.shortlist(log.filters, 12)} (choose with --filter)")
    facts: dict[str, Any] = {"models": list(log.models), "tasks": dict(log.tasks), "metrics": list(log.metrics)}
    facts |= {"filters": list(log.filters), "n_items": n_items}
    return Checked(tool, (f"{tool} log", *(count(*size) for size in sizes)), tuple(lines), facts)


def _together(
    checked: Sequence[tuple[str, Checked]], item: str, cells: opt.Cells, score: str | None, *of_logs: Any
) -> list[str]:
    """Lines on the files as one comparison; none if they are not meant for one."""
    from probtruth.io.loaders.readers import read_score_files
    from probtruth.io.predictions import read_predictions

    kinds, files = {one.kind for _, one in checked}, [file for file, _ in checked]
    if len(kinds) == 1 and kinds <= set(SCORE_TOOLS):
        models = {model for _, log in checked for model in log.facts["models"]}
        metrics = set.intersection(*(set(log.facts["metrics"]) for _, log in checked))
        if len(models) < 2 or not (metrics or score):
            return []
        if score is None and kinds != {"lm-eval"} and len(metrics) > 1:
            return ["to see how the models are aligned, add --score"]
        task, metric, filter = of_logs
        how = ScoreReading(score=score or "score", higher_is_better=True, task=task, metric=metric, filter=filter)
        scores = read_score_files(named_files(files), how)
        return [f"{count(len(scores.models), 'model')} by {scores.rule}: {_compared(len(scores.items), scores.audit)}"]
    labelled = [
        (file, one) for file, one in checked if one.kind.startswith(("annotations", "labels", *ANNOTATION_TOOLS))
    ]
    probabilities = [file for file, one in checked if one.kind == "probabilities"]
    if len(checked) < 2 or len(labelled) > 1 or not probabilities or len(labelled) + len(probabilities) < len(checked):
        return []
    index = labelled[0][1].content.index if labelled else None
    files_of = {name or redacted(str(path)): path for name, path in map(named_file, probabilities)}
    predictions = read_predictions(files_of, index, item, cells.kind, cells.renormalise)
    what = f"{redacted(labelled[0][0])} and {count(len(probabilities), 'model')}" if labelled else "the files"
    lines = [f"{what}: {_compared(len(predictions.index.items), predictions.audit)}"]
    unused = [] if index is None else [label for label in predictions.index.labels if label not in index.labels]
    return [*lines, *([f"labels that no annotator used: {checks.shortlist(unused)}"] if unused else [])]


def _compared(n_items: int, audit: Any) -> str:
    left_out = ", ".join(audit.counts())
    words = f"{count(n_items, 'item')} compared; "
    words += f"left out: {left_out}" if left_out else "none missing, extra or twice"
    prompts = f"; {len(audit.prompts)} with another prompt ({checks.shortlist(audit.prompts, 3)})"
    return words + prompts if audit.prompts else words
