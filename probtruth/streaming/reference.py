"""The labels that predictions are scored against, by the codes of their items."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import frames
from probtruth.errors import InputError
from probtruth.scoring.align import widened
from probtruth.types import Truth
from probtruth.types.index import Index, match_labels

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class Reference:
    """The items in the order of their codes, and their distributions over the labels of the predictions.

    Names are text or integers (see `frames.keys`). `centre` is what losses average over; `shares` and `n_votes` are the
    votes behind it, where there are any.
    """

    names: "polars.Series"
    labels: tuple[str, ...]
    estimand: str
    centre: Float[np.ndarray, "item label"]
    shares: Float[np.ndarray, "item label"] | None = None
    n_votes: Int[np.ndarray, " item"] | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @property
    def labels_known(self) -> bool:
        """Whether anything is known of how unsure the labels are."""
        return self.estimand == "class" or (self.shares is not None and self.n_votes is not None)

    def single_votes(self, kept: Bool[np.ndarray, " item"]) -> bool:
        """Whether some item rests on one vote alone, whose spread is not known."""
        votes = None if self.estimand == "class" else self.n_votes
        return votes is not None and bool((votes[kept] == 1).any())

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
        voted = truth.estimand == "distribution" and shares is not None
        centre = shares if voted and shares is not None else widened(truth.probs, rows, columns, len(known))
        return cls(
            frames.compact(frames.as_series(truth.index.items)), known, truth.estimand, centre, shares, truth.n_votes
        )


def _of(values: np.ndarray | None, items: Int[np.ndarray, " some"]) -> np.ndarray | None:
    return None if values is None else values[items]
