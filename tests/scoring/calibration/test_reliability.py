import numpy as np
import pytest
from calibration_cases import simulated
from sklearn.calibration import calibration_curve

import probtruth as pt

ROUNDING = 1e-12


@pytest.mark.parametrize("method", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [5, 12])
def test_bins_agree_with_scikit_learn(method, n_bins):
    forecast, outcome, predictions, truth = simulated()
    curve = pt.calibration.reliability_curve(predictions, truth, method=method, n_bins=n_bins, band="none").filter(
        label="1"
    )
    observed, mean = calibration_curve(outcome, forecast, n_bins=n_bins, strategy=method)
    np.testing.assert_allclose(curve["observed"].to_numpy(), observed, rtol=ROUNDING)
    np.testing.assert_allclose(curve["forecast"].to_numpy(), mean, rtol=ROUNDING)
    np.testing.assert_allclose(curve["weight"].sum(), 1, rtol=ROUNDING)


def test_isotonic_curve_rises_and_its_pieces_hold_all_the_weight():
    _, _, predictions, truth = simulated(soft=True)
    curve = pt.calibration.reliability_curve(predictions, truth, band="none").filter(label="1")
    observed = curve["observed"].to_numpy()
    assert (np.diff(curve["forecast"].to_numpy()) > 0).all()
    assert (np.diff(observed) >= 0).all()
    _, first = np.unique(observed, return_index=True)
    np.testing.assert_allclose(curve["weight"].to_numpy()[first].sum(), 1, rtol=ROUNDING)
    assert curve["low"].is_nan().all()


@pytest.mark.parametrize("soft", [False, True])
def test_consistency_band_covers_a_calibrated_model_and_not_a_miscalibrated_one(soft):
    outside = {}
    for power in (1.0, 2.0):
        shares = []
        for seed in range(5):
            _, _, predictions, truth = simulated(seed, 1000, power, soft)
            curve = pt.calibration.reliability_curve(predictions, truth, method="uniform", n_bins=10, seed=seed).filter(
                label="1"
            )
            observed = curve["observed"].to_numpy()
            shares.append(np.mean((observed < curve["low"].to_numpy()) | (observed > curve["high"].to_numpy())))
        outside[power] = np.mean(shares)
    assert outside[1.0] < 0.25  # 10 per cent wanted; 50 dependent points have a sd of about 5
    assert outside[2.0] > 0.6


def test_confidence_band_holds_the_curve():
    _, _, predictions, truth = simulated()
    curve = pt.calibration.reliability_curve(predictions, truth, method="quantile", band="confidence", seed=3).filter(
        label="1"
    )
    assert (curve["low"] <= curve["observed"]).all()
    assert (curve["high"] >= curve["observed"]).all()
    again = pt.calibration.reliability_curve(predictions, truth, method="quantile", band="confidence", seed=3).filter(
        label="1"
    )
    assert curve.equals(again)


def test_top_label_counts_ties_with_their_mean():
    predictions = pt.Predictions.from_probs({"a": [[0.4, 0.4, 0.2], [0.7, 0.2, 0.1]]})
    truth = pt.Truth.from_labels(np.array([0, 0]), n_labels=3)
    curve = pt.calibration.reliability_curve(predictions, truth, by="top-label", band="none")
    np.testing.assert_allclose(curve.select("forecast", "observed").to_numpy(), [[0.4, 0.5], [0.7, 1]], rtol=ROUNDING)


def test_items_without_weight_are_as_if_they_were_not():
    """Resamples of three items of which one has weight held none of it in 8 of 27 cases: NaN, or an empty fit."""
    probs = [[0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]
    predictions, truth = pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels([0, 1, 1], n_labels=2)
    alone = pt.Predictions.from_probs({"a": probs[2:]}), pt.Truth.from_labels([1], n_labels=2)
    weights = [0.0, 0.0, 3.0]
    curve = pt.calibration.reliability_curve(predictions, truth, band="confidence", weights=weights)
    assert curve["low"].to_list() == curve["observed"].to_list() == curve["high"].to_list()
    found = pt.calibration.calibration_decomposition(predictions, truth, weights=weights, n_bootstrap=100)
    assert found.rows() == pt.calibration.calibration_decomposition(*alone, n_bootstrap=100).rows()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bins"}, "method 'bins', expected one of 'isotonic'"),
        ({"band": "both"}, "band 'both'"),
        ({"n_bins": 0}, "n_bins 0"),
        ({"by": "joint"}, "by 'joint'"),
        ({"n_resamples": 1.5}, "resamples 1.5"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 0.5, "band": "confidence"}, "seed 0.5"),
        ({"weights": np.full(5, 1e308)}, "of infinite sum"),  # shares of it were 0, and so was the curve
    ],
)
def test_errors(options, message):
    _, _, predictions, truth = simulated(items=5)
    with pytest.raises(pt.InputError, match=message):
        pt.calibration.reliability_curve(predictions, truth, **options)
