"""Scores that stand one by one in logs, put side by side: repeated ones refused, other questions left out.

Which files a loader reads: one, several, a folder of them, or some for each model.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.addresses import Address, location, matching
from probtruth.io.tables.read import shown
from probtruth.types import Audit, Scores
from probtruth.types.index import sort_names


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer of a log.

    `content` identifies the item's question and `prompt` the words that were sent, if the log has them; `where` is
    the position in the file.
    """

    item: str
    model: str
    score: float
    group: str
    replicate: str
    where: str
    content: str | None = None
    prompt: str | None = None


def choose(
    names: Collection[str], wanted: str | None, option: str, flag: str, where: str, none: str = "", hint: str = ""
) -> str:
    """The name that the caller wants, or the only one.

    Arguments: `option` and `flag` choose it in Python and on the command line; `none` and `hint` are for logs without
    any name.

    Errors: `InputError` for a name that is not there, or several without a choice.
    """
    known = sorted(names)
    if not known:
        raise InputError(none, f"one {option}", hint, where)
    if wanted is not None:
        return check.one_of(wanted, known, option)
    if len(known) > 1:
        listed = f"several {option}s: {check.shortlist(known, 20)}"
        raise InputError(listed, f"one {option}", check.choose(option, known[0], flag), where)
    return known[0]


def scores(entries: Sequence[Entry], rule: str, higher_is_better: bool, repeated: str, what: str) -> Scores:
    """The entries as scores, with the audit of the items.

    Arguments: `repeated` is the hint if an item of a model stands twice; `what` names the logs in messages.

    Errors: `InputError` for repeated entries, no entry, or no item that all models have.
    """
    if not entries:
        raise InputError("no scores", "at least one", "Check that the run was finished.", what)
    alike, audit = same_questions(entries, repeated, what)
    names = ("item", "model", "score", "group", "replicate")
    columns: dict[str, Iterable[object]] = {name: [getattr(entry, name) for entry in alike] for name in names}
    table = Scores.from_frame(
        columns,
        group="group" if len(set(columns["group"])) > 1 else None,
        replicate="replicate",
        higher_is_better=higher_is_better,
        source=Source(what),
    )
    return replace(table, rule=rule, audit=table.audit + audit)


def same_questions(entries: Sequence[Entry], repeated: str, what: str) -> tuple[Sequence[Entry], Audit]:
    """The entries on items that are the same question in all of them, and the audit of the others.

    Errors: `InputError` for an item of a model that stands twice, or if there is no such item.
    """
    once(
        (((entry.item, entry.model, entry.replicate), entry.where) for entry in entries),
        lambda key: f"item {check.quote(key[0])} of model {check.quote(key[1])} again",
        "every item of a model once",
        repeated,
    )
    audit = _differences(entries)
    different = set(audit.different)
    alike = [entry for entry in entries if entry.item not in different] if different else entries
    if not alike:
        raise InputError(
            f"items that are different questions under the same names ({check.shortlist(audit.different, 3)})",
            "the same questions for every model",
            "Run every model on the same version of the task.",
            what,
        )
    return alike, audit


def once[K: tuple[str, ...]](
    places: Iterable[tuple[K, str]], again: Callable[[K], str], expected: str, hint: str
) -> None:
    """Raises at the second time that a key stands in the pairs of key and position; `again` puts it into words."""
    first: dict[K, str] = {}
    for key, where in places:
        if key in first:
            raise InputError(f"{again(key)} (first: {first[key]})", expected, hint, where)
        first[key] = where


def _differences(entries: Sequence[Entry]) -> Audit:
    """The items that are another question, or were asked in other words, in some of the entries."""
    content: dict[str, str] = {}
    prompt: dict[str, str] = {}
    different, prompts = set(), set()
    for entry in entries:
        if entry.content is not None and content.setdefault(entry.item, entry.content) != entry.content:
            different.add(entry.item)
        if entry.prompt is not None and prompt.setdefault(entry.item, entry.prompt) != entry.prompt:
            prompts.add(entry.item)
    return Audit(different=sort_names(different), prompts=sort_names(prompts - different))


def digest(value: object) -> str:
    """A digest of a JSON value, the same for the same value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


type Paths = str | Path | Iterable[str | Path]
type LogFiles = Paths | Mapping[str, Paths]
"""A file or folder, several of them, or those of each model by its name."""


def log_files(files: LogFiles, patterns: tuple[str, ...]) -> list[tuple[str | None, Path]]:
    """The files, each with the name of its model (None: without one).

    `files` is a path, a list of paths, or {model name: path or list of paths}; a folder stands for the files below it
    that match one of the patterns, in the order of their paths.

    Errors: `InputError` if there is no file, or one stands twice.
    """
    pairs: list[tuple[str | None, Path]]
    if isinstance(files, Mapping):
        models = [name_text(model) for model in files]
        check.unique(models, "model")
        if not all(model.strip() and "\0" not in model for model in models):
            raise InputError("a blank model name", "a name for every model", "Write {'my model': path}.")
        pairs = [
            (model, path) for model, own in zip(models, files.values(), strict=True) for path in _paths(own, patterns)
        ]
    else:
        pairs = [(None, path) for path in _paths(files, patterns)]
    if not pairs:
        raise InputError("no file", "at least one", "Give a path, a list of paths, or {'my model': path}.")
    check.unique([shown(path) for _, path in pairs], "file")
    return pairs


def _paths(files: Paths, patterns: tuple[str, ...]) -> list[Path]:
    paths: list[Path] = []
    for file in [files] if isinstance(files, (str, bytes, Path)) or not isinstance(files, Iterable) else files:
        if not isinstance(file, (str, Path)):
            raise InputError(type(file).__name__, "the path of a file or folder", "Give a path, or a list of paths.")
        where = location(file)
        if isinstance(where, Address):
            raise InputError("logs at an address", "local files", "Copy the logs here first.", str(where))
        paths += [log for one in matching(where) or [where] for log in _expanded(one, patterns)]
    return paths


def _expanded(path: Path, patterns: tuple[str, ...]) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        inside = sorted({file for pattern in patterns for file in path.rglob(pattern) if file.is_file()})
    except (OSError, ValueError) as error:
        raise InputError(str(error), "the path of a file or folder", "Check the path.", shown(path)) from None
    if not inside:
        wanted = " or ".join(patterns)
        raise InputError("a folder without such files", wanted, "Check the path.", shown(path))
    return inside
