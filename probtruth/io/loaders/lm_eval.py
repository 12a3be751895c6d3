"""EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes them.

Versions of 2024 wrote `samples_TASK_DATE.json`, a list in place of lines, or rows that do not name their filter; those
before 0.4.1 called the files `MODEL_ARGS_TASK.jsonl`, beside one `results.json`.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from probtruth.check import MaybeStrings, did_you_mean, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import Record, as_list, as_name, as_number, as_object, described, read_object, read_rows
from probtruth.io.loaders.collect import LogSample, Tool, differences, log_files, scores_of
from probtruth.io.predictions import read_predictions
from probtruth.types import Predictions, Scores, Truth, orientation
from probtruth.types.arguments import Files

# The names of the harness's files; the last is that of old versions, with `__` for the `=` and `/` of the model.
PATTERNS = ("samples_*.jsonl", "samples_*.json", "*__*.jsonl")
TASK = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+))?\.jsonl?")
# The keys of a sample that are no metrics.
OWN = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
TOOL = Tool(
    "the samples",
    "Give one run of each task: keep the harness's file names (samples_TASK_DATE.jsonl), which tell the tasks apart, "
    "and leave out files of other dates; give models of one name names of their own: NAME=FOLDER.",
)

type ByTask = str | Mapping[str, str] | None
"""A name for all tasks, or one for each; None for each task's first."""
OTHERS = ""  # In place of the name of a task: all that are not named


def read_lm_eval_samples(
    files: Files,
    metric: ByTask = None,
    filter: ByTask = None,
    higher_is_better: bool | None = None,
    tasks: str | MaybeStrings = None,
) -> Scores:
    r"""Scores from the sample logs of the lm-evaluation-harness (`lm_eval --log_samples`).

    Items are documents (`TASK/doc_id`), groups are tasks if there are several. Documents whose
    `doc_hash` differs are dropped for all models; `audit` counts them and what each model lacks. Those whose
    `prompt_hash` differs (another template or few-shot choice) are kept and warned of. The `rule` of the scores says by
    which metric and filter each task counts.

    Arguments:
        files: {model name: file, folder or list of them}, or a folder in which each model has a folder of its own, as
            the harness writes it. Models then have the names in `results_DATE.json`.
        metric, filter: names, or {task: name}. A task without one counts by that of the task "", or else by its first
            metric and its first filter.
        higher_is_better: needed for metrics that are not known.
        tasks: the tasks to read.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for model, marks in {"small": (0.0, 1.0), "large": (1.0, 1.0)}.items():
    ...     lines = [f'{{"doc_id": {n}, "metrics": ["acc"], "acc": {x}}}' for n, x in enumerate(marks)]
    ...     (folder / model).mkdir()
    ...     _ = (folder / model / "samples_quiz_2026-01-31T10-00-00.000000.jsonl").write_text("\n".join(lines))
    >>> scores = pt.loaders.read_lm_eval_samples(folder)
    >>> scores.models, scores.items, scores.values.tolist()
    (('large', 'small'), ('quiz/0', 'quiz/1'), [[1.0, 1.0], [0.0, 1.0]])
    """
    samples = samples_in(files, tasks)
    of_tasks = first_samples(samples)
    filters = _chosen("filter", filter, of_tasks)
    firsts = {task: of_filters[filters[task]] for task, of_filters in of_tasks.items()}
    metrics = _chosen("metric", metric, {task: sample.values for task, sample in firsts.items()})
    scored = []
    for one in samples:
        if one.filter == filters[one.task]:
            values = Record(one.values, one.where)
            score = values.at(as_number, metrics[one.task], hint="Choose a metric that all models have.")
            scored.append((one, score))
    upward = _upward(firsts, metrics, higher_is_better)
    return scores_of(scored, _rule(metrics, filters, of_tasks), upward, TOOL)


def first_samples(samples: Sequence[LogSample]) -> dict[str, dict[str, LogSample]]:
    """The first sample of each task under each of its filters, in the order of the files."""
    tasks: dict[str, dict[str, LogSample]] = {}
    for sample in samples:
        tasks.setdefault(sample.task, {}).setdefault(sample.filter, sample)
    return dict(sorted(tasks.items()))


