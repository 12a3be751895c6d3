import jax
import numpy as np
import pytest

import probtruth as pt
from probtruth.kernels.host import BLOCK

ROUNDING = 1e-12  # Float64 sums of a few terms
PUBLISHED = 1e-6  # Six digits are given


def test_sums_over_real_data(chaosnli):
    # direct sums over the files, given with the data
    predictions, truth = chaosnli
    scores = pt.score(predictions, truth)
    assert scores.models == ("bert_0", "bert_1", "roberta_0", "roberta_1", "roberta_2")
    assert scores.label_values.shape == (5, 1514, 3)
    np.testing.assert_allclose(
        scores.values.mean(1), [1.216433, 1.021755, 1.170444, 1.056448, 1.143483], atol=PUBLISHED
    )
    np.testing.assert_allclose(scores.known.entropy, 0.553141, atol=PUBLISHED)
    brier = pt.score(predictions, truth, rule="brier")
    np.testing.assert_allclose(brier.values.mean(1), [0.589959, 0.539733, 0.559022, 0.540386, 0.560246], atol=PUBLISHED)


def test_fields_by_hand():
    predictions = pt.Predictions.from_probs({"a": [[0.5, 0.5], [0, 1]], "b": [[0.25, 0.75], [0.5, 0.5]]})
    scores = pt.score(predictions, pt.Truth.from_labels(np.array([1, 0]), n_labels=2))
    np.testing.assert_allclose(scores.values, [[np.log(2), np.inf], [-np.log(0.75), np.log(2)]], rtol=ROUNDING)
    np.testing.assert_array_equal(scores.n_infinite, [1, 0])
    np.testing.assert_array_equal(scores.label_values[0, 1], [np.inf, 0])
    assert (scores.rule, scores.known.floor, scores.known.proper, scores.known.entropy) == ("log", None, True, 0)
    assert scores.values.dtype == np.float64
    assert scores.shares is None
    assert not jax.config.jax_enable_x64


def test_centre_is_the_unsmoothed_share_for_opinions_and_the_posterior_for_a_class():
    index = pt.Truth.from_probs([[0.5, 0.5]]).index
    shares, probs, votes = np.array([[1.0, 0.0]]), np.array([[0.75, 0.25]]), np.array([2])
    predictions = pt.Predictions.from_probs({"a": [[1.0, 0.0]]})
    for estimand, value, entropy in (("distribution", 0, 0), ("class", np.inf, -np.log(0.75) * 0.75 + np.log(4) / 4)):
        truth = pt.Truth(probs, index, estimand, "dirichlet", shares=shares, n_votes=votes)
        scores = pt.score(predictions, truth)
        assert scores.values[0, 0] == value
        np.testing.assert_allclose(scores.known.entropy, entropy, rtol=ROUNDING, atol=ROUNDING)
        np.testing.assert_array_equal(scores.shares, shares)
        np.testing.assert_array_equal(scores.n_votes, votes)


def test_floor_is_recorded_and_flagged():
    predictions = pt.Predictions.from_probs({"a": [[0.0, 1.0]]})
    truth = pt.Truth.from_labels(np.array([0]), n_labels=2)
    scores = pt.score(predictions, truth, floor=0.01)
    np.testing.assert_allclose(scores.values, [[-np.log(0.01)]], rtol=ROUNDING)
    assert (scores.known.floor, scores.known.proper) == (0.01, False)


@pytest.mark.parametrize("rule", [*pt.rules.RULES.values(), pt.rules.power(0.5)], ids=lambda rule: rule.name)
def test_losses_in_blocks_are_those_of_the_rule(rule):
    rng = np.random.default_rng(0)
    with np.errstate(divide="ignore"):
        logs = np.log(rng.dirichlet([0.3] * 5, BLOCK + 90).round(3))
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
    truth = rng.multinomial(3, [0.2] * 5, len(logs)) / 3
    models = pt.Predictions.from_log_probs({"a": logs})
    values = pt.score(models, pt.Truth.from_probs(truth), rule=rule).values[0]
    with jax.enable_x64(True):
        direct = np.asarray(rule.expected_from_log(logs, truth))
    np.testing.assert_allclose(values, direct, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("rule", ["log", "brier"])
def test_losses_by_label_of_some_items_are_those_of_all(rule):
    probs = np.random.default_rng(2).dirichlet([0.2] * 3, (2, 9))
    predictions = pt.Predictions.from_probs({"a": probs[0], "b": probs[1]})
    behind = pt.score(predictions, pt.Truth.from_probs(np.full((9, 3), 1 / 3)), rule=rule, floor=0.01).labels
    some = behind.losses_of(items=np.array([4, 1]))
    np.testing.assert_array_equal(some, behind.losses[:, [4, 1]])
    if rule == "log":
        np.testing.assert_array_equal(behind.losses, -np.log(np.maximum(probs, 0.01)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "lgo"}, "Did you mean 'log'"),
        ({"floor": 0.5}, "above 0 and below 1/K = 0.5"),
        ({"floor": 0.0}, "got floor 0.0"),
        ({"floor": "no"}, "got floor 'no'"),
        ({"floor": float("nan")}, "got floor nan"),
    ],
)
def test_errors(options, message):
    predictions = pt.Predictions.from_probs({"a": [[0.5, 0.5]]})
    with pytest.raises(pt.InputError, match=message):
        pt.score(predictions, pt.Truth.from_probs([[0.5, 0.5]]), **options)
