"""The part of a mean difference's variance that is due to the labels: few votes an item."""

import math

import numpy as np
from jaxtyping import Float

from probtruth.types import Scores


def label_variance(scores: Scores, a: int, b: int, item_weights: Float[np.ndarray, " item"]) -> float | None:
    """The unbiased variance of the weighted mean difference over repeated votes on the same items.

    For an item with m votes and shares y, and L_k the difference of the two models' losses if the label were k, it is
    [sum y_k L_k^2 - (sum y_k L_k)^2]/(m - 1), times the item's weight squared. None where the scores did not come from
    votes, or where an item has a single vote: its label variance cannot be known from it.
    """
    if scores.label_values is None or scores.shares is None or scores.n_votes is None or (scores.n_votes < 2).any():
        return None
    with np.errstate(invalid="ignore"):
        loss = scores.label_values[a] - scores.label_values[b]
    loss = np.where(scores.shares > 0, loss, 0.0)
    if not np.isfinite(loss).all():
        return None
    mean = (scores.shares * loss).sum(1)
    spread = (scores.shares * (loss - mean[:, None]) ** 2).sum(1) / (scores.n_votes - 1)
    return math.fsum((spread * item_weights**2).tolist())
