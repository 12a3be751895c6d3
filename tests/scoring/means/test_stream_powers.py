import jax
import numpy as np
import pytest

import probtruth as pt

POWERS = (1.0, 0.5, 1e-7, 0.0, -1e-7, -2 / 3)
FLOAT32 = 2e-6
"""Relative error of a power mean of float32 terms: that of the mean of terms by 1/m and the derivative."""
FLOAT64 = 1e-12
"""The same in float64."""


def table(kind="float32", items=9000):
    rng = np.random.default_rng(0)
    return tuple(rng.dirichlet(np.full(3, 0.8), items).astype(kind) for _ in range(2))


def one_pass(metric, probs, truth):
    return metric.update(metric.init(), probs, truth)


@pytest.mark.parametrize(("kind", "tolerance"), [("float32", FLOAT32), ("float64", FLOAT64)])
@pytest.mark.parametrize("log_probs", [False, True])
def test_agrees_with_the_kernel(kind, tolerance, log_probs):
    probs, truth = table(kind)
    metric = pt.streaming.StreamPowerMeans(POWERS, log_probs=log_probs)
    found = metric.finalize(one_pass(metric, np.log(probs) if log_probs else probs, truth))
    with jax.enable_x64(True):
        flat, weights = probs.astype(float).ravel(), truth.astype(float).ravel()
        expected = [float(pt.generalized_mean(flat, power, weights)) for power in POWERS]
    np.testing.assert_allclose(found.values, expected, rtol=tolerance)


def test_impossible_labels_give_zero_where_the_power_is_not_positive():
    probs = np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    truth = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.float32)
    metric = pt.streaming.StreamPowerMeans((1, 0, -1))
    found = metric.finalize(one_pass(metric, probs, truth))
    np.testing.assert_allclose(found.values, [0.5, 0, 0], rtol=FLOAT32)
    assert found.n_impossible.tolist() == [0, 1, 1]


def test_a_power_that_leaves_float32_is_unknown_there_and_known_in_float64():
    probs, truth = np.array([[1e-30, 1.0], [0.5, 0.5]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    metric = pt.streaming.StreamPowerMeans((-2,))
    assert np.isnan(metric.finalize(one_pass(metric, probs.astype(np.float32), truth.astype(np.float32))).values[0])
    np.testing.assert_allclose(metric.finalize(one_pass(metric, probs, truth)).values, [2**0.5 * 1e-30], rtol=FLOAT64)


def test_order_changes_no_bit_and_no_items_have_no_mean():
    probs, truth = table()
    metric = pt.streaming.StreamPowerMeans(POWERS)
    whole = one_pass(metric, probs, truth)
    back = metric.merge(
        one_pass(metric, probs[:-700:-1], truth[:-700:-1]), one_pass(metric, probs[:-699], truth[:-699])
    )
    assert all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(whole), jax.tree.leaves(back), strict=True))
    assert np.isnan(metric.finalize(metric.init()).values).all()


@pytest.mark.parametrize("power", [np.inf, np.nan, "one"])
def test_errors(power):
    with pytest.raises(pt.InputError, match="a finite number"):
        pt.streaming.StreamPowerMeans((power,))
