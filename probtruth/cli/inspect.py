"""What a file would be used as: annotations, probabilities, scores, the log of a harness, or the export of a tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.cli import logs
from probtruth.errors import InputError
from probtruth.report.words.numbers import count

AS_COUNTS = "read as counts with --format counts, or beside predictions that have every column as a label"
"""Said of a table of integers, which may be counts or something else."""


@dataclass(frozen=True)
class Found:
    """What one file is: its kind, words that say its sizes, lines on what is in it, and facts for `--json`."""

    kind: str
    words: tuple[str, ...]
    lines: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    held: Any = None
    """What was read: annotations, a table of probabilities, or None."""


def inspect_file(word: str, columns: Any, format: str = "auto", score: str | None = None) -> Found:
    """The kind of a file or folder (`FILE` or `NAME=FILE`), and what is in it; `score` names a table's scores.

    Errors: `InputError` where it is none of these, or is one of them with a fault in it.
    """
    from probtruth.io.loaders.detect import SCORES, tool_of

    name, path = logs.named_file(word)
    tool = tool_of(path) if format == "auto" else format
    if tool in SCORES:
        return _log(tool, {name: path} if name else path)
    if tool != "table":
        made = logs.read_annotations(str(path), columns, tool)
        kinds = {"wide": "annotations, wide form", "counts": "annotations, counts per label"}
        return _annotations(made, kinds.get(tool, f"{tool} export"))
    return _table(path, columns, score or "score")


def _table(path: Path, columns: Any, score: str) -> Found:
    from probtruth.io.annotations import read_annotations
    from probtruth.io.tables.read import read_table
    from probtruth.io.truth import read_soft

    named = (columns.item, columns.annotator, columns.label, columns.replicate)
    table, source = read_table(path)
    names = set(table.columns)
    if {columns.item, columns.annotator, columns.label} <= names:
        return _annotations(read_annotations(path, *named), "annotations, long form")
    if {columns.item, "model", score} <= names:
        return _scores(path, columns.item, score, columns.replicate if columns.replicate in names else None)
    if columns.item not in names:
        raise InputError(
            f"the columns {check.shortlist(table.columns, 12)}",
            f"a column {columns.item!r}",
            f"Name the column of items with --item. {check.did_you_mean(columns.item, table.columns)}",
            source.name,
        )
    try:
        made = _annotations(read_annotations(path, *named, format="counts"), "annotations, counts per label")
        return replace(made, lines=(*made.lines, AS_COUNTS))
    except InputError:
        soft = read_soft(path, columns.item)
    words = (count(soft.n_items, "item"), count(len(soft.index.labels), "label"))
    facts = {"n_items": soft.n_items, "labels": list(soft.index.labels)}
    lines = (f"labels: {check.shortlist(soft.index.labels, 12)}",)
    return Found("probabilities", ("probabilities (predictions or soft labels)", *words), lines, facts, soft)


def _scores(path: Path, item: str, score: str, replicate: str | None) -> Found:
    from probtruth.io.scores import notes_in, read_scores
    from probtruth.types import orientation

    try:
        upward = notes_in(path, score, None).higher_is_better
    except InputError:
        upward = None
    scores = read_scores(path, item, score=score, replicate=replicate, higher_is_better=upward or False)
    words = (
        f"{len(scores.items)} items that all models have",
        count(len(scores.models), "model"),
        f"{len(scores.audit.missing)} items that some model lacks",
    )
    facts = {"n_items": len(scores.items), "models": list(scores.models), "missing": len(scores.audit.missing)}
    facts["higher_is_better"] = upward
    lines = [f"models: {check.shortlist(scores.models, 12)}"]
    if upward is None:
        lines.append(f"which way {score!r} counts is not known: add --higher-is-better or --lower-is-better")
    else:
        lines.append(f"{score}: {'higher' if upward else 'lower'} is better")
    lines += [f"known by name, {way}: {', '.join(sorted(names))}" for way, names in orientation.BY_WAY.items()]
    return Found("scores", ("scores", *words), tuple(lines), facts)


def _annotations(made: Any, kind: str) -> Found:
    total = int(made.multiplicity.sum())
    words = [count(total, "annotation"), count(made.n_items, "item"), count(made.n_labels, "label")]
    if made.n_annotators is not None:
        words.append(count(made.n_annotators, "annotator"))
    labels = list(made.index.labels)
    facts = {"n_annotations": total, "n_items": made.n_items, "n_annotators": made.n_annotators, "labels": labels}
    return Found(kind, (kind, *words), (f"labels: {check.shortlist(labels, 12)}",), facts, made)


def _log(tool: str, files: object) -> Found:
    from probtruth.io.loaders import helm, inspect_logs, lm_eval

    found = {"lm-eval": lm_eval.listed, "inspect": inspect_logs.listed, "helm": helm.listed}[tool](files)
    n_items = sum(number for _, number in found.tasks)
    words = (f"{tool} log", count(len(found.models), "model"), count(len(found.tasks), "task"), count(n_items, "item"))
    lines = [f"models: {check.shortlist(found.models, 12)}"]
    if len(found.tasks) > 1:
        lines.append(f"tasks: {check.shortlist((name for name, _ in found.tasks), 12)}")
    lines.append(f"metrics: {check.shortlist(found.metrics, 20)} (choose with --score)")
    if len(found.filters) > 1:
        lines.append(f"filters: {check.shortlist(found.filters, 12)} (choose with --filter)")
    facts = {
        "models": list(found.models),
        "tasks": dict(found.tasks),
        "metrics": list(found.metrics),
        "filters": list(found.filters),
        "n_items": n_items,
    }
    return Found(tool, words, tuple(lines), facts)
