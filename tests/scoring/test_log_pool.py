"""The logarithmic pool against a direct search, its derivatives, and data that it must recover."""

import numpy as np
import pytest
from scipy.optimize import minimize

from probtruth.scoring.log_pool import covariances, features_of, fit_log_pool, posterior

ROUNDING = 1e-6  # The direct search has no derivatives and stops near 1e-7


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 3, 500)
    logits = 1.5 * np.eye(3)[classes] + rng.standard_normal((500, 3))
    log_probs = np.log(np.stack([softmax(2.0 * logits), softmax(rng.standard_normal((500, 3)))]))
    likelihood = np.where(np.eye(3)[classes] == 1, 0.7, 0.15) * rng.uniform(0.5, 2.0, (500, 1))
    return classes, log_probs, likelihood


class TestFit:
    def test_the_mode_is_that_of_a_direct_search(self, drawn):
        _, log_probs, likelihood = drawn
        features = features_of(log_probs, np.array([0.2, 0.3, 0.5]))

        def objective(weights):
            forecast = softmax(np.einsum("fik,f->ik", features, weights))
            away = weights - np.array([0.5, 0.5, 0.0])
            return 0.5 * away @ away - np.log((likelihood * forecast).sum(1)).sum()

        direct = minimize(objective, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
        np.testing.assert_allclose(fit_log_pool(likelihood, features).weights, direct, atol=ROUNDING * 10)

    def test_precision_is_the_second_derivative(self, drawn):
        _, log_probs, likelihood = drawn
        features = features_of(log_probs, np.full(3, 1 / 3))[:2]
        pool = fit_log_pool(likelihood, features)

        def slope(weights):
            forecast = softmax(np.einsum("fik,f->ik", features, weights))
            found = np.einsum("ik,fik->f", posterior(likelihood, forecast) - forecast, features)
            return weights - np.array([1.0, 0.0]) - found

        step = 1e-5
        numeric = [(slope(pool.weights + step * e) - slope(pool.weights - step * e)) / (2 * step) for e in np.eye(2)]
        np.testing.assert_allclose(pool.precision, numeric, rtol=ROUNDING)

    def test_a_forecast_that_is_too_sure_is_tempered_and_noise_gets_nothing(self, drawn):
        # the classes' log-odds given 1.5 e_k + unit noise are 1.5 times it; the forecast has twice it: weight .75
        _, log_probs, likelihood = drawn
        pool = fit_log_pool(likelihood, features_of(log_probs, np.full(3, 1 / 3)))
        spread = 1 / np.sqrt(np.diag(pool.precision))
        assert abs(pool.weights[0] - 0.75) < 4 * spread[0]
        assert abs(pool.weights[1]) < 4 * spread[1]

    def test_zero_probabilities_are_evidence_with_a_bound(self):
        features = features_of(np.array([[[0.0, -np.inf]]]), np.array([1.0, 0.0]))
        assert np.isfinite(features).all()


class TestPosterior:
    def test_bayes_rule(self):
        updated = posterior(np.array([[0.5, 0.25]]), np.array([[0.2, 0.8]]))
        np.testing.assert_allclose(updated, [[1 / 3, 2 / 3]])

    def test_annotators_stand_where_the_forecast_excludes_what_they_say(self):
        assert posterior(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist() == [[1.0, 0.0]]


def test_covariances_are_those_of_numpy():
    rng = np.random.default_rng(0)
    probs, a, b = softmax(rng.standard_normal((4, 3))), rng.standard_normal((2, 4, 3)), rng.standard_normal((3, 4, 3))
    expected = sum(
        np.cov(np.vstack([a[:, i], b[:, i]]), aweights=probs[i], ddof=0)[:2, 2:] for i in range(4)
    )  # numpy's weighted covariance, item by item
    np.testing.assert_allclose(covariances(probs, a, b), expected, rtol=ROUNDING, atol=ROUNDING)
