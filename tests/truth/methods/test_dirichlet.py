"""The closed-form posterior, and the learned prior against simulation, finite differences and a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial, norm

import probtruth as pt
from probtruth.truth.methods.dirichlet import histograms, learn_dirichlet, log_posterior


def sample(alpha: np.ndarray, votes: int, n_items: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.stack([generator.multinomial(votes, row) for row in generator.dirichlet(alpha, n_items)])


def test_posterior_by_hand() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts([[3, 0], [1, 1]]), "dirichlet", prior=[1, 2], draws=40_000)
    np.testing.assert_allclose(truth.probs, [[4 / 6, 2 / 6], [2 / 5, 3 / 5]])
    sd = np.sqrt(2 / 6 * 4 / 6 / 7)  # of a Beta(4, 2)
    five_errors = 5 * sd / np.sqrt(40_000)
    np.testing.assert_allclose(truth.draws[:, 0, 0].mean(dtype=float), 4 / 6, atol=five_errors)
    np.testing.assert_allclose(truth.draws[:, 0, 0].std(dtype=float), sd, atol=five_errors)


def log_likelihood(counts: np.ndarray, alpha: np.ndarray) -> float:
    """By SciPy, less the multinomial coefficients, which hold no alpha."""
    coefficients = gammaln(counts.sum(1) + 1) - gammaln(counts + 1).sum(1)
    return float((dirichlet_multinomial(alpha, counts.sum(1)).logpmf(counts) - coefficients).sum())


def log_prior(alpha: np.ndarray) -> float:
    """Base measure ~ Dirichlet(2, ..., 2), log concentration ~ N(0, 1), without constants."""
    return float(np.log(alpha / alpha.sum()).sum() + norm.logpdf(np.log(alpha.sum())))


def test_likelihood_against_scipy() -> None:
    counts = sample(np.array([0.5, 1.0, 2.0]), 6, 30, seed=1)
    alpha = np.array([0.7, 1.1, 3.0])
    truth = pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet", prior=alpha, draws=0)
    np.testing.assert_allclose(truth.diagnostics["log_likelihood"], log_likelihood(counts, alpha), rtol=1e-12)


def test_posterior_density_is_likelihood_times_prior() -> None:
    counts = sample(np.array([0.5, 1.0, 2.0]), 6, 30, seed=2)
    one, other = np.array([0.4, 0.9, 1.7]), np.array([1.2, 0.3, 0.8])
    ours = log_posterior(*histograms(counts))(np.log(one)) - log_posterior(*histograms(counts))(np.log(other))
    expected = log_likelihood(counts, one) + log_prior(one) - log_likelihood(counts, other) - log_prior(other)
    np.testing.assert_allclose(ours, expected, rtol=1e-11)


def test_few_steps_end_where_the_posterior_is_flat() -> None:
    counts = sample(np.full(40, 0.3), 5, 100, seed=4)
    alpha, n_steps, converged = learn_dirichlet(counts.shape[1], *histograms(counts))
    assert converged
    assert n_steps < 50  # with a wrong curvature it takes thousands
    slope = approx_fprime(np.log(alpha), log_posterior(*histograms(counts)), 1e-6)
    difference_error = 1e-3  # forward differences: step times curvature (below 500), and rounding of some thousands
    assert np.abs(slope).max() < difference_error


def test_ten_thousand_labels() -> None:
    counts = np.zeros((12, 10_000), np.int64)
    counts[np.arange(12), np.arange(12) * 800] = 2
    alpha, _, converged = learn_dirichlet(counts.shape[1], *histograms(counts))
    assert converged
    assert np.isfinite(alpha).all()


def test_one_vote_an_item_does_not_identify_the_concentration() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts(np.eye(3, dtype=int)), "dirichlet")
    assert truth.diagnostics["concentration_identified"] is False
    assert truth.diagnostics["concentration"] == pytest.approx(1)  # the prior's centre


@settings(deadline=None, max_examples=25, derandomize=True)
@given(arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(0, 30)))
def test_any_counts_give_a_finite_prior(counts: np.ndarray) -> None:
    counts[:, 0] += 1
    alpha, _, _ = learn_dirichlet(counts.shape[1], *histograms(counts))
    assert np.isfinite(alpha).all()
    assert (alpha > 0).all()
