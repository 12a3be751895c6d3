"""Several labels for an item: whether each applies, label by label."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import one_name
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten, need_votes
from probtruth.truth.infer import METHODS, infer_truth
from probtruth.types import Annotations, Truth
from probtruth.types.arguments import MethodName
from probtruth.types.index import Index
from probtruth.types.shown import Brief

NO_YES = ("no", "yes")  # the two labels of the truth about one label


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelTruth(Brief):
    """Whether each label applies to each item.

    `probs[i, l]` is the probability that label l applies to item i (under "distribution": the share of annotators who
    would give it); a row need not sum to 1. `truths` holds, by label, the `Truth` of "no" and "yes", for `score`.
    """

    probs: Float[np.ndarray, "item label"]
    index: Index
    truths: Mapping[str, Truth]


def infer_multilabel(
    annotations: Annotations,
    method: MethodName = "ability",
    *,
    none: str | int | None = None,
    gold: Mapping[object, Iterable[object]] | None = None,
    seed: int = 0,
    **options: Any,
) -> MultilabelTruth:
    """Which labels apply to every item, where an annotation is a set of labels: `infer_truth` for each label alone.

    Arguments:
        annotations: have one row for each label of a set. Read them with `replicate="label"`, which lets an annotator
            stand several times at an item. An annotator who says that no label applies gives the label named by `none`,
            since without a row they would not have answered.
        method, options: those of `infer_truth`.
        none: the name of the answer that no label applies.
        gold: maps items to the complete set of labels that truly apply. If none does, to an empty set, `{"item":
            set()}`.
        seed: of everything random: the same seed gives the same numbers.

    Returns: `MultilabelTruth`; each entry of `probs` is in 0 to 1.

    Errors: `InputError` for counts, an unknown method or option, `none` beside other labels, unknown names in `gold`,
    an item without annotations.

    Example:
        >>> import probtruth as pt
        >>> rows = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
        >>> sets = pt.Annotations.from_long(rows, replicate="label")
        >>> pt.infer_multilabel(sets, "vote-share").probs.round(2).tolist()
        [[1.0, 0.5], [0.33, 0.67]]
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.one_of(method, tuple(METHODS), "method")
    first = check.whole(seed, 0, "seed")
    binary = by_label(annotations, none)
    labels = tuple(binary)
    known = {}
    for one, applying in (gold or {}).items():
        if isinstance(applying, str):
            raise InputError(f"gold {applying!r} of item {one!r}", "a set of labels", f"Write {{{applying!r}}}.")
        known[one] = {one_name(name, labels, f"gold of item {one!r}: label") for name in applying}
    truths = {}
    start = first * len(labels)
    for label, votes in binary.items():
        applies = {name: NO_YES[label in those] for name, those in known.items()} or None
        truths[label] = infer_truth(votes, method, draws=0, seed=start, gold=applies, **options)
        start += 1
    probs = np.stack([truth.probs[:, 1] for truth in truths.values()], 1)
    return MultilabelTruth(probs, Index(annotations.index.items, labels, annotations.index.annotators), truths)


def by_label(annotations: Annotations, none: object = None) -> Mapping[str, Annotations]:
    """Of each label the annotations "no" or "yes": whether it is in an annotator's set of labels for an item."""
    need_votes(annotations, annotations.counts().sum(1))
    flat = flatten(MethodRequest.without_draws(annotations))
    pairs, row = np.unique(flat.item * flat.n_annotators + flat.annotator, return_inverse=True)
    answers = np.zeros((len(pairs), flat.n_labels), np.int64)
    answers[row, flat.label] = 1
    item, annotator = np.divmod(pairs, flat.n_annotators)
    labels = list(annotations.index.labels)
    items, people = annotations.index.items, annotations.index.annotators
    if none is not None:
        nothing = labels.index(one_name(none, labels, "none: label"))
        both = np.flatnonzero((answers[:, nothing] == 1) & (answers.sum(1) > 1))
        if both.size:
            raise InputError(
                f"label {labels[nothing]!r} beside others, by annotator {people[annotator[both[0]]]!r}",
                "no other label beside the one that says that none applies",
                "Remove one of the two.",
                f"item {items[item[both[0]]]!r}",
            )
        answers = np.delete(answers, nothing, axis=1)
        del labels[nothing]
    if not labels:
        raise InputError("no label but the one for none", "at least one", "Give labels=[...] of all that can apply.")
    once = np.ones(len(item), np.int64)
    index = Index(items, NO_YES, people)
    binary = {}
    for label, applies in zip(labels, answers.T, strict=True):
        binary[label] = Annotations(item, applies, annotator, once, index, annotations.excluded)
    return binary
