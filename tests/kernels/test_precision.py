"""probtruth/kernels/precision.py: NumPy's float64 is not rounded to float32 in silence; transformations stay JAX's."""

import jax
import jax.numpy as jnp
import numpy as np

import probtruth as pt

SMALL = np.array([1e-50, 1.0]), np.array([1.0, 0.0])


def test_a_probability_that_float32_does_not_know():
    """By hand: -log 1e-50 = 50 log 10 = 115.129; rounded to float32 the probability is 0 and the loss infinite."""
    expected = 50 * np.log(10)
    for kernel in (pt.log_score, pt.kl_divergence):
        found = kernel(*SMALL)
        assert (type(found), found.dtype) == (np.ndarray, np.float64)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(pt.log_score(*SMALL).mean(), expected, rtol=1e-14)


def test_the_mean_of_small_numbers():
    rounding = 5e-14  # through log(1e-50) = -115: 115 roundings, twice
    np.testing.assert_allclose(pt.nelson.generalized_mean(np.array([1e-50, 1e-50]), 1.0), 1e-50, rtol=rounding)


def test_float32_arrays_of_jax_and_x64_are_left_alone():
    assert isinstance(pt.log_score(*(array.astype(np.float32) for array in SMALL)), jax.Array)
    narrow = pt.log_score(*map(jnp.asarray, SMALL))
    assert (narrow.dtype, float(narrow)) == (jnp.float32, np.inf)
    with jax.enable_x64(True):
        assert isinstance(pt.log_score(*SMALL), jax.Array)


def test_transformations_see_the_kernel_as_it_was():
    probs, truth = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[1.0, 0.0], [0.3, 0.7]])
    plain = pt.log_score(probs, truth)
    np.testing.assert_allclose(jax.jit(pt.log_score)(probs, truth), plain, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(pt.log_score)(probs, truth), plain, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(lambda x: x + pt.log_score(probs, truth))(0.0), plain, rtol=1e-6)
    slope = jax.grad(lambda p: pt.log_score(p, truth).sum())(probs)
    np.testing.assert_allclose(slope, np.where(truth > 0, -truth / probs, 0), rtol=1e-6)
    assert jax.config.jax_enable_x64 is False
