"""Distributions over the choices of multiple-choice tasks, from the logs of the lm-evaluation-harness."""

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from probtruth.check import MaybeStrings, one_of, quote
from probtruth.errors import InputError
from probtruth.io.json_values import Record, as_list, as_name, described
from probtruth.io.loaders.collect import LogSample, differences
from probtruth.io.loaders.lm_eval import TOOL, first_samples, samples_in
from probtruth.io.predictions import read_predictions
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Files

MOST = 1000  # How many choices an item may have


def read_lm_eval_choices(
    files: Files,
    normalise: Literal["none", "characters"] = "none",
    tasks: str | MaybeStrings = None,
) -> tuple[Predictions, Truth]:
    r"""Distributions over the choices of multiple-choice tasks, and the right choices, from the harness's sample logs.

    The log-likelihoods of an item's choices go through a softmax: p_k is proportional to exp(l_k). Labels are the
    positions of the choices, from 0; positions that an item lacks have probability 0.

    Arguments:
        files, tasks: as in `read_lm_eval_samples`.
        normalise: `"none"`, or `"characters"` to divide each log-likelihood by the length of its choice first, as the
            metric `acc_norm` does (a softmax of such means is a convention, not a probability that the model states).

    Returns: predictions, and the truth of the estimand `class`, for `score` or `evaluate`.

    Errors: `InputError` names file and line of what is no multiple-choice sample with one right choice.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "samples_quiz.jsonl"
    >>> _ = path.write_text('{"doc_id": 7, "target": "1", "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]]}')
    >>> predictions, truth = pt.loaders.read_lm_eval_choices({"small": path})
    >>> predictions.probs.round(3).tolist(), truth.probs.tolist()
    ([[[0.269, 0.731]]], [[0.0, 1.0]])
    """
    one_of(normalise, ("none", "characters"), "normalise")
    samples = samples_in(files, tasks)
    first = {task: next(iter(of_filters)) for task, of_filters in first_samples(samples).items()}
    choices = [_choice(one, normalise) for one in samples if one.filter == first[one.task]]
    audit = differences(choices, TOOL)
    different = set(audit.different)
    same = [one for one in choices if one.item not in different]
    labels = [str(at) for at in range(max(len(one.values["logs"]) for one in same))]
    tables: dict[str, dict[str, list[Any]]] = {}
    right = {}
    for one in same:
        columns = tables.setdefault(one.model, {name: [] for name in ("item", *labels)})
        logs = one.values["logs"]
        cells = [one.item, *logs, *[-np.inf] * (len(labels) - len(logs))]
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
        right[one.item] = str(one.values["right"])
    predictions = read_predictions(tables, kind="logits")
    items = predictions.index.items
    truth = Truth.from_labels([right[item] for item in items], items=items, classes=labels)
    return replace(predictions, audit=predictions.audit + audit), truth


def _choice(sample: LogSample, normalise: str) -> LogSample:
    """The sample with the log-weights of its choices (up to a constant), and the position of the right one."""
    where = sample.where
    row = sample.row
    logs = [_log_likelihood(entry, where) for entry in row.at(as_list, "filtered_resps")]
    contexts, words = _requests(row, len(logs))
    half = len(logs) // 2
    if half >= 2 and words and words == 2 * words[:half] and not any(contexts[half:]):
        # acc_mutual_info asks for the choices again, without the question
        logs = logs[:half]
        words = words[:half]
    if normalise == "characters":
        if not words:
            raise InputError(
                "samples without arguments",
                "the text of the choices",
                "Use normalise='none'.",
                where,
            )
        logs = [log / max(len(word), 1) for log, word in zip(logs, words, strict=True)]
    right = _chosen(row.at(as_name, "target").strip(), words, len(logs), where)
    if not np.isfinite(logs).any():
        raise InputError(
            "no choice that is possible",
            "at least one",
            "Check the run.",
            where,
        )
    content = f"{len(logs)} {right} {sample.content or ''}"
    return replace(sample, content=content, values={"logs": logs, "right": right})


def _log_likelihood(entry: object, where: str) -> float:
    while isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    value = math.nan
    if isinstance(entry, list) and len(entry) == 2 and str(entry[1]) in ("True", "False"):
        with suppress(TypeError, ValueError, OverflowError):
            value = float(entry[0])
    if math.isnan(value) or value == math.inf:
        raise InputError(
            described(entry),
            "a log-likelihood and whether it is the greedy answer",
            "Only multiple-choice tasks have distributions: name them, tasks=[...], or their files, and "
            "read others with read_lm_eval_samples (probtruth compare).",
            f"{where}, 'filtered_resps'",
        )
    return value


def _requests(row: Record, n_choices: int) -> tuple[list[Any], list[str]]:
    """The contexts and the continuations of the choices; empty where the sample does not have its requests."""
    if "arguments" not in row:
        return [], []
    arguments = row["arguments"]
    contexts = []
    words = []
    for request in arguments.values() if isinstance(arguments, dict) else row.at(as_list, "arguments"):
        pair = [request.get("arg_0"), request.get("arg_1")] if isinstance(request, dict) else request
        if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
            contexts.append(pair[0])
            words.append(pair[1].strip())
    if len(words) != n_choices:
        raise InputError(
            f"{len(words)} requests for {n_choices} answers",
            "one for each",
            "Check the file.",
            f"{row.where}, 'arguments'",
        )
    return contexts, words


def _chosen(text: str, words: list[str], n_choices: int, where: str) -> int:
    """The position of the right choice, from its position, its letter or its text."""
    if not 2 <= n_choices <= MOST:
        raise InputError(
            f"{n_choices} choices", f"2 to {MOST}", "Only multiple-choice tasks have distributions.", where
        )
    if text.isascii() and text.isdecimal() and len(text) < 5 and int(text) < n_choices:
        return int(text)
    if words.count(text) == 1:
        return words.index(text)
    raise InputError(
        f"the target {quote(text)}",
        f"one of the {n_choices} choices, by position or text",
        "Items with several right choices, or none, have no single label: read their metric with read_lm_eval_samples.",
        where,
    )
