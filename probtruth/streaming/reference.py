"""The labels that predictions are scored against, by the codes of their items.

What the labels leave unsure of scores that are streamed: the variance of each item's difference, summed in parts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars
from jaxtyping import Bool, Float, Int

from probtruth import frames
from probtruth.comparison.evidence.label_variance import item_moments, label_weights
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.parts import Parts
from probtruth.comparison.evidence.sweeps import RowSums, alone
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.scoring.align import widened
from probtruth.types import Truth
from probtruth.types.index import Index, match_labels


@dataclass(frozen=True, eq=False)
class Reference:
    """The items in the order of their codes, and their distributions over the labels of the predictions.

    Names are text or integers (see `frames.keys`). `centre` is what losses average over; `shares` and `n_votes` are the
    votes behind it, where there are any.
    """

    names: polars.Series
    labels: tuple[str, ...]
    estimand: str
    centre: Float[np.ndarray, "item label"]
    shares: Float[np.ndarray, "item label"] | None = None
    n_votes: Int[np.ndarray, " item"] | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @cached_property
    def in_order(self) -> Int[np.ndarray, " item"]:
        """The positions of all items, in the smallest integers that hold them."""
        return np.arange(self.n_items, dtype=np.int32 if self.n_items < 1 << 31 else np.int64)

    @property
    def labels_known(self) -> bool:
        """Whether anything is known of how unsure the labels are."""
        return self.estimand == "class" or (self.shares is not None and self.n_votes is not None)

    def single_votes(self, complete: Bool[np.ndarray, " item"]) -> bool:
        """Whether some item rests on one vote alone, whose spread is not known."""
        votes = None if self.estimand == "class" else self.n_votes
        return votes is not None and bool((votes[complete] == 1).any())

    def among(self, items: Int[np.ndarray, " some"]) -> "Reference":
        """That of some items, without their names."""
        centre = self.centre[items]
        shares = centre if self.shares is self.centre else _of(self.shares, items)
        votes = _of(self.n_votes, items)
        return replace(self, names=self.names.head(0), centre=centre, shares=shares, n_votes=votes)

    @classmethod
    def of(cls, truth: Truth, labels: Index, what: str) -> "Reference":
        """A truth under the labels of the predictions.

        Errors: `InputError` where the predictions lack a label of the truth, or the truth has no names of items: files
        that are streamed are matched by name alone.
        """
        if truth.index.positional_items:
            raise InputError(
                "the reference without names of items",
                "their names, as the item column of the predictions has them",
                "Pass items=[...] where the reference is made.",
                what,
            )
        known, columns, _ = match_labels(truth.index, labels, what)
        rows = np.arange(truth.n_items)
        shares = None if truth.shares is None else widened(truth.shares, rows, columns, len(known))
        voted = truth.estimand != "class" and shares is not None
        centre = shares if voted and shares is not None else widened(to_host(truth.probs), rows, columns, len(known))
        return cls(
            frames.compact(frames.as_series(truth.index.items)), known, truth.estimand, centre, shares, truth.n_votes
        )


def _of(values: np.ndarray | None, items: Int[np.ndarray, " some"]) -> np.ndarray | None:
    return None if values is None else values[items]


@dataclass(frozen=True, eq=False)
class StreamedLabels:
    """What the labels leave unsure, the items held fixed.

    `terms` are the variances of each item's difference of two models due to its labels, as parts with one row; None
    where that is not known, or infinite. Where items have a single vote they need the predictions of all models.
    """

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
    return item_moments(one - other, to_host(weight), votes)[0]
