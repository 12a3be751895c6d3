"""What tools log or export one by one, side by side: answers of models as scores, those of annotators as annotations.

Repeated samples are refused, other questions left out. Which files a loader reads: one, several, a folder of them, or
some for each model.
"""

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from probtruth import check
from probtruth.check import Source, one_of, quote, shortlist, unique
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.addresses import is_address, is_path, location, matching, shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.json_values import as_name, as_number
from probtruth.io.tables.read import guarded
from probtruth.redaction import redacted
from probtruth.types import Annotations, Audit, Scores, orientation
from probtruth.types.arguments import Files, GivenNames, StrPath
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


def choose(names: Collection[str], wanted: MaybeText, option: str, flag: str, where: str) -> str:
    """The name that is wanted, or the only one."""
    known = sorted(names)
    if wanted is not None:
        return one_of(wanted, known, option)
    if len(known) > 1:
        raise InputError(
            f"several {option}s: {shortlist(known, 20)}",
            f"one {option}",
            check.choose(option, known[0], flag),
            where,
        )
    return known[0]


class Tool(NamedTuple):
    """What messages say of the logs of a tool."""

    what: str
    repeated: str  # the hint where an item stands twice
    unscored: str = "Check that the run was finished."
    option: str = "metric"


def scores_by(
    samples: Sequence[LogSample],
    tool: Tool,
    metric: MaybeText = None,
    higher_is_better: bool | None = None,
    usual: str = "",
) -> Scores:
    """The samples as scores by one of their metrics, the `usual` one if it is there; others lack an answer."""
    names = {name for one in samples for name in one.values}
    if not names:
        raise InputError(f"no {tool.option}", f"one {tool.option}", tool.unscored, tool.what)
    if metric is None and usual in names:
        metric = usual
    chosen = choose(names, metric, tool.option, "--score", tool.what)
    scored = []
    ways = set()
    for one in samples:
        value = one.values.get(chosen)
        if value is not None:
            scored.append((one, as_number(value, f"{one.where}, {quote(chosen)}")))
            ways.add(one.upward.get(chosen))
    if higher_is_better is None and len(ways) == 1:
        higher_is_better = ways.pop()
    upward = orientation.upward(chosen.rpartition(".")[2], higher_is_better, tool.what)
    return scores_of(scored, chosen, upward, tool)


def scores_of(scored: Sequence[tuple[LogSample, float]], rule: str, higher_is_better: bool, tool: Tool) -> Scores:
    """The samples, each with its score, as scores of which tasks are the groups; with the audit of the items."""
    if not scored:
        raise InputError(
            "no scores",
            "at least one",
            tool.unscored,
            tool.what,
        )
    samples = [sample for sample, _ in scored]
    audit = differences(samples, tool)
    different = set(audit.different)
    same = [(one, score) for one, score in scored if one.item not in different]
    columns = {name: [getattr(one, name) for one, _ in same] for name in ("item", "model", "task", "replicate")}
    notes: Texts = ()
    if different:
        elsewhere = _varying((str(one.content), one.item) for one in samples)
        moved = any(one.content in elsewhere for one in samples if one.item in different)
        left_out = f"{check.count(len(different), 'item')} left out ({shortlist(audit.different, 3)})"
        ids = ", some of which stand under other ids" if moved else ""
        notes = (f"{left_out}: under the same id, models have different questions{ids}",)
        if len(set(columns["item"])) < 2:
            raise InputError(
                notes[0],
                "the same question under an id, for two items at least",
                "Run every model on the same samples of the task, in the same order.",
                tool.what,
            )
    table = Scores.from_frame(
        columns | {"score": [score for _, score in same]},
        group="task" if len(set(columns["task"])) > 1 else None,
        replicate="replicate",
        higher_is_better=higher_is_better,
        source=Source(tool.what),
    )
    return replace(table, rule=rule, audit=table.audit + audit, notes=(*table.notes, *notes))


def differences(samples: Sequence[LogSample], tool: Tool) -> Audit:
    """The items that are another question, or were asked in other words, in some of the samples."""
    once(
        (((sample.item, sample.model, sample.replicate), sample.where) for sample in samples),
        "item {} of model {} again",
        "every item of a model once",
        tool.repeated,
    )
    different = _varying((sample.item, sample.content) for sample in samples)
    prompts = _varying((sample.item, sample.prompt) for sample in samples)
    if all(sample.item in different for sample in samples):
        raise InputError(
            f"items that are different questions under the same names ({shortlist(sort_names(different), 3)})",
            "the same questions for every model",
            "Run every model on the same version of the task.",
            tool.what,
        )
    return Audit(different=sort_names(different), prompts=sort_names(prompts - different))


