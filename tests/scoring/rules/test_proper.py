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


PROBS, TRUTH = table()
LABELS = np.random.default_rng(1).integers(0, 4, 50)
HARD = np.eye(4)[LABELS]
FIRST = np.stack([1 - PROBS[:, 0], PROBS[:, 0]], 1)  # whether the label is the first one, and its report
IS_FIRST = np.stack([1 - HARD[:, 0], HARD[:, 0]], 1)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ((pt.log_score, PROBS, HARD), log_loss(LABELS, PROBS, labels=range(4))),
        ((pt.brier_score, PROBS, HARD), brier_score_loss(LABELS, PROBS, labels=range(4), scale_by_half=False)),
        ((pt.ranked_probability_score, PROBS, HARD), scoringrules.rps_score(LABELS + 1, PROBS)),
        ((pt.log_score, FIRST, IS_FIRST), scoringrules.log_score(HARD[:, 0], PROBS[:, 0])),
        ((pt.entropy, TRUTH), scipy_entropy(TRUTH, axis=1)),
        ((pt.kl_divergence, PROBS, TRUTH), rel_entr(TRUTH, PROBS).sum(1)),
    ],
    ids=["log, scikit-learn", "Brier, scikit-learn", "ranked, scoringrules", "log, scoringrules", "entropy", "KL"],
)
def test_agrees_with_other_libraries(ours, expected):
    found = x64(*ours)
    mean = found if np.ndim(expected) else found.mean()  # scikit-learn has means only
    np.testing.assert_allclose(mean, expected, rtol=FLOAT64, atol=FLOAT64)


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


def test_quadratic_on_both_sides_of_the_decomposition():
    # Chakraborty et al. (2015), Equation 11, at truth (.7, .3), forecast (.5, .5): -.5 = -.58 + .08
    truth, probs = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    rule = pt.rules.quadratic
    parts = [x64(rule.expected, probs, truth), x64(rule.entropy, truth), x64(rule.divergence, probs, truth)]
    np.testing.assert_allclose(parts, [-0.5, -0.58, 0.08], rtol=FLOAT64)


def test_local_rules_and_sources():
    """Whether rules are proper: test_propriety.py."""
    assert [rule.name for rule in RULES.values() if rule.local] == ["log", "linear"]
    assert all("doi:" in rule.source for rule in RULES.values())


@pytest.mark.parametrize(
    ("rule", "message"), [("brierr", "Did you mean 'brier'"), (3, "rule of type int"), ("", "expected one of 'log'")]
)
def test_unknown_rule(rule, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.get_rule(rule)


def test_a_rule_sent_to_another_process_is_the_same_there():
    """Else every batch that a worker gets would be compiled anew."""
    assert all(pickle.loads(pickle.dumps(rule)) is rule for rule in RULES.values())
    ordered = RULES["ranked-probability"].in_order(["low", "high"])
    assert pickle.loads(pickle.dumps(ordered)) == ordered
