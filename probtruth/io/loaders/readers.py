"""The reader of each tool's files, and which options of a reading it takes under which name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from probtruth.check import MaybeStrings, Strings
from probtruth.errors import InputError
from probtruth.io import loaders
from probtruth.io.formats import ANNOTATION_TOOLS, SCORE_TOOLS, LabelReading, MaybeText, Reading, ScoreReading
from probtruth.io.loaders import helm, inspect_logs, lm_eval, results
from probtruth.io.loaders.collect import LogSample
from probtruth.types import Annotations, Scores
from probtruth.types.arguments import Files


@dataclass(frozen=True)
class Reader:
    """What reads the files of a tool, the argument for each option of a reading, and what lists its samples."""

    read: Callable[..., Any]
    arguments: Mapping[str, str] = field(default_factory=dict)
    samples: Callable[[Files], list[LogSample]] = lambda _: []


def _read_lm_eval(
    files: Files,
    score: MaybeText,
    metric: MaybeStrings,
    filter: MaybeStrings,
    task: MaybeStrings,
    higher_is_better: bool | None,
) -> Scores:
    metrics = lm_eval.by_task(metric, score)
    return loaders.read_lm_eval_samples(files, metrics, lm_eval.by_task(filter), higher_is_better, task)


UPWARD = {"higher_is_better": "higher_is_better"}
OF_LM_EVAL = ("score", "metric", "filter", "task", "higher_is_better")
READERS = {
    "lm-eval": Reader(_read_lm_eval, {name: name for name in OF_LM_EVAL}, lm_eval.samples_in),
    "inspect": Reader(loaders.read_inspect, {"score": "scorer", **UPWARD}, inspect_logs.samples),
    "helm": Reader(loaders.read_helm, {"score": "metric", "filter": "split", **UPWARD}, helm.instances),
    "promptfoo": Reader(loaders.read_promptfoo, {"score": "metric"}, results.promptfoo),
    "alpaca-eval": Reader(loaders.read_alpaca_eval, {}, results.alpaca_eval),
    "every-eval-ever": Reader(loaders.read_every_eval_ever, {"score": "metric", **UPWARD}, results.every_eval_ever),
    "label-studio": Reader(loaders.read_label_studio, {"label": "question", "item": "item"}),
    "argilla": Reader(loaders.read_argilla, {"label": "question"}),
    "prodigy": Reader(loaders.read_prodigy),
    "doccano": Reader(loaders.read_doccano),
    "potato": Reader(loaders.read_potato, {"label": "question"}),
    "labelbox": Reader(loaders.read_labelbox, {"label": "question", "item": "item"}),
    "lewidi": Reader(loaders.read_lewidi, {"label": "votes"}),
    "chaosnli": Reader(loaders.read_chaosnli, {"label": "votes", "item": "item"}),
}
# What each form of a table uses of a reading.
OF_LABELS = {
    "table": ("item", "annotator", "label", "replicate", "missing"),
    "labels": ("item", "label", "missing"),
    "soft": ("item", "label"),
    "counts": ("item", "label", "missing"),
    "wide": ("item", "annotator", "missing"),
    **{tool: ("item", *READERS[tool].arguments) for tool in ANNOTATION_TOOLS},  # perhaps the predictions' items
}
OF_RUNS = ("item", "score", "group", "cluster", "missing", "higher_is_better")
OF_BOARDS = (*OF_RUNS, "model", "transpose")
OF_SCORES = {
    "table": (*OF_BOARDS, "replicate", "annotator"),
    "wide": OF_BOARDS,
    "one model each": (*OF_RUNS, "replicate", "annotator"),
    "votes": ("item", "annotator", "group"),
    **{tool: tuple(READERS[tool].arguments) for tool in SCORE_TOOLS},
}


def read_scores_of(tool: str, files: Files, how: ScoreReading, where: str) -> Scores:
    """Scores from the logs of a harness, of which the first lies at `where`."""
    scores = _read(tool, files, how, "scores", "Give it as --annotations of `probtruth run`.", where)
    return scores


def read_labels_of(tool: str, table: Any, how: LabelReading, labels: MaybeStrings) -> Annotations:
    """Annotations from the file or folder that a tool exported, as a table that is none."""
    hint = "Logs hold scores: give them to `probtruth compare`."
    annotations = _read(tool, table.path, how, "annotations", hint, table.name, labels=labels)
    return annotations


def _read(tool: str, files: Files, how: Reading, expected: str, hint: str, where: str, **more: Any) -> Any:
    used = OF_SCORES if isinstance(how, ScoreReading) else OF_LABELS
    if tool not in used:
        raise InputError(f"a log of {tool}" if tool in SCORE_TOOLS else f"an export of {tool}", expected, hint, where)
    refuse_unused(how, tool, used, where)
    reader = READERS[tool]
    arguments = {name: getattr(how, option) for option, name in reader.arguments.items()}
    return reader.read(files, **arguments, **more)


def refuse_unused(how: Reading, form: str, used: Mapping[str, Strings], where: str) -> None:
    """Raises for what was said and does nothing for files of this form."""
    for name, value in vars(how).items():
        said = value not in (None, ()) and (name, value) != ("transpose", False)
        if said and name != "format" and name not in used[form]:
            flag = "--lower-is-better" if value is False else "--" + name.replace("_", "-")
            fits = [other for other, names in used.items() if name in names]
            raise InputError(
                f"{flag} with files of {form}",
                f"files of {' or '.join(fits)}",
                "Leave it out.",
                where,
            )
