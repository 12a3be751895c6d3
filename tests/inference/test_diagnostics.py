import math

import numpy as np
import pytest

from probtruth.inference.diagnostics import MIN_ESS, convergence, mean_with_error

PRUNING = 0.01  # Relative: where the sum of autocorrelations ends, NumPyro and ArviZ differ by a lag


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


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.5, 0.9])
def test_figures_are_those_of_arviz(correlation):
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    draws = np.random.default_rng(1).normal(size=(4, 500, 3))
    for at in range(1, 500):
        draws[:, at] = correlation * draws[:, at - 1] + math.sqrt(1 - correlation**2) * draws[:, at]
    draws[..., 1] = np.exp(draws[..., 1])
    rhat = array_stats.rhat(draws, **axes).max()
    bulk = array_stats.ess(draws, method="bulk", **axes).min()
    tail = array_stats.ess(draws, method="tail", prob=0.95, **axes).min()
    found = convergence({"x": draws})
    assert found[0] == pytest.approx(rhat, rel=PRUNING)
    assert found[1] == pytest.approx(min(bulk, tail), rel=PRUNING)
    error = array_stats.mcse(draws[..., 0], method="mean", **axes)
    assert mean_with_error(draws[..., 0])[1] == pytest.approx(error, rel=PRUNING)


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
