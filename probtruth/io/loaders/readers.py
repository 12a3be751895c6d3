"""The tool that wrote a file, by its content; and the reader of each format of scores and of annotations."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from probtruth.check import one_of, quote
from probtruth.errors import InputError
from probtruth.io import loaders
from probtruth.io.addresses import location, shown
from probtruth.io.annotations import read_annotations
from probtruth.io.formats import (
    ANNOTATION_FORMATS,
    ANNOTATION_TOOLS,
    SCORE_FORMATS,
    SCORE_TOOLS,
    LabelReading,
    MaybeText,
    ScoreReading,
    listed,
)
from probtruth.io.kinds import score_kind
from probtruth.io.loaders import helm, inspect_logs, json_values, lm_eval, results
from probtruth.io.loaders.collect import Listing, LogSample, listing
from probtruth.io.scores import of_runs, scores_of
from probtruth.io.table import opened
from probtruth.io.tables.read import BINARIES, BOM, has_several, read_bytes
from probtruth.io.vote_columns import Votes as VoteKind
from probtruth.io.votes import votes_of
from probtruth.types import Annotations, Scores, Votes
from probtruth.types.arguments import Files, StrPath

# What reads the samples of each of the tools whose files hold scores.
SAMPLES: Mapping[str, Callable[[Files], Sequence[LogSample]]] = {
    "lm-eval": lm_eval.samples_in,
    "inspect": inspect_logs.samples,
    "helm": helm.instances,
    "promptfoo": results.promptfoo,
    "alpaca-eval": results.alpaca_eval,
    "every-eval-ever": results.every_eval_ever,
}


def listed_in(tool: str, files: Files) -> Listing:
    """What there is to compare in the logs of a tool."""
    samples = SAMPLES[tool](files)
    return listing(samples, lm_eval.numbers) if tool == "lm-eval" else listing(samples)


AGGREGATE = {"evaluation_results", "higher_is_better"}  # Keys of results without samples: Every Eval Ever's, lm-eval's
JSON = (".json", ".jsonl", ".ndjson")
MOST_LOOKED_AT = 20  # How many files of a folder are looked at for the tool that wrote them
SIGNS: dict[str, tuple[set[str], ...]] = {
    "inspect": ({"status", "eval"},),
    "helm": ({"instance_id", "stats"},),
    "lm-eval": ({"doc_id", "filtered_resps"}, {"doc_id", "doc_hash"}, {"doc_id", "metrics"}),
    "label-studio": ({"data", "annotations"}, {"annotator", "annotation_id"}, {"data", "completions"}),
    "argilla": ({"fields", "responses"},),
    "prodigy": ({"_input_hash", "answer"},),
    "chaosnli": ({"label_counter"}, {"annotator_labels"}, {"label_count"}),
    "promptfoo": ({"promptIdx", "testIdx"},),
    "alpaca-eval": ({"generator_1", "generator_2", "preference"},),
    "every-eval-ever": ({"evaluation_id", "sample_id", "evaluation"},),
    "potato": ({"id", "label_annotations"},),
    "labelbox": ({"data_row", "projects"},),
    "lewidi": ({"annotators", "annotations"},),
}  # The keys by which a JSON object of each tool is known: any of these sets
# What each format of scores uses of a `ScoreReading`.
OPTIONS = {
    "table": (
        *("item", "model", "score", "group", "cluster", "replicate", "annotator"),
        *("transpose", "missing", "higher_is_better"),
    ),
    "wide": ("item", "model", "score", "group", "cluster", "transpose", "missing", "higher_is_better"),
    "lm-eval": ("score", "task", "metric", "filter", "higher_is_better"),
    "inspect": ("score", "higher_is_better"),
    "helm": ("score", "filter", "higher_is_better"),
    "promptfoo": ("score",),
    "alpaca-eval": (),
    "every-eval-ever": ("score", "higher_is_better"),
}
# What each format of annotations uses of a `LabelReading`; `item` may be for the predictions beside them.
LABEL_OPTIONS = {
    "table": ("item", "annotator", "label", "replicate", "missing"),
    "counts": ("item", "label", "missing"),
    "wide": ("item", "annotator", "missing"),
    **dict.fromkeys(("label-studio", "labelbox", "chaosnli", "argilla", "potato", "lewidi"), ("item", "label")),
    **dict.fromkeys(("prodigy", "doccano"), ("item",)),
}


def format_of(path: StrPath) -> str:
    """The tool that wrote a file, or the files of a folder; "table" where none did."""
    where = location(path)
    suffix = where.suffix.lower()
    if has_several(where):
        return _of_folder(where) if where.is_dir() else "table"
    if suffix == ".eval":
        return "inspect"
    if suffix not in JSON:
        return "table"
    value = json_values.first_object(path)
    tool = _of_value(value)
    if tool is not None or suffix != ".json":
        return tool or "table"
    whole = json_values.read_json(path)[0] if value is None else value  # says what is wrong with it
    if isinstance(value, Mapping) and not AGGREGATE.isdisjoint(value):
        hint = "Give the file of its samples: *_samples.jsonl, or samples_*.jsonl."
        raise InputError("the results of a whole evaluation", "scores of its samples", hint, shown(path))
    if not isinstance(whole, Mapping) or not _is_list(path):
        raise InputError(
            "JSON of no tool that is known",
            f"what {', '.join((*SCORE_TOOLS, *ANNOTATION_TOOLS))} write",
            "A table goes into CSV, JSONL (.jsonl), a list of objects (.json) or Parquet.",
            shown(path),
        )
    return "table"


def _is_list(path: StrPath) -> bool:
    return read_bytes(path).removeprefix(BOM).lstrip().startswith(b"[")


def _of_value(value: Any) -> MaybeText:
    """The tool that wrote an object, or the objects in it."""
    if not isinstance(value, Mapping):
        return None
    keys = set(value)
    for tool, signs in SIGNS.items():
        if any(sign <= keys for sign in signs):
            return tool
    if "id" in keys and keys & {"text", "data"} and isinstance(value.get("label"), list):
        return "doccano"
    inner = value.get("results")
    if isinstance(inner, Mapping):  # promptfoo's summary of an evaluation
        inner = inner.get("results")
    if isinstance(inner, list) and inner:
        return _of_value(inner[0])
    first = next(iter(value.values()), None)
    return "lewidi" if isinstance(first, Mapping) and SIGNS["lewidi"][0] <= set(first) else None


def _of_folder(path: Path) -> str:
    patterns = {"helm": helm.PATTERNS, "inspect": ("*.eval",), "lm-eval": lm_eval.PATTERNS}
    for tool, names in patterns.items():
        if any(next(path.rglob(name), None) is not None for name in names):
            return tool
    for pattern in ("*.json", "*.jsonl"):
        for file in sorted(path.rglob(pattern))[:MOST_LOOKED_AT]:
            with suppress(InputError):
                tool = format_of(file)
                if tool != "table":
                    return tool
    if any(file.suffix.lower() in BINARIES for file in path.iterdir()):
        return "table"
    raise InputError(
        "a folder without logs",
        "samples_*.jsonl (lm-eval), *.eval (Inspect), per_instance_stats.json (HELM), or what another tool writes",
        "Check the path.",
        shown(path),
    )


def score_format(files: Sequence[StrPath], format: str = "auto") -> str:
    if one_of(format, SCORE_FORMATS, "--format") != "auto":
        return format
    one = format_of(files[0])
    for path in files[1:]:
        other = format_of(path)
        if other != one:
            raise InputError(f"files of {one} and of {other} ({path})", "files of one tool", "Read one tool at a time.")
    return one


def label_format(path: StrPath, format: str = "auto") -> str:
    if one_of(format, ANNOTATION_FORMATS, "--format") != "auto":
        return format
    where = location(path)
    return format_of(path) if where.is_dir() or where.suffix.lower() in JSON else "table"


def read_score_files(files: Files, how: ScoreReading, memory: float | None = None) -> Scores | Votes:
    """Scores, or votes, from a table or from the logs of a harness."""
    every: Sequence[Any] = [*files.values()] if isinstance(files, Mapping) else [files]
    paths = [path for one in every for path in ([one] if isinstance(one, str | Path) else one)]
    format = score_format(paths, how.format)
    if format not in OPTIONS:
        hint = "Give it as --annotations of `probtruth run`."
        raise InputError(f"an export of {format}", "scores", hint, str(paths[0]))
    _refuse_unused(how, format, OPTIONS, paths[0])
    if format in SCORE_READERS:
        if memory is not None:
            raise InputError(f"--memory with files of {format}", "a table", "Leave it out.", str(paths[0]))
        return SCORE_READERS[format](files, how)
    if isinstance(files, Mapping):
        return of_runs({model: _one_file(model, own) for model, own in files.items()}, how)
    if len(paths) > 1:
        hint = "Name the model of each: MODEL=FILE MODEL=FILE."
        raise InputError(f"{len(paths)} tables", "one table of scores, or a file for each model", hint)
    models = None
    if format == "wide":
        models = listed(how.model)
        how = replace(how, model=None)
    table = opened(paths[0])
    kind = score_kind(table, how, models)
    if not isinstance(kind, VoteKind):
        return scores_of(table, kind, how, memory)
    if memory is not None:
        raise InputError("--memory with votes", "scores", "Leave it out.", table.name)
    _refuse_unused(how, "votes", OPTIONS | {"votes": ("item", "annotator", "group")}, paths[0])
    return votes_of(table, kind)


def _refuse_unused(
    how: LabelReading | ScoreReading, format: str, options: Mapping[str, Sequence[str]], path: StrPath
) -> None:
    """Raises for what was said and does nothing for the format of the files."""
    for name, value in vars(how).items():
        said = value not in (None, ()) and not (name == "transpose" and value is False)
        if said and name != "format" and name not in options[format]:
            flag = "--" + name.replace("_", "-")
            if name == "higher_is_better":
                flag = "--higher-is-better" if value else "--lower-is-better"
            fits = [other for other, names in options.items() if name in names]
            wanted = f"files of {' or '.join(fits)}"
            raise InputError(f"{flag} with files of {format}", wanted, "Leave it out.", shown(path))


def _one_file(model: str, files: StrPath | Sequence[StrPath]) -> StrPath:
    """The file of a model."""
    listed = [files] if isinstance(files, str | Path) else files
    if len(listed) > 1:
        raise InputError(f"{len(listed)} tables of model {quote(model)}", "one", "Put them into one file.")
    return listed[0]


def read_label_file(
    path: StrPath, how: LabelReading, labels: Sequence[str] | None = None, memory: float | None = None
) -> Annotations:
    """Annotations from a table or the export of a tool; `labels` tell counts from other columns of numbers."""
    format = label_format(path, how.format)
    if format not in LABEL_READERS:
        hint = "Logs hold scores: give them to `probtruth compare`."
        raise InputError(f"a log of {format}", "annotations", hint, str(path))
    _refuse_unused(how, format, LABEL_OPTIONS, path)
    return LABEL_READERS[format](path, how, labels, memory)


def _by_task(words: Sequence[str] | None, every: MaybeText = None) -> str | dict[str, str] | None:
    """`TASK=NAME` words as {task: name}; a name without a task is for all that are not named."""
    named = {} if every is None else {lm_eval.OTHERS: every}
    for word in words or ():
        task, _, name = word.rpartition("=")
        named[task or lm_eval.OTHERS] = name
    return named.get(lm_eval.OTHERS) if named.keys() <= {lm_eval.OTHERS} else named


SCORE_READERS: Mapping[str, Callable[[Files, ScoreReading], Scores]] = {
    "inspect": lambda files, how: loaders.read_inspect(files, how.score, how.higher_is_better),
    "helm": lambda files, how: loaders.read_helm(
        files, how.score, higher_is_better=how.higher_is_better, split=how.filter[0] if how.filter else None
    ),
    "promptfoo": lambda files, how: loaders.read_promptfoo(files, how.score),
    "every-eval-ever": lambda files, how: loaders.read_every_eval_ever(files, how.score, how.higher_is_better),
    "alpaca-eval": lambda files, how: loaders.read_alpaca_eval(files),
    "lm-eval": lambda files, how: loaders.read_lm_eval_samples(
        files, _by_task(how.metric, how.score), _by_task(how.filter), how.higher_is_better, how.task
    ),
}


# How each format of annotations is read.
LABEL_READERS: Mapping[str, Callable[[StrPath, LabelReading, Sequence[str] | None, float | None], Annotations]] = {
    "table": lambda path, how, labels, memory: read_annotations(
        path, how.item, how.annotator, how.label, how.replicate, labels=labels, missing=how.none, memory=memory
    ),
    "counts": lambda path, how, labels, memory: read_annotations(
        path, how.item, label=how.label, format="counts", missing=how.none, memory=memory
    ),
    "wide": lambda path, how, *_: read_annotations(
        path, how.item, format="wide", annotators=listed(how.annotator), missing=how.none
    ),
    "label-studio": lambda path, how, *_: loaders.read_label_studio(path, how.label, how.item),
    "argilla": lambda path, how, *_: loaders.read_argilla(path, how.label),
    "prodigy": lambda path, how, *_: loaders.read_prodigy(path),
    "doccano": lambda path, how, *_: loaders.read_doccano(path),
    "potato": lambda path, how, *_: loaders.read_potato(path, how.label),
    "labelbox": lambda path, how, *_: loaders.read_labelbox(path, how.label, how.item),
    "lewidi": lambda path, how, *_: loaders.read_lewidi(path, votes=how.label or "annotations"),
    "chaosnli": lambda path, how, *_: loaders.read_chaosnli(path, item=how.item, votes=how.label),
}
