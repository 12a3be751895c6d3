"""EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders import collect
from probtruth.io.loaders.choices import Choice, chosen, predictions_and_truth
from probtruth.io.loaders.collect import Entry, LogFiles, log_files
from probtruth.io.loaders.json_values import (
    JsonObject,
    as_list,
    as_name,
    as_number,
    as_object,
    described,
    need,
    need_list,
    need_name,
    read_json,
    read_lines,
)
from probtruth.io.loaders.listing import Listing, listing
from probtruth.io.loaders.lm_eval_tasks import ByTask, Metrics, Task, TaskMeasure, chosen_tasks, measured, rule_of
from probtruth.io.tables.read import shown
from probtruth.types import Predictions, Scores, Truth, orientation
from probtruth.types.arguments import Files

PATTERNS = ("samples_*.jsonl",)
"""The names of the harness's files."""
TASK = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+))?\.jsonl")
OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"} | {
    *("doc_hash", "prompt_hash", "target_hash"),
}
"""The keys of a sample that are no metrics."""
WHAT = "the samples"
"""The logs in messages."""
REPEATED = (
    "Give one run of each task: keep the harness's file names (samples_TASK_DATE.jsonl), which tell the tasks apart, "
    "and leave out files of other dates; give models of one name names of their own: NAME=FOLDER."
)


@dataclass(frozen=True, slots=True)
class _LmEvalSample:
    row: JsonObject
    where: str
    model: str
    task: str
    item: str
    upward: JsonObject


@dataclass(frozen=True, slots=True)
class _Run:
    """What `results_DATE.json` says of a run: the model's name, and which metrics count upwards, for each task."""

    model: str
    upward: JsonObject


@check.checks_itself
def read_lm_eval_samples(
    files: Files,
    metric: ByTask = None,
    filter: ByTask = None,
    higher_is_better: bool | None = None,
    tasks: str | Sequence[str] | None = None,
) -> Scores:
    r"""Scores from the sample logs of the lm-evaluation-harness (`lm_eval --log_samples`).

    Items are documents (`TASK/doc_id`), groups are tasks if there are several. Documents that some model lacks, or
    whose `doc_hash` differs, are dropped for all models and counted in `audit`; those whose `prompt_hash` differs
    (another template or few-shot choice) are kept and warned of. The `rule` of the scores says by which metric and
    filter each task counts.

    Arguments: `files` is {model name: file, folder or list of them}, or a folder in which each model has a folder of
    its own, as the harness writes it; models then have the names in `results_DATE.json`. `metric` and `filter` are
    names, or {task: name}; a task without one counts by its first metric and its first filter. `tasks` are the tasks to
    read; `*` stands for any letters, also in {task: name}. `higher_is_better` is needed for metrics that are not known.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for model, marks in {"small": (0.0, 1.0), "large": (1.0, 1.0)}.items():
    ...     lines = [f'{{"doc_id": {n}, "metrics": ["acc"], "acc": {x}}}' for n, x in enumerate(marks)]
    ...     (folder / model).mkdir()
    ...     _ = (folder / model / "samples_quiz_2026-01-31T10-00-00.000000.jsonl").write_text("\n".join(lines))
    >>> scores = pt.loaders.read_lm_eval_samples(folder)
    >>> scores.models, scores.items, (-scores.values).tolist()
    (('large', 'small'), ('quiz/0', 'quiz/1'), [[1.0, 1.0], [0.0, 1.0]])
    """
    samples = chosen_tasks(_samples(files), tasks)
    measures = measured(_tasks(samples), metric, filter)
    of_task = {one.task: one for one in measures}
    entries = [
        Entry(one.item, one.model, _score(one, of_task[one.task].metric), one.task, "0", one.where, *_hashes(one.row))
        for one in samples
        if _filter(one) == of_task[one.task].filter
    ]
    return collect.scores(entries, rule_of(measures), _upward(samples, of_task, higher_is_better), REPEATED, WHAT)


@check.checks_itself
def read_lm_eval_choices(
    files: Files,
    normalise: Literal["none", "characters"] = "none",
    tasks: str | Sequence[str] | None = None,
) -> tuple[Predictions, Truth]:
    r"""Distributions over the choices of multiple-choice tasks, and the right choices, from the harness's sample logs.

    The log-likelihoods of an item's choices go through a softmax: p_k is proportional to exp(l_k). Labels are the
    positions of the choices, from 0; positions that an item lacks have probability 0.

    Arguments: `files` and `tasks` as in `read_lm_eval_samples`; `normalise` is `"none"`, or `"characters"` to divide
    each log-likelihood by the length of its choice first, as the metric `acc_norm` does (a softmax of such means is a
    convention, not a probability that the model states).

    Returns: predictions, and the truth of the estimand `class`, for `score` or `evaluate`.

    Errors: `InputError` names file and line of what is no multiple-choice sample with one right choice.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "samples_quiz.jsonl"
    >>> _ = path.write_text('{"doc_id": 7, "target": "1", "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]]}')
    >>> predictions, truth = pt.loaders.read_lm_eval_choices({"small": path})
    >>> predictions.probs.round(3).tolist(), truth.probs.tolist()
    ([[[0.269, 0.731]]], [[0.0, 1.0]])
    """
    check.one_of(normalise, ("none", "characters"), "normalise")
    samples = chosen_tasks(_samples(files), tasks)
    filter_of = {one.task: one.filter for one in measured(_tasks(samples), None, None, need_metric=False)}
    samples = [one for one in samples if _filter(one) == filter_of[one.task]]
    _refuse_generated(samples)
    return predictions_and_truth([_choice(sample, normalise) for sample in samples], REPEATED, WHAT)


