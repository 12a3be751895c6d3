"""Precision among the k items that a model ranks highest, against soft labels."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from probtruth import frames
from probtruth.errors import InputError
from probtruth.scoring.align import align
from probtruth.scoring.confusion.curves import chosen_labels, ranking

if TYPE_CHECKING:
    import polars


def precision_at_k(predictions: object, truth: object, k: object, label: object = None) -> "polars.DataFrame":
    """The expected share of the label among the k items of highest reported probability.

    Formula: (1/k) sum over the k highest reports of y, the probability that the item has the label; items tied at the
    border share what is left of k, as if they were drawn from at random. It says nothing of how probable the reports
    are: only their order counts, so it is not a proper score.

    Arguments: `k` is a whole number or a list of them, from 1 to the number of items; `label` is the event; without it
    the second of two labels, or every one of more.

    Returns: a row for each model, label and k: `precision` between 0 and 1, more is better; `implied_precision`, what
    the model expects of itself (the mean of its k highest reports); and `best`, what the true order would reach.

    Errors: `InputError` for an unknown label or a k outside the range.

    Source: Manning, Raghavan and Schütze (2008), Introduction to Information Retrieval, Section 8.4.

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]})
    >>> truth = pt.Truth.from_probs([[0, 1], [0.5, 0.5], [1, 0]])
    >>> pt.confusion.precision_at_k(pred, truth, [1, 2])["precision"].to_list()
    [1.0, 0.75]
    """
    aligned = align(predictions, truth)
    sizes = _sizes(k, len(aligned.truth))
    rows = []
    for model, logs in zip(aligned.models, aligned.log_probs, strict=True):
        for place in chosen_labels(label, aligned.labels):
            order, probs = ranking(logs, place)
            events = aligned.truth[:, place]
            parts = (_at(order, events, sizes), _at(order, probs, sizes), _at(events, events, sizes))
            for size, *found in zip(sizes.tolist(), *parts, strict=True):
                precision, implied, best = map(float, found)
                rows.append(
                    {"model": model, "label": aligned.labels[place], "k": size, "precision": precision}
                    | {"implied_precision": implied, "best": best}
                )
    return frames.from_rows(rows)


def _at(
    order: Float[np.ndarray, " item"], events: Float[np.ndarray, " item"], sizes: Int[np.ndarray, " size"]
) -> Float[np.ndarray, " size"]:
    """Mean of the events among the highest `sizes`, tied items in equal shares."""
    ranked = np.argsort(-order, kind="stable")
    last = np.append(order[ranked[1:]] != order[ranked[:-1]], True)
    taken = np.concatenate([[0], np.flatnonzero(last) + 1])
    hits = np.concatenate([[0.0], np.cumsum(events[ranked])[last]])
    found: np.ndarray = np.interp(sizes, taken, hits) / sizes
    return found


def _sizes(given: object, n_items: int) -> Int[np.ndarray, " size"]:
    sizes = np.atleast_1d(np.asarray(given))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or not sizes.size or sizes.min() < 1 or sizes.max() > n_items:
        raise InputError(f"k = {given!r}", f"whole numbers from 1 to {n_items}", "k counts the items to look at.")
    return sizes.astype(np.int64)
