"""What is known of each item: its labels, and what every model scored and said on it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from probtruth import frames
from probtruth.kernels.arrays import to_host
from probtruth.kernels.shapes import ItemLabel
from probtruth.kernels.simplex import shared_by_ties
from probtruth.line.labelled import Labelled
from probtruth.scoring.align import Aligned
from probtruth.types import Comparison, Scores
from probtruth.types.comparison import leaders

if TYPE_CHECKING:
    import polars

MOST_LABELS = 4  # Labels of an item that are named


def items_frame(scores: Scores, comparison: Comparison, labelled: Labelled | None) -> "polars.DataFrame | None":
    """The table of `Result.items`; None where scores were not kept."""
    if not scores.values.size:
        return None
    models = [row.model for row in leaders(comparison.ranks)]
    columns: dict[str, Any] = {"item": scores.items}
    if scores.groups is not None:
        columns["group"] = np.array(scores.groups.names, object)[scores.groups.codes]
    said: dict[str, tuple[Any, Any]] = {}
    if labelled is not None:
        aligned = labelled.aligned
        if aligned.n_votes is not None:
            columns["votes"] = aligned.n_votes
        columns["label"] = _most_probable(to_host(aligned.truth), aligned.labels)
        columns["entropy"] = entr(vote_shares(aligned)).sum(1)
        for (name, logs), lacking in zip(aligned.tables(), aligned.lacking, strict=True):
            answers = _most_probable(logs, aligned.labels)
            answers[lacking] = None
            said[name] = (answers.tolist(), np.exp(logs.max(1)))
    for model in models:
        columns[f"score_{model}"] = scores.values[scores.models.index(model)]
        if model in said:
            columns[f"label_{model}"], columns[f"p_{model}"] = said[model]
    if len(models) > 1:
        first, second = (scores.models.index(model) for model in models[:2])
        with np.errstate(invalid="ignore"):
            columns["difference"] = scores.values[first] - scores.values[second]
    frame = frames.as_polars(columns)
    return frame.fill_nan(None) if np.isnan(scores.values).any() else frame


def _most_probable(values: ItemLabel, labels: Sequence[str]) -> np.ndarray:
    """The label of each row's largest value; None where several tie for it."""
    largest = np.array(labels, object)[values.argmax(1)]
    with np.errstate(invalid="ignore"):  # of items that a model lacks
        largest[shared_by_ties(values).max(1) < 1] = None
    return largest


def vote_shares(aligned: Aligned) -> ItemLabel:
    """The shares of the votes, or without votes what the labels are taken to be."""
    return to_host(aligned.truth) if aligned.shares is None else aligned.shares


def named_shares(aligned: Aligned, rows: Sequence[int]) -> list[list[tuple[str, float]]]:
    """The labels of some items with their shares, the largest first, four at most."""
    shares = vote_shares(aligned)[np.asarray(rows, np.int64)]
    order = np.argsort(-shares, axis=1, kind="stable")[:, :MOST_LABELS]
    named = []
    for row, labels in zip(shares, order.tolist(), strict=True):
        named.append([(aligned.labels[label], float(row[label])) for label in labels if row[label] > 0])
    return named
