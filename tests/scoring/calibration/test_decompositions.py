import numpy as np
import pytest
from calibration_cases import HARD, SOFT, TIMES, two_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from one_model import one_model
from sklearn.isotonic import IsotonicRegression

import probtruth as pt
from probtruth.scoring.calibration.events import isotonic
from probtruth.scoring.rules import RULES

ROUNDING = 1e-12  # Float64 means of a few hundred terms of order 1
ROUNDING_CORP = 1e-10  # The same after a regression


N_ITEMS = 100  # Of all tables with four labels and two models: one shape, for which each rule is compiled once


RNG = np.random.default_rng(0)
WITHIN = [0.3, 0.3, 0.2, 0.19995], [0.4, 0.30003, 0.2, 0.1]  # they sum to one only within the tolerance
TABLES = {
    "random": ({name: RNG.dirichlet(np.ones(4), N_ITEMS) for name in "ab"}, RNG.dirichlet(np.ones(4), N_ITEMS)),
    "nearly sums": (dict.fromkeys("ab", np.tile(WITHIN[0], (N_ITEMS, 1))), np.tile(WITHIN[1], (N_ITEMS, 1))),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("table", TABLES)
def test_parts_add_up_to_rounding_and_expected_is_the_mean_score(rule, table):
    probs, soft = TABLES[table]
    predictions, truth = pt.Predictions.from_probs(probs), pt.Truth.from_probs(soft)
    parts = pt.decompose(predictions, truth, rule=rule)
    columns = {name: parts[name].to_numpy() for name in parts.columns[1:]}
    expected = columns["expected"]
    np.testing.assert_allclose(expected, columns["entropy"] + columns["divergence"], rtol=ROUNDING)
    if table == "nearly sums":
        return
    np.testing.assert_allclose(expected, pt.score(predictions, truth, rule=rule).values.mean(1), rtol=ROUNDING)
    total = columns["miscalibration"] - columns["discrimination"] + columns["uncertainty"]
    np.testing.assert_allclose(expected, total, rtol=ROUNDING_CORP, atol=ROUNDING_CORP)
    assert (columns["miscalibration"] >= 0).all()
    assert (columns["discrimination"] >= 0).all()


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
    row = pt.decompose(*one_model(forecast, truth), rule=rule).row(0, named=True)
    calibrated = np.array([truth[forecast == value].mean(0) for value in forecast])  # monotone here, as is asserted
    assert (np.diff(calibrated[np.argsort(forecast), 1]) >= -ROUNDING).all()
    by_hand = pt.rules.get_rule(rule).divergence(calibrated, truth).mean()
    np.testing.assert_allclose(row["grouping"], by_hand, rtol=1e-9)
    np.testing.assert_allclose(row["expected"], row["miscalibration"] + row["grouping"] + row["entropy"], rtol=ROUNDING)


PASTED = 1e-9  # Ten decimals are pasted

# model-diagnostics 1.5.0: decompose(y, p, weights=w, scoring_function=SquaredError() or LogLoss(), functional="mean"),
# columns miscalibration and discrimination (its squared error is half the Brier score)
MODEL_DIAGNOSTICS = {
    ("hard", False, "brier"): (0.0233910753, 0.0846693122),
    ("hard", False, "log"): (0.0902671666, 0.2012405967),
    ("hard", True, "brier"): (0.023693431, 0.0939226246),
    ("hard", True, "log"): (0.0791820383, 0.2234822521),
    ("soft", False, "brier"): (0.0185915106, 0.03206275),
    ("soft", False, "log"): (0.0597112492, 0.0708039517),
    ("soft", True, "brier"): (0.0172450293, 0.0326450529),
    ("soft", True, "log"): (0.0597930594, 0.0702865352),
}


@pytest.mark.parametrize(("kind", "weighted", "rule"), MODEL_DIAGNOSTICS)
def test_agrees_with_model_diagnostics_on_two_labels(kind, weighted, rule):
    predictions, truth = two_labels(HARD if kind == "hard" else SOFT, TIMES if weighted else 1)
    row = pt.decompose(predictions, truth, rule=rule).row(0, named=True)
    half = 2 if rule == "brier" else 1
    parts = [row["miscalibration"] / half, row["discrimination"] / half]
    np.testing.assert_allclose(parts, MODEL_DIAGNOSTICS[kind, weighted, rule], atol=PASTED)


def test_uncertainty_of_a_soft_label_holds_its_entropy_which_a_plug_in_score_drops():
    # model-diagnostics 1.5.0 on the same soft labels: uncertainty .1055529347 (a divergence), score .0944602322
    predictions, truth = two_labels(SOFT)
    row = pt.decompose(predictions, truth).row(0, named=True)
    parts = [row["uncertainty"] - row["entropy"], row["expected"] - row["entropy"]]
    np.testing.assert_allclose(parts, [0.1055529347, 0.0944602322], atol=PASTED)


def test_infinite_loss_is_infinite_miscalibration():
    predictions = pt.Predictions.from_probs({"a": [[0, 1], [0.5, 0.5]]})
    row = pt.decompose(predictions, pt.Truth.from_labels(np.array([0, 1]), 2)).row(0, named=True)
    assert row["expected"] == row["miscalibration"] == np.inf
    np.testing.assert_allclose(row["uncertainty"] - row["discrimination"], np.log(2), rtol=ROUNDING_CORP)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**31))
def test_agrees_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    forecasts = np.round(rng.random(50), 1)  # many ties
    outcomes = rng.random(50)
    _, point_of, count = np.unique(forecasts, return_inverse=True, return_counts=True)
    theirs = IsotonicRegression().fit(forecasts, outcomes).predict(forecasts)
    np.testing.assert_allclose(isotonic(point_of, count, outcomes)[point_of], theirs, rtol=ROUNDING, atol=ROUNDING)
