"""Answers to multiple-choice items, put side by side as distributions over the positions of the choices.

Labels that stand one by one in the exports of annotation tools, put together as annotations.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io import groups
from probtruth.io.loaders.collect import Entry, choose, once, same_questions
from probtruth.io.loaders.json_values import as_name, as_number
from probtruth.io.tables.read import shown
from probtruth.types import Annotations, Predictions, Truth
from probtruth.types.index import sort_names

MOST = 1000
"""How many choices an item may have."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A model's log-weights of an item's choices (up to a constant), and the position of the right one."""

    item: str
    model: str
    logs: Float[np.ndarray, " choice"]
    gold: int
    where: str
    content: str | None = None
    prompt: str | None = None


def chosen(target: object, words: Sequence[str] | None, n_choices: int, where: str) -> int:
    """The position of the right choice, from its position, its letter or its text."""
    if not 2 <= n_choices <= MOST:
        raise InputError(
            f"{n_choices} choices", f"2 to {MOST}", "Only multiple-choice tasks have distributions.", where
        )
    text = as_name(target, where, "target").strip()
    if text.isascii() and text.isdecimal() and len(text) < 5 and int(text) < n_choices:
        return int(text)
    if words is not None and list(words).count(text) == 1:
        return list(words).index(text)
    raise InputError(
        f"the target {check.quote(text)}",
        f"one of the {n_choices} choices, by position or text",
        "Items with several right choices, or none, have no single label: read their metric with read_lm_eval_samples.",
        where,
    )


def predictions_and_truth(choices: Sequence[Choice], repeated: str, what: str) -> tuple[Predictions, Truth]:
    """Predictions and truth on the items that are the same question for all models; `audit` counts the others.

    Errors: `InputError` for repeated items, items without any possible choice, or no item in common.
    """
    entries = [Entry(one.item, one.model, 0.0, "", "0", one.where, _content(one), one.prompt) for one in choices]
    alike, audit = same_questions(entries, repeated, what)
    items_alike = {entry.item for entry in alike}
    of_model: dict[str, dict[str, Choice]] = {}
    for one in choices:
        if one.item in items_alike:
            of_model.setdefault(one.model, {})[one.item] = one
    shared = groups.common(list(of_model), [tuple(own) for own in of_model.values()], None)
    items = sort_names(shared.items)
    n_labels = max(len(own[item].logs) for own in of_model.values() for item in items)
    arrays = {model: _logits([own[item] for item in items], n_labels) for model, own in of_model.items()}
    labels = range(n_labels)
    predictions = Predictions.from_logits(arrays, items=items, labels=labels)
    first = next(iter(of_model.values()))
    right = np.eye(n_labels)[[first[item].gold for item in items]]
    truth = Truth.from_probs(right, items=items, labels=labels, estimand="class")
    return replace(predictions, audit=shared.audit + audit), truth


def _logits(choices: Sequence[Choice], n_labels: int) -> Float[np.ndarray, "item label"]:
    logits = np.full((len(choices), n_labels), -np.inf)
    for row, one in zip(logits, choices, strict=True):
        if not np.isfinite(one.logs).any():
            raise InputError("no choice that is possible", "at least one", "Check the run.", one.where)
        row[: len(one.logs)] = one.logs
    return logits


def _content(one: Choice) -> str:
    """What an item is: its question if that is known, and always its number of choices and the right one."""
    return f"{len(one.logs)} {one.gold} {one.content or ''}"


REPEATED = "Remove all but the last of them in the tool, and export again."


@dataclass(frozen=True, slots=True)
class Vote:
    """What one annotator answered to one question on one item; `label` as it stands in the file."""

    item: str
    annotator: str
    label: Any
    question: str
    where: str


def annotations(
    votes: Sequence[Vote], question: str | None, labels: Iterable[object] | None, option: str, path: str | Path
) -> Annotations:
    """The votes on one question as annotations; `option` names the argument that chooses the question.

    Errors: `InputError` for several questions without a choice, no vote, or an annotator who labels an item twice.
    """
    name = shown(path)
    if not votes:
        raise InputError("no label", "at least one", "Check that the export has annotations.", name)
    question = choose({vote.question for vote in votes}, question, option, "--label", name)
    chosen = [vote for vote in votes if vote.question == question]
    once(
        (((vote.item, vote.annotator), vote.where) for vote in chosen),
        lambda key: f"item {check.quote(key[0])} labelled again by {check.quote(key[1])}",
        "one label from each annotator",
        REPEATED,
    )
    columns = {
        "item": [vote.item for vote in chosen],
        "annotator": [vote.annotator for vote in chosen],
        "label": [label_text(vote.label, vote.where, vote.question) for vote in chosen],
    }
    return Annotations.from_long(columns, labels=labels, source=Source(name))


def label_text(value: Any, where: str, question: str) -> str:
    """A label as a name: text, a number, or a list of one."""
    if isinstance(value, list):
        if len(value) != 1:
            raise InputError(
                f"{len(value)} labels at once" if value else "an empty list of labels",
                "one label for each annotation",
                "Questions with several answers are several questions of yes or no: export them so.",
                f"{where}, {check.quote(question)}",
            )
        (value,) = value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        number = as_number(value, where, question)
        return str(int(number)) if number.is_integer() else repr(number)
    return as_name(value, where, question)