def listed(files: LogFiles) -> Listing:
    """What there is to compare: models, tasks, filters, and the metrics that are one number a sample."""
    samples = _samples(files)
    rows = ((one.model, one.task, one.item, _numbers(one.row), _filter(one)) for one in samples)
    return replace(listing(rows), of_tasks=_tasks(samples))


def _numbers(row: JsonObject) -> list[str]:
    """The metrics that are one number, in the harness's order."""
    names = row.get("metrics")
    stated = [name for name in names if isinstance(name, str) and name in row] if isinstance(names, list) else []
    known = dict.fromkeys((*stated, *(key for key in row if key not in OWN)))
    return [key for key in known if key not in OWN and isinstance(row[key], (int, float))]


def _tasks(samples: Sequence[_LmEvalSample]) -> tuple[Task, ...]:
    """The tasks, each with its filters and the metrics of each filter, in the order of the files."""
    tasks: dict[str, dict[str, Metrics]] = {}
    for sample in samples:
        own, filter = tasks.setdefault(sample.task, {}), _filter(sample)
        if filter not in own:
            numbers = _numbers(sample.row)
            others = tuple(key for key in sample.row if key not in OWN and key not in numbers)
            own[filter] = Metrics(tuple(numbers), others, sample.where)
    return tuple(Task(name, own) for name, own in sorted(tasks.items()))


def _upward(samples: Sequence[_LmEvalSample], of_task: Mapping[str, TaskMeasure], stated: bool | None) -> bool:
    """Whether higher is better: as the caller says, else by the names of the metrics, else as the run says.

    Errors: `InputError` where nothing says it, or the tasks differ.
    """
    upward: dict[str, bool] = {}
    for sample in samples:
        if sample.task not in upward:
            metric = of_task[sample.task].metric
            own = sample.upward.get(sample.task)
            declared = own.get(metric) if isinstance(own, dict) else None
            way = orientation.known(metric) if stated is None else stated
            way = declared if way is None and isinstance(declared, bool) else way
            upward[sample.task] = orientation.upward(metric, way, WHAT)
    if len(set(upward.values())) > 1:
        ways = [next(task for task, way in upward.items() if way is wanted) for wanted in (True, False)]
        words = [f"{check.quote(of_task[task].metric)} of {check.quote(task)}" for task in ways]
        raise InputError(
            f"{words[0]}, of which more is better, and {words[1]}, of which less is",
            "metrics that count the same way",
            "Choose tasks (tasks=[...]; command line: --task NAME) or other metrics (metric={task: name}; --metric "
            "TASK=NAME).",
            WHAT,
        )
    return next(iter(upward.values()))


def _samples(files: LogFiles) -> list[_LmEvalSample]:
    samples: list[_LmEvalSample] = []
    runs: dict[tuple[Path, str], _Run] = {}
    for model, path in log_files(files, PATTERNS):
        match = TASK.fullmatch(path.name)
        task, date = (match["task"], match["date"] or "") if match else ("", "")
        if (path.parent, date) not in runs:
            runs[path.parent, date] = _run(path, date)
        run = runs[path.parent, date]
        samples += _of_file(model or run.model or _folder(path), path, task, run.upward)
    if not samples:
        raise InputError("empty files", "at least one sample", "Check that the run was finished.", WHAT)
    return samples


def _run(path: Path, date: str) -> _Run:
    """What the harness wrote beside the samples: for this date, or for any if all dates name one model."""
    beside = sorted(path.parent.glob("results_*.json"))
    dated = sorted(path.parent.glob(f"*_{date}.json")) if date else []
    runs = [_of_results(file) for file in (dated or beside)]
    if not dated and len({run.model for run in runs}) != 1:
        return _Run("", {})
    return runs[0]


def _of_results(path: Path) -> _Run:
    value, name = read_json(path)
    results = as_object(value, name)
    model, upward = results.get("model_name"), results.get("higher_is_better")
    named = isinstance(model, str) and model.strip() != "" and model.isprintable()
    return _Run(as_name(model, name, "model_name") if named else "", upward if isinstance(upward, dict) else {})


def _of_file(model: str, path: Path, task: str, upward: JsonObject) -> Iterator[_LmEvalSample]:
    for row, where in read_lines(path):
        item = need_name(row, "doc_id", where, "Give samples_*.jsonl of `lm_eval --log_samples`.")
        yield _LmEvalSample(row, where, model, task, f"{task}/{item}" if task else item, upward)


