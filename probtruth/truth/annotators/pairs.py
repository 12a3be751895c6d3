"""Which annotators agree with each other more than their skill explains: near-copies."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.truth.fit import MethodRequest, need_annotations
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.types import Annotations, Truth

if TYPE_CHECKING:
    import polars

SURE = 0.01
"""Holm-adjusted p-value below which a pair is called copies of each other."""

CHUNK = 1_000_000
"""Pairs of annotations held in memory at a time, about."""

MAD = 1.4826
"""Median absolute deviation to standard deviation, for a normal distribution."""


def annotator_pairs(annotations: Annotations, truth: Truth, *, least: int = 10) -> "polars.DataFrame":
    """Finds pairs of annotators who agree more than their skill explains.

    Returns: one row for each pair with `least` or more items in common, the most suspicious first. `agreement` is the
    share of their common items on which they give the same label (of an item with repeats, of the pairs of answers),
    `expected` what their confusion matrices and the items' classes give: mean over items of
    sum_k q_ik sum_l theta_a[k,l] theta_b[k,l]. Hard items make all pairs agree beyond that, so `z`, the excess in
    standard errors, is centred at the median of all pairs (and scaled where they spread by more than 1); `p` is its
    one-sided normal tail, Holm-adjusted over the pairs; `copies` is p < 0.01. Copies count as one opinion: judge
    whether to drop one of them, since truth methods count both.

    Errors: `InputError` for annotations without annotators, a truth without confusion, or of other items.

    Example:
        >>> import probtruth as pt
        >>> from probtruth import demo
        >>> annotations, _ = demo.load()
        >>> truth = pt.infer_truth(annotations, "dawid-skene-em", draws=0)
        >>> pt.annotators.annotator_pairs(annotations, truth).filter("copies").height
        0
    """
    need_annotations(annotations)
    if not isinstance(truth, Truth):
        raise InputError(f"truth of type {type(truth).__name__}", "a probtruth.Truth", "Make it with infer_truth.")
    if truth.confusion is None or truth.index.annotators != annotations.index.annotators:
        raise InputError(
            f"truth of the method {truth.method!r} without these annotators' confusion",
            "truth inferred from the same annotations by a method with confusion",
            "truth = infer_truth(annotations, estimand='class').",
        )
    if truth.index.items != annotations.index.items:
        raise InputError("truth of other items", "the annotations' own items", "Infer it from the same annotations.")
    flat = flatten(MethodRequest.without_draws(annotations))
    confusion = np.nan_to_num(truth.confusion)
    pair, common, same, expected, variance = _count_pairs(flat, to_host(truth.probs), confusion)
    enough = common >= check.whole(least, 1, "least")
    first, second = np.divmod(pair[enough], flat.n_annotators)
    common, same, expected, variance = (part[enough] for part in (common, same, expected, variance))
    z = _centred((same - expected) / np.sqrt(np.maximum(variance, 1e-12)))
    p = _holm(ndtr(-z))
    names = np.array(annotations.index.annotators, dtype=object)
    order = np.lexsort((second, first, -z))
    columns = {
        "a": names[first[order]].tolist(),
        "b": names[second[order]].tolist(),
        "n_common": common[order],
        "agreement": (same / np.maximum(common, 1))[order],
        "expected": (expected / np.maximum(common, 1))[order],
        "z": z[order],
        "p": p[order],
        "copies": (p < SURE)[order],
    }
    return frames.as_polars(columns)


def _count_pairs(
    flat: FlatAnnotations,
    probs: Float[np.ndarray, "item label"],
    confusion: Float[np.ndarray, "annotator label label"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each pair that meets (a * n + b, a < b): items in common, agreements, their expectation and variance.

    Repeats of an annotator share the item. Memory is bounded by taking items in chunks.
    """
    item, annotator, label, n_annotators = flat.item, flat.annotator, flat.label, flat.n_annotators
    _, answer = np.unique(item * n_annotators + annotator, return_inverse=True)
    share = flat.weight / np.bincount(answer, flat.weight)[answer]
    end = np.cumsum(np.bincount(item, minlength=len(probs)))[item]
    later = end - np.arange(len(item)) - 1
    chunk = np.cumsum(later) // CHUNK
    parts: list[np.ndarray] = []
    for number in np.unique(chunk):
        mine = np.flatnonzero(chunk == number)
        one = np.repeat(mine, later[mine])
        offset = np.arange(len(one)) - np.repeat(np.cumsum(later[mine]) - later[mine], later[mine])
        two = one + 1 + offset
        different = annotator[one] != annotator[two]
        one, two = one[different], two[different]
        pair, of_pair = np.unique(annotator[one] * n_annotators + annotator[two], return_inverse=True)
        a, b = np.divmod(pair, n_annotators)
        by_class = (confusion[a] * confusion[b]).sum(2)
        chance = (probs[item[one]] * by_class[of_pair]).sum(1)
        part = share[one] * share[two]
        sums = [
            np.bincount(of_pair, part * values, len(pair))
            for values in (1.0, label[one] == label[two], chance, chance * (1 - chance))
        ]
        parts.append(np.stack([pair.astype(float), *sums]))
    table = np.concatenate(parts, axis=1) if parts else np.zeros((5, 0))
    pair, of_pair = np.unique(table[0].astype(np.int64), return_inverse=True)
    common, same, expected, variance = (np.bincount(of_pair, row, len(pair)) for row in table[1:])
    return pair, np.rint(common).astype(np.int64), same, expected, variance


def _centred(z: Float[np.ndarray, " pair"]) -> Float[np.ndarray, " pair"]:
    if not len(z):
        return z
    middle = np.median(z)
    spread: float = max(1.0, float(MAD * np.median(np.abs(z - middle))))
    return np.asarray((z - middle) / spread)


def _holm(p: Float[np.ndarray, " pair"]) -> Float[np.ndarray, " pair"]:
    """Holm's step-down adjustment (Holm 1979, https://www.jstor.org/stable/4615733)."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(np.minimum(p[order] * np.arange(len(p), 0, -1), 1.0))
    adjusted = np.empty_like(p)
    adjusted[order] = stepped
    return adjusted
