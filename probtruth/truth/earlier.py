"""An earlier posterior as the prior of a later one: what was learned of annotators and classes, as expected counts."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from probtruth.errors import InputError
from probtruth.truth.flat import Flat
from probtruth.types import Annotations, Truth

NEWCOMER = 5.0
"""Annotations of each class that all earlier annotators together are worth as the prior of one not seen before."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """What an earlier `Truth` says of these annotations; annotators are those of the index, then those only of old.

    `counts` are expected annotations by (annotator, truth, said), `class_counts` expected items by class, without those
    annotated again; `tilt` is the log of an item's earlier posterior over the earlier marginals, 0 where it is new.
    """

    names: tuple[str, ...]
    counts: Float[np.ndarray, "annotator label label"]
    class_counts: Float[np.ndarray, " label"]
    tilt: Float[np.ndarray, "item label"]
    seen: Bool[np.ndarray, " annotator"]

    def extend(self, flat: Flat) -> Flat:
        """The annotations with room for all annotators, and with what is known of the items."""
        return replace(flat, n_annotators=len(self.names), known=flat.known + self.tilt)

    def newcomers(self) -> Float[np.ndarray, "annotator label label"]:
        """Pseudo-counts: the pooled earlier confusion, worth `NEWCOMER` of each class, for annotators not seen before.

        A class of which nothing was heard has none.
        """
        pooled = self.counts.sum(0)
        totals = pooled.sum(1, keepdims=True)
        rows = NEWCOMER * np.divide(pooled, totals, out=np.zeros_like(pooled), where=totals > 0)
        return np.where(self.seen[:, None, None], 0.0, rows)


def nothing_earlier(annotations: Annotations) -> Earlier:
    """No prior knowledge."""
    size, n_labels = annotations.n_annotators or 0, annotations.n_labels
    return Earlier(
        annotations.index.annotators,
        np.zeros((size, n_labels, n_labels)),
        np.zeros(n_labels),
        np.zeros((annotations.n_items, n_labels)),
        np.ones(size, bool),
    )


def from_truth(earlier: Truth, annotations: Annotations) -> Earlier:
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
    place = np.array([rows.get(name, -1) for name in index.items])
    again = place >= 0
    class_counts = earlier.evidence["classes"]
    tilt = np.zeros((len(index.items), n_labels))
    if again.any():
        probs = earlier.probs[place[again]]
        marginals = (class_counts + 1) / (class_counts + 1).sum()
        tilt[again] = np.log(np.maximum(probs, np.finfo(float).tiny)) - np.log(marginals)
        class_counts = np.maximum(class_counts - probs.sum(0), 0.0)
    return Earlier(names, counts, class_counts, tilt, np.array([name in known for name in names]))


def evidence(probs: Float[np.ndarray, "item label"], flat: Flat, earlier: Earlier) -> dict[str, np.ndarray]:
    """What a later call can take as its prior: earlier and present expected counts, by annotators' names."""
    n_labels = flat.n_labels
    size = len(earlier.names)
    said = [np.bincount(flat.cell, flat.weight * probs[flat.item, k], size * n_labels) for k in range(n_labels)]
    counts = np.stack([part.reshape(size, n_labels) for part in said], 1)
    return {
        "annotators": np.array(earlier.names, dtype=object),
        "annotations": counts + earlier.counts,
        "classes": probs.sum(0) + earlier.class_counts,
    }
