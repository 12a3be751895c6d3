"""What harnesses log one by one, put side by side: repeated samples refused, other questions left out.

Which files a loader reads: one, several, a folder of them, or some for each model.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.check import Source, one_of, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, location, matching, shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.json_values import as_name, as_number
from probtruth.io.tables.read import guarded
from probtruth.redaction import redacted
from probtruth.types import Audit, Scores
from probtruth.types.arguments import Files, StrPath
from probtruth.types.index import sort_names


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSample:
    """One answer of a model in a log; `values` are its scores by name, as they stand there."""

    item: str
    model: str
    task: str
    where: str
    replicate: str = "0"
    filter: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    upward: dict[str, Any] = field(default_factory=dict)  # which metrics count upwards, as the run says
    content: MaybeText = None
    prompt: MaybeText = None
    row: Any = None  # the whole of it, where more than scores is read


@dataclass(frozen=True)
class Listing:
    """What there is to compare in logs: models, tasks with their numbers of items, and metrics by task and filter."""

    models: list[str]
    tasks: dict[str, int]
    of_tasks: Mapping[str, Mapping[str, Iterable[str]]]

    @property
    def metrics(self) -> list[str]:
        """The metrics of all tasks."""
        return sorted({name for filters in self.of_tasks.values() for names in filters.values() for name in names})


def listing(samples: Iterable[LogSample]) -> Listing:
    """What a user who does not know the names can choose from."""
    models: dict[str, None] = {}
    items: dict[str, set[str]] = {}
    metrics: dict[str, dict[str, dict[str, None]]] = {}
    for one in samples:
        models[one.model] = None
        items.setdefault(one.task, set()).add(one.item)
        of_filter = metrics.setdefault(one.task, {}).setdefault(one.filter, {})
        of_filter.update(dict.fromkeys(one.values))
    ordered = sort_names(items)
    tasks = {task: len(items[task]) for task in ordered}
    return Listing(list(models), tasks, {task: metrics[task] for task in ordered})


def choose(
    names: Collection[str], wanted: MaybeText, option: str, flag: str, where: str, none: str = "", hint: str = ""
) -> str:
    known = sorted(names)
    if not known:
        raise InputError(none, f"one {option}", hint, where)
    if wanted is not None:
        return one_of(wanted, known, option)
    if len(known) > 1:
        listed = f"several {option}s: {shortlist(known, 20)}"
        raise InputError(listed, f"one {option}", check.choose(option, known[0], flag), where)
    return known[0]


def scores_by(samples: Iterable[LogSample], metric: str, higher_is_better: bool, repeated: str, what: str) -> Scores:
    """The samples as scores by one of their metrics; those without it lack an answer."""
    scored: list[tuple[LogSample, float]] = []
    for one in samples:
        if one.values.get(metric) is not None:
            scored.append((one, as_number(one.values[metric], f"{one.where}, {quote(metric)}")))
    return scores_of(scored, metric, higher_is_better, repeated, what)


def scores_of(
    scored: Sequence[tuple[LogSample, float]], rule: str, higher_is_better: bool, repeated: str, what: str
) -> Scores:
    """The samples, each with its score, as scores of which tasks are the groups; with the audit of the items."""
    if not scored:
        raise InputError("no scores", "at least one", "Check that the run was finished.", what)
    audit = differences([sample for sample, _ in scored], repeated, what)
    different = set(audit.different)
    same = [(one, score) for one, score in scored if one.item not in different]
    columns = {name: [getattr(one, name) for one, _ in same] for name in ("item", "model", "task", "replicate")}
    notes: Texts = ()
    if different:
        left_out = f"{check.count(len(different), 'item')} left out ({shortlist(audit.different, 3)})"
        notes = (f"{left_out}: under the same id, models have different questions{_elsewhere(scored, different)}",)
        if len(set(columns["item"])) < 2:
            hint = "Run every model on the same samples of the task, in the same order."
            raise InputError(notes[0], "the same question under an id, for two items at least", hint, what)
    table = Scores.from_frame(
        columns | {"score": [score for _, score in same]},
        group="task" if len(set(columns["task"])) > 1 else None,
        replicate="replicate",
        higher_is_better=higher_is_better,
        source=Source(what),
    )
    return replace(table, rule=rule, audit=table.audit + audit, notes=(*table.notes, *notes))


def _elsewhere(scored: Sequence[tuple[LogSample, float]], different: Collection[str]) -> str:
    """What to know of items that were left out: whether their questions stand under other ids."""
    ids: dict[MaybeText, set[str]] = {}
    for sample, _ in scored:
        ids.setdefault(sample.content, set()).add(sample.item)
    moved = any(len(ids[sample.content]) > 1 for sample, _ in scored if sample.item in different)
    return ", some of which stand under other ids" if moved else ""


def differences(samples: Sequence[LogSample], repeated: str, what: str) -> Audit:
    """The items that are another question, or were asked in other words, in some of the samples."""
    once(
        (((sample.item, sample.model, sample.replicate), sample.where) for sample in samples),
        lambda key: f"item {quote(key[0])} of model {quote(key[1])} again",
        "every item of a model once",
        repeated,
    )
    different = _varying((sample.item, sample.content) for sample in samples)
    prompts = _varying((sample.item, sample.prompt) for sample in samples)
    if all(sample.item in different for sample in samples):
        raise InputError(
            f"items that are different questions under the same names ({shortlist(sort_names(different), 3)})",
            "the same questions for every model",
            "Run every model on the same version of the task.",
            what,
        )
    return Audit(different=sort_names(different), prompts=sort_names(prompts - different))


def _varying(pairs: Iterable[tuple[str, MaybeText]]) -> set[str]:
    """The items of which not all known values are one."""
    first: dict[str, str] = {}
    return {item for item, value in pairs if value is not None and first.setdefault(item, value) != value}


def once[K: Texts](places: Iterable[tuple[K, str]], again: Callable[[K], str], expected: str, hint: str) -> None:
    """Raises at the second time that a key stands in the pairs of key and position; `again` puts it into words."""
    first: dict[K, str] = {}
    for key, where in places:
        if key in first:
            raise InputError(f"{again(key)} (first: {first[key]})", expected, hint, where)
        first[key] = where


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def log_files(files: Files, patterns: Texts) -> list[tuple[MaybeText, Path]]:
    """The files, each with the name of its model (None: without one)."""
    named: list[tuple[Any, Any]] = [(None, files)]
    if isinstance(files, Mapping):
        named = [(as_name(model, "the names of models"), of_model) for model, of_model in files.items()]
    unique([model or "" for model, _ in named], "model")
    pairs: list[tuple[MaybeText, Path]] = []
    for model, of_model in named:
        pairs += [(model, path) for path in _paths(of_model, patterns)]
    if not pairs:
        raise InputError("no file", "at least one", "Give a path, a list of paths, or {'my model': path}.")
    unique([shown(path) for _, path in pairs], "file")
    return pairs


def _paths(files: StrPath | Iterable[StrPath], patterns: Texts) -> list[Path]:
    """The files themselves, those that a pattern stands for, and those of a folder whose names fit."""
    paths: list[Path] = []
    listed: Iterable[Any] = [files]
    if isinstance(files, Iterable) and not isinstance(files, (str, bytes)):
        listed = files
    for file in listed:
        if not isinstance(file, (str, Path)):
            raise InputError(type(file).__name__, "the path of a file or folder", "Give a path, or a list of paths.")
        if is_address(str(file)):
            raise InputError("logs at an address", "local files", "Copy the logs here first.", redacted(str(file)))
        where = location(file)
        for one in matching(where) or [where]:
            if guarded(one, one.is_dir):
                paths += _inside(one, patterns)
            else:
                paths.append(one)
    return paths


def _inside(folder: Path, patterns: Texts) -> list[Path]:
    found: set[Path] = set()
    for pattern in patterns:
        found.update(log for log in folder.rglob(pattern) if log.is_file())
    if not found:
        raise InputError("a folder without such files", " or ".join(patterns), "Check the path.", shown(folder))
    return sorted(found)
