import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from one_model import one_model, two
from sklearn import metrics as skm

import probtruth as pt

ROUND_OFF = 1e-12  # Cumulative sums of a few dozen numbers near 1 in float64


soft = hnp.arrays(np.float64, 12, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(soft, soft)
def test_soft_labels_are_scikit_learns_weights(p, y):
    """Each item once as an event of weight y and once as a non-event of weight 1 - y."""
    if y.sum() == 0 or y.sum() == 12:
        return
    labels, scores, weights = np.repeat([1, 0], 12), np.tile(p, 2), np.concatenate([y, 1 - y])
    curve = pt.confusion.roc_curves(*one_model(p, y)).of("a")
    false_rate, true_rate, thresholds = skm.roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    np.testing.assert_allclose(curve.x, false_rate, atol=ROUND_OFF)
    np.testing.assert_allclose(curve.y, true_rate, atol=ROUND_OFF)
    np.testing.assert_allclose(curve.thresholds, thresholds, rtol=ROUND_OFF)
    assert curve.area == pytest.approx(skm.roc_auc_score(labels, scores, sample_weight=weights), abs=ROUND_OFF)
    curve = pt.confusion.precision_recall_curves(*one_model(p, y)).of("a")
    expected = skm.average_precision_score(labels, scores, sample_weight=weights)
    assert curve.area == pytest.approx(expected, abs=ROUND_OFF)
    precision, recall, _ = skm.precision_recall_curve(labels, scores, sample_weight=weights)
    np.testing.assert_allclose(curve.y, precision[:-1][::-1], atol=ROUND_OFF)
    np.testing.assert_allclose(curve.x, recall[:-1][::-1], atol=ROUND_OFF)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(soft.filter(lambda p: 0 < p.sum() < 12))
def test_a_calibrated_model_implies_its_actual_curve(p):
    """With labels equal to the reports the two curves are one."""
    for found in (pt.confusion.roc_curves(*one_model(p, p)), pt.confusion.precision_recall_curves(*one_model(p, p))):
        actual, implied = found.of("a"), found.of("a", implied=True)
        np.testing.assert_allclose(actual.x, implied.x, atol=ROUND_OFF)
        np.testing.assert_allclose(actual.y, implied.y, atol=ROUND_OFF)


def test_an_over_confident_model_implies_too_much():
    y = np.linspace(0.3, 0.7, 9)
    found = pt.confusion.roc_curves(*one_model(np.linspace(0, 1, 9), y))
    assert found.of("a", implied=True).area > found.of("a").area + 0.1


def test_reports_that_round_to_one_keep_their_order():
    """Log-probabilities of the rest of 1e-20 and 1e-30: both probabilities are 1.0 in float64."""
    logs = {"a": np.array([[-46.0, 0.0], [-69.0, 0.0], [0.0, -46.0]])}
    found = pt.confusion.roc_curves(pt.Predictions.from_log_probs(logs), pt.Truth.from_labels(np.array([0, 1, 0]), 2))
    assert found.of("a").area == 1


def test_a_certain_report_ranks_first_though_its_row_sums_to_more_than_one():
    """1.0 beside 0.00005 is within the tolerance; by 1 less the rest it would stand below 0.99999."""
    predictions = pt.Predictions.from_probs({"a": [[1.0, 5e-5], [0.99999, 1e-5], [0.5, 0.5]]})
    curve = pt.confusion.roc_curves(predictions, pt.Truth.from_labels([0, 1, 1], n_labels=2), label=0).of("a")
    assert curve.area == 1
    assert curve.thresholds.tolist() == sorted(curve.thresholds, reverse=True)


def test_running_sums_of_float32_keep_their_digits():
    """Trap 5: parts of 256 and their order are exact in float32; their running sum is not."""
    tables = [two(side / 256) for side in np.random.default_rng(0).integers(1, 256, (2, 200_000))]
    areas = []
    for kind in (np.float32, np.float64):
        p, y = (table.astype(kind) for table in tables)
        curves = pt.confusion.roc_curves(*one_model(p, y))
        areas.append(curves.of("a").area)
    assert areas[0] == pytest.approx(areas[1], rel=ROUND_OFF)


def test_no_events_no_curve():
    found = pt.confusion.roc_curves(*one_model([0.2, 0.6], [0, 0])).of("a")
    assert np.isnan(found.area)
    assert np.isnan(pt.confusion.precision_recall_curves(*one_model([0.2, 0.6], [0, 0])).of("a").area)


def test_errors():
    with pytest.raises(pt.InputError, match="label '3', expected one of '0', '1'"):
        pt.confusion.roc_curves(*one_model([0.2], [1]), label=3)
    with pytest.raises(pt.InputError, match="model 'b', expected one of 'a'"):
        pt.confusion.roc_curves(*one_model([0.2], [1])).of("b")
