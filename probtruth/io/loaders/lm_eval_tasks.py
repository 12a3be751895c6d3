"""By which metric and filter each task of the lm-evaluation-harness counts: those that are named, or its first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from probtruth import check
from probtruth.errors import InputError

type ByTask = str | Mapping[str, str] | None
"""A name for all tasks, or one for each; None for each task's first."""
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
class Measure:
    """The metric and the filter by which a task counts; `one_of_several`: the task has other filters."""

    task: str
    metric: str
    filter: str
    one_of_several: bool

    def __str__(self) -> str:
        """As the harness writes it: the metric, and after a comma the filter where there are several."""
        return f"{self.metric},{self.filter}" if self.one_of_several else self.metric


class OfTask(Protocol):
    """A sample of a task."""

    @property
    def task(self) -> str:
        """The task's name."""
        ...


def chosen_tasks[Sample: OfTask](samples: Sequence[Sample], wanted: str | Sequence[str] | None) -> Sequence[Sample]:
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


def measured(tasks: Sequence[Task], metric: ByTask, filter: ByTask, need_metric: bool = True) -> tuple[Measure, ...]:
    """The metric and filter of each task.

    Errors: `InputError` for a name that a task does not have, with what it has.
    """
    names = [task.name for task in tasks]
    filters = sorted({name for task in tasks for name in task.filters})
    for option in (metric, filter):
        for pattern in option if isinstance(option, Mapping) else ():
            _matching(pattern, names)
    if isinstance(filter, str):
        check.one_of(filter, filters, "filter")
    found = []
    for task in tasks:
        way = _filter(task, filter)
        name = _metric(task.name, task.filters[way], _named(task.name, metric)) if need_metric else ""
        found.append(Measure(task.name, name, way, len(task.filters) > 1))
    return tuple(found)


def rule_of(found: Sequence[Measure]) -> str:
    """The name of the scores: the metric or, where tasks differ, each metric with its tasks."""
    tasks: dict[str, list[str]] = {}
    for one in found:
        tasks.setdefault(str(one), []).append(one.task)
    if len(tasks) == 1:
        return next(iter(tasks))
    return "; ".join(f"{metric} ({_listed(names)})" for metric, names in tasks.items())


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join((*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])))


def _matching(pattern: str, names: Sequence[str]) -> None:
    if not any(fnmatchcase(name, pattern) for name in names):
        raise InputError(
            f"the task {check.quote(pattern)}", "a task of the logs", check.did_you_mean(pattern, names), "the samples"
        )


def _named(task: str, option: ByTask) -> str | None:
    """What is named for a task: by its own name, else by the first pattern that fits."""
    if not isinstance(option, Mapping):
        return option
    if task in option:
        return option[task]
    return next((name for pattern, name in option.items() if fnmatchcase(task, pattern)), None)


def _filter(task: Task, option: ByTask) -> str:
    """The filter that is named, the only one, or the first."""
    wanted, own = _named(task.name, option), list(task.filters)
    if wanted in task.filters:
        return str(wanted)
    if wanted is None or (len(own) == 1 and not isinstance(option, Mapping)):
        return own[0]
    raise _absent("filter", wanted, task.name, own, task.filters[own[0]].where)


def _metric(task: str, metrics: Metrics, wanted: str | None) -> str:
    """The metric that is named, or the first."""
    if wanted in (*metrics.numbers, *metrics.others):
        return str(wanted)
    if not metrics.numbers:
        raise InputError(
            f"no metric of the task {check.quote(task)} that is one number",
            "one metric",
            "The harness computes the others over all samples at once: leave that task out, tasks=[...] (command "
            "line: --task NAME).",
            metrics.where,
        )
    if wanted is not None:
        raise _absent("metric", wanted, task, metrics.numbers, metrics.where)
    return metrics.numbers[0]


def _absent(what: str, wanted: str, task: str, own: Sequence[str], where: str) -> InputError:
    near = check.did_you_mean(wanted, own)
    return InputError(
        f"no {what} {check.quote(wanted)} of the task {check.quote(task)}",
        f"one of {check.shortlist(own, 20)}",
        f"{f'{near} ' if near.startswith('Did') else ''}Name one for that task, {what}={{{task!r}: {own[0]!r}}} "
        f"(command line: --{what} {task}={own[0]}), or none: then it counts by its first.",
        where,
    )
