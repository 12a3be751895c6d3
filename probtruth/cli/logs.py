"""Logs and exports of other tools on the command line: which tool wrote a file, and the loader that reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError

FORMATS = ("auto", "table", "wide", "lm-eval", "inspect", "helm")
"""What --format takes where scores are read."""
ANNOTATION_FORMATS = ("auto", "table", "counts", "wide", "label-studio", "argilla", "prodigy")
"""What --format takes where annotations are read."""


@dataclass(frozen=True)
class Reading:
    """How scores are read: the format, the orientation where it was said, and what is chosen from a harness's log."""

    format: str = "auto"
    higher_is_better: bool | None = None
    filter: str | None = None


def named(words: Sequence[str]) -> Any:
    """Files as loaders take them: paths, or {model: paths} where they are written NAME=FILE."""
    pairs = [named_file(word) for word in words]
    if not any(name for name, _ in pairs):
        return [path for _, path in pairs]
    if not all(name for name, _ in pairs):
        bare = next(path for name, path in pairs if not name)
        raise InputError(
            f"{check.quote(str(bare))} without a name", "NAME=FILE for every file, or for none", "Name it."
        )
    return {name: [path for other, path in pairs if other == name] for name, _ in pairs}


def named_file(word: str) -> tuple[str, Path]:
    """The name (empty where there is none) and the path of `FILE` or `NAME=FILE`; what exists is a file."""
    if "=" not in word or Path(word).exists():
        return "", Path(word)
    name, _, path = word.rpartition("=")
    if not name.strip() or not path:
        raise InputError(check.quote(word), "FILE or NAME=FILE", "Write my_model=logs/samples.jsonl.")
    return name, Path(path)


def tool_of(words: Sequence[str], asked: str) -> str:
    """The format of the files: as asked, or by what is in them; all must be of one."""
    check.one_of(asked, FORMATS, "--format")
    if asked != "auto":
        return asked
    from probtruth.io.loaders.detect import tool_of as detected

    files = named(words)
    paths = [path for given in files.values() for path in given] if isinstance(files, dict) else files
    found = {path: detected(path) for path in paths}
    if len(set(found.values())) > 1:
        first, other = paths[0], next(path for path in paths if found[path] != found[paths[0]])
        raise InputError(
            f"files of {found[first]} and of {found[other]} ({other})", "files of one tool", "Read one tool at a time."
        )
    return found[paths[0]]


def read_scores(words: Sequence[str], columns: Mapping[str, Any], reading: Reading) -> Any:
    """Scores from a table, or from the logs of a harness; there `--score` names the metric."""
    from probtruth.io import loaders
    from probtruth.io.loaders.detect import SCORES
    from probtruth.io.scores import read_scores as read_table

    tool, upward = tool_of(words, reading.format), reading.higher_is_better
    if reading.filter is not None and tool != "lm-eval":
        raise InputError(f"--filter with files of {tool}", "files of lm-eval", "Leave --filter out.")
    if tool in ("table", "wide"):
        if len(words) > 1:
            raise InputError(f"{len(words)} tables", "one table of scores", "Put the models into one table.")
        if tool == "table":
            return read_table(words[0], **columns, higher_is_better=upward)
        if columns["replicate"] is not None:
            raise InputError(
                "--replicate with a wide table", "one row for each item", "Read the table in long form.", words[0]
            )
        kept = {key: columns[key] for key in ("item", "group", "cluster")}
        models = _listed(columns["model"], "model")
        return loaders.read_wide_scores(words[0], models, **kept, higher_is_better=upward, rule=columns["score"])
    if tool not in SCORES:
        raise InputError(f"an export of {tool}", "scores", "Give it as --annotations of `probtruth run`.", words[0])
    ours = [name for name in ("group", "cluster", "replicate") if columns[name] is not None]
    if ours:
        raise InputError(
            f"--{ours[0]} with a log of {tool}",
            "no column: logs have none",
            "Tasks are the groups, epochs and trials the replicates.",
            words[0],
        )
    metric = None if columns["score"] == "score" else columns["score"]
    return _of_tool(tool, named(words), metric, reading)


