"""Items that a reader should look at: where labels disagree most, and where the two leading models differ most."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth.line.analysis.leading import leading_pair
from probtruth.line.labelled import Labelled
from probtruth.scoring.align import Aligned
from probtruth.streaming.compare_files import Streamed
from probtruth.types import Comparison, Scores

MOST = 10
"""Items of either kind."""
MOST_LABELS = 4
"""Labels of an item that are named."""
Share = tuple[str, float]


@dataclass(frozen=True)
class DisputedItem:
    """An item, its labels with their shares (largest first; `votes` where they are known), and their entropy (nats)."""

    item: str
    shares: tuple[Share, ...]
    votes: int | None
    entropy: float


@dataclass(frozen=True)
class DividedItem:
    """An item, two models' scores in their own orientation, the label each finds most probable, and the labels."""

    item: str
    scores: tuple[float, float]
    top_labels: tuple[Share, Share] | None
    shares: tuple[Share, ...]


def disputed_items(labelled: Labelled | None, most: int = MOST) -> list[DisputedItem]:
    """The items of highest entropy of the labels; those on which all agree are left out."""
    if labelled is None:
        return []
    aligned, shares = labelled.aligned, _shares(labelled.aligned)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(1)
    return [
        DisputedItem(
            aligned.items[row],
            _largest(shares[row], aligned.labels),
            None if aligned.n_votes is None else int(aligned.n_votes[row]),
            float(entropy[row]),
        )
        for row in np.argsort(-entropy, kind="stable")[:most]
        if entropy[row] > 0
    ]


def divided_items(
    scores: Scores | Streamed, comparison: Comparison, labelled: Labelled | None, most: int = MOST
) -> list[DividedItem]:
    """The items on which the scores of the two leading models differ most; none of one model, or of streamed scores."""
    if not isinstance(scores, Scores) or len(scores.models) < 2:
        return []
    a, b = (scores.models.index(model) for model in leading_pair(comparison))
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(scores.values[a] - scores.values[b]), nan=0.0, posinf=np.inf)
    sign = -1.0 if scores.higher_is_better else 1.0
    rows = [int(row) for row in np.argsort(-gap, kind="stable")[:most] if gap[row] > 0]
    return [
        DividedItem(
            str(scores.items[row]),
            (sign * float(scores.values[a, row]), sign * float(scores.values[b, row])),
            None if labelled is None else _top_labels(labelled.aligned, row, a, b),
            () if labelled is None else _largest(_shares(labelled.aligned)[row], labelled.aligned.labels),
        )
        for row in rows
    ]


def _top_labels(aligned: Aligned, row: int, a: int, b: int) -> tuple[Share, Share]:
    """What two models find most probable for an item."""
    first, second = (_largest(np.exp(aligned.log_probs[model, row]), aligned.labels)[0] for model in (a, b))
    return first, second


def _shares(aligned: Aligned) -> Float[np.ndarray, "item label"]:
    return aligned.truth if aligned.shares is None else aligned.shares


def _largest(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[Share, ...]:
    order = np.argsort(-row, kind="stable")
    return tuple((labels[label], float(row[label])) for label in order if row[label] > 0)[:MOST_LABELS]