def _chosen(what: str, option: ByTask, there: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The filter or metric of each task: the one that is named for it, or for all, or else its first."""
    named: Mapping[str, str] = {OTHERS: option} if isinstance(option, str) else option or {}
    every = named.get(OTHERS)
    for task in named:
        if task != OTHERS:
            one_of(task, list(there), "task")
    if every is not None and what == "filter":
        one_of(every, sorted(set().union(*there.values())), what)
    chosen = {}
    for task, names in there.items():
        if not names:
            raise InputError(
                f"no {what} of the task {quote(task)} that is one number",
                f"one {what}",
                "The harness computes the others over all samples at once: leave them out, tasks=[...] (command line: "
                "--task NAME).",
                TOOL.what,
            )
        first = next(iter(names))
        of_all = every if what == "metric" or len(names) > 1 else None  # a filter is for tasks that have several
        chosen[task] = named.get(task) or of_all or first
        if chosen[task] not in names:
            raise InputError(
                f"no {what} {quote(chosen[task])} of the task {quote(task)}",
                f"one of {shortlist(names, 20)}",
                f"{did_you_mean(chosen[task], names)} Name one of each task, {what}={{{task!r}: {first!r}}} (command "
                f"line: --{what} {task}={first}), or none: then each task counts by its first.",
                TOOL.what,
            )
    return chosen


def by_task(words: MaybeStrings, every: MaybeText = None) -> ByTask:
    """`TASK=NAME` words as {task: name}; a name without a task is for all that are not named."""
    named = {} if every is None else {OTHERS: every}
    for word in words or ():
        task, _, name = word.rpartition("=")
        named[task or OTHERS] = name
    return named


def _rule(metrics: Mapping[str, str], filters: Mapping[str, str], of_tasks: Mapping[str, Collection[str]]) -> str:
    """The name of the scores: the metric or, where tasks differ, each metric with its tasks."""
    tasks: dict[str, list[str]] = {}
    for task, metric in metrics.items():
        measure = f"{metric},{filters[task]}" if len(of_tasks[task]) > 1 else metric
        tasks.setdefault(measure, []).append(task)
    if len(tasks) == 1:
        return measure
    parts = []
    for measure, of_measure in tasks.items():
        first = ", ".join(of_measure[:3])
        more = f" and {len(of_measure) - 3} more" if len(of_measure) > 3 else ""
        parts.append(f"{first}{more} by {measure}")
    return f"score ({'; '.join(parts)})"


def _upward(firsts: Mapping[str, LogSample], metrics: Mapping[str, str], stated: bool | None) -> bool:
    """Whether higher is better: as the caller says, else as the run says, else by the names of the metrics."""
    upward = {}
    for task, metric in metrics.items():
        way = firsts[task].upward.get(metric) if stated is None else stated
        upward[orientation.upward(metric, way, TOOL.what)] = f"{quote(metric)} of {quote(task)}"
    if len(upward) > 1:
        raise InputError(
            f"{upward[True]}, of which more is better, and {upward[False]}, of which less is",
            "metrics that count the same way",
            "Choose tasks (tasks=[...]; command line: --task NAME) or other metrics (metric={task: name}; --metric "
            "TASK=NAME).",
            TOOL.what,
        )
    return next(iter(upward))


def samples_in(files: Files, tasks: str | MaybeStrings = None) -> list[LogSample]:
    """The samples of the tasks that are wanted (None: of all) in the files."""
    samples = []
    run_of = cache(_run)
    for given, path in log_files(files, PATTERNS):
        match = TASK.fullmatch(path.name)
        known, run = run_of(path.parent, (match["date"] or "") if match else "")
        tasks_of_run = run.at(as_object, "results", {})  # old versions: the one that ends the name of the file
        ends = [task for task in tasks_of_run if path.stem.endswith(f"_{task}")]
        task = match["task"] if match else max(ends, key=len, default="")
        model = given or known or path.resolve().parent.name
        if not model.isprintable() or not model.strip():
            raise InputError(
                "files without models",
                "{model name: file}",
                "Name the models.",
                shown(path),
            )
        upward = run.at(as_object, "higher_is_better", {}).at(as_object, task, {})
        answers: dict[str, list[object]] = {}
        for row in read_rows(path, "sample"):
            item = row.at(as_name, "doc_id", hint="Give samples_*.jsonl of `lm_eval --log_samples`.")
            hashes = {name: str(row[name]) for name in ("doc_hash", "prompt_hash") if row.get(name) is not None}
            sample = LogSample(
                item=f"{task}/{item}" if task else item,
                model=model,
                task=task,
                where=row.where,
                row=row,
                values=_numbers(row),
                content=hashes.get("doc_hash"),
                prompt=hashes.get("prompt_hash"),
                filter=_filter(row, answers.setdefault(item, [])),
                upward=upward,
            )
            samples.append(sample)
    if not samples:
        raise InputError(
            "empty files",
            "at least one sample",
            "Check that the run was finished.",
            TOOL.what,
        )
    if tasks is None:
        return samples
    names = sorted({sample.task for sample in samples})
    chosen = {one_of(task, names, "task") for task in ([tasks] if isinstance(tasks, str) else tasks)}
    return [sample for sample in samples if sample.task in chosen]


def _numbers(row: Record) -> dict[str, Any]:
    """The metrics that are one number, in the harness's order."""
    listed = row.get("metrics")
    found = {}
    for key in (*(listed if isinstance(listed, list) else ()), *row):
        if isinstance(key, str) and key not in OWN and isinstance(row.get(key), (int, float)):
            found[key] = row[key]
    return found


def _filter(row: Record, earlier: list[object]) -> str:
    """The filter of a row; versions that do not name filters write the same answer again for each of them."""
    if row.get("filter") is not None:
        return row.at(as_name, "filter")
    answer = row.get("resps")
    again = answer is not None and answer in earlier[:1]
    earlier.append(answer)
    return f"filter {len(earlier)}" if again else "none"


def _run(folder: Path, date: str) -> tuple[str, Record]:
    """The model, and the results of this date, or all of a folder if they name one model."""
    dated = sorted(folder.glob(f"results_{date}.json")) if date else []
    files = dated or sorted(folder.glob("results*.json"))
    runs = [read_object(file) for file in files]
    models = {_model_of(run) for run in runs}
    if len(models) == 1 or dated:
        return models.pop(), runs[0]
    return "", Record({}, str(folder))


def _model_of(run: Record) -> str:
    """The name of the model; in old versions it is one of the arguments of the model."""
    arguments = run.at(as_object, "config", {}).get("model_args")
    if "model_name" in run or not isinstance(arguments, str):
        return str(run.get("model_name") or "")
    match = re.search(r"(?:^|,)(?:pretrained|model)=([^,]+)", arguments)
    return match[1] if match else arguments


MOST_CHOICES = 1000  # How many choices an item may have


def read_lm_eval_choices(
    files: Files,
    normalise: Literal["none", "characters"] = "none",
    tasks: str | MaybeStrings = None,
) -> tuple[Predictions, Truth]:
    r"""Distributions over the choices of multiple-choice tasks, and the right choices, from the harness's sample logs.

    The log-likelihoods of an item's choices go through a softmax: p_k is proportional to exp(l_k). Labels are the
    positions of the choices, from 0; positions that an item lacks have probability 0.

    Arguments:
        files, tasks: as in `read_lm_eval_samples`.
        normalise: `"none"`, or `"characters"` to divide each log-likelihood by the length of its choice first, as the
            metric `acc_norm` does (a softmax of such means is a convention, not a probability that the model states).

    Returns: predictions, and the truth of the estimand `class`, for `score` or `evaluate`.

    Errors: `InputError` names file and line of what is no multiple-choice sample with one right choice.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "samples_quiz.jsonl"
    >>> _ = path.write_text('{"doc_id": 7, "target": "1", "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]]}')
    >>> predictions, truth = pt.loaders.read_lm_eval_choices({"small": path})
    >>> predictions.probs.round(3).tolist(), truth.probs.tolist()
    ([[[0.269, 0.731]]], [[0.0, 1.0]])
    """
    one_of(normalise, ("none", "characters"), "normalise")
    samples = samples_in(files, tasks)
    first = {task: next(iter(of_filters)) for task, of_filters in first_samples(samples).items()}
    choices = [_choice(one, normalise) for one in samples if one.filter == first[one.task]]
    audit = differences(choices, TOOL)
    different = set(audit.different)
    same = [one for one in choices if one.item not in different]
    labels = [str(at) for at in range(max(len(one.values["logs"]) for one in same))]
    tables: dict[str, Any] = {}
    right = {}
    for one in same:
        logs = dict(zip(labels, one.values["logs"], strict=False))
        tables.setdefault(one.model, []).append({"item": one.item, **dict.fromkeys(labels, -np.inf), **logs})
        right[one.item] = str(one.values["right"])
    predictions = read_predictions(tables, kind="logits")
    items = predictions.index.items
    truth = Truth.from_labels([right[item] for item in items], items=items, classes=labels)
    return replace(predictions, audit=predictions.audit + audit), truth


def _choice(sample: LogSample, normalise: str) -> LogSample:
    """The sample with the log-weights of its choices (up to a constant), and the position of the right one."""
    where = sample.where
    row = sample.row
    logs = [_log_likelihood(entry, where) for entry in row.at(as_list, "filtered_resps")]
    contexts, words = _requests(row, len(logs))
    half = len(logs) // 2
    if half >= 2 and words and words == 2 * words[:half] and not any(contexts[half:]):
        # acc_mutual_info asks for the choices again, without the question
        logs = logs[:half]
        words = words[:half]
    if normalise == "characters":
        if not words:
            raise InputError(
                "samples without arguments",
                "the text of the choices",
                "Use normalise='none'.",
                where,
            )
        logs = [log / max(len(word), 1) for log, word in zip(logs, words, strict=True)]
    right = _right_choice(row.at(as_name, "target").strip(), words, len(logs), where)
    if not np.isfinite(logs).any():
        raise InputError(
            "no choice that is possible",
            "at least one",
            "Check the run.",
            where,
        )
    content = f"{len(logs)} {right} {sample.content or ''}"
    return replace(sample, content=content, values={"logs": logs, "right": right})


def _log_likelihood(entry: object, where: str) -> float:
    while isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    value = math.nan
    if isinstance(entry, list) and len(entry) == 2 and str(entry[1]) in ("True", "False"):
        with suppress(TypeError, ValueError, OverflowError):
            value = float(entry[0])
    if not value < math.inf:
        raise InputError(
            described(entry),
            "a log-likelihood and whether it is the greedy answer",
            "Only multiple-choice tasks have distributions: name them, tasks=[...], or their files, and "
            "read others with read_lm_eval_samples (probtruth compare).",
            f"{where}, 'filtered_resps'",
        )
    return value


def _requests(row: Record, n_choices: int) -> tuple[list[Any], list[str]]:
    """The contexts and the continuations of the choices; empty where the sample does not have its requests."""
    if "arguments" not in row:
        return [], []
    arguments = row["arguments"]
    contexts = []
    words = []
    for request in arguments.values() if isinstance(arguments, dict) else row.at(as_list, "arguments"):
        pair = [request.get("arg_0"), request.get("arg_1")] if isinstance(request, dict) else request
        if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
            contexts.append(pair[0])
            words.append(pair[1].strip())
    if len(words) != n_choices:
        raise InputError(
            f"{len(words)} requests for {n_choices} answers",
            "one for each",
            "Check the file.",
            f"{row.where}, 'arguments'",
        )
    return contexts, words


def _right_choice(text: str, words: list[str], n_choices: int, where: str) -> int:
    """The position of the right choice, from its position, its letter or its text."""
    if not 2 <= n_choices <= MOST_CHOICES:
        raise InputError(
            f"{n_choices} choices", f"2 to {MOST_CHOICES}", "Only multiple-choice tasks have distributions.", where
        )
    if text.isascii() and text.isdecimal() and len(text) < 5 and int(text) < n_choices:
        return int(text)
    if words.count(text) == 1:
        return words.index(text)
    raise InputError(
        f"the target {quote(text)}",
        f"one of the {n_choices} choices, by position or text",
        "Items with several right choices, or none, have no single label: read their metric with read_lm_eval_samples.",
        where,
    )
