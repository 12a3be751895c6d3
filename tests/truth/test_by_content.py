"""The order that content decides: the same under any names, found even where totals tie, and undone in the answer."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from simulated_annotations import renamed, simulate

from probtruth import Annotations
from probtruth.truth.by_content import fit_by_content, order_of
from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest
from probtruth.truth.methods.votes import vote_share

CROWD, _, _ = simulate(30, 9, 5, 3, seed=1)
NO_GOLD = np.full(30, -1)


def tables(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Answers by item and label, and by annotator and label."""
    assert annotations.annotator is not None
    by_annotator = np.zeros((len(annotations.index.annotators), annotations.n_labels), int)
    np.add.at(by_annotator, (annotations.annotator, annotations.label), 1)
    return annotations.counts(), by_annotator


@pytest.mark.parametrize("who", [True, False])
def test_other_names_have_the_same_order_of_content(who: bool) -> None:
    """Two of the labels are said as often as each other: totals alone do not tell them apart."""
    other, _, _ = renamed(CROWD, seed=2)
    assert len(set(CROWD.counts().sum(0))) < 3
    seen = []
    for annotations in (CROWD, other):
        of_items, of_annotators = tables(annotations)
        order = order_of(
            MethodRequest(annotations if who else replace(annotations, annotator=None), 0, 0, NO_GOLD),
            keep_labels=False,
        )
        seen.append((of_items[order.items][:, order.labels], of_annotators[order.annotators][:, order.labels]))
    np.testing.assert_array_equal(seen[0][0], seen[1][0])
    if who:
        np.testing.assert_array_equal(seen[0][1], seen[1][1])


def test_known_answers_tell_items_apart() -> None:
    """Two items with the same votes; one of them is known. Whichever it is comes at the same place."""
    twins = Annotations.from_counts([[2, 1], [2, 1], [0, 3]])
    places = []
    for known in (0, 1):
        gold = np.full(3, -1)
        gold[known] = 1
        places.append(int(np.argsort(order_of(MethodRequest(twins, 0, 0, gold), keep_labels=False).items)[known]))
    assert places[0] == places[1]


def test_labels_with_an_order_of_their_own_keep_it() -> None:
    order = order_of(MethodRequest(CROWD, 0, 0, NO_GOLD), keep_labels=True)
    assert order.labels.tolist() == [0, 1, 2]
    assert sorted(order.items) == list(range(30))


def test_a_fit_comes_back_in_the_order_of_the_index() -> None:
    """Every field, from a method whose answer says where each number belongs."""

    def fit(request: MethodRequest) -> MethodFit:
        index, counts = request.annotations.index, request.annotations.counts().astype(float)
        item, label, who = (np.array([crc32(name.encode()) % 997 for name in names], float)
                            for names in (index.items, index.labels, index.annotators))  # fmt: skip
        matrix = who[:, None, None] + 1000 * label[:, None] + 1e6 * label
        codes = np.array([[place % len(index.labels) for place in counts.argmax(1)]])[None]
        return MethodFit(
            vote_share(request).probs,
            draws=counts[None] + item[:, None],
            marginals=label,
            confusion=matrix,
            annotator_results={"own": who},
            item_results={"own": item},
            evidence={
                "annotators": np.array(index.annotators, dtype=object),
                "annotations": matrix,
                "classes": label,
                INDEPENDENT: counts,
            },
            sampled={
                "confusion": matrix[None, None],
                "marginals": label[None, None],
                "class": codes,
                "lp": np.zeros((1, 1)),
            },
        )

    gold = NO_GOLD.copy()
    gold[3] = 2
    request = MethodRequest(CROWD, 0, 0, gold)
    straight, back = fit(request), fit_by_content(request, fit)
    assert order_of(request, keep_labels=False).labels.tolist() != [0, 1, 2]
    for name in ("probs", "draws", "marginals", "confusion"):
        np.testing.assert_array_equal(getattr(back, name), getattr(straight, name))
    for name in ("annotator_results", "item_results"):
        np.testing.assert_array_equal(getattr(back, name)["own"], getattr(straight, name)["own"])
    known = dict(zip(back.evidence["annotators"], back.evidence["annotations"], strict=True))
    for name, matrix in zip(CROWD.index.annotators, straight.evidence["annotations"], strict=True):
        np.testing.assert_array_equal(known[name], matrix)
    for name in ("classes", INDEPENDENT):
        np.testing.assert_array_equal(back.evidence[name], straight.evidence[name])
    for name in ("confusion", "marginals", "lp"):
        np.testing.assert_array_equal(back.sampled[name], straight.sampled[name])
    assert (CROWD.counts()[np.arange(30), back.sampled["class"][0, 0]] == CROWD.counts().max(1)).all()
