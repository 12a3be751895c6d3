"""The closed-form posterior, and the learned prior against simulation, finite differences and a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import check_grad, minimize
from scipy.stats import dirichlet_multinomial

import probtruth as pt
from probtruth.truth.methods.dirichlet import (
    _curvature,
    _derivatives,
    _histograms,
    _log_likelihood,
    _log_prior,
    learn_dirichlet,
)


def sample(alpha: np.ndarray, votes: int, n_items: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.stack([generator.multinomial(votes, row) for row in generator.dirichlet(alpha, n_items)])


def test_posterior_by_hand() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts([[3, 0], [1, 1]]), "dirichlet", prior=[1, 2], draws=40_000)
    np.testing.assert_allclose(truth.probs, [[4 / 6, 2 / 6], [2 / 5, 3 / 5]])
    assert truth.draws is not None
    sd = np.sqrt(2 / 6 * 4 / 6 / 7)  # of a Beta(4, 2)
    five_errors = 5 * sd / np.sqrt(40_000)
    np.testing.assert_allclose(truth.draws[:, 0, 0].mean(dtype=float), 4 / 6, atol=five_errors)
    np.testing.assert_allclose(truth.draws[:, 0, 0].std(dtype=float), sd, atol=five_errors)


def test_likelihood_against_scipy() -> None:
    counts = sample(np.array([0.5, 1.0, 2.0]), 6, 30, seed=1)
    alpha = np.array([0.7, 1.1, 3.0])
    from scipy.special import gammaln

    coefficients = (gammaln(7) - gammaln(counts + 1).sum(1)).sum()
    expected = dirichlet_multinomial(alpha, 6).logpmf(counts).sum() - coefficients
    np.testing.assert_allclose(_log_likelihood(np.log(alpha), *_histograms(counts)), expected, rtol=1e-12)


def _whole(log_alpha: np.ndarray, *parts: object) -> tuple[object, np.ndarray]:
    """The gradient, and the Hessian from its diagonal and its outer product."""
    gradient, own, common = parts
    alpha = np.exp(log_alpha)
    return gradient, np.diag(np.asarray(own)) - float(str(common)) * np.outer(alpha, alpha)


def test_many_labels_have_the_same_answer_without_the_whole_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    from probtruth.truth.methods import dirichlet

    counts = sample(np.full(40, 0.3), 5, 100, seed=4)
    exact, _, _ = learn_dirichlet(counts)
    monkeypatch.setattr(dirichlet, "MOST_EXACT", 0)
    found, n_steps, converged = learn_dirichlet(counts)
    assert converged
    assert n_steps < 50  # with a wrong curvature it takes thousands
    np.testing.assert_allclose(found, exact, rtol=1e-6)  # the gradient's tolerance over the curvature


def test_ten_thousand_labels() -> None:
    counts = np.zeros((12, 10_000), np.int64)
    counts[np.arange(12), np.arange(12) * 800] = 2
    alpha, _, converged = learn_dirichlet(counts)
    assert converged
    assert np.isfinite(alpha).all()


def test_derivatives_against_differences() -> None:
    counts = sample(np.array([0.5, 1.0, 2.0]), 6, 30, seed=2)
    parts = _histograms(counts)
    point = np.log([0.4, 0.9, 1.7])
    difference_error = 1e-3  # forward differences of step 1.5e-8 on values of some hundreds
    assert (
        check_grad(lambda x: _log_likelihood(x, *parts), lambda x: _derivatives(x, *parts)[0], point) < difference_error
    )
    assert check_grad(lambda x: _log_prior(x)[0], lambda x: _log_prior(x)[1], point) < difference_error
    for row in range(3):
        for kind in (lambda x: _whole(x, *_derivatives(x, *parts)), lambda x: _whole(x, *_log_prior(x)[1:])):
            assert (
                check_grad(
                    lambda x, kind=kind, row=row: kind(x)[0][row], lambda x, kind=kind, row=row: kind(x)[1][row], point
                )
                < difference_error
            )
    own, common = _curvature(point, *parts)
    both = _whole(point, *_derivatives(point, *parts))[1] + _whole(point, *_log_prior(point)[1:])[1]
    alpha = np.exp(point)
    np.testing.assert_allclose(np.diag(own) - common * np.outer(alpha, alpha), both, rtol=1e-12)


def test_learned_prior_is_the_maximum() -> None:
    counts = sample(np.array([0.3, 1.0, 2.0, 0.2]), 5, 200, seed=3)
    parts = _histograms(counts)
    alpha, _, converged = learn_dirichlet(counts)
    assert converged
    slow = minimize(
        lambda x: -_log_likelihood(x, *parts) - _log_prior(x)[0],
        np.zeros(4),
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 10_000},
    )
    simplex_search = 1e-4  # relative accuracy of the slow twin
    np.testing.assert_allclose(alpha, np.exp(slow.x), rtol=simplex_search)


def test_learned_prior_recovers_the_generator() -> None:
    alpha = np.array([0.5, 1.5, 0.2])
    learned, _, _ = learn_dirichlet(sample(alpha, 20, 4000, seed=4))
    sampling = 0.1  # 4,000 items of 20 votes: relative standard errors near .02
    np.testing.assert_allclose(learned, alpha, rtol=sampling)


def test_one_vote_an_item_does_not_identify_the_concentration() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts(np.eye(3, dtype=int)), "dirichlet")
    assert truth.diagnostics["concentration_identified"] is False
    assert truth.diagnostics["concentration"] == pytest.approx(1)  # the prior's centre


def test_labels_never_used_keep_some_probability() -> None:
    probs = pt.infer_truth(pt.Annotations.from_counts([[5, 3, 0], [2, 6, 0]]), "dirichlet").probs
    assert (probs[:, 2] > 0).all()


@settings(deadline=None, max_examples=25, derandomize=True)
@given(arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(0, 30)))
def test_any_counts_give_a_finite_prior(counts: np.ndarray) -> None:
    counts[:, 0] += 1
    alpha, _, _ = learn_dirichlet(counts)
    assert np.isfinite(alpha).all()
    assert (alpha > 0).all()
