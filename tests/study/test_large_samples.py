"""The mixture by quadrature, and statistics computed afresh after every unit."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, skew

from probtruth.study.arrivals import Units
from probtruth.study.confidence_sequence import SPREAD, START, log_evidence

ROUNDING = 1e-8
"""Of sums of cubes over a few hundred units, and of the quadrature."""


def slowly(units: Units, mean: float, n: int) -> float:
    """The likelihood ratio of effects from a half-normal, integrated numerically."""
    total, size = units.total[:n], units.size[:n]
    residual = total - total.sum() / size.sum() * size
    s = np.sqrt((residual**2).sum() / (n - 1))
    u = (total - mean * size).sum() / s / np.sqrt(n)
    # unbiased third moment over the unbiased variance to the 1.5
    g = skew(residual, bias=True) * (n**2 / ((n - 1) * (n - 2))) * ((n - 1) / n) ** 1.5 / np.sqrt(n)
    z = min(u, u + g * u**2 / 3 + g**2 * u**3 / 27 + g / 6) * np.sqrt(n)
    value, _ = quad(
        lambda effect: 2 * norm.pdf(effect / SPREAD) / SPREAD * np.exp(effect * z - n * effect**2 / 2),
        0, 3, limit=500, epsabs=0, epsrel=1e-10,
    )  # fmt: skip
    return float(np.log(value))


@pytest.mark.parametrize("mean", [-0.4, 0.0, 0.1, 0.9])
def test_agrees_with_quadrature(mean):
    rng = np.random.default_rng(0)
    units = Units(rng.exponential(size=300), rng.integers(1, 4, 300).astype(float), 3)
    path = log_evidence(units, mean)
    for n in (START, 137, 300):
        assert path[n - 1] == pytest.approx(slowly(units, mean, n), rel=ROUNDING, abs=ROUNDING)


def test_says_nothing_before_the_limit_is_near():
    units = Units(np.random.default_rng(0).normal(5, 1, START), np.ones(START), 1)
    path = log_evidence(units, 0.0)
    assert (path[:-1] == 0).all()
    assert path[-1] > 10


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0])
def test_units_that_do_not_vary_are_no_evidence(value):
    assert (log_evidence(Units(np.full(300, value), np.ones(300), 1), -1.0) == 0).all()


def test_does_not_depend_on_the_unit_of_the_score():
    d = np.random.default_rng(1).normal(0.3, 1, 400)
    plain = log_evidence(Units(d, np.ones(400), 1), 0.1)
    scaled = log_evidence(Units(1e-9 * d, np.ones(400), 1), 1e-10)
    np.testing.assert_allclose(scaled, plain, rtol=ROUNDING, atol=ROUNDING)
