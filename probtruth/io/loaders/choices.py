"""Answers to multiple-choice items, put side by side as distributions over the positions of the choices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.io import align
from probtruth.io.loaders import collect, json_values
from probtruth.io.loaders.collect import Entry
from probtruth.types import Predictions, Truth

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
    text = json_values.name(target, where, "target").strip()
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


def predictions_and_truth(found: Sequence[Choice], repeated: str, what: str) -> tuple[Predictions, Truth]:
    """Predictions and truth on the items that are the same question for all models; `audit` counts the others.

    Errors: `InputError` for repeated items, items without any possible choice, or no item in common.
    """
    entries = [Entry(one.item, one.model, 0.0, "", "0", one.where, _content(one), one.prompt) for one in found]
    collect.once(entries, repeated)
    audit = collect.differences(entries)
    different = set(audit.different)
    kept = [one for one in found if one.item not in different]
    if not kept:
        raise collect.all_differ(audit, what)
    models = list(dict.fromkeys(one.model for one in kept))
    of_model: dict[str, dict[str, Choice]] = {model: {} for model in models}
    for one in kept:
        of_model[one.model][one.item] = one
    items, missing = align.common(models, [tuple(of_model[model]) for model in models], None)
    n_labels = max(len(one.logs) for one in kept if one.item in set(items))
    arrays = {}
    for model in models:
        logs = np.full((len(items), n_labels), -np.inf)
        for row, item in enumerate(items):
            one = of_model[model][item]
            logs[row, : len(one.logs)] = one.logs
            if not np.isfinite(one.logs).any():
                raise InputError("no choice that is possible", "at least one", "Check the run.", one.where)
        arrays[model] = logs
    labels = range(n_labels)
    predictions = Predictions.from_logits(arrays, items=items, labels=labels)
    gold = np.eye(n_labels)[[of_model[models[0]][item].gold for item in items]]
    truth = Truth.from_probs(gold, items=items, labels=labels, estimand="class")
    return replace(predictions, audit=missing + audit), truth


def _content(one: Choice) -> str:
    """What an item is: its question where known, and always its number of choices and the right one."""
    return f"{len(one.logs)} {one.gold} {one.content or ''}"
