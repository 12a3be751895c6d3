"""EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders import collect
from probtruth.io.loaders.collect import Listing, LogSample, listing, log_files
from probtruth.io.loaders.json_values import Record, as_name, as_number, as_object, read_json, read_lines
from probtruth.io.loaders.lm_eval_tasks import ByTask, Metrics, Task, TaskMeasure, chosen_tasks, measured, rule_of
from probtruth.io.tables.read import shown
from probtruth.types import Scores, orientation
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LmEvalSample(LogSample):
    """A sample, with all that its line holds, and the filter that made its answers out of the model's.

    `upward` is what its run says of the metrics of each task.
    """

    values: Record
    filter: str
    upward: Mapping[str, Any]


type _Run = tuple[str, Mapping[str, Any]]
"""What `results_DATE.json` says of a run: the model's name, and which metrics count upwards, for each task."""


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
    samples = samples_in(files, tasks)
    measures = measured(tasks_of(samples), metric, filter)
    of_task = {one.task: one for one in measures}
    scored = [(one, _score(one, of_task[one.task].metric)) for one in samples if one.filter == of_task[one.task].filter]
    return collect.scores(scored, rule_of(measures), _upward(samples, of_task, higher_is_better), REPEATED, WHAT)


def listed(files: Files) -> Listing:
    """What there is to compare: models, tasks, filters, and the metrics that are one number a sample."""
    samples = samples_in(files, None)
    of_tasks = {
        task.name: {name: metrics.numbers for name, metrics in task.filters.items()} for task in tasks_of(samples)
    }
    return replace(listing(samples, lambda one: _numbers(one.values)), of_tasks=of_tasks)


def _numbers(row: Mapping[str, Any]) -> list[str]:
    """The metrics that are one number, in the harness's order."""
    names = row.get("metrics")
    stated = [name for name in names if isinstance(name, str) and name in row] if isinstance(names, list) else []
    known = dict.fromkeys((*stated, *(key for key in row if key not in OWN)))
    return [key for key in known if key not in OWN and isinstance(row[key], (int, float))]


def tasks_of(samples: Sequence[LmEvalSample]) -> tuple[Task, ...]:
    """The tasks, each with its filters and the metrics of each filter, in the order of the files."""
    tasks: dict[str, dict[str, Metrics]] = {}
    for sample in samples:
        own = tasks.setdefault(sample.task, {})
        if sample.filter not in own:
            numbers = _numbers(sample.values)
            others = tuple(key for key in sample.values if key not in OWN and key not in numbers)
            own[sample.filter] = Metrics(tuple(numbers), others, sample.where)
    return tuple(Task(name, own) for name, own in sorted(tasks.items()))


def _upward(samples: Sequence[LmEvalSample], of_task: Mapping[str, TaskMeasure], stated: bool | None) -> bool:
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


def samples_in(files: Files, tasks: str | Sequence[str] | None) -> Sequence[LmEvalSample]:
    """The samples of the tasks that are wanted (None: of all) in the files.

    Errors: `InputError` where there is none.
    """
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
    return chosen_tasks(samples, tasks)


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
