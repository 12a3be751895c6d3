import numpy as np
import pytest
from sklearn.metrics import d2_brier_score, d2_log_loss_score

import probtruth as pt

ROUNDING = 1e-12


def simulated(items=60, labels=3):
    rng = np.random.default_rng(0)
    tables = {name: rng.dirichlet(np.ones(labels), items) for name in "ab"}
    return tables, rng.integers(0, labels, items)


def test_skill_against_the_frequencies_agrees_with_scikit_learn():
    tables, labels = simulated()
    predictions, truth = pt.Predictions.from_probs(tables), pt.Truth.from_labels(labels, n_labels=3)
    for rule, theirs in (("log", d2_log_loss_score), ("brier", d2_brier_score)):
        table = pt.calibration.skill_scores(predictions, truth, rule=rule, baseline="frequency")
        np.testing.assert_allclose(
            table["skill"].to_numpy(), [theirs(labels, probs) for probs in tables.values()], rtol=1e-10
        )
        np.testing.assert_allclose(table["skill_attainable"].to_numpy(), table["skill"].to_numpy(), rtol=ROUNDING)


OTHERS = ("quadratic", "spherical", "ranked-probability", "zero-one")


@pytest.mark.parametrize("rule", ["log", "brier", *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)])
def test_ends_of_the_scale(rule):
    truth = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    predictions = pt.Predictions.from_probs({"truth": truth, "even": np.full((50, 3), 1 / 3)})
    table = pt.calibration.skill_scores(predictions, pt.Truth.from_probs(truth), rule=rule)
    np.testing.assert_allclose(table["skill_attainable"].to_numpy(), [1, 0], atol=ROUNDING)
    assert 0 < table["skill"][0] < 1
    hard = pt.Truth.from_labels(truth.argmax(1), n_labels=3)
    sure = pt.Predictions.from_probs({"sure": np.eye(3)[truth.argmax(1)]})
    assert pt.calibration.skill_scores(sure, hard, rule=rule)["skill"][0] == 1


def test_a_model_as_the_baseline_and_an_infinite_loss():
    predictions = pt.Predictions.from_probs({"a": [[0.5, 0.5]], "b": [[0.2, 0.8]], "c": [[1, 0]]})
    truth = pt.Truth.from_labels(np.array([1]), n_labels=2)
    skills = pt.calibration.skill_scores(predictions, truth, baseline="a")["skill"].to_list()
    np.testing.assert_allclose(skills[:2], [0, 1 + np.log(0.8) / np.log(2)], rtol=ROUNDING)
    assert skills[2] == -np.inf
    assert pt.calibration.skill_scores(predictions, truth, baseline="c")["skill"].is_nan().all()


def test_perplexity_is_the_number_of_even_labels():
    predictions = pt.Predictions.from_probs({"even": np.full((4, 5), 0.2), "none": np.eye(5)[[0, 0, 0, 0]]})
    table = pt.nelson.perplexity(predictions, pt.Truth.from_labels(np.arange(4), n_labels=5))
    np.testing.assert_allclose(table["perplexity"][0], 5, rtol=ROUNDING)
    assert table["perplexity"][1] == np.inf
    soft = pt.nelson.perplexity(predictions, pt.Truth.from_probs(np.full((4, 5), 0.2)))
    np.testing.assert_allclose(soft.row(0)[1:], [5, 5, 1], rtol=ROUNDING)


def test_errors():
    tables, labels = simulated()
    with pytest.raises(pt.InputError, match="Did you mean 'frequency'"):
        pt.calibration.skill_scores(
            pt.Predictions.from_probs(tables), pt.Truth.from_labels(labels, 3), baseline="frequencies"
        )
