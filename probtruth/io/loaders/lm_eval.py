"""EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes them."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.collect import Listing, LogSample, listing, log_files, scores_of
from probtruth.io.loaders.json_values import Record, as_name, as_number, as_object, read_json, read_lines
from probtruth.io.tables.read import shown
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Files

PATTERNS = ("samples_*.jsonl",)  # The names of the harness's files
TASK = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+))?\.jsonl")
# The keys of a sample that are no metrics.
OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"} | {
    *("doc_hash", "prompt_hash", "target_hash"),
}
WHAT = "the samples"  # The logs in messages
REPEATED = (
    "Give one run of each task: keep the harness's file names (samples_TASK_DATE.jsonl), which tell the tasks apart, "
    "and leave out files of other dates; give models of one name names of their own: NAME=FOLDER."
)
EVERY = ""  # In place of a task: all that are not named
MOST_NAMED = 3  # How many tasks the name of the scores lists for a metric

type ByTask = str | Mapping[str, str] | None
"""A name for all tasks, or one for each; None for each task's first."""
type _Run = tuple[str, Mapping[str, Any]]
"""What `results_DATE.json` says of a run: the model's name, and which metrics count upwards, for each task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LmEvalSample(LogSample):
    """A sample, with all that its line holds, and the filter that made its answers out of the model's."""

    values: Record
    filter: str
    upward: Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """The metric and the filter by which a task counts; written as the harness does where there are several filters."""

    metric: str
    filter: str
    one_of_several: bool

    def __str__(self) -> str:
        return f"{self.metric},{self.filter}" if self.one_of_several else self.metric


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
    read. `higher_is_better` is needed for metrics that are not known.

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
    measures = _measures(first_samples(samples), metric, filter)
    scored = [(one, _score(one, measures[one.task].metric)) for one in samples
              if one.filter == measures[one.task].filter]  # fmt: skip
    return scores_of(scored, _rule(measures), _upward(samples, measures, higher_is_better), REPEATED, WHAT)


def listed(files: Files) -> Listing:
    """What there is to compare: models, tasks, filters, and the metrics that are one number a sample."""
    samples = samples_in(files, None)
    of_tasks = {
        task: {filter: _numbers(one.values) for filter, one in own.items()}
        for task, own in first_samples(samples).items()
    }
    return replace(listing(samples, lambda one: _numbers(one.values)), of_tasks=of_tasks)


def _numbers(row: Mapping[str, Any]) -> list[str]:
    """The metrics that are one number, in the harness's order."""
    names = row.get("metrics")
    stated = [name for name in names if isinstance(name, str) and name in row] if isinstance(names, list) else []
    known = dict.fromkeys((*stated, *(key for key in row if key not in OWN)))
    return [key for key in known if key not in OWN and isinstance(row[key], (int, float))]


def first_samples(samples: Sequence[LmEvalSample]) -> dict[str, dict[str, LmEvalSample]]:
    """The first sample of each task under each of its filters, in the order of the files."""
    tasks: dict[str, dict[str, LmEvalSample]] = {}
    for sample in samples:
        tasks.setdefault(sample.task, {}).setdefault(sample.filter, sample)
    return dict(sorted(tasks.items()))


def _measures(tasks: Mapping[str, Mapping[str, LmEvalSample]], metric: ByTask, filter: ByTask) -> dict[str, Measure]:
    """The metric and filter of each task."""
    metrics, filters = _by_task(metric, tasks), _by_task(filter, tasks)
    if EVERY in filters:
        check.one_of(filters[EVERY], sorted({name for own in tasks.values() for name in own}), "filter")
    ways = {task: _filter(task, own, filters) for task, own in tasks.items()}
    first = {task: own[ways[task]] for task, own in tasks.items()}
    wanted = {task: metrics.get(task, metrics.get(EVERY)) for task in tasks}
    lacking = [
        task
        for task, one in first.items()
        if not (_numbers(one.values) if wanted[task] is None else wanted[task] in {*one.values} - OWN)
    ]
    if lacking:
        raise _no_metric(
            {task: first[task] for task in lacking if wanted[task] == wanted[lacking[0]]}, wanted[lacking[0]]
        )
    return {
        task: Measure(wanted[task] or _numbers(one.values)[0], ways[task], len(tasks[task]) > 1)
        for task, one in first.items()
    }


def _by_task(option: ByTask, tasks: Mapping[str, Any]) -> Mapping[str, str]:
    named = {} if option is None else option if isinstance(option, Mapping) else {EVERY: option}
    for task in named:
        if task != EVERY:
            check.one_of(task, list(tasks), "task")
    return named


def _filter(task: str, own: Mapping[str, LmEvalSample], named: Mapping[str, str]) -> str:
    """The filter that is named, the first, or the only one where another is named for every task."""
    wanted, names = named.get(task, named.get(EVERY)), list(own)
    if wanted in own:
        return str(wanted)
    if wanted is None or (len(names) == 1 and task not in named):
        return names[0]
    raise InputError(
        f"no filter {check.quote(wanted)} of the task {check.quote(task)}",
        f"one of {check.shortlist(names, 20)}",
        f"{check.did_you_mean(wanted, names)} Name one for that task, filter={{{task!r}: {names[0]!r}}} (command line: "
        f"--filter {task}={names[0]}), or none: then it counts by its first.",
        own[names[0]].where,
    )


