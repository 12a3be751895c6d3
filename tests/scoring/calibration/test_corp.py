import numpy as np
import pytest
from calibration_cases import HARD, SOFT, WEIGHTS, two_labels

import probtruth as pt
from probtruth.scoring.calibration import decompositions
from probtruth.scoring.rules import RULES

ROUNDING = 1e-10
"""Means of a few hundred terms in float64."""
PASTED = 1e-9
"""Ten decimals are pasted."""

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


def many(seed=0, items=80, labels=3):
    rng = np.random.default_rng(seed)
    tables = {name: rng.dirichlet(np.ones(labels), items) for name in "ab"}
    truth = rng.dirichlet(np.ones(labels) / 2, items) / 2 + tables["a"] / 2
    return pt.Predictions.from_probs(tables), pt.Truth.from_probs(truth)


# Reference


@pytest.mark.parametrize(("kind", "weighted", "rule"), MODEL_DIAGNOSTICS)
@pytest.mark.parametrize("by", ["label", "joint"])
def test_agrees_with_model_diagnostics_on_two_labels(kind, weighted, rule, by):
    predictions, truth = two_labels(HARD if kind == "hard" else SOFT)
    weights = WEIGHTS if weighted else None
    table = pt.calibration.calibration_decomposition(predictions, truth, rule=rule, by=by, weights=weights)
    row = table.row(-1, named=True)
    half = 2 if rule == "brier" else 1
    parts = [row["miscalibration"] / half, row["discrimination"] / half]
    np.testing.assert_allclose(parts, MODEL_DIAGNOSTICS[kind, weighted, rule], atol=PASTED)


def test_uncertainty_of_a_soft_label_holds_its_entropy_which_a_plug_in_score_drops():
    # model-diagnostics 1.5.0 on the same soft labels: uncertainty .1055529347 (a divergence), score .0944602322
    predictions, truth = two_labels(SOFT)
    row = pt.calibration.calibration_decomposition(predictions, truth).row(-1, named=True)
    entropy = pt.score(predictions, truth).known.entropy
    np.testing.assert_allclose(
        [row["uncertainty"] - entropy, row["score"] - entropy], [0.1055529347, 0.0944602322], atol=PASTED
    )


def test_top_label_by_hand():
    # confidences .6 .6 .8 with labels right, wrong, right: fitted .5 .5 1; mean 2/3
    predictions = pt.Predictions.from_probs({"a": [[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]})
    truth = pt.Truth.from_labels(np.array([0, 2, 2]), n_labels=3)
    row = pt.calibration.calibration_decomposition(predictions, truth, rule="brier", by="top-label").row(0, named=True)
    score, fitted, plain = (2 * (0.16 + 0.36 + 0.04) / 3, 2 * (0.25 + 0.25) / 3, 2 * (1 / 9 + 4 / 9 + 1 / 9) / 3)
    parts = [row[name] for name in ("score", "miscalibration", "discrimination", "uncertainty")]
    np.testing.assert_allclose(parts, [score, score - fitted, plain - fitted, plain], rtol=ROUNDING)
    assert row["label"] is None


# Properties


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("by", decompositions.BY)
@pytest.mark.parametrize("seed", [0, 1])
def test_parts_add_up_and_are_not_negative(rule, by, seed):
    predictions, truth = many(seed)
    for row in pt.calibration.calibration_decomposition(predictions, truth, rule=rule, by=by).iter_rows(named=True):
        total = row["miscalibration"] - row["discrimination"] + row["uncertainty"]
        np.testing.assert_allclose(row["score"], total, rtol=ROUNDING, atol=ROUNDING)
        assert row["miscalibration"] >= 0
        assert row["discrimination"] >= 0


def test_joint_score_is_the_mean_expected_loss():
    predictions, truth = many()
    for rule in RULES:
        table = pt.calibration.calibration_decomposition(predictions, truth, rule=rule, by="joint")
        np.testing.assert_allclose(
            table["score"].to_numpy(), pt.score(predictions, truth, rule=rule).values.mean(1), rtol=ROUNDING
        )


def test_brier_scores_of_the_labels_add_up_to_twice_the_brier_score():
    predictions, truth = many()
    table = pt.calibration.calibration_decomposition(predictions, truth, rule="brier", by="label")
    summed = [table.filter(model=name)["score"].sum() / 2 for name in "ab"]
    np.testing.assert_allclose(summed, pt.score(predictions, truth, rule="brier").values.mean(1), rtol=ROUNDING)


def test_a_constant_forecast_does_not_discriminate_and_its_mean_is_calibrated():
    truth = pt.Truth.from_labels(np.array([0, 1, 1, 1]), n_labels=2)
    predictions = pt.Predictions.from_probs({"mean": [[0.25, 0.75]] * 4, "half": [[0.5, 0.5]] * 4})
    table = pt.calibration.calibration_decomposition(predictions, truth, by="joint")
    np.testing.assert_allclose(table["discrimination"].to_numpy(), [0, 0], atol=ROUNDING)
    np.testing.assert_allclose(
        table["miscalibration"].to_numpy(), [0, 0.25 * np.log(0.25) + 0.75 * np.log(0.75) + np.log(2)], atol=ROUNDING
    )


def test_a_weight_of_two_is_an_item_that_stands_twice():
    predictions, truth = two_labels(SOFT)
    twice = np.arange(60) % 3 == 0
    rows = np.concatenate([np.arange(60), np.flatnonzero(twice)])
    longer = (
        pt.Predictions.from_probs({"a": predictions.probs[0, rows]}),
        pt.Truth.from_probs(truth.probs[rows]),
    )
    one = pt.calibration.calibration_decomposition(predictions, truth, weights=1.0 + twice).row(1)[2:]
    np.testing.assert_allclose(one, pt.calibration.calibration_decomposition(*longer).row(1)[2:], rtol=ROUNDING)


def test_infinite_loss_is_infinite_miscalibration():
    predictions = pt.Predictions.from_probs({"a": [[0, 1], [0.5, 0.5]]})
    row = pt.calibration.calibration_decomposition(
        predictions, pt.Truth.from_labels(np.array([0, 1]), 2), by="joint"
    ).row(0, named=True)
    assert row["score"] == row["miscalibration"] == np.inf
    np.testing.assert_allclose(row["uncertainty"] - row["discrimination"], np.log(2), rtol=ROUNDING)


def test_bootstrap_bands_hold_the_estimate_and_follow_the_seed():
    predictions, truth = two_labels(HARD)
    options = {"n_bootstrap": 100, "level": 0.95}
    first, again, other = (
        pt.calibration.calibration_decomposition(predictions, truth, seed=seed, **options).row(1, named=True)
        for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first["score_low"] < first["score"] < first["score_high"]
    assert first["uncertainty_low"] < first["uncertainty"]
    naive = np.std(pt.score(predictions, truth).values[0]) / np.sqrt(60)  # the bootstrap of a mean
    np.testing.assert_allclose(first["score_high"] - first["score_low"], 2 * 1.96 * naive, rtol=0.25)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "labels"}, "Did you mean 'label'"),
        ({"weights": [1.0]}, "got 1 items, expected 60"),
        ({"weights": -np.ones(60)}, "weights that are negative"),
        ({"n_bootstrap": -1}, "resamples -1"),
        ({"level": 95.0}, "level 95.0"),
        ({"rule": "logg"}, "Did you mean 'log'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        pt.calibration.calibration_decomposition(*two_labels(HARD), **options)
