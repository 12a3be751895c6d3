"""What the labels of each item add to the variance of a difference."""

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.label_variance import item_moments
from probtruth.streaming.parts import Parts
from probtruth.streaming.reference import Reference
from probtruth.streaming.sweeps import Terms, extremes, sums

OWN = np.array([[0, -1]])
"""The one row that is summed up."""


def label_weights(
    reference: Reference, items: Int[np.ndarray, " item"], forecast: Float[np.ndarray, "item label"] | None
) -> tuple[Float[np.ndarray, "item label"], Int[np.ndarray, " item"] | None]:
    """The weights of the labels of some items and the votes behind them; a single vote leaves it to the forecast."""
    if reference.estimand == "class" or reference.shares is None or reference.n_votes is None:
        return reference.centre[items], None
    votes, weight = reference.n_votes[items], reference.shares[items]
    return weight if forecast is None else np.where((votes == 1)[:, None], forecast, weight), votes


def label_terms(
    first: Float[np.ndarray, "item label"],
    second: Float[np.ndarray, "item label"],
    weight: Float[np.ndarray, "item label"],
    votes: Int[np.ndarray, " item"] | None,
) -> Float[np.ndarray, " item"] | None:
    """The variance of each item's difference, from the losses of two models under each label; None if infinite."""
    one, other = (np.where(weight > 0, loss, 0.0) for loss in (first, second))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    return item_moments(one - other, weight, votes)[0]


def total(parts: Parts) -> float:
    """The sum of the one row of the parts."""
    terms = Terms(OWN, 1)
    return float(sums(parts, terms, terms.bounds(extremes(parts, OWN)), 1)[0, 0, 0])