def _folder(path: Path) -> str:
    """The model that the harness named the folder after."""
    model = path.resolve().parent.name
    if not model.isprintable() or not model.strip():
        raise InputError("files without models", "{model name: file}", "Name the models.", shown(path))
    return model


def _filter(sample: _LmEvalSample) -> str:
    return as_name(sample.row.get("filter", "none"), sample.where, "filter")


def _score(sample: _LmEvalSample, metric: str) -> float:
    hint = "Choose a metric that all models have."
    value = need(sample.row, metric, sample.where, hint)
    if isinstance(value, list):
        raise InputError(
            f"a list of {len(value)}",
            "one number a sample",
            "The harness computes this metric over all samples at once; choose another.",
            f"{sample.where}, {check.quote(metric)}",
        )
    return as_number(value, sample.where, metric)


def _hashes(row: JsonObject) -> tuple[str | None, str | None]:
    """What identifies the document and the prompt, if the sample has it."""
    document, prompt = (
        value if isinstance(value := row.get(key), str) else None for key in ("doc_hash", "prompt_hash")
    )
    return document, prompt


def _refuse_generated(samples: Sequence[_LmEvalSample]) -> None:
    """Raises where some tasks have no choices but generated answers, with the names of the others."""
    generated: dict[str, bool] = {}
    for sample in samples:
        answers = sample.row.get("filtered_resps")
        if sample.task not in generated:
            generated[sample.task] = isinstance(answers, list) and bool(answers) and isinstance(answers[0], str)
    others = [task for task, one in generated.items() if not one]
    if others and len(others) < len(generated):
        raise InputError(
            f"tasks of generated answers: {check.shortlist(task for task, one in generated.items() if one)}",
            "multiple-choice tasks, whose choices have log-likelihoods",
            f"Name those, tasks={others[:20]} (command line: --task); read the others with read_lm_eval_samples "
            "(probtruth compare).",
            WHAT,
            tuple(word for task in others for word in ("--task", task)),
        )


def _choice(sample: _LmEvalSample, normalise: str) -> Choice:
    """One item's distribution over its choices, and the right one."""
    row, where = sample.row, sample.where
    logs = [_log_likelihood(entry, where) for entry in need_list(row, "filtered_resps", where)]
    words = _continuations(row, len(logs), where)
    half = len(logs) // 2
    if words is not None and half >= 2 and len(logs) % 2 == 0 and _unconditional(row, words, half, where):
        logs, words = logs[:half], words[:half]  # of acc_mutual_info
    if normalise == "characters":
        if words is None:
            raise InputError("samples without arguments", "the text of the choices", "Use normalise='none'.", where)
        logs = [log / max(len(word), 1) for log, word in zip(logs, words, strict=True)]
    gold = chosen(need(row, "target", where), words, len(logs), where)
    return Choice(sample.item, sample.model, np.array(logs), gold, where, *_hashes(row))


def _log_likelihood(entry: object, where: str) -> float:
    while isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    pair = isinstance(entry, list) and len(entry) == 2 and str(entry[1]) in ("True", "False")
    try:
        if not pair or not isinstance(entry, list):
            raise ValueError
        value = float(entry[0])
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            described(entry),
            "a log-likelihood and whether it is the greedy answer",
            "Only multiple-choice tasks have distributions: name them, tasks=[...] (command line: --task NAME), and "
            "read others with read_lm_eval_samples (probtruth compare).",
            f"{where}, 'filtered_resps'",
        ) from None
    if np.isnan(value) or value == np.inf:
        raise InputError(f"{value}", "a log-likelihood", "Check the run.", f"{where}, 'filtered_resps'")
    return value


def _continuations(row: JsonObject, n_choices: int, where: str) -> list[str] | None:
    """The texts of the choices, if the sample has its requests."""
    if "arguments" not in row:
        return None
    words = [_argument(request, 1) for request in _requests(row, where)]
    if len(words) != n_choices or not all(isinstance(word, str) for word in words):
        raise InputError(
            f"{len(words)} requests for {n_choices} answers", "one for each", "Check the file.", f"{where}, 'arguments'"
        )
    return [str(word).strip() for word in words]


def _requests(row: JsonObject, where: str) -> list[Any]:
    arguments = row["arguments"]
    return list(arguments.values()) if isinstance(arguments, dict) else as_list(arguments, where, "arguments")


def _argument(request: Any, position: int) -> Any:
    if isinstance(request, dict):
        return request.get(f"arg_{position}")
    return request[position] if isinstance(request, list) and len(request) > position else None


def _unconditional(row: JsonObject, words: list[str], half: int, where: str) -> bool:
    """Whether the second half of the requests asks for the choices again, without the question."""
    empty = all(_argument(request, 0) == "" for request in _requests(row, where)[half:])
    return empty and words[:half] == words[half:]
