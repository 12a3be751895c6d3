"""Items, labels and annotators in an order that their content decides, so that names change nothing in an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int, UInt

from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest

ROUNDS = 16
"""How often, at most, what is known of an item, label or annotator spreads to those that it meets; 5 mostly suffice."""
SAMPLED = {"marginals": "l", "confusion": "all", "class": "i", "bias": "al", "log_likelihood": "i"}
"""Axes (item, annotator, label) of sampled parameters behind chain and draw; those not named have none."""

Bits = UInt[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class ContentOrder:
    """Positions in the index, in order of content: `labels[0]` is the label that comes first."""

    items: Int[np.ndarray, " item"]
    labels: Int[np.ndarray, " label"]
    annotators: Int[np.ndarray, " annotator"]

    def ranks(self) -> Mapping[str, np.ndarray]:
        """The rank of every item, annotator and label of the index in this order."""
        return {"i": np.argsort(self.items), "a": np.argsort(self.annotators), "l": np.argsort(self.labels)}


def fit_by_content(
    request: MethodRequest, fit: Callable[[MethodRequest], MethodFit], keep_labels: bool = False
) -> MethodFit:
    """A method's answer for annotations in the order of their content, back in the order of the index.

    Sums and random numbers follow the order of the arrays, so that a method by itself would answer differently, by
    rounding or Monte Carlo error, under other names. Labels stay as they are where they have an order of their own, or
    an option names them.
    """
    order = order_of(request, keep_labels)
    return _restored(fit(_arranged(request, order)), order)


def order_of(request: MethodRequest, keep_labels: bool) -> ContentOrder:
    """The order of hashes of who gave which label to which item, spread over the annotations (colour refinement).

    Those that this leaves tied are interchangeable (or, by a chance of 2^-64, not told apart): names order them.

    Source: Weisfeiler and Leman (1968), The reduction of a graph to canonical form.
    """
    annotations, gold = request.annotations, request.gold
    item, label, who = annotations.item, annotations.label, annotations.annotator
    often, known = annotations.multiplicity.astype(np.uint64), np.nonzero(gold >= 0)[0]
    items, annotators = np.zeros(annotations.n_items, np.uint64), np.zeros(len(annotations.index.annotators), np.uint64)
    labels = np.arange(annotations.n_labels, dtype=np.uint64) * np.uint64(keep_labels)
    distinct = 0
    for _ in range(ROUNDS):
        before, distinct = distinct, sum(len(np.unique(bits)) for bits in (items, labels, annotators))
        if distinct == before:
            break
        answers = _scrambled(_scrambled(items[item]) + labels[label])
        answers = answers if who is None else _scrambled(answers + annotators[who])
        answers *= often
        truths = _scrambled(_scrambled(items[known]) - labels[gold[known]])
        items = _with_sums(_with_sums(items, item, answers), known, truths)
        labels = _with_sums(_with_sums(labels, label, answers), gold[known], truths)
        annotators = annotators if who is None else _with_sums(annotators, who, answers)
    first, second, third = (np.argsort(part, kind="stable") for part in (items, labels, annotators))
    return ContentOrder(first, np.arange(len(labels)) if keep_labels else second, third)


def _with_sums(bits: Bits, of: Int[np.ndarray, " row"], rows: Bits) -> Bits:
    """What is known, and the sum (modulo 2^64, so in any order) of the rows that belong to it."""
    sums = np.zeros_like(bits)
    np.add.at(sums, of, rows)
    return _scrambled(bits + sums)


def _scrambled(bits: Bits) -> Bits:
    """A fixed permutation of the 64-bit integers that looks random.

    Source: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, doi:10.1145/2660193.2660195.
    """
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _arranged(request: MethodRequest, order: ContentOrder) -> MethodRequest:
    """The annotations in this order, rows too."""
    annotations, rank, index = request.annotations, order.ranks(), request.annotations.index
    item, label = rank["i"][annotations.item], rank["l"][annotations.label]
    who = None if annotations.annotator is None else rank["a"][annotations.annotator]
    pair = item if who is None else item.astype(np.int64) * len(index.annotators) + who
    rows = np.argsort(pair * len(index.labels) + label, kind="stable")
    named = replace(
        index,
        items=tuple(index.items[at] for at in order.items),
        labels=tuple(index.labels[at] for at in order.labels),
        annotators=tuple(index.annotators[at] for at in order.annotators),
    )
    gold = request.gold[order.items]
    made = replace(
        annotations,
        item=item[rows],
        label=label[rows],
        annotator=None if who is None else who[rows],
        multiplicity=annotations.multiplicity[rows],
        index=named,
    )
    return replace(request, annotations=made, gold=np.where(gold >= 0, rank["l"][gold], -1))


def _restored(fit: MethodFit, order: ContentOrder) -> MethodFit:
    """A fit in the order of the index."""
    rank = order.ranks()

    def back(values: np.ndarray, axes: str) -> np.ndarray:
        return values[(..., *np.ix_(*(rank[axis] for axis in axes)))] if axes else values

    sampled = {name: back(values, SAMPLED.get(name, "")) for name, values in fit.sampled.items()}
    if "class" in sampled:
        sampled["class"] = order.labels.astype(sampled["class"].dtype)[sampled["class"]]
    evidence = dict(fit.evidence)  # its annotators go by name, earlier ones among them
    for name, axes in (("annotations", "ll"), ("classes", "l"), (INDEPENDENT, "il")):
        if name in evidence:
            evidence[name] = back(evidence[name], axes)
    return replace(
        fit,
        probs=back(fit.probs, "il"),
        draws=None if fit.draws is None else back(fit.draws, "il"),
        marginals=None if fit.marginals is None else back(fit.marginals, "l"),
        confusion=None if fit.confusion is None else back(fit.confusion, "all"),
        annotator_results={name: back(values, "a") for name, values in fit.annotator_results.items()},
        item_results={name: back(values, "i") for name, values in fit.item_results.items()},
        evidence=evidence,
        sampled=sampled,
    )
