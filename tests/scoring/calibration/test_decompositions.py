import numpy as np
import pytest

import probtruth as pt
from probtruth.scoring.rules import RULES

ROUNDING = 1e-12
"""Float64 means of a few hundred terms of order 1."""
PUBLISHED = 1e-6
"""Six digits are given."""


N_ITEMS = 100
"""Of all tables with four labels and two models: one shape, for which each rule is compiled once."""


def random_tables():
    rng = np.random.default_rng(0)
    predictions = pt.Predictions.from_probs({name: rng.dirichlet(np.ones(4), N_ITEMS) for name in "ab"})
    return predictions, pt.Truth.from_probs(rng.dirichlet(np.ones(4), N_ITEMS))


@pytest.mark.parametrize("rule", RULES)
def test_parts_add_up_to_rounding_and_expected_is_the_mean_score(rule):
    predictions, truth = random_tables()
    table = pt.decompose(predictions, truth, rule=rule)
    expected = table["expected"].to_numpy()
    np.testing.assert_allclose(expected, (table["entropy"] + table["divergence"]).to_numpy(), rtol=ROUNDING)
    np.testing.assert_allclose(expected, pt.score(predictions, truth, rule=rule).values.mean(1), rtol=ROUNDING)


def test_rows_that_sum_to_one_only_within_the_tolerance_add_up_too():
    predictions = pt.Predictions.from_probs(dict.fromkeys("ab", np.tile([0.3, 0.3, 0.2, 0.19995], (N_ITEMS, 1))))
    truth = pt.Truth.from_probs(np.tile([0.4, 0.30003, 0.2, 0.1], (N_ITEMS, 1)))
    for rule in RULES:
        model, expected, entropy, divergence = pt.decompose(predictions, truth, rule=rule).row(0)[:4]
        assert model == "a"
        np.testing.assert_allclose(expected, entropy + divergence, rtol=ROUNDING)


def test_infinite_divergence_is_infinite():
    predictions = pt.Predictions.from_probs({"a": [[0, 1]]})
    row = pt.decompose(predictions, pt.Truth.from_probs([[0.5, 0.5]])).row(0, named=True)
    assert row["expected"] == row["divergence"] == np.inf
    np.testing.assert_allclose(row["entropy"], np.log(2), rtol=ROUNDING)


def test_entropy_of_real_annotations(chaosnli):
    predictions, truth = chaosnli
    table = pt.decompose(predictions, truth)
    np.testing.assert_allclose(table["entropy"].to_numpy(), 0.553141, atol=PUBLISHED)
    parts = (table["entropy"] + table["divergence"]).to_numpy()
    np.testing.assert_allclose(table["expected"].to_numpy(), parts, rtol=ROUNDING)


def test_correction_for_few_votes_moves_entropy_to_the_labels(chaosnli):
    predictions, truth = chaosnli
    row = pt.decompose(predictions, truth).row(0, named=True)
    np.testing.assert_allclose(row["entropy_corrected"] + row["divergence_corrected"], row["expected"], rtol=ROUNDING)
    np.testing.assert_allclose(row["entropy_corrected"], 0.562945, atol=PUBLISHED)  # jackknife by hand, see few_votes


def test_floor_keeps_the_sum():
    predictions = pt.Predictions.from_probs({"a": [[0, 1]]})
    row = pt.decompose(predictions, pt.Truth.from_probs([[0.5, 0.5]]), floor=0.01).row(0, named=True)
    np.testing.assert_allclose(row["expected"], -np.log(0.01) / 2, rtol=ROUNDING)
    np.testing.assert_allclose(row["divergence"], row["expected"] - np.log(2), rtol=ROUNDING)


@pytest.mark.parametrize("rule", ["log", "brier"])
def test_grouping_is_the_divergence_of_the_labels_from_the_calibrated_forecast(rule):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(2), 60)
    forecast = np.round(truth[:, 1] * 0.5 + 0.25, 1)
    predictions = pt.Predictions.from_probs({"a": np.stack([1 - forecast, forecast], 1)})
    row = pt.decompose(predictions, pt.Truth.from_probs(truth), rule=rule).row(0, named=True)
    calibrated = np.array([truth[forecast == value].mean(0) for value in forecast])  # monotone here, as is asserted
    assert (np.diff(calibrated[np.argsort(forecast), 1]) >= -ROUNDING).all()
    by_hand = pt.rules.get_rule(rule).divergence(calibrated, truth).mean()
    np.testing.assert_allclose(row["grouping"], by_hand, rtol=1e-9)
    np.testing.assert_allclose(row["expected"], row["miscalibration"] + row["grouping"] + row["entropy"], rtol=ROUNDING)
