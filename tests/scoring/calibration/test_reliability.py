import numpy as np
import pytest
from calibration_cases import simulated
from one_model import one_model, two

import probtruth as pt

ROUNDING = 1e-12


@pytest.mark.parametrize("soft", [False, True])
def test_consistency_band_covers_a_calibrated_model_and_not_a_miscalibrated_one(soft):
    outside = {}
    for power in (1.0, 2.0):
        shares = []
        for seed in range(5):
            predictions, truth = simulated(seed, 1000, power, soft)
            curve = pt.calibration.reliability_curve(predictions, truth, seed=seed).filter(label="1")
            observed = curve["observed"].to_numpy()
            shares.append(np.mean((observed < curve["low"].to_numpy()) | (observed > curve["high"].to_numpy())))
        outside[power] = np.mean(shares)
    assert outside[1.0] < 0.25  # 10 per cent wanted; 50 dependent points have a sd of about 5
    assert outside[2.0] > 0.6


def test_top_label_counts_ties_with_their_mean():
    predictions = pt.Predictions.from_probs({"a": [[0.4, 0.4, 0.2], [0.7, 0.2, 0.1]]})
    truth = pt.Truth.from_labels(np.array([0, 0]), n_labels=3)
    curve = pt.calibration.reliability_curve(predictions, truth, by="top-label", n_resamples=0)
    np.testing.assert_allclose(curve.select("forecast", "observed").to_numpy(), [[0.4, 0.5], [0.7, 1]], rtol=ROUNDING)


@pytest.mark.parametrize("towards", [0, 1])
def test_forecasts_that_differ_by_a_last_digit_are_one(towards):
    """The half that moved was another forecast, with a frequency of its own: the miscalibration was 0.33 for 0.16."""
    found = []
    for moved in (0.3, np.nextafter(0.3, towards)):
        forecast = np.array([0.3, moved] * 20 + [0.6] * 20)
        predictions = pt.Predictions.from_probs({"a": two(forecast)})
        truth = pt.Truth.from_labels([0, 1] * 20 + [1] * 20, n_labels=2)
        curve = pt.calibration.reliability_curve(predictions, truth, n_resamples=0)
        parts = pt.decompose(predictions, truth, rule="brier").row(0, named=True)
        profile = pt.nelson.risk_profile(predictions, truth, powers=[0.0])
        found.append([*curve["observed"], parts["miscalibration"], profile.source[0, 0]])
    assert found[0][-2] == pytest.approx(2 * (40 * 0.2**2 + 20 * 0.4**2) / 60)
    assert found[1] == pytest.approx(found[0])


def test_weight_of_a_flat_piece_does_not_hang_on_a_last_digit():
    """Two pools of mean one third, of which one is a last digit more, were two pieces of the curve."""
    forecast = np.array([0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.9])
    outcome = np.array([0.1, 0.2, 0.0, 0.3, 0.0, 0.0, 1.0])  # 0.1 + 0.2 is a last digit more than 0.3
    for order in (slice(None), [3, 4, 5, 0, 1, 2, 6]):
        sides = one_model(forecast, outcome[order])
        curve = pt.calibration.reliability_curve(*sides, n_resamples=0).filter(label="1")
        assert curve["weight"].round(9).to_list() == [round(6 / 7, 9)] * 2 + [round(1 / 7, 9)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins 0"),
        ({"level": 95.0}, "level 95.0"),
        ({"by": "joint"}, "by 'joint'"),
        ({"n_resamples": 1.5}, "resamples 1.5"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_errors(options, message):
    predictions, truth = simulated(items=5)
    found = {"n_bins": pt.calibration.calibration_error}
    with pytest.raises(pt.InputError, match=message):
        found.get(next(iter(options)), pt.calibration.reliability_curve)(predictions, truth, **options)


BINNING = 1.6e-3  # The paper does not state its bins; 10, 15 and 20 of equal width differ by this much


def test_real_models_against_the_majority(chaosnli):
    # Baan et al. (2022), doi:10.18653/v1/2022.emnlp-main.124, Table 1: three seeds of roberta-base; ties of the
    # majority go to the last label in the order e, n, c
    predictions, truth = chaosnli
    last = [[k for k in (1, 2, 0) if row[k] == row.max()][-1] for row in truth.shares]  # columns are c, e, n
    majority = pt.Truth.from_probs(np.eye(3)[last], items=truth.index.items, labels=truth.index.labels)
    errors = pt.calibration.calibration_error(predictions, majority, n_resamples=2)["error"].to_numpy()[2:]
    np.testing.assert_allclose(errors, [0.147, 0.119, 0.141], atol=BINNING)


def test_bins_by_hand():
    # bins (0, .5] and (.5, 1]: mean forecasts .3 and .8, mean outcomes 1/2 and 1
    predictions = pt.Predictions.from_probs({"a": [[0.8, 0.2], [0.6, 0.4], [0.2, 0.8]]})
    truth = pt.Truth.from_labels(np.array([0, 1, 1]), n_labels=2)
    table = pt.calibration.calibration_error(predictions, truth, by="label", n_bins=2, n_resamples=2)
    np.testing.assert_allclose(table["error"].to_numpy(), (0.2 * 2 + 0.2) / 3, rtol=ROUNDING)
    # confidences .8 .6 .8 with right, wrong, right
    top = pt.calibration.calibration_error(predictions, truth, n_bins=5, n_resamples=2)["error"][0]
    np.testing.assert_allclose(top, (0.6 + 0.4) / 3, rtol=ROUNDING)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_bin_holds_forecasts_of_exactly_its_upper_edge(kind):
    # bins (0, .1], (.1, .2], ...: gaps |0 - .1| and |1 - .15| of one item each, and |1/2 - .3| of two
    probs = np.array([[0.9, 0.1], [0.85, 0.15], [0.7, 0.3], [0.7, 0.3]], kind)
    predictions, truth = pt.Predictions.from_probs({"a": probs}), pt.Truth.from_labels([0, 1, 0, 1], n_labels=2)
    table = pt.calibration.calibration_error(predictions, truth, by="label", n_bins=10, n_resamples=2)
    np.testing.assert_allclose(table["error"][1], (0.1 + 0.85 + 2 * 0.2) / 4, rtol=1e-6)


@pytest.mark.parametrize("soft", [False, True])
def test_a_calibrated_model_has_an_error_above_zero_and_as_large_as_said(soft):
    errors, said = [], []
    for seed in range(20):
        predictions, truth = simulated(seed, 200, soft=soft)
        row = pt.calibration.calibration_error(predictions, truth, by="label", n_resamples=50, seed=seed).row(
            0, named=True
        )
        errors.append(row["error"])
        said.append(row["if_calibrated"])
    assert np.mean(errors) > 0.03
    np.testing.assert_allclose(np.mean(said), np.mean(errors), rtol=0.2)  # 20 data sets: about 5 per cent noise
