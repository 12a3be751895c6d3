"""The items named are the extreme ones, found again by the slow way."""

from dataclasses import replace

import numpy as np
import pytest

import probtruth as pt
from probtruth.line.analysis import items
from probtruth.types.comparison import leading_pair


def test_disputed_items_have_the_highest_entropy(result):
    found = result.analysis.disputed
    shares = result.truth.shares
    entropy = [-sum(q * np.log(q) for q in row if q > 0) for row in shares]
    assert [entry.entropy for entry in found] == pytest.approx(sorted(entropy, reverse=True)[:10])
    row = result.truth.index.items.index(found[0].item)
    assert dict(found[0].shares) == {
        label: share for label, share in zip(result.truth.index.labels, shares[row], strict=True) if share > 0
    }
    assert found[0].votes == result.truth.n_votes[row]


def test_divided_items_have_the_largest_differences(result):
    (a, b), found = leading_pair(result.comparison.ranks), result.analysis.divided
    assert (a, b) == ("nearest-neighbours", "logistic")
    first, second = (result.scores.values[result.scores.models.index(name)] for name in (a, b))
    worst = int(np.abs(first - second).argmax())
    assert found[0].item == result.scores.items[worst]
    assert found[0].scores == (first[worst], second[worst])
    label, p = found[0].top_labels[0]
    aligned = result.labelled.aligned
    probs = aligned.probs[aligned.models.index(a), worst]
    assert (label, p) == (aligned.labels[probs.argmax()], probs.max())


def test_bare_scores_have_no_labels_and_keep_their_orientation(make):
    result = make["bare"](3, higher_is_better=True)
    assert result.analysis.disputed == []
    found = result.analysis.divided
    row = result.scores.items.index(found[0].item)
    assert found[0].top_labels is None
    assert found[0].shares == ()
    assert -found[0].scores[0] in result.scores.values[:, row]


def test_unanimous_labels_and_equal_models_leave_nothing(make):
    result = make["bare"](2)
    equal = replace(result, scores=replace(result.scores, values=np.zeros_like(result.scores.values)))
    assert equal.analysis.divided == []


def test_infinite_differences_come_first(make):
    result = make["bare"](2)
    values = result.scores.values.copy()
    values[:, 3] = np.inf  # both infinite: their difference is not known
    values[0, 7] = np.inf
    changed = replace(result, scores=replace(result.scores, values=values))
    assert changed.analysis.divided[0].item == result.scores.items[7]


def test_positions_take_the_names_of_the_other_side():
    """Predictions without names are matched by position, and shown under the reference's names."""
    votes, items, labels = [[4, 1], [0, 5], [2, 3]], ["u", "v", "w"], ["no", "yes"]
    probs = {"a": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]], "b": [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]}
    annotations = pt.Annotations.from_counts(votes, items=items, labels=labels)
    plain = pt.evaluate(annotations, pt.Predictions.from_probs(probs), engine="exact").analysis
    named = pt.evaluate(annotations, pt.Predictions.from_probs(probs, items, labels), engine="exact").analysis
    assert plain.disputed == named.disputed
    assert plain.divided == named.divided
    assert {entry.item for entry in plain.divided} == set(items)
    assert plain.divided[0].shares[0][0] in labels


def test_all_items_are_listed_with_their_votes_and_probabilities(result):
    listed = result.analysis.listed
    aligned = result.labelled.aligned
    assert listed.items == tuple(map(str, result.scores.items))
    assert listed.models[0] == "nearest-neighbours"
    assert (listed.votes == result.annotations.counts()).all()
    best = aligned.models.index(listed.models[0])
    assert np.allclose(listed.probs[0], np.exp(aligned.log_probs[best]))


def test_of_too_many_items_the_most_telling_are_listed_in_their_order(make, monkeypatch):
    monkeypatch.setattr(items, "MOST_LISTED", 30)
    monkeypatch.setattr(items, "MOST_TELLING", 5)
    bare = make["bare"](2, 60)
    listed = items.listed_items(bare.scores, bare.comparison, None)
    gap = np.abs(bare.scores.values[0] - bare.scores.values[1])
    assert listed.n_all == 60
    assert list(listed.items) == [str(row) for row in sorted(np.argsort(-gap)[:5])]


def test_of_many_labels_the_most_probable_are_listed(result, monkeypatch):
    monkeypatch.setattr(items, "MOST_LISTED_LABELS", 4)
    listed = items.listed_items(result.scores, result.comparison, result.labelled)
    assert listed.columns.shape == (899, 4)
    row = 17
    aligned = result.labelled.aligned
    weight = np.maximum(aligned.truth[row], np.exp(aligned.log_probs[:, row]).max(0))
    assert set(listed.columns[row]) == set(np.argsort(-weight)[:4])
    assert np.allclose(listed.shares[row], aligned.truth[row][listed.columns[row]])


def test_scores_are_listed_as_they_were_given(make):
    bare = make["bare"](2, higher_is_better=True)
    listed = items.listed_items(bare.scores, bare.comparison, None)
    assert listed.scores[0, 3] == -bare.scores.values[bare.scores.models.index(listed.models[0]), 3]
