"""By which metric and filter each task of the lm-evaluation-harness counts: those that are named, or its first."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.collect import LogSample

type ByTask = str | Mapping[str, str] | None
"""A name for all tasks, or one for each; None for each task's first."""
EVERY = "*"
"""The pattern of all tasks."""
MOST_NAMED = 3
"""How many tasks the name of the scores lists for a metric."""


@dataclass(frozen=True)
class Metrics:
    """Of a task's first sample: the metrics that are one number, other keys that may be metrics, and where it is."""

    numbers: tuple[str, ...]
    others: tuple[str, ...]
    where: str


@dataclass(frozen=True)
class Task:
    """A task, and the metrics under each of its filters, the first filter first."""

    name: str
    filters: Mapping[str, Metrics]


@dataclass(frozen=True)
class TaskMeasure:
    """The metric and the filter by which a task counts; `one_of_several`: the task has other filters."""

    task: str
    metric: str
    filter: str
    one_of_several: bool

    def __str__(self) -> str:
        """As the harness writes it: the metric, and after a comma the filter where there are several."""
        return f"{self.metric},{self.filter}" if self.one_of_several else self.metric


def chosen_tasks[S: LogSample](samples: Sequence[S], wanted: str | Sequence[str] | None) -> Sequence[S]:
    """The samples of the tasks that are wanted; `*` in a name stands for any letters.

    Errors: `InputError` for a task that is not there.
    """
    if wanted is None:
        return samples
    patterns = [wanted] if isinstance(wanted, str) else list(wanted)
    names = sorted({sample.task for sample in samples})
    for pattern in patterns:
        _matching(pattern, names)
    chosen = {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}
    return [sample for sample in samples if sample.task in chosen]


def measured(tasks: Sequence[Task], metric: ByTask, filter: ByTask) -> tuple[TaskMeasure, ...]:
    """The metric and filter of each task.

    Errors: `InputError` for a name that a task does not have, with what it has.
    """
    metrics, filters = _by_task(metric, tasks), _by_task(filter, tasks)
    if EVERY in filters:
        check.one_of(filters[EVERY], sorted({name for task in tasks for name in task.filters}), "filter")
    ways = {task.name: _filter(task, filters) for task in tasks}
    lacking = [task for task in tasks if not _has(task.filters[ways[task.name]], _named(task.name, metrics))]
    if lacking:
        raise _no_metric(lacking, ways, metrics)
    return tuple(
        TaskMeasure(
            task.name,
            _named(task.name, metrics) or task.filters[ways[task.name]].numbers[0],
            ways[task.name],
            len(task.filters) > 1,
        )
        for task in tasks
    )


def rule_of(measures: Sequence[TaskMeasure]) -> str:
    """The name of the scores: the metric or, where tasks differ, each metric with its tasks."""
    tasks: dict[str, list[str]] = {}
    for one in measures:
        tasks.setdefault(str(one), []).append(one.task)
    if len(tasks) == 1:
        return next(iter(tasks))
    return f"score ({'; '.join(f'{_listed(names)} by {metric}' for metric, names in tasks.items())})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join((*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])))


def _matching(pattern: str, names: Sequence[str]) -> None:
    if not any(fnmatchcase(name, pattern) for name in names):
        raise InputError(
            f"the task {check.quote(pattern)}", "a task of the logs", check.did_you_mean(pattern, names), "the samples"
        )


def _by_task(option: ByTask, tasks: Sequence[Task]) -> Mapping[str, str]:
    """What is named, by task or pattern; a bare name is that of every task.

    Errors: `InputError` for a task that is not there.
    """
    named = {} if option is None else option if isinstance(option, Mapping) else {EVERY: option}
    for pattern in named:
        _matching(pattern, [task.name for task in tasks])
    return named


def _named(task: str, named: Mapping[str, str]) -> str | None:
    """What is named for a task: by its own name, else by the first pattern that fits, last for every task."""
    patterns = [task, *(pattern for pattern in named if pattern != EVERY), EVERY]
    return next((named[pattern] for pattern in patterns if pattern in named and fnmatchcase(task, pattern)), None)


def _filter(task: Task, named: Mapping[str, str]) -> str:
    """The filter that is named, the first, or the only one where another is named for every task."""
    wanted, own = _named(task.name, named), list(task.filters)
    if wanted in task.filters:
        return str(wanted)
    if wanted is None or (len(own) == 1 and wanted == named.get(EVERY)):
        return own[0]
    near = check.did_you_mean(wanted, own)
    raise InputError(
        f"no filter {check.quote(wanted)} of the task {check.quote(task.name)}",
        f"one of {check.shortlist(own, 20)}",
        f"{f'{near} ' if near.startswith('Did') else ''}Name one for that task, filter={{{task.name!r}: {own[0]!r}}} "
        f"(command line: --filter {task.name}={own[0]}), or none: then it counts by its first.",
        task.filters[own[0]].where,
    )


def _has(metrics: Metrics, wanted: str | None) -> bool:
    """Whether a task has the metric that is named or, where none is, any."""
    return bool(metrics.numbers) if wanted is None else wanted in (*metrics.numbers, *metrics.others)


def _no_metric(lacking: Sequence[Task], ways: Mapping[str, str], named: Mapping[str, str]) -> InputError:
    """The error for tasks without a metric to count by, and for those of the first one's name what they have."""
    wanted = _named(lacking[0].name, named)
    alike = [task for task in lacking if _named(task.name, named) == wanted]
    first = {task.name: task.filters[ways[task.name]].numbers for task in alike}
    where = alike[0].filters[ways[alike[0].name]].where
    tasks = f"the task{'s' if len(alike) > 1 else ''} {check.shortlist(first)}"
    if wanted is None or not all(first.values()):
        return InputError(
            f"no metric of {tasks} that is one number",
            "one metric",
            "The harness computes the others over all samples at once: leave them out, tasks=[...] (command line: "
            "--task NAME).",
            where,
        )
    own = list(dict.fromkeys(name for names in first.values() for name in names))
    near = check.did_you_mean(wanted, own)
    options = tuple(word for task, names in first.items() for word in ("--metric", f"{task}={names[0]}"))
    choice = {task: names[0] for task, names in first.items()}
    return InputError(
        f"no metric {check.quote(wanted)} of {tasks}",
        f"one of {check.shortlist(own, 20)}",
        f"{f'{near} ' if near.startswith('Did') else ''}Name one for {'each' if len(alike) > 1 else 'it'}, "
        f"metric={choice} (command line: {shlex.join(options)}), or none: then it counts by its first.",
        where,
        options,
    )
