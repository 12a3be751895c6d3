"""The reader of each format of scores and of annotations, and the one that a file needs by its content."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io import loaders
from probtruth.io.addresses import location
from probtruth.io.annotations import read_annotations
from probtruth.io.formats import ANNOTATION_FORMATS, SCORE_FORMATS, LabelReading, ScoreReading
from probtruth.io.loaders.detect import format_of
from probtruth.io.scores import read_scores
from probtruth.types import Annotations, Scores
from probtruth.types.arguments import Files, StrPath


def score_format(files: Sequence[StrPath], format: str = "auto") -> str:
    if check.one_of(format, SCORE_FORMATS, "--format") != "auto":
        return format
    formats = {path: format_of(path) for path in files}
    one, *_ = formats.values()
    for path, other in formats.items():
        if other != one:
            raise InputError(f"files of {one} and of {other} ({path})", "files of one tool", "Read one tool at a time.")
    return one


def label_format(path: StrPath, format: str = "auto") -> str:
    if check.one_of(format, ANNOTATION_FORMATS, "--format") != "auto":
        return format
    return format_of(path) if location(path).suffix.lower() in (".json", ".jsonl", ".ndjson") else "table"


def read_score_files(files: Files, how: ScoreReading, memory: float | None = None) -> Scores:
    listed: Sequence[Any] = [*files.values()] if isinstance(files, Mapping) else [files]
    paths = [path for one in listed for path in ([one] if isinstance(one, str | Path) else one)]
    format = score_format(paths, how.format)
    reader = SCORE_READERS.get(format)
    if reader is None:
        hint = "Give it as --annotations of `probtruth run`."
        raise InputError(f"an export of {format}", "scores", hint, str(paths[0]))
    of_logs = {name: getattr(how, name) for name in ("task", "metric", "filter") if getattr(how, name)}
    if of_logs and format != "lm-eval":
        name = next(iter(of_logs))
        raise InputError(f"--{name} with files of {format}", "files of lm-eval", f"Leave --{name} out.")
    if format in ("table", "wide"):
        if len(paths) > 1:
            raise InputError(f"{len(paths)} tables", "one table of scores", "Put the models into one table.")
        return reader(paths[0], how, memory)
    columns = [name for name in ("group", "cluster", "replicate") if getattr(how, name) is not None]
    if columns:
        hint = "Tasks are the groups, epochs and trials the replicates."
        raise InputError(f"--{columns[0]} with a log of {format}", "no column: logs have none", hint, str(paths[0]))
    return reader(files, how, None if how.score == "score" else how.score)


def read_label_file(path: StrPath, how: LabelReading, labels: Sequence[str] | None = None) -> Annotations:
    """Annotations from a table or the export of a tool; `labels` tell counts from other columns of numbers."""
    format = label_format(path, how.format)
    reader = LABEL_READERS.get(format)
    if reader is None:
        hint = "Logs hold scores: give them to `probtruth compare`."
        raise InputError(f"a log of {format}", "annotations", hint, str(path))
    return reader(path, how, labels)


def _table(path: StrPath, how: ScoreReading, memory: float | None) -> Scores:
    columns = {name: getattr(how, name) for name in ("item", "model", "score", "group", "cluster", "replicate")}
    return read_scores(path, **columns, higher_is_better=how.higher_is_better, memory=memory)


def _wide(path: StrPath, how: ScoreReading, memory: float | None) -> Scores:
    models = None if how.model == "model" else _listed(how.model)
    if how.replicate is not None:
        hint = "Read the table in long form."
        raise InputError("--replicate with a wide table", "one row for each item", hint, str(path))
    return loaders.read_wide_scores(
        path, models, how.item, how.group, how.cluster, how.higher_is_better, rule=how.score
    )


def _lm_eval(files: Files, how: ScoreReading, metric: str | None) -> Scores:
    metrics = _by_task(how.metric, metric)
    return loaders.read_lm_eval_samples(files, metrics, _by_task(how.filter, None), how.higher_is_better, how.task)


def _by_task(words: Sequence[str] | None, every: str | None) -> str | dict[str, str] | None:
    """`TASK=NAME` words as {task: name}; a name without a task is for all."""
    pairs = [word.rpartition("=") for word in words or ()]
    bare = [name for task, _, name in pairs if not task]
    named = {task: name for task, _, name in pairs if task}
    every = bare[-1] if bare else every
    if named and every is not None:
        raise InputError(f"a name for every task ({every}) and one for some", "one of the two", "Write TASK=NAME.")
    return named or every


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


# How each format of scores is read: a table with the limit of memory, logs with the metric.
SCORE_READERS: Mapping[str, Callable[[Any, ScoreReading, Any], Scores]] = {
    "table": _table,
    "wide": _wide,
    "lm-eval": _lm_eval,
    "inspect": lambda files, how, metric: loaders.read_inspect(files, metric, how.higher_is_better),
    "helm": lambda files, how, metric: loaders.read_helm(files, metric, higher_is_better=how.higher_is_better),
}


def _columns(how: LabelReading) -> tuple[str, str, str, str]:
    return how.item, how.annotator, how.label, how.replicate


def _other(name: str, default: str) -> str | None:
    return None if name == default else name


def _annotators(path: StrPath, how: LabelReading, labels: object) -> Annotations:
    annotators = None if how.annotator == "annotator" else _listed(how.annotator)
    return loaders.read_wide_annotations(path, annotators, how.item)


def _prodigy(path: StrPath, how: LabelReading, labels: object) -> Annotations:
    if how.label != "label":
        expected = "nothing to choose: it holds one answer a line"
        raise InputError("--label with an export of Prodigy", expected, "Leave it out.", str(path))
    return loaders.read_prodigy(path)


# How each format of annotations is read.
LABEL_READERS: Mapping[str, Callable[[StrPath, LabelReading, Sequence[str] | None], Annotations]] = {
    "table": lambda path, how, labels: read_annotations(path, *_columns(how), labels=labels),
    "counts": lambda path, how, labels: read_annotations(path, *_columns(how), format="counts"),
    "wide": _annotators,
    "label-studio": lambda path, how, labels: loaders.read_label_studio(
        path, _other(how.label, "label"), _other(how.item, "item")
    ),
    "argilla": lambda path, how, labels: loaders.read_argilla(path, _other(how.label, "label")),
    "prodigy": _prodigy,
    "chaosnli": lambda path, how, labels: loaders.read_chaosnli(
        path, item=_other(how.item, "item"), votes=_other(how.label, "label")
    ),
}