def _of_tool(tool: str, files: object, metric: str | None, reading: Reading) -> Any:
    from probtruth.io import loaders

    upward = reading.higher_is_better
    if tool == "inspect":
        return loaders.read_inspect(files, metric, upward)
    if tool == "helm":
        return loaders.read_helm(files, metric, higher_is_better=upward)
    return loaders.read_lm_eval_samples(files, metric, reading.filter, upward)


def _listed(names: str, usual: str) -> list[str] | None:
    """Names of columns written `a,b,c`; None where the option was left as it is."""
    return None if names == usual else [name.strip() for name in names.split(",")]


def read_annotations(path: str, columns: Any, format: str = "auto", predictions: str | None = None) -> Any:
    """Annotations from a table or the export of a tool; there `--label` names the question.

    The labels of `predictions` (a file) tell counts from other columns of numbers.
    """
    from probtruth.io import loaders

    tool = annotation_tool(path, format)
    question = None if columns.label == "label" else columns.label
    if tool in ("table", "counts"):
        return _table(path, columns, tool, predictions)
    if tool == "wide":
        return loaders.read_wide_annotations(path, _listed(columns.annotator, "annotator"), columns.item)
    if tool == "prodigy":
        if question is not None:
            raise InputError(
                "--label with an export of Prodigy",
                "nothing to choose: it holds one answer a line",
                "Leave it out.",
                path,
            )
        return loaders.read_prodigy(path)
    if tool == "label-studio":
        return loaders.read_label_studio(path, question, None if columns.item == "item" else columns.item)
    return loaders.read_argilla(path, question)


def _table(path: str, columns: Any, tool: str, predictions: str | None) -> Any:
    from probtruth.io.annotations import is_long, read_annotations
    from probtruth.io.tables.read import read_table

    named = (columns.item, columns.annotator, columns.label)
    if tool == "counts":
        return read_annotations(path, *named, columns.replicate, format="counts")
    labels = None
    if predictions is not None and not is_long(read_table(path)[0].columns, *named):
        labels = [name for name in _columns(predictions) if name != columns.item and name.strip()]
    return read_annotations(path, *named, columns.replicate, labels)


def _columns(path: str) -> Sequence[str]:
    """The columns of a table, of Parquet and Arrow without its rows."""
    from probtruth.io.tables.batches import SUFFIXES, open_table
    from probtruth.io.tables.read import read_table

    big = Path(path).is_dir() or Path(path).suffix.lower() in SUFFIXES
    return open_table(path).columns if big else read_table(path)[0].columns


def annotation_tool(path: str, format: str) -> str:
    """The format of a file of annotations, as asked or by what is in it."""
    check.one_of(format, ANNOTATION_FORMATS, "--format")
    if format != "auto":
        return format
    from probtruth.io.loaders.detect import ANNOTATIONS
    from probtruth.io.loaders.detect import tool_of as detected

    place = Path(path)
    tool = detected(place) if place.suffix.lower() in (".json", ".jsonl", ".ndjson") else "table"
    if tool not in (*ANNOTATIONS, "table"):
        raise InputError(f"a log of {tool}", "annotations", "Logs hold scores: give them to `probtruth compare`.", path)
    return tool


def choices(predictions: Sequence[str], normalise: str) -> Any:
    """Predictions and truth from lm-eval logs of multiple-choice tasks, where all the files are such; else None."""
    files = named(predictions)
    if not isinstance(files, dict) or tool_of(predictions, "auto") != "lm-eval":
        return None
    from probtruth.io.loaders import read_lm_eval_choices

    return read_lm_eval_choices(files, normalise)


def tasks(items: Sequence[str]) -> dict[str, str] | None:
    """The task of each item (`TASK/doc_id`) as its group; None where there is one task only."""
    found = {item: item.rpartition("/")[0] for item in items}
    return found if len(set(found.values())) > 1 else None
