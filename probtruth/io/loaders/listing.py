"""What there is to compare in the logs of a harness, for a user who does not know its names."""

from collections.abc import Iterable
from dataclasses import dataclass

from probtruth.io.loaders.lm_eval_tasks import Task
from probtruth.types.index import sort_names


@dataclass(frozen=True)
class Listing:
    """The models, the tasks with their numbers of items, the metrics (or scorers) and the filters of some logs.

    `of_tasks` are the metrics and filters of each task, in logs that have them by task.
    """

    models: tuple[str, ...]
    tasks: tuple[tuple[str, int], ...]
    metrics: tuple[str, ...]
    filters: tuple[str, ...] = ()
    of_tasks: tuple[Task, ...] = ()


def listing(rows: Iterable[tuple[str, str, str, Iterable[str], str | None]]) -> Listing:
    """The listing of samples, each with its model, task, item, metrics and filter (None where there are none)."""
    models: dict[str, None] = {}
    tasks: dict[str, set[str]] = {}
    metrics: set[str] = set()
    filters: set[str] = set()
    for model, task, item, names, filter in rows:
        models[model] = None
        tasks.setdefault(task, set()).add(item)
        metrics |= set(names)
        filters |= set() if filter is None else {filter}
    counted = tuple((task, len(tasks[task])) for task in sort_names(tasks))
    return Listing(tuple(models), counted, sort_names(metrics), sort_names(filters))
