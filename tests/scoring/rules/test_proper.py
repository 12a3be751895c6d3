import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scoringrules
from compiled_once import x64
from scipy.special import rel_entr
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import brier_score_loss, log_loss

import probtruth as pt
from probtruth.kernels import simplex
from probtruth.scoring.rules import RULES

FLOAT32 = 5e-6  # Relative error of a few float32 operations on sums of up to ten terms
FLOAT64 = 1e-12  # The same in float64

SCORES = {
    "log": pt.log_score,
    "brier": pt.brier_score,
    "quadratic": pt.quadratic_score,
    "spherical": pt.spherical_score,
    "ranked-probability": pt.ranked_probability_score,
    "zero-one": pt.zero_one_score,
    "linear": pt.rules.linear.expected,
}
POINT_SIX = (np.array([0.6, 0.4]), np.array([0.7, 0.3]))


def table(seed=0, items=50, labels=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(labels), items), rng.dirichlet(np.ones(labels), items)


HALF = {"log": pt.log_score, "kl": pt.kl_divergence, "entropy": lambda probs, truth: pt.entropy(truth)}


@pytest.mark.parametrize("kind", [jnp.float16, jnp.bfloat16])
@pytest.mark.parametrize("name", [*SCORES, "kl", "entropy"])
def test_half_precision_is_that_of_double_rounded(name, kind):
    probs, truth = (jnp.asarray(part, kind) for part in table(seed=3))
    score = (SCORES | HALF)[name]
    found = jax.jit(score)(probs, truth)
    exact = x64(score, np.asarray(probs, np.float64), np.asarray(truth, np.float64))
    assert found.dtype == kind
    few_roundings = 8 * float(jnp.finfo(kind).eps)  # of a few terms that are at most as large as the largest score
    np.testing.assert_allclose(np.asarray(found, np.float64), exact, rtol=0, atol=few_roundings * np.abs(exact).max())


@pytest.mark.parametrize("kind", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_logarithms_of_subnormal_numbers(kind):
    least = jnp.finfo(kind).smallest_subnormal
    found = jax.jit(simplex.log)(jnp.asarray([least, 0, 1], kind))
    exponent = jnp.finfo(kind).minexp - jnp.finfo(kind).nmant  # the smallest number is 2 to this
    rounding = float(jnp.finfo(kind).eps)
    np.testing.assert_allclose(np.asarray(found, float), [exponent * np.log(2), -np.inf, 0], rtol=2 * rounding)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("log", -(0.7 * np.log(0.6) + 0.3 * np.log(0.4))),
        ("brier", 0.7 * (0.16 + 0.16) + 0.3 * (0.36 + 0.36)),
        ("quadratic", 0.7 * (-1.2 + 0.52) + 0.3 * (-0.8 + 0.52)),
        ("spherical", -(0.7 * 0.6 + 0.3 * 0.4) / np.sqrt(0.52)),
        ("ranked-probability", 0.7 * 0.16 + 0.3 * 0.36),
        ("zero-one", 0.3),
        ("linear", -0.54),
    ],
)
def test_hand_algebra_on_a_soft_label(name, expected):
    np.testing.assert_allclose(x64(SCORES[name], *POINT_SIX), expected, rtol=FLOAT64)


def test_a_perfect_forecast_costs_zero_not_minus_zero():
    sure, logits = np.array([1.0, 0.0]), np.array([800.0, 0.0])
    costs = [
        pt.log_score(sure, sure),
        pt.rules.log.expected_from_log(np.array([0.0, -np.inf]), sure),
        pt.rules.log_score_from_logits(logits, sure),
    ]
    assert list(map(str, costs)) == ["0.0"] * 3


def test_log_and_brier_agree_with_scikit_learn_on_hard_labels():
    probs, _ = table()
    labels = np.random.default_rng(1).integers(0, 4, 50)
    hard = np.eye(4)[labels]
    known = list(range(4))
    np.testing.assert_allclose(
        x64(pt.log_score, probs, hard).mean(), log_loss(labels, probs, labels=known), rtol=FLOAT64
    )
    np.testing.assert_allclose(
        x64(pt.brier_score, probs, hard).mean(),
        brier_score_loss(labels, probs, labels=known, scale_by_half=False),
        rtol=FLOAT64,
    )


