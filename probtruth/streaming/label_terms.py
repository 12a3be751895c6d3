"""What the labels leave unsure of scores that are streamed: the variance of each item's difference, summed in parts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.label_variance import item_moments, label_weights
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.parts import Parts
from probtruth.comparison.evidence.row_sums import RowSums
from probtruth.comparison.evidence.sweeps import alone
from probtruth.errors import InputError
from probtruth.streaming.reference import Reference


@dataclass(frozen=True, eq=False)
class StreamedLabels:
    """What the labels leave unsure, the items held fixed; `terms` of two models are parts with one row."""

    weights: Float[np.ndarray, " group"]
    terms: Callable[[int, int], Parts | None]

    def variance(self, a: int, b: int) -> float | None:
        """The labels' part of the variance of a mean difference; see `label_variance`."""
        parts = self.terms(a, b)
        if parts is None:
            return None
        share = self.weights / parts.structure.n_items
        return float(RowSums(parts, alone(np.zeros(1, np.int64))).totals_over_groups(share**2)[0])

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        """An error: they need the losses of all labels at once."""
        raise InputError(
            "population='these-items' for scores that are streamed",
            "new items",
            "Leave population out, or give the memory that the scores need.",
        )


def no_terms(a: int, b: int) -> None:
    """For scores without labels behind them."""


def label_terms(
    first: Float[np.ndarray, "item label"],
    second: Float[np.ndarray, "item label"],
    reference: Reference,
    forecast: Float[np.ndarray, "item label"] | None,
) -> Float[np.ndarray, " item"] | None:
    """The variance of each item's difference, from the losses of two models under each label; None if infinite.

    Arguments: `reference` is that of these items alone.
    """
    known = label_weights(reference.estimand, reference.centre, reference.shares, reference.n_votes, forecast)
    if known is None:
        return None
    weight, votes = known
    one, other = (np.where(weight > 0, loss, 0.0) for loss in (first, second))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    return item_moments(one - other, weight, votes)[0]
