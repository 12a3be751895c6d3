"""Annotations held out once at most an item; the stacking weight finds the better view."""

import numpy as np
import pytest
from simulated_annotations import misperceived, simulate

import probtruth as pt
from probtruth.truth.held_out import predicted, split, stacking_weight


def test_split_takes_one_of_an_item_at_most() -> None:
    annotations, _, _ = simulate(120, 8, 5, 3, seed=11)
    rest, rows = split(annotations, seed=0)
    assert len(rows) == 120  # a fifth of 600
    assert len(set(annotations.item[rows])) == 120
    assert len(rest.item) == 480
    np.testing.assert_array_equal(split(annotations, seed=0)[1], rows)


def test_predicted_by_hand() -> None:
    annotations = pt.Annotations.from_long({"item": ["a", "a"], "annotator": ["p", "q"], "label": ["x", "y"]})
    confusion = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]])
    found = predicted(np.array([[0.25, 0.75]]), confusion, annotations, np.array([0, 1]))
    np.testing.assert_allclose(found, [0.25 * 0.9 + 0.75 * 0.2, 0.25 * 0.4 + 0.75 * 0.5])


def test_weight_goes_to_the_better_view() -> None:
    """Truths drawn from p = .8: views that say .8 and .5; with nothing to choose from, a half."""
    drawn = np.random.default_rng(0).random(2000) < 0.8
    good, poor = np.where(drawn, 0.8, 0.2), np.full(2000, 0.5)
    assert stacking_weight(good, poor) > 0.85
    assert stacking_weight(poor, good) < 0.15
    solver = 1e-4
    assert stacking_weight(poor, poor) == pytest.approx(0.5, abs=solver)


def test_pooled_takes_a_weight() -> None:
    annotations, _ = misperceived(5)
    options = {"sweeps": 40, "chains": 1, "draws": 20}
    half, first = (pt.infer_truth(annotations, "pooled", weight=weight, **options) for weight in (0.5, 0.999))
    alone = pt.infer_truth(annotations, "perceived-class", **options)
    np.testing.assert_allclose(first.probs, alone.probs, atol=2e-3)  # one part in a thousand is tempered
    stacked = pt.infer_truth(annotations, "pooled", weight="held-out", **options)
    share = stacked.diagnostics["weight"]
    assert isinstance(share, float)
    tempered = 2 * half.probs - alone.probs
    np.testing.assert_allclose(stacked.probs, share * alone.probs + (1 - share) * tempered)
    np.testing.assert_allclose(stacked.probs.sum(1), 1)


def test_errors() -> None:
    annotations, _ = misperceived(5)
    with pytest.raises(pt.InputError, match="weight 2"):
        pt.infer_truth(annotations, "pooled", weight=2)
    single = pt.Annotations.from_long({"item": ["a", "b"], "annotator": ["p", "q"], "label": ["x", "y"]})
    with pytest.raises(pt.InputError, match="without an item of two annotations"):
        pt.infer_truth(single, "pooled", weight="held-out")