def _varying(pairs: Iterable[tuple[str, MaybeText]]) -> set[str]:
    """The items of which not all known values are one."""
    first: dict[str, str] = {}
    return {item for item, value in pairs if value is not None and first.setdefault(item, value) != value}


def once(places: Iterable[tuple[Texts, str]], again: str, expected: str, hint: str) -> None:
    """Raises at the second time that a key stands in the pairs of key and position; `again` puts it into words."""
    first: dict[Texts, str] = {}
    for key, where in places:
        if key in first:
            raise InputError(f"{again.format(*map(quote, key))} (first: {first[key]})", expected, hint, where)
        first[key] = where


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def log_files(files: Files, patterns: Texts) -> list[tuple[MaybeText, Path]]:
    """The files, each with the name of its model (None: without one)."""
    named: list[tuple[MaybeText, Any]] = [(None, files)]
    if isinstance(files, Mapping):
        named = [(as_name(model, "the names of models"), of_model) for model, of_model in files.items()]
    unique([model or "" for model, _ in named], "model")
    pairs: list[tuple[MaybeText, Path]] = []
    for model, of_model in named:
        several = isinstance(of_model, Iterable) and not isinstance(of_model, (str, bytes))
        for file in of_model if several else [of_model]:
            pairs += [(model, path) for path in _paths(file, patterns)]
    if not pairs:
        raise InputError("no file", "at least one", "Give a path, a list of paths, or {'my model': path}.")
    unique([shown(path) for _, path in pairs], "file")
    return pairs


def _paths(file: object, patterns: Texts) -> list[Path]:
    """The file itself, those that a pattern stands for, and those of a folder whose names fit."""
    if not is_path(file):
        raise InputError(type(file).__name__, "the path of a file or folder", "Give a path, or a list of paths.")
    if is_address(os.fspath(file)):
        raise InputError(
            "logs at an address",
            "local files",
            "Copy the logs here first.",
            redacted(os.fspath(file)),
        )
    where = location(file)
    paths = []
    for one in matching(where) or [where]:
        inside = {one}
        if guarded(one, one.is_dir):
            inside = {log for pattern in patterns for log in one.rglob(pattern) if log.is_file()}
        if not inside:
            raise InputError("a folder without such files", " or ".join(patterns), "Check the path.", shown(one))
        paths += sorted(inside)
    return paths


class Vote(NamedTuple):
    """What one annotator answered to one question on one item; `label` as it stands in the file, None if skipped."""

    item: str
    annotator: str
    label: Any
    question: str
    where: str


def annotations_of(votes: Iterable[Vote], question: MaybeText, labels: GivenNames, path: StrPath) -> Annotations:
    """The votes on one question as annotations."""
    name = shown(path)
    everything = list(votes)
    votes = [vote for vote in everything if vote.label is not None]
    if not votes:
        raise InputError(
            "no label",
            "at least one",
            "Check that the export has annotations.",
            name,
        )
    question = choose({vote.question for vote in votes}, question, "question", "--label", name)
    chosen = [vote for vote in votes if vote.question == question]
    once(
        (((vote.item, vote.annotator), vote.where) for vote in chosen),
        "item {} labelled again by {}",
        "one label from each annotator",
        "Remove all but the last of them in the tool, and export again.",
    )
    columns = {
        "item": [vote.item for vote in chosen],
        "annotator": [vote.annotator for vote in chosen],
        "label": [label_text(vote.label, vote.where, vote.question) for vote in chosen],
    }
    made = Annotations.from_long(columns, labels=labels, source=Source(name))
    n_skipped = len(everything) - len(votes)
    if n_skipped:
        left_out = check.count(n_skipped, "answer")
        made = replace(made, notes=(f"{name}: {left_out} left out: skipped, ignored, cancelled, discarded or a draft",))
    return made


def label_text(value: Any, where: str, question: str) -> str:
    """A label as a name: text, a number, or a list of one."""
    where = f"{where}, {quote(question)}"
    if isinstance(value, list):
        if len(value) != 1:
            raise InputError(
                f"{len(value)} labels at once" if value else "an empty list of labels",
                "one label for each annotation",
                "Questions with several answers are several questions of yes or no: export them so.",
                where,
            )
        (value,) = value
    if isinstance(value, (bool, float)):
        as_number(value, where)  # which refuses NaN
        return name_text(value)
    return as_name(value, where)
