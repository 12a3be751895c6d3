"""Annotations as sorted flat arrays: the form in which every sparse kernel takes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy.sparse import csr_array

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text, one_name
from probtruth.kernels.host import empty_like
from probtruth.truth.fit import MethodRequest
from probtruth.types import Annotations

# Cells (annotators x labels x labels) of confusion matrices beyond which none are made: half a GiB a table.
LARGEST_CONFUSION = 1 << 26


# Known answers: items' names to the names of their labels, or pairs of both.
Gold = Mapping[Any, Any] | Iterable[tuple[object, object]]


@dataclass(frozen=True, eq=False)
class FlatAnnotations:
    """Annotations sorted by item, annotator and label, equal ones merged, so that the order of rows has no effect."""

    item: Int[np.ndarray, " annotation"]
    annotator: Int[np.ndarray, " annotation"]
    label: Int[np.ndarray, " annotation"]
    weight: Float[np.ndarray, " annotation"]
    known: Float[np.ndarray, "item label"]
    n_items: int
    n_annotators: int
    n_labels: int

    @property
    def cell(self) -> Int[np.ndarray, " annotation"]:
        """The (annotator, label) pair of each annotation as one number: annotator * n_labels + label."""
        cells: np.ndarray = self.annotator * self.n_labels + self.label
        return cells

    def each(self) -> Int[np.ndarray, " answer"]:
        """The position of every annotation, as often as it stands in the data."""
        return np.repeat(np.arange(len(self.item)), self.weight.astype(int))

    @cached_property
    def table(self) -> csr_array:
        """How often each item (row) got each (annotator, label) pair (column)."""
        lengths = np.bincount(self.item, minlength=self.n_items)
        ends = np.r_[0, np.cumsum(lengths)]
        shape = self.n_items, self.n_annotators * self.n_labels
        return csr_array((self.weight, self.cell, ends), shape)

    @cached_property
    def by_cell(self) -> csr_array:
        """The same with pairs as rows."""
        return csr_array(self.table.T)

    def votes(self) -> Float[np.ndarray, "item label"]:
        """How often each item got each label."""
        cell = self.item * self.n_labels + self.label
        counts = np.bincount(cell, self.weight, self.n_items * self.n_labels)
        return counts.reshape(self.n_items, self.n_labels)

    @property
    def n_annotations(self) -> Int[np.ndarray, " annotator"]:
        """How many annotations each annotator gave."""
        return np.bincount(self.annotator, self.weight, self.n_annotators).astype(np.int64)


def flatten(request: MethodRequest) -> FlatAnnotations:
    """Sorts and merges annotations; those without annotators are an error."""
    annotations = request.annotations
    if annotations.annotator is None or annotations.n_annotators is None:
        raise InputError(
            "counts, without annotators",
            "annotations with the annotator who gave each label",
            "Give the long form (item, annotator, label), or choose a method that needs counts only: "
            "'vote-share', 'dirichlet' or 'majority'.",
        )
    n_items = annotations.n_items
    n_annotators = annotations.n_annotators
    n_labels = annotations.n_labels
    pair = annotations.item.astype(np.int64) * n_annotators + annotations.annotator
    distinct, row = np.unique(pair * n_labels + annotations.label, return_inverse=True)
    weight = np.bincount(row, annotations.multiplicity, len(distinct)).astype(np.float64)
    item, cell = np.divmod(distinct, n_annotators * n_labels)
    annotator, label = np.divmod(cell, n_labels)
    gold = request.gold[:, None]
    excluded = (gold >= 0) & (gold != np.arange(n_labels))
    known = np.where(excluded, -np.inf, 0.0)
    return FlatAnnotations(item, annotator, label, weight, known, n_items, n_annotators, n_labels)


def vote_shares(
    annotations: Annotations,
) -> tuple[Float[np.ndarray, "item label"], Int[np.ndarray, " item"]]:
    """The unsmoothed share of each label among an item's votes (NaN where there are none), and the number of votes."""
    counts = annotations.counts()
    n_votes = counts.sum(1)
    shares = empty_like(counts)
    with np.errstate(invalid="ignore"):
        np.divide(counts, n_votes[:, None], out=shares)
    return shares, n_votes


def votes_of_others(annotations: Annotations) -> Int[np.ndarray, "annotation label"]:
    """How often the others gave each label to the item of each annotation."""
    all_votes: np.ndarray = annotations.counts()[annotations.item]
    answer = np.arange(len(annotations.item))
    if annotations.annotator is not None:
        n_annotators = len(annotations.index.annotators)
        pair = annotations.item.astype(np.int64) * n_annotators + annotations.annotator
        _, answer = np.unique(pair, return_inverse=True)
    of_answer = np.zeros_like(all_votes)  # a row for each answer, in which its repeats are counted
    np.add.at(of_answer, (answer, annotations.label), 1)
    return all_votes - of_answer[answer]


def plurality(counts: Shaped[np.ndarray, "item label"]) -> Float[np.ndarray, "item label"]:
    """1 for the label that most votes of an item name, shared equally by ties."""
    most = counts == counts.max(1, keepdims=True)
    shares = empty_like(counts)
    np.divide(most, most.sum(1, keepdims=True), out=shares)
    return shares


def confusion_cells(annotations: Annotations) -> int:
    """Cells of the confusion matrices of all annotators."""
    return (annotations.n_annotators or 0) * annotations.n_labels**2


def need_votes(annotations: Annotations, n_votes: Int[np.ndarray, " item"]) -> None:
    """Raises where an item has no annotation."""
    empty = np.flatnonzero(n_votes == 0)
    if empty.size:
        names = [annotations.index.items[row] for row in empty.tolist()]
        raise InputError(
            f"no annotation for item {check.shortlist(names, 3)} ({empty.size} of {annotations.n_items} items)",
            "at least one annotation for every item",
            "Drop them with `annotations.annotated()`, or give what is known without votes by prior=[...].",
            f"item {names[0]!r}",
        )


def known_answers(gold: Gold | None, annotations: Annotations, method: str, estimand: str) -> Int[np.ndarray, " item"]:
    """The position of each item's known label, -1 where it is not known, from a mapping or pairs of names."""
    known = np.full(annotations.n_items, -1)
    if gold is None:
        return known
    if estimand != "class":
        raise InputError(
            f"gold with method {method!r}, which answers the estimand {estimand!r}",
            "a method that answers 'class'",
            "A known answer tells which label is true, not how annotators would answer; leave gold out.",
        )
    try:
        pairs = list(gold.items() if isinstance(gold, Mapping) else gold)
        named = [(name_text(item), label) for item, label in pairs]
    except (TypeError, ValueError):
        raise InputError(
            f"gold of type {type(gold).__name__}", "a dict {item: label}, or pairs", "gold={'item 7': 'yes'}."
        ) from None
    items = {name: row for row, name in enumerate(annotations.index.items)}
    labels = {name: column for column, name in enumerate(annotations.index.labels)}
    for item, label in named:
        if item not in items:
            raise InputError(
                f"gold for item {item!r}", "an item of the annotations", check.did_you_mean(item, list(items)[:1000])
            )
        label = one_name(label, annotations.index.labels, f"gold of item {item!r}: label")
        if known[items[item]] not in (-1, labels[label]):
            raise InputError(f"two known labels for item {item!r}", "one", "Remove one of them from gold.")
        known[items[item]] = labels[label]
    return known
