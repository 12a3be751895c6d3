import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

import probtruth as pt
from probtruth.scoring.means import event_ranks

EXACT = 1e-9
"""Sums of float64 and outcomes in units of 2^-30."""
FLOAT32 = 1e-6
"""Mean of float32 losses."""


def binary(items=9000, seed=0):
    rng = np.random.default_rng(seed)
    forecast = rng.beta(0.5, 2, items).astype(np.float32)
    return forecast, rng.random(items) < forecast**1.3


def columns(event):
    return np.stack([1 - event, event], 1).astype(np.float32)


def one_pass(metric, probs, truth):
    return metric.update(metric.init(), probs, truth)


def ranks(forecast, outcome, **options):
    metric = pt.streaming.StreamRanks(n_labels=2, events=(1,), **options)
    return metric.finalize(one_pass(metric, columns(forecast), columns(outcome)))


def isotonic_brier(forecast, outcome):
    """Mean Brier score of the isotonic fit with ties pooled, from all items."""
    _, place, number = np.unique(forecast, return_inverse=True, return_counts=True)
    share = np.bincount(place, outcome) / number
    fit = isotonic_regression(share, weights=number).x
    return (number * (share * (1 - fit) ** 2 + (1 - share) * fit**2)).sum() / number.sum()


# Reference


def test_bounds_hold_the_values_of_scikit_learn():
    forecast, outcome = binary()
    found = ranks(forecast, outcome)
    area, precision = roc_auc_score(outcome, forecast), average_precision_score(outcome, forecast)
    assert found.roc_area_low[0] <= area <= found.roc_area_high[0]
    assert found.average_precision_low[0] <= precision <= found.average_precision_high[0]
    assert found.roc_area_high[0] - found.roc_area_low[0] < 5e-4
    miscalibration = brier_score_loss(outcome, forecast) - isotonic_brier(forecast, outcome)
    assert found.miscalibration_low[0, 0] <= miscalibration <= found.miscalibration_high[0, 0]
    scores = brier_score_loss(outcome, forecast), log_loss(outcome, forecast.astype(float))
    np.testing.assert_allclose(found.mean_score[0], scores, rtol=FLOAT32)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_few_decimals_are_exact(kind):
    forecast, outcome = binary()
    forecast = np.round(forecast.astype(kind), 2)
    found = ranks(forecast, outcome)
    np.testing.assert_allclose(found.roc_area, roc_auc_score(outcome, forecast), rtol=EXACT)
    np.testing.assert_allclose(found.average_precision, average_precision_score(outcome, forecast), rtol=EXACT)
    for low, value, high in (
        (found.roc_area_low, found.roc_area, found.roc_area_high),
        (found.average_precision_low, found.average_precision, found.average_precision_high),
        (found.miscalibration_low, found.miscalibration, found.miscalibration_high),
    ):
        np.testing.assert_allclose([low, high], [value, value], rtol=EXACT)
    share = outcome.mean()
    np.testing.assert_allclose(found.uncertainty[0, 0], share * (1 - share), rtol=FLOAT32)
    np.testing.assert_allclose(
        found.uncertainty - found.discrimination + found.miscalibration, found.mean_score, rtol=EXACT
    )
    np.testing.assert_allclose(
        found.mean_score[0, 0] - found.miscalibration[0, 0], isotonic_brier(forecast, outcome), rtol=FLOAT32
    )


def test_soft_outcomes_are_weighted_events():
    """A soft outcome is a share of outcomes and of non-outcomes at one forecast."""
    forecast = np.array([0.125, 0.25, 0.5, 0.75], np.float32)
    outcome = np.array([0.25, 0.0, 0.5, 1.0])
    found = ranks(forecast, outcome)
    area = roc_auc_score([1, 0, 0, 1, 0, 1], forecast[[0, 0, 1, 2, 2, 3]], sample_weight=[0.25, 0.75, 1, 0.5, 0.5, 1])
    np.testing.assert_allclose(found.roc_area, area, rtol=EXACT)


def test_classes_and_the_top_label():
    rng = np.random.default_rng(0)
    probs, truth = (rng.dirichlet(np.ones(3), 2000).astype(np.float32) for _ in range(2))
    metric = pt.streaming.StreamRanks(n_labels=3, resolution=5)
    found = metric.finalize(one_pass(metric, probs, truth))
    assert found.labels == (0, 1, 2)
    alone = pt.streaming.StreamRanks(n_labels=3, events=(2,), resolution=5)
    assert alone.finalize(one_pass(alone, probs, truth)).roc_area[0] == found.roc_area[2]
    top = pt.streaming.StreamRanks(n_labels=3, events="top", resolution=5)
    result = top.finalize(one_pass(top, probs, truth))
    right = truth[np.arange(2000), probs.argmax(1)].astype(float)
    expected = ((probs.max(1).astype(float) - right) ** 2 + right * (1 - right)).mean()
    np.testing.assert_allclose(result.mean_score[0, 0], expected, rtol=FLOAT32)
    assert result.labels is None


# Properties


def test_any_batches_and_order_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(event_ranks, "CARRY_EVERY", 2)
    forecast, outcome = binary(items=20_000)
    probs, truth = columns(forecast), columns(outcome)
    metric = pt.streaming.StreamRanks(n_labels=2, resolution=4)
    whole = one_pass(metric, probs, truth)
    order = np.random.default_rng(1).permutation(len(probs))
    parts = [one_pass(metric, probs[rows], truth[rows]) for rows in np.split(order, [5000, 10_000, 15_000])]
    both = metric.merge(metric.merge(parts[2], parts[0]), metric.merge(parts[3], parts[1]))
    assert all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(whole), jax.tree.leaves(both), strict=True))


def test_bins_keep_the_order_of_probabilities():
    probs = np.unique(np.concatenate([np.geomspace(1e-12, 0.5, 500), 1 - np.geomspace(1e-7, 0.5, 500), [0, 0.5, 1]]))
    for resolution in (0, 9, 12):
        places = np.asarray(event_ranks.bin_of(jnp.asarray(probs, jnp.float32), resolution))
        assert (np.diff(places) >= 0).all()
        assert places[0] == 0
        assert places[-1] == (2 * event_ranks.OCTAVES << resolution) - 1


def test_one_sided_outcomes_have_no_area():
    forecast, _ = binary(items=200)
    found = ranks(forecast, np.zeros(200))
    assert np.isnan(found.roc_area[0])
    assert np.isnan(found.average_precision[0])
    assert found.uncertainty.tolist() == [[0, 0]]
    metric = pt.streaming.StreamRanks(n_labels=2)
    assert np.isnan(metric.finalize(metric.init()).roc_area).all()


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events": "tops"}, "Did you mean 'top'"),
        ({"events": (3,)}, "positions of labels from 0 to 2"),
        ({"events": ()}, "positions of labels"),
        ({"resolution": 13}, "a whole number from 0 to 12"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        pt.streaming.StreamRanks(n_labels=3, **options)
