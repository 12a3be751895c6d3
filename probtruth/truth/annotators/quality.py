"""What a class posterior says of the annotators: accuracy, and how much an answer tells."""

import numpy as np
from jaxtyping import Float, Shaped

from probtruth.truth.flat import Flat

NO_SKILL = 0.2
"""Kappa with the truth below which an annotator tells next to nothing: "slight" in Landis and Koch (1977)."""


def annotator_columns(
    probs: Float[np.ndarray, "item label"],
    marginals: Float[np.ndarray, " label"],
    confusion: Float[np.ndarray, "annotator label label"],
    flat: Flat,
) -> dict[str, np.ndarray]:
    """The columns that every method with annotators has: n_annotations, accuracy, information (nats)."""
    n_annotations = np.bincount(flat.annotator, flat.weight, flat.n_annotators)
    right = np.bincount(flat.annotator, flat.weight * probs[flat.item, flat.label], flat.n_annotators)
    with np.errstate(invalid="ignore"):
        accuracy = right / n_annotations
    return {
        "n_annotations": n_annotations.astype(np.int64),
        "accuracy": accuracy,
        "information": information(marginals, confusion),
    }


def information(
    marginals: Float[np.ndarray, " label"], confusion: Float[np.ndarray, "annotator label label"]
) -> Float[np.ndarray, " annotator"]:
    """Mutual information of an annotator's answer and the class, in nats: 0 for a spammer, H(class) at most.

    Rows of confusion that are unknown (NaN) are left out, with the marginals of the rest made to sum to 1.
    """
    known = ~np.isnan(confusion).any(2)
    rows = np.where(known[:, :, None], confusion, 0.0)
    weights = np.where(known, marginals, 0.0)
    totals = weights.sum(1, keepdims=True)
    weights = np.divide(weights, totals, out=np.full_like(weights, np.nan), where=totals > 0)
    said = (weights[:, :, None] * rows).sum(1, keepdims=True)
    ratio = np.where(rows > 0, rows, 1.0) / np.where((rows > 0) & (said > 0), said, 1.0)
    told: np.ndarray = np.maximum((weights[:, :, None] * rows * np.log(ratio)).sum((1, 2)), 0.0)
    return told


def flags(
    low: Float[np.ndarray, " annotator"], high: Float[np.ndarray, " annotator"]
) -> Shaped[np.ndarray, " annotator"]:
    """The flag "adversary" where skill is surely below 0, "spammer" where surely below `NO_SKILL`, "" elsewhere."""
    return np.where(high < 0, "adversary", np.where(high < NO_SKILL, "spammer", ""))
