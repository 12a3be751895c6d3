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

FLOAT32 = 5e-6
"""Relative error of a few float32 operations on sums of up to ten terms."""
FLOAT64 = 1e-12
"""The same in float64."""

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


# Reference


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
        pt.rules.log_score_from_log_probs(np.array([0.0, -np.inf]), sure),
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


def test_binary_brier_is_twice_the_squared_error_of_scikit_learn_and_scoringrules():
    probs, _ = table(labels=2)
    labels = np.random.default_rng(2).integers(0, 2, 50)
    ours = x64(pt.brier_score, probs, np.eye(2)[labels])
    np.testing.assert_allclose(ours.mean() / 2, brier_score_loss(labels, probs[:, 1]), rtol=FLOAT64)
    np.testing.assert_allclose(ours / 2, scoringrules.brier_score(labels, probs[:, 1]), rtol=FLOAT64, atol=FLOAT64)


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


# Properties


@pytest.mark.parametrize("name", [name for name in SCORES if name != "ranked-probability"])
def test_order_of_the_labels_does_not_matter(name):
    probs, truth = table()
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(
        x64(SCORES[name], probs, truth), x64(SCORES[name], probs[:, order], truth[:, order]), rtol=1e-10
    )


def test_ties_share_the_choice():
    assert float(pt.zero_one_score(np.array([0.4, 0.4, 0.2]), np.array([1, 0, 0]))) == 0.5


# Edges


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinite_loss_is_infinite_and_an_impossible_label_costs_nothing(dtype):
    probs = np.array([[0, 1], [0, 1]], dtype)
    truth = np.array([[1, 0], [0, 1]], dtype)
    np.testing.assert_array_equal(x64(pt.log_score, probs, truth), [np.inf, 0])
    np.testing.assert_array_equal(x64(pt.kl_divergence, probs, truth), [np.inf, 0])
    logs = np.array([[-np.inf, 0], [-np.inf, 0]], dtype)
    np.testing.assert_array_equal(x64(pt.rules.log_score_from_log_probs, logs, truth), [np.inf, 0])
    np.testing.assert_array_equal(x64(pt.rules.log_score_from_logits, logs, truth), [np.inf, 0])


def test_gradient_at_zero_probability_and_zero_truth_is_zero():
    probs, truth = jnp.array([0.0, 1.0]), jnp.array([0.0, 1.0])
    np.testing.assert_array_equal(jax.jit(jax.grad(pt.log_score, (0, 1)))(probs, truth), [[0, -1], [0, 0]])
    np.testing.assert_array_equal(jax.jit(jax.grad(pt.entropy))(truth), [0, -1])
    assert np.isfinite(jax.jit(jax.grad(pt.kl_divergence, (0, 1)))(probs, truth)).all()


def test_logits_keep_what_probabilities_lose():
    logits = np.array([0.0, -1000.0], np.float32)
    assert float(pt.rules.log_score_from_logits(logits, np.array([0, 1]))) == 1000
    assert float(pt.log_score(np.exp(logits), np.array([0, 1]))) == np.inf


# Transforms


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
def test_vmap_and_broadcasting_and_slopes(name, dtype):
    kernel = SCORES[name]
    probs, truth = (array.astype(dtype) for array in table())
    tolerance = FLOAT32 if dtype == np.float32 else FLOAT64
    with jax.enable_x64(dtype == np.float64):

        @jax.jit
        def transformed(probs, truth):
            slopes = jax.grad(lambda p, t: kernel(p, t).sum(), (0, 1))(probs, truth)
            broadcast = kernel(probs[None], truth[:1])[0], kernel(probs, truth[0])
            return kernel(probs, truth), jax.vmap(kernel)(probs, truth), broadcast, slopes

        compiled, mapped, broadcast, slopes = transformed(probs, truth)
    assert compiled.dtype == dtype
    np.testing.assert_allclose(mapped, compiled, rtol=tolerance)
    np.testing.assert_allclose(*broadcast, rtol=tolerance)
    assert np.isfinite(slopes).all()


def test_integer_truth_takes_the_type_of_the_probabilities():
    assert pt.log_score(np.array([0.5, 0.5], np.float32), np.array([1, 0])).dtype == np.float32


def test_a_certain_truth_is_at_a_finite_divergence_from_an_open_forecast():
    """By hand: KL of (1, 0) from (.5, .5) is log 2; the other way round it is infinite."""
    truth, probs = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    for kernel in (pt.kl_divergence, pt.rules.log.divergence):
        np.testing.assert_allclose(float(kernel(probs, truth)), np.log(2), rtol=1e-6)
        assert float(kernel(truth, probs)) == np.inf
