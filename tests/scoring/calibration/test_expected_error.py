import numpy as np
import pytest
from calibration_cases import simulated

import probtruth as pt

ROUNDING = 1e-12
BINNING = 1.6e-3
"""The paper does not state its bins; 10, 15 and 20 of equal width differ by this much."""


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
    for by, expected in (("class-wise", (0.2 * 2 + 0.2) / 3), ("label", (0.2 * 2 + 0.2) / 3)):
        table = pt.calibration.calibration_error(predictions, truth, by=by, n_bins=2, n_resamples=2)
        np.testing.assert_allclose(table["error"].to_numpy(), expected, rtol=ROUNDING)
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


def test_certain_forecasts_are_in_a_bin():
    predictions = pt.Predictions.from_probs({"a": [[0.0, 1.0], [1.0, 0.0]]})
    truth = pt.Truth.from_labels(np.array([0, 0]), n_labels=2)
    assert pt.calibration.calibration_error(predictions, truth, n_resamples=2)["error"][0] == 0.5


@pytest.mark.parametrize("soft", [False, True])
def test_a_calibrated_model_has_an_error_above_zero_and_as_large_as_said(soft):
    errors, said = [], []
    for seed in range(20):
        _, _, predictions, truth = simulated(seed, 200, soft=soft)
        row = pt.calibration.calibration_error(predictions, truth, by="class-wise", n_resamples=50, seed=seed).row(
            0, named=True
        )
        errors.append(row["error"])
        said.append(row["if_calibrated"])
    assert np.mean(errors) > 0.03
    np.testing.assert_allclose(np.mean(said), np.mean(errors), rtol=0.2)  # 20 data sets: about 5 per cent noise


def test_errors():
    _, _, predictions, truth = simulated(items=5)
    with pytest.raises(pt.InputError, match="bins 'even'"):
        pt.calibration.calibration_error(predictions, truth, bins="even")
