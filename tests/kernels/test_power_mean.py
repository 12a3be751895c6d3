from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import probtruth as pt
from probtruth.kernels.power_mean import log1p_ratio

POWERS = (-1e6, -100, -3, -1, -2 / 3, -0.1, -1e-3, -1e-8, -1e-30, 0, 1e-30, 1e-8, 1e-3, 0.1, 2 / 3, 1, 2, 10, 1e4)

ROUNDING = 16  # Rounding errors, in units of eps times the largest |log p|: the value passes through its logarithm


def decimal_mean(values, power, weights=None):
    """The definition in 60 digits."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -(10**9), 10**9
        weights = [Decimal(1)] * len(values) if weights is None else [Decimal(float(w)) for w in weights]
        logs = [(weight, Decimal(float(value)).ln()) for weight, value in zip(weights, values, strict=True) if weight]
        total, power = sum(weight for weight, _ in logs), Decimal(float(power))
        if power == 0:
            return float((sum(weight * log for weight, log in logs) / total).exp())
        return float(((sum(weight * (power * log).exp() for weight, log in logs) / total).ln() / power).exp())


MEANS = jax.jit(pt.nelson.generalized_mean)

SAMPLES = {
    "five": [0.2, 0.9, 0.7, 0.5, 0.6],
    "wide": [1e-30, 0.5, 1 - 1e-7],
    "near the least normal": [2e-38, 1e-3],
    "all equal": [0.3] * 7,
    "thousand": np.random.default_rng(0).uniform(size=1000).tolist(),
}


# reference


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.long
def test_every_power_against_sixty_digits(dtype):
    """All samples at once, the short ones filled up with values of weight 0."""
    powers, size = np.array(POWERS, dtype), max(map(len, SAMPLES.values()))
    values = np.array([sample + [0.5] * (size - len(sample)) for sample in SAMPLES.values()], dtype)
    weights = np.array([[1.0] * len(sample) + [0.0] * (size - len(sample)) for sample in SAMPLES.values()], dtype)
    with jax.enable_x64(dtype is np.float64):
        means = jax.jit(jax.vmap(pt.nelson.generalized_mean, (None, 0, None)))(values, powers, weights)
    assert means.dtype == dtype
    for found, sample in zip(np.asarray(means).T, SAMPLES.values(), strict=True):
        sample = np.array(sample, dtype)
        allowed = ROUNDING * np.finfo(dtype).eps * max(1.0, np.abs(np.log(sample)).max())
        np.testing.assert_allclose(found, [decimal_mean(sample, power) for power in powers], rtol=allowed)


def test_the_neighbourhood_of_zero_where_the_formula_breaks():
    """Trap 6: at power 1e-8 the plain float32 formula is 1.0; the mean of these is .545."""
    values, power = np.array([0.2, 0.9, 0.7, 0.5, 0.765], np.float32), np.float32(1e-8)
    plain = jnp.mean(jnp.asarray(values) ** power) ** (1 / power)
    assert float(plain) == 1.0
    assert float(pt.nelson.generalized_mean(values, power)) == pytest.approx(0.545, abs=5e-4)  # three digits as printed


def test_very_negative_powers_where_the_formula_overflows():
    values = np.array([1e-3, 0.5], np.float32)
    with np.errstate(over="ignore"):
        assert np.isinf(np.mean(values ** np.float32(-20)))
    assert float(pt.nelson.generalized_mean(values, -20.0)) == pytest.approx(decimal_mean(values, -20.0), rel=1e-6)


def test_subnormal_probabilities_count():
    values = np.array([1e-40, 0.5], np.float32)
    assert float(pt.nelson.generalized_mean(values, 0.0)) == pytest.approx(decimal_mean(values, 0.0), rel=1e-5)


@pytest.mark.parametrize(
    ("power", "expected"),
    [(np.inf, 1.0), (-np.inf, 0.0), (1, 0.5), (0, 0.0), (-1, 0.0), (1e-8, 0.0), (2, 5**0.5 / 12**0.5)],
)
def test_one_zero_kills_the_mean_unless_the_power_is_positive(power, expected):
    """Remark 1 of Nelson (2017)."""
    assert float(pt.nelson.generalized_mean(np.array([0, 0.5, 1]), power)) == pytest.approx(expected, rel=1e-6)


def test_values_without_weight_take_no_part():
    values, weights = np.tile([0.0, 0.2, 0.8], (5, 1)), np.array([0.0, 3.0, 1.0])
    power = np.array([-np.inf, -1, 0, 0.5, np.inf])
    alone = MEANS(values[:, 1:], power, weights[1:])
    np.testing.assert_allclose(MEANS(values, power, weights), alone, rtol=1e-6)


# transforms


def test_jit_vmap_and_a_power_for_each_batch():
    values = np.random.default_rng(0).uniform(size=(4, 3, 6)).astype(np.float32)
    power = np.linspace(-2, 2, 12).reshape(4, 3).astype(np.float32)
    eager = pt.nelson.generalized_mean(values, power)
    one_ulp = 2e-7
    np.testing.assert_allclose(MEANS(values, power), eager, rtol=one_ulp)
    each = jax.jit(jax.vmap(pt.nelson.generalized_mean))(values, power)
    np.testing.assert_allclose(each, eager, rtol=one_ulp)
    spectrum = jax.jit(jax.vmap(pt.nelson.generalized_mean, (None, 0)))(values[0, 0], power[0])
    np.testing.assert_allclose(spectrum[0], eager[0, 0], rtol=one_ulp)


def test_gradients_are_differences():
    power = np.array([-3.0, -2 / 3, -1e-6, 0.0, 1e-6, 0.5, 1.0, 3.0])
    values, weights = np.tile([0.2, 0.9, 0.7], (8, 1)), np.tile([1.0, 2.0, 0.5], (8, 1))
    step, allowed = 1e-6, 1e-7  # central differences: step^2 and rounding/step
    with jax.enable_x64(True):
        check_grads(MEANS, (values, power, weights), 1, ["rev"], atol=allowed, rtol=allowed, eps=step)


EDGES = np.float32([-np.inf, -1e30, -1.0, 0.0, 0.5, 1.0, 1e30, np.inf])
SLOPES = jax.jit(jax.vmap(jax.grad(pt.nelson.generalized_mean, (0, 1)), (None, 0)))


def test_gradients_are_finite_at_the_edges():
    for values in ([0.0, 0.5, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]):
        for slope in SLOPES(np.float32(values), EDGES):
            assert np.isfinite(slope).all()


def test_the_arithmetic_mean_has_its_gradient_at_zero_too():
    gradient, _ = SLOPES(np.float32([0.0, 0.5, 1.0]), EDGES)
    np.testing.assert_allclose(gradient[EDGES == 1], [[1 / 3] * 3], rtol=1e-6)


def test_log1p_ratio():
    both = jax.jit(jax.value_and_grad(log1p_ratio))
    for x in (0.0, 1e-9, -1e-3, 0.00999, 0.0101, 3.0):
        with jax.enable_x64(True):
            value, slope = both(x)
        assert float(value) == pytest.approx(np.log1p(x) / x if x else 1.0, rel=1e-15)
        assert np.isfinite(slope)
