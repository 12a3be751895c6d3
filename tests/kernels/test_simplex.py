"""Cross-entropies are plain products where these are finite, and guarded elsewhere; SciPy's xlogy is the reference."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, xlogy

from probtruth.kernels import simplex

PROBS = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.6, 0.4], [1e-40, 0.5, 0.5]], np.float32)
TRUTH = np.array([[0.3, 0.7, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], np.float32)
ROUNDING = 1e-6
LOG_OF_TINY = 40 * np.log(10)  # -log 1e-40, which XLA on CPU would take for -log 0


def wanted(truth: np.ndarray, probs: np.ndarray) -> np.ndarray:
    return -xlogy(truth.astype(np.float64), probs.astype(np.float64)).sum(-1)


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 4)], ids=["plain", "guarded"])
def test_cross_entropy_is_the_sum_of_xlogy(rows):
    found = simplex.cross_entropy(jnp.asarray(TRUTH[rows]), jnp.asarray(PROBS[rows]))
    assert_allclose(found, wanted(TRUTH[rows], PROBS[rows]), rtol=ROUNDING)


def test_a_subnormal_probability_is_not_zero():
    assert_allclose(simplex.cross_entropy(jnp.asarray([1.0, 0, 0]), jnp.asarray(PROBS[3])), LOG_OF_TINY, rtol=ROUNDING)


def test_vmap_over_either_argument_or_both():
    kernel = simplex.cross_entropy

    @jax.jit
    def mapped(truth, probs):
        rows = jax.vmap(kernel, (None, 0))(truth[0], probs), jax.vmap(kernel, (0, None))(truth, probs[0])
        grid = jax.vmap(jax.vmap(kernel, (None, 0)), (0, None))(truth, probs)
        return jax.vmap(kernel)(truth, probs), rows, grid, jax.vmap(kernel, (0, None))(truth, probs)

    both, rows, grid, shared = mapped(TRUTH, PROBS)
    assert_array_equal(both, jax.jit(kernel)(TRUTH, PROBS))
    for found, pair in zip(rows, ((TRUTH[0], PROBS), (TRUTH, PROBS[0])), strict=True):
        assert_allclose(found, wanted(*(np.broadcast_to(one, TRUTH.shape) for one in pair)), rtol=ROUNDING)
    for found in (grid, shared):
        assert_allclose(found, wanted(TRUTH[:, None], PROBS), rtol=ROUNDING)


def test_gradients_at_labels_of_no_weight_are_zero():
    by_probs = jax.jit(jax.vmap(jax.grad(simplex.cross_entropy, 1)))(jnp.asarray(TRUTH), jnp.asarray(PROBS))
    assert_allclose(by_probs[0], [-0.3 / 0.5, -0.7 / 0.3, 0], rtol=ROUNDING)
    assert_array_equal(by_probs[1], [-1, 0, 0])
    assert_array_equal(by_probs[2, 0], -np.inf)
    by_truth = jax.jit(jax.vmap(jax.grad(simplex.cross_entropy, 0)))(jnp.asarray(TRUTH), jnp.asarray(PROBS))
    assert_allclose(by_truth[0], [-np.log(0.5), -np.log(0.3), 0], rtol=ROUNDING)
    assert_array_equal(by_truth[1], [0, 0, 0])


def test_second_derivatives():
    hessian = jax.jit(jax.hessian(simplex.cross_entropy, 1))(jnp.asarray(TRUTH[0]), jnp.asarray(PROBS[0]))
    assert_allclose(hessian, np.diag(TRUTH[0] / PROBS[0] ** 2), rtol=ROUNDING)


def test_logits_that_rule_a_label_out():
    logits = np.array([[0.0, -np.inf, 1.0], [2.0, 1.0, 0.5]], np.float32)
    truth = np.array([[0.25, 0.0, 0.75], [0.2, 0.3, 0.5]], np.float32)
    logs = log_softmax(logits.astype(np.float64), axis=-1)
    expected = -np.where(truth > 0, truth * np.where(truth > 0, logs, 0), 0).sum(-1)
    assert_allclose(simplex.cross_entropy_of_logits(jnp.asarray(truth), jnp.asarray(logits)), expected, rtol=ROUNDING)
    slope = jax.jit(jax.grad(simplex.cross_entropy_of_logits, 1))
    found = slope(jnp.asarray(truth[1]), jnp.asarray(logits[1]))
    assert_allclose(found, np.exp(logs[1]) - truth[1], atol=ROUNDING)


def test_expectation_of_infinite_values():
    weights, values = jnp.asarray([[0.0, 1.0], [0.5, 0.5]]), jnp.asarray([jnp.inf, 2.0])
    assert_array_equal(simplex.expectation(weights, values), [2, np.inf])
    assert_array_equal(jax.jit(jax.grad(simplex.expectation))(weights[0], values), [0, 2])
