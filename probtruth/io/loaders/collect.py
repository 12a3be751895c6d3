"""Scores that stand one by one in logs, put side by side: repeated ones refused, other questions left out."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.types import Audit, Scores
from probtruth.types.index import sort_names


@dataclass(frozen=True, slots=True)
class Entry:
    """What a log says of one answer.

    `content` identifies the item's question and `prompt` the words that were sent, where the log tells; `where` is
    the place in the file.
    """

    item: str
    model: str
    score: float
    group: str
    replicate: str
    where: str
    content: str | None = None
    prompt: str | None = None


def scores(entries: Sequence[Entry], rule: str, higher_is_better: bool, repeated: str, what: str) -> Scores:
    """The entries as scores, with the audit of the items.

    Arguments: `repeated` is the hint where an item of a model stands twice; `what` names the logs in messages.

    Errors: `InputError` for repeated entries, no entry, or no item that all models have.
    """
    if not entries:
        raise InputError("no scores", "at least one", "Check that the run was finished.", what)
    once(entries, repeated)
    audit = differences(entries)
    kept = [entry for entry in entries if entry.item not in set(audit.different)] if audit.different else entries
    if not kept:
        raise all_differ(audit, what)
    groups = {entry.group for entry in kept}
    columns: dict[str, Iterable[object]] = {
        "item": [entry.item for entry in kept],
        "model": [entry.model for entry in kept],
        "score": [entry.score for entry in kept],
        "replicate": [entry.replicate for entry in kept],
        "group": [entry.group for entry in kept],
    }
    made = Scores.from_frame(
        columns,
        group="group" if len(groups) > 1 else None,
        replicate="replicate",
        higher_is_better=higher_is_better,
        source=Source(what),
    )
    return replace(made, rule=rule, audit=made.audit + audit)


def once(entries: Sequence[Entry], hint: str) -> None:
    """Raises where an item of a model stands twice in one replicate."""
    seen: dict[tuple[str, str, str], str] = {}
    for entry in entries:
        key = (entry.item, entry.model, entry.replicate)
        if key in seen:
            raise InputError(
                f"item {check.quote(entry.item)} of model {check.quote(entry.model)} again (first: {seen[key]})",
                "every item of a model once",
                hint,
                entry.where,
            )
        seen[key] = entry.where


def differences(entries: Sequence[Entry]) -> Audit:
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


def all_differ(audit: Audit, what: str) -> InputError:
    """The error for logs in which no item is the same question for all models."""
    return InputError(
        f"items that are different questions under the same names ({check.shortlist(audit.different, 3)})",
        "the same questions for every model",
        "Run every model on the same version of the task.",
        what,
    )


def digest(value: object) -> str:
    """A digest of a JSON value, the same for the same value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
