"""The items named are the extreme ones, found again by the slow way."""

from dataclasses import replace

import numpy as np
import pytest

from probtruth.report.tables import items


def test_disputed_items_have_the_highest_entropy(result):
    found = items.disputed(result)
    shares = result.truth.shares
    entropy = [-sum(q * np.log(q) for q in row if q > 0) for row in shares]
    assert [entry.entropy for entry in found] == pytest.approx(sorted(entropy, reverse=True)[:10])
    row = result.truth.index.items.index(found[0].item)
    assert dict(found[0].shares) == {
        label: share for label, share in zip(result.truth.index.labels, shares[row], strict=True) if share > 0
    }
    assert found[0].votes == result.truth.n_votes[row]


def test_divided_items_have_the_largest_differences(result):
    (a, b), found = items.divided(result)
    assert (a, b) == ("nearest-neighbours", "logistic")
    first, second = (result.scores.values[result.scores.models.index(name)] for name in (a, b))
    worst = int(np.abs(first - second).argmax())
    assert found[0].item == result.scores.items[worst]
    assert found[0].scores == (first[worst], second[worst])
    label, p = found[0].says[0]
    probs = result.predictions.probs[result.predictions.models.index(a), worst]
    assert (label, p) == (result.predictions.index.labels[probs.argmax()], probs.max())


def test_bare_scores_have_no_labels_and_keep_their_orientation(make):
    result = make["bare"](3, higher_is_better=True)
    assert items.disputed(result) == []
    _, found = items.divided(result)
    row = result.scores.items.index(found[0].item)
    assert found[0].says is None
    assert found[0].shares == ()
    assert -found[0].scores[0] in result.scores.values[:, row]


def test_unanimous_labels_and_equal_models_leave_nothing(make):
    result = make["bare"](2)
    equal = replace(result, scores=replace(result.scores, values=np.zeros_like(result.scores.values)))
    assert items.divided(equal)[1] == []


def test_infinite_differences_come_first(make):
    result = make["bare"](2)
    values = result.scores.values.copy()
    values[:, 3] = np.inf  # both infinite: their difference is not known
    values[0, 7] = np.inf
    changed = replace(result, scores=replace(result.scores, values=values))
    assert items.divided(changed)[1][0].item == result.scores.items[7]


def test_positions_take_the_names_of_the_scores(result):
    """Labels and predictions without names are matched by position, and shown under the scores' names."""
    plain = tuple(map(str, range(len(result.scores.items))))
    index = replace(result.truth.index, items=plain, positional_items=True)
    letters = replace(index, labels=tuple("abcdefghij"), positional_labels=True)
    unnamed = replace(
        result,
        truth=replace(result.truth, index=index),
        predictions=replace(result.predictions, index=letters),
    )
    assert items.disputed(unnamed) == items.disputed(result)
    assert items.divided(unnamed) == items.divided(result)