def test_ranked_probability_and_log_agree_with_scoringrules_on_hard_labels():
    probs, _ = table()
    labels = np.random.default_rng(3).integers(0, 4, 50)
    hard = np.eye(4)[labels]
    np.testing.assert_allclose(
        x64(pt.ranked_probability_score, probs, hard),
        scoringrules.rps_score(labels + 1, probs),
        rtol=FLOAT64,
        atol=FLOAT64,
    )
    yes = labels == 0
    pair = np.stack([1 - probs[:, 0], probs[:, 0]], 1)
    np.testing.assert_allclose(
        x64(pt.log_score, pair, np.eye(2)[yes.astype(int)]),
        scoringrules.log_score(yes.astype(float), probs[:, 0]),
        rtol=FLOAT64,
    )


def test_entropy_and_divergence_agree_with_scipy():
    probs, truth = table()
    np.testing.assert_allclose(x64(pt.entropy, truth), scipy_entropy(truth, axis=1), rtol=FLOAT64)
    np.testing.assert_allclose(x64(pt.kl_divergence, probs, truth), rel_entr(truth, probs).sum(1), rtol=FLOAT64)


def test_ties_share_the_choice():
    assert float(pt.zero_one_score(np.array([0.4, 0.4, 0.2]), np.array([1, 0, 0]))) == 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinite_loss_is_infinite_and_an_impossible_label_costs_nothing(dtype):
    probs = np.array([[0, 1], [0, 1]], dtype)
    truth = np.array([[1, 0], [0, 1]], dtype)
    np.testing.assert_array_equal(x64(pt.log_score, probs, truth), [np.inf, 0])
    np.testing.assert_array_equal(x64(pt.kl_divergence, probs, truth), [np.inf, 0])
    logs = np.array([[-np.inf, 0], [-np.inf, 0]], dtype)
    np.testing.assert_array_equal(x64(pt.rules.log.expected_from_log, logs, truth), [np.inf, 0])
    np.testing.assert_array_equal(x64(pt.rules.log_score_from_logits, logs, truth), [np.inf, 0])


def test_logits_keep_what_probabilities_lose():
    logits = np.array([0.0, -1000.0], np.float32)
    assert float(pt.rules.log_score_from_logits(logits, np.array([0, 1]))) == 1000
    assert float(pt.log_score(np.exp(logits), np.array([0, 1]))) == np.inf


def test_integer_truth_takes_the_type_of_the_probabilities():
    assert pt.log_score(np.array([0.5, 0.5], np.float32), np.array([1, 0])).dtype == np.float32


ROUNDING = 1e-12  # Relative and absolute error of sums of up to ten terms in float64


def test_quadratic_on_both_sides_of_the_decomposition():
    # Chakraborty et al. (2015), Equation 11, at truth (.7, .3), forecast (.5, .5): -.5 = -.58 + .08
    truth, probs = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    rule = pt.rules.quadratic
    parts = [float(x64(f, *a)) for f, a in ((rule.expected, (probs, truth)), (rule.entropy, (truth,)))]
    np.testing.assert_allclose([*parts, x64(rule.divergence, probs, truth)], [-0.5, -0.58, 0.08], rtol=ROUNDING)


def test_spherical_divergence_is_length_times_one_minus_cosine():
    truth, probs = np.array([0.7, 0.3]), np.array([0.6, 0.4])
    length, other = np.sqrt(0.58), np.sqrt(0.52)
    cosine = (0.42 + 0.12) / (length * other)
    np.testing.assert_allclose(x64(pt.rules.spherical.divergence, probs, truth), length * (1 - cosine), rtol=1e-10)


def test_flags():
    flags = {rule.name: (rule.proper, rule.strictly_proper, rule.local) for rule in RULES.values()}
    assert flags["log"] == (True, True, True)
    assert flags["brier"] == flags["spherical"] == flags["ranked-probability"] == (True, True, False)
    assert flags["zero-one"] == (True, False, False)
    assert flags["linear"] == (False, False, True)
    assert all("doi:" in rule.source for rule in RULES.values())


@pytest.mark.parametrize(
    ("rule", "message"),
    [("brierr", "Did you mean 'brier'"), (3, "rule of type int"), ("", "expected one of 'log'")],
)
def test_unknown_rule(rule, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.get_rule(rule)


def test_a_rule_sent_to_another_process_is_the_same_there():
    """Else every batch that a worker gets would be compiled anew."""
    assert all(pickle.loads(pickle.dumps(rule)) is rule for rule in RULES.values())
    ordered = RULES["ranked-probability"].in_order(["low", "high"])
    assert pickle.loads(pickle.dumps(ordered)) == ordered
