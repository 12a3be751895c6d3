"""Scores with the answers of experts on a few of their items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.gold import ExpertAnswers
from probtruth.kernels.arrays import to_host
from probtruth.scoring.score import expectations
from probtruth.types import ExpertScores, Scores


def with_answers(scores: Scores, answers: ExpertAnswers, labels: Sequence[str]) -> Scores:
    """The scores against classes with those under the experts' answers; `labels` names the columns of their losses."""
    behind = scores.labels
    if behind is None or behind.estimand != "class":
        raise InputError(
            "gold with the estimand 'distribution'",
            "the estimand 'class'",
            "An expert's answer says which label is true, not how annotators would answer; add estimand='class' "
            "(command line: --estimand class), or leave gold out.",
        )
    names = list(labels)
    table = np.zeros((len(answers.items), len(names)))
    for row, item, shares in zip(table, answers.items, answers.shares, strict=True):
        for label, share in shares.items():
            row[names.index(frames.one_name(label, names, f"gold of item {check.quote(item)}: label"))] = share
    position, present = _places(answers.items, scores)
    losses = np.stack([expectations(to_host(one[position]), table[present]) for one in behind.losses])
    chosen = None if answers.probability is None else answers.probability[present]
    counts = dict(zip(labels, table[present].sum(0).tolist(), strict=True))
    return replace(scores, gold=ExpertScores(position, losses, chosen, answers.n_answers, counts))


def with_expert_scores(scores: Scores, expert: Scores, probability: Mapping[str, float] | None) -> Scores:
    """The scores with those that experts gave the same models on a few of the items."""
    if set(expert.models) != set(scores.models):
        ours, theirs = (check.shortlist(sorted(one.models)) for one in (scores, expert))
        hint = "Give experts' scores of every model that is compared, and of no other."
        raise InputError(f"gold for the models {theirs}", f"gold for {ours}", hint)
    if expert.audit.missing:
        got = f"gold that lacks a model on item {check.shortlist(expert.audit.missing, 3)}"
        wanted = "experts' scores of every model on each of their items"
        raise InputError(got, wanted, "Add them, or remove the item from gold.")
    if expert.higher_is_better != scores.higher_is_better:
        raise InputError("gold that counts the other way", "scores of one orientation", "Check higher_is_better.")
    position, present = _places(expert.items, scores)
    rows = [expert.models.index(model) for model in scores.models]
    losses = expert.losses[rows][:, present]
    if np.isnan(losses).any():
        raise InputError("NaN in gold", "numbers", "Fill in the score, or remove the item.")
    chosen = None if probability is None else np.array([probability[expert.items[row]] for row in present])
    return replace(scores, gold=ExpertScores(position, losses, chosen, len(present)))


def _places(items: Sequence[str], scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Where the items with an answer stand, in order, and which of them these are: items dropped for all are not."""
    position = {name: row for row, name in enumerate(scores.items)}
    known = {*position, *scores.audit.missing, *scores.audit.extra}
    unknown = [name for name in items if name not in known]
    if unknown:
        raise InputError(
            f"gold for item {check.shortlist(unknown, 3)}",
            "items that are compared",
            f"Names are compared as text. {check.did_you_mean(unknown[0], list(scores.items)[:1000])}",
        )
    places = sorted((position[name], row) for row, name in enumerate(items) if name in position)
    position_of, present = np.array(places, np.int64).reshape(-1, 2).T
    return position_of, present
