"""Random variates against their distributions (Kolmogorov-Smirnov at fixed seeds) and in the extremes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import gamma, kstest

from probtruth.truth.variates import categorical, log_dirichlet, log_gamma


@pytest.mark.parametrize("shape_parameter", [0.02, 0.5, 1.0, 3.0, 50.0])
def test_log_gamma_has_its_distribution(shape_parameter: float) -> None:
    logs = np.asarray(jax.jit(log_gamma)(jax.random.key(3), jnp.full((40_000,), shape_parameter)), float)
    assert kstest(logs, lambda x: gamma(shape_parameter).cdf(np.exp(x))).pvalue > 1e-3


def test_log_gamma_stays_finite_where_gammas_underflow() -> None:
    logs = np.asarray(jax.jit(log_gamma)(jax.random.key(0), jnp.full((1000, 2), 1e-3)))
    assert np.isfinite(logs).all()
    assert (logs < np.log(np.finfo(np.float32).tiny)).any()


def test_log_gamma_ends_on_nan() -> None:
    assert np.isnan(np.asarray(jax.jit(log_gamma)(jax.random.key(0), jnp.array([jnp.nan, 1.0, 2.0])))[0])


def test_dirichlet_means() -> None:
    counts = jnp.broadcast_to(jnp.array([0.5, 1.5, 3.0]), (20_000, 3))
    probs = np.exp(np.asarray(jax.jit(log_dirichlet)(jax.random.key(1), counts), float))
    single = 1e-5
    np.testing.assert_allclose(probs.sum(1), 1, atol=single)
    five_errors = 5 * 0.25 / np.sqrt(20_000)  # the sd of each is below .25
    np.testing.assert_allclose(probs.mean(0), [0.1, 0.3, 0.6], atol=five_errors)


def test_categorical_frequencies_and_zero_weights() -> None:
    weights = jnp.broadcast_to(jnp.array([0.0, 1.0, 3.0, 0.0]), (20_000, 4))
    drawn = np.asarray(jax.jit(categorical)(jax.random.key(2), weights))
    five_errors = 5 * 0.5 / np.sqrt(20_000)
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 20_000, [0, 0.25, 0.75, 0], atol=five_errors)
    assert set(drawn) == {1, 2}
