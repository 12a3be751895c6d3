"""An earlier posterior as the prior of a later one: what was learned of annotators and classes, as expected counts."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from probtruth.errors import InputError
from probtruth.truth.flat import FlatAnnotations
from probtruth.types import Annotations, Truth

NEWCOMER = 5.0
"""Annotations of each class that all earlier annotators together are worth as the prior of one not seen before."""


@dataclass(frozen=True, eq=False)
class EarlierTruth:
    """What an earlier `Truth` tells about these annotations; annotators of the index come first, then earlier ones.

    `counts` are expected annotations by (annotator, true class, label), `class_counts` expected items by
    class, without those annotated again; `tilt` is the log of an item's earlier posterior over the earlier marginals,
    0 where it is new.
    """

    names: tuple[str, ...]
    counts: Float[np.ndarray, "annotator label label"]
    class_counts: Float[np.ndarray, " label"]
    tilt: Float[np.ndarray, "item label"]
    seen: Bool[np.ndarray, " annotator"]

    def extend(self, flat: FlatAnnotations) -> FlatAnnotations:
        """The annotations with room for all annotators, and with what is known of the items."""
        return replace(flat, n_annotators=len(self.names), known=flat.known + self.tilt)

    def newcomers(self) -> Float[np.ndarray, "annotator label label"]:
        """Pseudo-counts: the pooled earlier confusion, worth `NEWCOMER` of each class, for annotators not seen before.

        A class without earlier annotations has none.
        """
        pooled = self.counts.sum(0)
        totals = pooled.sum(1, keepdims=True)
        rows = NEWCOMER * np.divide(pooled, totals, out=np.zeros_like(pooled), where=totals > 0)
        return np.where(self.seen[:, None, None], 0.0, rows)


def earlier_of(prior: object, annotations: Annotations) -> EarlierTruth:
    """What a prior tells about annotators and items: an earlier truth does, anything else tells nothing."""
    if isinstance(prior, Truth):
        return _from_truth(prior, annotations)
    n_annotators, n_labels = annotations.n_annotators or 0, annotations.n_labels
    return EarlierTruth(
        annotations.index.annotators,
        np.zeros((n_annotators, n_labels, n_labels)),
        np.zeros(n_labels),
        np.zeros((annotations.n_items, n_labels)),
        np.ones(n_annotators, bool),
    )


def _from_truth(earlier: Truth, annotations: Annotations) -> EarlierTruth:
    """Matches an earlier truth with these annotations by the names of items, annotators and labels."""
    if not earlier.evidence:
        raise InputError(
            f"a prior that is truth of the method {earlier.method!r}",
            "truth of the method 'ability', 'dawid-skene-em' or 'pooled', which keep what they learned of annotators",
            "Infer the earlier truth with one of these.",
        )
    index = annotations.index
    if index.labels != earlier.index.labels:
        raise InputError(
            f"labels {', '.join(index.labels)} with a prior whose labels are {', '.join(earlier.index.labels)}",
            "the same labels",
            "Name all of them when the annotations are made: Annotations.from_long(..., labels=[...]).",
        )
    known = dict(zip(earlier.evidence["annotators"].tolist(), earlier.evidence["annotations"], strict=True))
    only_old = tuple(name for name in known if name not in set(index.annotators))
    names = (*index.annotators, *only_old)
    n_labels = len(index.labels)
    blank = np.zeros((n_labels, n_labels))
    counts = np.stack([known.get(name, blank) for name in names])
    rows = {name: row for row, name in enumerate(earlier.index.items)}
    row_before = np.array([rows.get(name, -1) for name in index.items])
    again = row_before >= 0
    class_counts = earlier.evidence["classes"]
    tilt = np.zeros((len(index.items), n_labels))
    if again.any():
        probs = earlier.probs[row_before[again]]
        marginals = (class_counts + 1) / (class_counts + 1).sum()
        tilt[again] = np.log(np.maximum(probs, np.finfo(float).tiny)) - np.log(marginals)
        class_counts = np.maximum(class_counts - probs.sum(0), 0.0)
    return EarlierTruth(names, counts, class_counts, tilt, np.array([name in known for name in names]))


def evidence(
    probs: Float[np.ndarray, "item label"], flat: FlatAnnotations, earlier: EarlierTruth
) -> dict[str, np.ndarray]:
    """What a later call can take as its prior: earlier and present expected counts, by annotators' names."""
    n_labels = flat.n_labels
    size = len(earlier.names)
    answers = [np.bincount(flat.cell, flat.weight * probs[flat.item, k], size * n_labels) for k in range(n_labels)]
    counts = np.stack([part.reshape(size, n_labels) for part in answers], 1)
    return {
        "annotators": np.array(earlier.names, dtype=object),
        "annotations": counts + earlier.counts,
        "classes": probs.sum(0) + earlier.class_counts,
    }
