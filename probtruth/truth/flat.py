"""Annotations as sorted flat arrays: the form in which every sparse kernel takes them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.types import Annotations


@dataclass(frozen=True, eq=False)
class Flat:
    """Annotations sorted by item, annotator and label, equal ones merged, so that the order of rows has no effect.

    `weight` is how often the annotation stands in the data. `by_annotator` sorts the same annotations by annotator,
    label and item, for sums over annotators.
    """

    item: Int[np.ndarray, " annotation"]
    annotator: Int[np.ndarray, " annotation"]
    label: Int[np.ndarray, " annotation"]
    weight: Float[np.ndarray, " annotation"]
    by_annotator: Int[np.ndarray, " annotation"]
    n_items: int
    n_annotators: int
    n_labels: int

    @property
    def cell(self) -> Int[np.ndarray, " annotation"]:
        """The (annotator, label) pair of each annotation as one number: annotator * n_labels + label."""
        cells: np.ndarray = self.annotator * self.n_labels + self.label
        return cells


def flatten(annotations: Annotations) -> Flat:
    """Sorts and merges annotations; those without annotators are an error."""
    if annotations.annotator is None or annotations.n_annotators is None:
        raise InputError(
            "counts, without annotators",
            "annotations that say which annotator gave each label",
            "Give the long form (item, annotator, label), or choose a method that needs counts only: "
            "'vote-share', 'dirichlet', 'dirichlet-mixture' or 'majority'.",
        )
    n_items, n_annotators, n_labels = annotations.n_items, annotations.n_annotators, annotations.n_labels
    key = (annotations.item.astype(np.int64) * n_annotators + annotations.annotator) * n_labels + annotations.label
    distinct, place = np.unique(key, return_inverse=True)
    weight = np.bincount(place, annotations.multiplicity, len(distinct)).astype(np.float64)
    item, cell = np.divmod(distinct, n_annotators * n_labels)
    annotator, label = np.divmod(cell, n_labels)
    order = np.argsort(cell, kind="stable")
    return Flat(item, annotator, label, weight, order, n_items, n_annotators, n_labels)


def vote_shares(
    annotations: Annotations,
) -> tuple[Float[np.ndarray, "item label"], Int[np.ndarray, " item"]]:
    """The unsmoothed share of each label among an item's votes (NaN where there are none), and the number of votes."""
    counts = annotations.counts()
    n_votes = counts.sum(1)
    with np.errstate(invalid="ignore"):
        return counts / n_votes[:, None], n_votes


def need_votes(annotations: Annotations, n_votes: Int[np.ndarray, " item"]) -> None:
    """Raises where an item has no annotation."""
    empty = np.flatnonzero(n_votes == 0)
    if empty.size:
        names = [annotations.index.items[row] for row in empty]
        raise InputError(
            f"no annotation for item {check.shortlist(names, 3)} ({empty.size} of {annotations.n_items} items)",
            "at least one annotation for every item",
            "Drop them with `annotations.annotated()`, or say what is known without votes with prior=[...].",
            f"item {names[0]!r}",
        )


def positive_row(values: object, n_labels: int, what: str) -> Float[np.ndarray, " label"]:
    """Numbers above 0, one for each label, or one number for all of them; anything else is an error."""
    try:
        row = np.broadcast_to(np.asarray(values, np.float64), (n_labels,)).copy()
    except (TypeError, ValueError):
        row = np.full(n_labels, np.nan)
    if not (np.isfinite(row) & (row > 0)).all():
        raise InputError(
            f"{what} {values!r}", f"{n_labels} positive numbers, one for each label, or one number", "Check its length."
        )
    return row


def non_negative(value: object, what: str) -> float:
    """A finite number of at least 0; anything else is an error."""
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value) and value >= 0:
        return float(value)
    raise InputError(f"{what} {value!r}", "a number of at least 0", f"Check {what}.")


def whole(value: object, least: int, what: str) -> int:
    """An integer of at least `least`; anything else is an error."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise InputError(f"{what} {value!r}", f"an integer of at least {least}", f"Check {what}.")
