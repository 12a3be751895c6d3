"""Truth: what is known about each item's label, as a distribution over the labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.frames import name_text
from probtruth.types.index import Index


@dataclass(frozen=True, eq=False)
class Truth:
    """The reference: one distribution over labels for each item, under a named estimand.

    `probs` is the posterior mean. `shares` are the unsmoothed vote shares and `n_votes` the votes behind them, where
    there are votes. `draws` are posterior draws of the whole table. Under the estimand `distribution` a row is how
    annotators would answer; under `class` it is the probability that the item's one true class is that label.
    `marginals` are the label frequencies of the method's model; `confusion[j, k, l]` is the probability that
    annotator j says l where the truth is k. `diagnostics` holds the method's own figures (iterations, converged, ...).
    """

    probs: Float[np.ndarray, "item label"]
    index: Index
    estimand: str
    method: str
    shares: Float[np.ndarray, "item label"] | None = None
    n_votes: Int[np.ndarray, " item"] | None = None
    draws: Float[np.ndarray, "draw item label"] | None = None
    marginals: Float[np.ndarray, " label"] | None = None
    confusion: Float[np.ndarray, "annotator label label"] | None = None
    diagnostics: Mapping[str, object] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.index.items)

    @classmethod
    def from_probs(
        cls,
        probs: object,
        items: Sequence[object] | None = None,
        labels: Sequence[object] | None = None,
        estimand: str = "distribution",
    ) -> "Truth":
        """Soft labels that are given: one distribution (row) for each item. Their own uncertainty is not known.

        Errors: `InputError` for a row that is not a distribution; nothing is clipped or renormalised.
        """
        array = check.as_floats(probs, "item label", "soft labels")
        check.simplex(array, "soft labels", lambda row: f"item {name_text(items[row]) if items is not None else row!r}")
        check.one_of(estimand, ("distribution", "class"), "estimand")
        index, rows, columns = Index.of_array(array.shape, items, labels)
        return cls(array[rows][:, columns], index, estimand, "given")

    @classmethod
    def from_labels(cls, labels: object, n_labels: int, items: Sequence[object] | None = None) -> "Truth":
        """Hard labels (integers from 0), taken as certain."""
        return cls.from_probs(check.one_hot(labels, n_labels, "labels"), items=items, estimand="class")
