"""Distributions over the choices of multiple-choice tasks, from the logs of the lm-evaluation-harness."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.io import groups
from probtruth.io.loaders.collect import LogSample, differences
from probtruth.io.loaders.json_values import Record, as_name, described
from probtruth.io.loaders.lm_eval import REPEATED, WHAT, LmEvalSample, first_samples, samples_in
from probtruth.types import Predictions, Truth
from probtruth.types.arguments import Files
from probtruth.types.index import sort_names

MOST = 1000  # How many choices an item may have


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice(LogSample):
    """A model's log-weights of an item's choices (up to a constant), and the position of the right one."""

    logs: Float[np.ndarray, " choice"]
    gold: int


def read_lm_eval_choices(
    files: Files,
    normalise: Literal["none", "characters"] = "none",
    tasks: str | Sequence[str] | None = None,
) -> tuple[Predictions, Truth]:
    r"""Distributions over the choices of multiple-choice tasks, and the right choices, from the harness's sample logs.

    The log-likelihoods of an item's choices go through a softmax: p_k is proportional to exp(l_k). Labels are the
    positions of the choices, from 0; positions that an item lacks have probability 0.

    Arguments: `files` and `tasks` as in `read_lm_eval_samples`; `normalise` is `"none"`, or `"characters"` to divide
    each log-likelihood by the length of its choice first, as the metric `acc_norm` does (a softmax of such means is a
    convention, not a probability that the model states).

    Returns: predictions, and the truth of the estimand `class`, for `score` or `evaluate`.

    Errors: `InputError` names file and line of what is no multiple-choice sample with one right choice.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "samples_quiz.jsonl"
    >>> _ = path.write_text('{"doc_id": 7, "target": "1", "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]]}')
    >>> predictions, truth = pt.loaders.read_lm_eval_choices({"small": path})
    >>> predictions.probs.round(3).tolist(), truth.probs.tolist()
    ([[[0.269, 0.731]]], [[0.0, 1.0]])
    """
    check.one_of(normalise, ("none", "characters"), "normalise")
    samples = samples_in(files, tasks)
    first = {task: next(iter(own)) for task, own in first_samples(samples).items()}
    samples = [one for one in samples if one.filter == first[one.task]]
    _refuse_generated(samples)
    return _together([_choice(sample, normalise) for sample in samples])


def _refuse_generated(samples: Sequence[LogSample]) -> None:
    generated: dict[str, bool] = {}
    for sample in samples:
        answers = sample.values.get("filtered_resps")
        if sample.task not in generated:
            generated[sample.task] = isinstance(answers, list) and bool(answers) and isinstance(answers[0], str)
    others = [task for task, one in generated.items() if not one]
    if others and len(others) < len(generated):
        raise InputError(
            f"tasks of generated answers: {check.shortlist(task for task, one in generated.items() if one)}",
            "multiple-choice tasks, whose choices have log-likelihoods",
            f"Name those, tasks={others[:20]}, or their files (NAME='FOLDER/samples_{others[0]}*.jsonl'); read the "
            "others with read_lm_eval_samples (probtruth compare).",
            WHAT,
        )


def _choice(sample: LmEvalSample, normalise: str) -> _Choice:
    row, where = sample.values, sample.where
    logs = [_log_likelihood(entry, where) for entry in row.list_at("filtered_resps")]
    words = _continuations(row, len(logs))
    half = len(logs) // 2
    if words is not None and half >= 2 and len(logs) % 2 == 0 and _unconditional(row, words, half):
        logs, words = logs[:half], words[:half]  # of acc_mutual_info
    if normalise == "characters":
        if words is None:
            raise InputError("samples without arguments", "the text of the choices", "Use normalise='none'.", where)
        logs = [log / max(len(word), 1) for log, word in zip(logs, words, strict=True)]
    gold = _chosen(row.need("target"), words, len(logs), where)
    return _Choice(
        item=sample.item,
        model=sample.model,
        task=sample.task,
        where=where,
        content=f"{len(logs)} {gold} {sample.content or ''}",
        prompt=sample.prompt,
        logs=np.array(logs),
        gold=gold,
    )


def _log_likelihood(entry: object, where: str) -> float:
    while isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    pair = isinstance(entry, list) and len(entry) == 2 and str(entry[1]) in ("True", "False")
    try:
        if not pair or not isinstance(entry, list):
            raise ValueError
        value = float(entry[0])
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            described(entry),
            "a log-likelihood and whether it is the greedy answer",
            "Only multiple-choice tasks have distributions: name them, tasks=[...], or their files, and "
            "read others with read_lm_eval_samples (probtruth compare).",
            f"{where}, 'filtered_resps'",
        ) from None
    if np.isnan(value) or value == np.inf:
        raise InputError(f"{value}", "a log-likelihood", "Check the run.", f"{where}, 'filtered_resps'")
    return value


def _continuations(row: Record, n_choices: int) -> list[str] | None:
    if "arguments" not in row:
        return None
    words = [_argument(request, 1) for request in _requests(row)]
    if len(words) != n_choices or not all(isinstance(word, str) for word in words):
        problem = f"{len(words)} requests for {n_choices} answers"
        raise InputError(problem, "one for each", "Check the file.", f"{row.where}, 'arguments'")
    return [str(word).strip() for word in words]


def _requests(row: Record) -> list[Any]:
    arguments = row["arguments"]
    return list(arguments.values()) if isinstance(arguments, dict) else row.list_at("arguments")


def _argument(request: Any, position: int) -> Any:
    if isinstance(request, dict):
        return request.get(f"arg_{position}")
    return request[position] if isinstance(request, list) and len(request) > position else None


def _unconditional(row: Record, words: list[str], half: int) -> bool:
    """Whether the second half of the requests asks for the choices again, without the question."""
    empty = all(_argument(request, 0) == "" for request in _requests(row)[half:])
    return empty and words[:half] == words[half:]


def _chosen(target: object, words: Sequence[str] | None, n_choices: int, where: str) -> int:
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


def _together(choices: Sequence[_Choice]) -> tuple[Predictions, Truth]:
    """Predictions and truth on the items that are the same question for all models; `audit` counts the others."""
    audit = differences(choices, REPEATED, WHAT)
    different = set(audit.different)
    of_model: dict[str, dict[str, _Choice]] = {}
    for one in choices:
        if one.item not in different:
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


def _logits(choices: Sequence[_Choice], n_labels: int) -> Float[np.ndarray, "item label"]:
    logits = np.full((len(choices), n_labels), -np.inf)
    for row, one in zip(logits, choices, strict=True):
        if not np.isfinite(one.logs).any():
            raise InputError("no choice that is possible", "at least one", "Check the run.", one.where)
        row[: len(one.logs)] = one.logs
    return logits