def _no_metric(lacking: Mapping[str, LmEvalSample], wanted: str | None) -> InputError:
    """The error for tasks without a metric to count by, with what they have."""
    numbers = {task: _numbers(one.values) for task, one in lacking.items()}
    where = next(iter(lacking.values())).where
    tasks = f"the task{'s' if len(lacking) > 1 else ''} {check.shortlist(lacking)}"
    if wanted is None or not all(numbers.values()):
        return InputError(
            f"no metric of {tasks} that is one number",
            "one metric",
            "The harness computes the others over all samples at once: leave them out, tasks=[...] (command line: "
            "--task NAME).",
            where,
        )
    own = list(dict.fromkeys(name for names in numbers.values() for name in names))
    choice = {task: names[0] for task, names in numbers.items()}
    options = tuple(word for task, name in choice.items() for word in ("--metric", f"{task}={name}"))
    return InputError(
        f"no metric {check.quote(wanted)} of {tasks}",
        f"one of {check.shortlist(own, 20)}",
        f"{check.did_you_mean(wanted, own)} Name one for {'each' if len(lacking) > 1 else 'it'}, metric={choice} "
        f"(command line: {shlex.join(options)}), or none: then it counts by its first.",
        where,
        options,
    )


def _rule(measures: Mapping[str, Measure]) -> str:
    """The name of the scores: the metric or, where tasks differ, each metric with its tasks."""
    tasks: dict[str, list[str]] = {}
    for task, one in measures.items():
        tasks.setdefault(str(one), []).append(task)
    if len(tasks) == 1:
        return next(iter(tasks))
    parts = []
    for metric, names in tasks.items():
        more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        parts.append(f"{', '.join(names[:MOST_NAMED] + more)} by {metric}")
    return f"score ({'; '.join(parts)})"


def _upward(samples: Sequence[LmEvalSample], measures: Mapping[str, Measure], stated: bool | None) -> bool:
    """Whether higher is better: as the caller says, else by the names of the metrics, else as the run says."""
    upward: dict[str, bool] = {}
    for sample in samples:
        if sample.task not in upward:
            metric, own = measures[sample.task].metric, sample.upward.get(sample.task)
            declared = own.get(metric) if isinstance(own, dict) else None
            way = orientation.known(metric) if stated is None else stated
            way = declared if way is None and isinstance(declared, bool) else way
            upward[sample.task] = orientation.upward(metric, way, WHAT)
    if len(set(upward.values())) > 1:
        ways = [next(task for task, way in upward.items() if way is wanted) for wanted in (True, False)]
        words = [f"{check.quote(measures[task].metric)} of {check.quote(task)}" for task in ways]
        raise InputError(
            f"{words[0]}, of which more is better, and {words[1]}, of which less is",
            "metrics that count the same way",
            "Choose tasks (tasks=[...]; command line: --task NAME) or other metrics (metric={task: name}; --metric "
            "TASK=NAME).",
            WHAT,
        )
    return next(iter(upward.values()))


def samples_in(files: Files, tasks: str | Sequence[str] | None) -> Sequence[LmEvalSample]:
    """The samples of the tasks that are wanted (None: of all) in the files."""
    samples: list[LmEvalSample] = []
    runs: dict[tuple[Path, str], _Run] = {}
    for model, path in log_files(files, PATTERNS):
        match = TASK.fullmatch(path.name)
        task, date = (match["task"], match["date"] or "") if match else ("", "")
        if (path.parent, date) not in runs:
            runs[path.parent, date] = _run(path, date)
        own, upward = runs[path.parent, date]
        name = model or own or _folder(path)
        for row in read_lines(path):
            item = row.name_at("doc_id", "Give samples_*.jsonl of `lm_eval --log_samples`.")
            document, prompt = (
                value if isinstance(value := row.get(key), str) else None for key in ("doc_hash", "prompt_hash")
            )
            samples.append(
                LmEvalSample(
                    item=f"{task}/{item}" if task else item,
                    model=name,
                    task=task,
                    where=row.where,
                    values=row,
                    content=document,
                    prompt=prompt,
                    filter=as_name(row.get("filter", "none"), row.where, "filter"),
                    upward=upward,
                )
            )
    if not samples:
        raise InputError("empty files", "at least one sample", "Check that the run was finished.", WHAT)
    if tasks is None:
        return samples
    names = sorted({sample.task for sample in samples})
    chosen = {check.one_of(task, names, "task") for task in ([tasks] if isinstance(tasks, str) else tasks)}
    return [sample for sample in samples if sample.task in chosen]


def _run(path: Path, date: str) -> _Run:
    """What the harness wrote beside the samples: for this date, or for any if all dates name one model."""
    beside = sorted(path.parent.glob("results_*.json"))
    dated = sorted(path.parent.glob(f"*_{date}.json")) if date else []
    runs = [_of_results(file) for file in (dated or beside)]
    if not dated and len({model for model, _ in runs}) != 1:
        return "", {}
    return runs[0]


def _of_results(path: Path) -> _Run:
    results = as_object(*read_json(path))
    model, upward = results.get("model_name"), results.get("higher_is_better")
    named = isinstance(model, str) and model.strip() != "" and model.isprintable()
    name = as_name(model, results.where, "model_name") if named else ""
    return name, upward if isinstance(upward, dict) else {}


def _folder(path: Path) -> str:
    """The model that the harness named the folder after."""
    model = path.resolve().parent.name
    if not model.isprintable() or not model.strip():
        raise InputError("files without models", "{model name: file}", "Name the models.", shown(path))
    return model


def _score(sample: LmEvalSample, metric: str) -> float:
    value = sample.values.need(metric, "Choose a metric that all models have.")
    if isinstance(value, list):
        raise InputError(
            f"a list of {len(value)}",
            "one number a sample",
            "The harness computes this metric over all samples at once; choose another.",
            f"{sample.where}, {check.quote(metric)}",
        )
    return as_number(value, sample.where, metric)
