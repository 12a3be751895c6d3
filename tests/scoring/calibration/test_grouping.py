import numpy as np
import pytest

import probtruth as pt

ROUNDING = 1e-10


@pytest.mark.parametrize("rule", ["log", "brier", pytest.param("spherical", marks=pytest.mark.long)])
def test_parts_add_up_and_grouping_is_the_divergence_from_the_calibrated_forecast(rule):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(2), 60)
    forecast = np.round(truth[:, 1] * 0.5 + 0.25, 1)
    predictions = pt.Predictions.from_probs({"a": np.stack([1 - forecast, forecast], 1)})
    row = pt.calibration.grouping_decomposition(predictions, pt.Truth.from_probs(truth), rule=rule).row(0, named=True)
    np.testing.assert_allclose(
        row["expected"], row["calibration"] + row["grouping"] + row["irreducible"], rtol=ROUNDING
    )
    calibrated = np.array([truth[forecast == value].mean(0) for value in forecast])  # monotone here, as is asserted
    assert (np.diff(calibrated[np.argsort(forecast), 1]) >= -ROUNDING).all()
    chosen = pt.rules.get_rule(rule)
    np.testing.assert_allclose(row["grouping"], np.mean(chosen.divergence(calibrated, truth)), rtol=1e-4)  # float32
    np.testing.assert_allclose(row["irreducible"], np.mean(chosen.entropy(truth)), rtol=1e-5)
    assert np.isnan(row["grouping_corrected"])


def test_a_model_that_reports_the_truth_has_only_irreducible_loss():
    truth = np.random.default_rng(1).dirichlet(np.ones(3), 40)
    row = pt.calibration.grouping_decomposition(
        pt.Predictions.from_probs({"a": truth}), pt.Truth.from_probs(truth)
    ).row(0, named=True)
    np.testing.assert_allclose([row["calibration"], row["grouping"]], [0, 0], atol=ROUNDING)


def test_votes_that_scatter_look_like_grouping_loss_until_corrected():
    # every item has the distribution (.3, .7) and the forecast knows it: no grouping loss, but five votes scatter
    rng = np.random.default_rng(0)
    ones = rng.binomial(5, 0.7, 4000)
    annotations = pt.Annotations.from_counts(np.stack([5 - ones, ones], 1))
    truth = pt.infer_truth(annotations, method="vote-share")
    predictions = pt.Predictions.from_probs({"a": np.tile([0.3, 0.7], (4000, 1))})
    row = pt.calibration.grouping_decomposition(predictions, truth, rule="brier").row(0, named=True)
    np.testing.assert_allclose(row["grouping"], 2 * 0.7 * 0.3 / 5, rtol=0.1)  # 4,000 items: about 2 per cent noise
    assert abs(row["grouping_corrected"]) < 0.01
