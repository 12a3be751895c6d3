import math

import numpy as np
import pytest

from probtruth.inference.diagnostics import MIN_ESS, convergence, mean_with_error


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(4, 500, 2))


def test_independent_draws_pass(noise):
    rhat, ess = convergence({"x": noise, "y": noise[..., 0]})
    assert rhat < 1.01
    assert ess > MIN_ESS


def test_chains_apart_and_chains_that_crawl_fail(noise):
    assert convergence({"x": noise + np.arange(4)[:, None, None]})[0] > 1.5
    walk = np.cumsum(noise, axis=1)
    assert convergence({"x": walk})[1] < 50


def test_constant_sites_count_for_nothing(noise):
    assert convergence({"x": np.ones((4, 500))}) == (1.0, math.inf)
    assert convergence({"x": np.ones((4, 500)), "y": noise}) == convergence({"y": noise})


def test_draws_that_are_not_finite_have_no_figures(noise):
    broken = noise.copy()
    broken[0, 3, 1] = np.nan
    assert all(math.isnan(value) for value in convergence({"x": broken}))


def test_error_of_a_mean(noise):
    mean, error = mean_with_error(noise[..., 0])
    assert mean == noise[..., 0].mean()
    assert error == pytest.approx(1 / math.sqrt(2000), rel=0.15)  # an estimated ESS of 2,000 independent draws
    assert mean_with_error(np.full((4, 10), 2.0)) == (2.0, 0.0)
