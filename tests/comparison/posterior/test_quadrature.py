import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from probtruth.comparison.posterior.quadrature import Groups, Mixture, draw_hierarchy, draw_location, hierarchy

QUADRATURE = 2e-4
"""Absolute, in probability: a grid of 401 points against adaptive quadrature."""
MONTE_CARLO = 5.0


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return rng.normal(0.3, 0.5, (6, 1)), rng.uniform(0.02, 0.2, (6, 1))


def test_quadrature_is_that_of_adaptive_integration(groups):
    mean, variance = groups

    def evidence_and_tail(tau):
        precision = 1 / (tau**2 + variance[:, 0])
        total = 1 + precision.sum()
        centre = (precision * mean[:, 0]).sum() / total
        log = stats.norm.logpdf(mean[:, 0], 0, precision**-0.5).sum()
        # p(data | tau) of jointly normal group means: their normals at 0, times the update of the centre
        log += 0.5 * total * centre**2 - 0.5 * np.log(total) - tau**2 / 2
        return np.exp(log), np.exp(log) * stats.norm.cdf(0, centre, total**-0.5)

    evidence = integrate.quad(lambda tau: evidence_and_tail(tau)[0], 0, 8)[0]
    tail = integrate.quad(lambda tau: evidence_and_tail(tau)[1], 0, 8)[0]
    posterior = hierarchy(Groups.of(mean, variance))
    assert abs(posterior.mixture(np.ones(1)).below(0.0) - tail / evidence) < QUADRATURE


def test_draws_of_the_hierarchy_follow_its_mixture(groups):
    posterior = hierarchy(Groups.of(*groups))
    draws = draw_hierarchy(posterior, (1, 20_000), 0)
    mixture = posterior.mixture(np.ones(1))
    assert stats.kstest(draws["centre"].ravel(), np.vectorize(mixture.below)).pvalue > 1e-4
    new = posterior.mixture(np.ones(1), new_group=True)
    theta = draws["centre"][..., 0] + draws["between"] * np.random.default_rng(1).normal(size=(1, 20_000))
    assert stats.kstest(theta.ravel(), np.vectorize(new.below)).pvalue > 1e-4


def test_groups_that_agree_pull_the_between_group_sd_to_zero():
    alike = hierarchy(Groups.of(np.full((50, 1), 0.2), np.full((50, 1), 0.01)))
    apart = hierarchy(Groups.of(np.linspace(-1, 1, 50)[:, None], np.full((50, 1), 0.01)))
    assert alike.weight @ alike.between < 0.05 < 0.5 < apart.weight @ apart.between


def test_a_direction_without_variance_within_groups_leaves_out_no_spread_between():
    flat = hierarchy(Groups.of(np.array([[0.1], [0.3]]), np.zeros((2, 1))))
    assert np.isfinite(flat.weight).all()
    assert flat.between[0] > 0


def test_groups_of_one_size_are_summed_up_without_loss():
    rng = np.random.default_rng(2)
    mean, variance = rng.normal(0.3, 0.5, (40, 2)), np.repeat([[0.1, 0.02], [0.05, 0.01]], 20, axis=0)
    place = rng.permutation(40)
    summed, turned = Groups.of(mean, variance), Groups.of(mean[place], variance[place])
    apart = Groups.of(mean, variance * (1 + 1e-12 * np.arange(40)[:, None]))
    assert (summed.count.tolist(), apart.count.tolist()) == ([20, 20], [1] * 40)
    for one, other in zip(vars(summed).values(), vars(turned).values(), strict=True):
        assert np.array_equal(one, other)
    for power in (1.0, 0.5):
        few, many = hierarchy(summed, power, 2 * power), hierarchy(apart, power, 2 * power)
        for name, values in vars(few).items():
            assert_allclose(values, getattr(many, name), rtol=1e-8, atol=1e-12)


def test_quantile_inverts_below_and_shift_moves():
    mixture = Mixture(np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([1.0, 0.1]))
    for p in (0.025, 0.5, 0.975):
        assert mixture.below(mixture.quantile(p)) == pytest.approx(p, abs=1e-10)
        assert mixture.shifted(2.0).quantile(p) == pytest.approx(mixture.quantile(p) + 2, abs=1e-10)
    assert mixture.within(0.5) == pytest.approx(mixture.below(0.5) - mixture.below(-0.5))


@pytest.mark.parametrize(("value", "p", "inside"), [(0.0, 0.5, 1.0), (0.2, 0.0, 0.0), (-0.2, 1.0, 0.0)])
def test_a_mixture_without_spread_is_a_point(value, p, inside):
    point = Mixture(np.ones(1), np.full(1, value), np.zeros(1))
    assert (point.below(0.0), point.within(0.1), point.quantile(0.3)) == (p, inside, value)


def test_draws_of_the_location_are_multivariate_t():
    root = np.array([[1.0, 0.0], [-0.5, 0.5], [-0.5, -0.5]])
    draws = draw_location(np.array([0.1, 0.2, -0.3]), root, 6.0, (2, 10_000), 3)["contrast"]
    assert_allclose(draws.sum(-1), 0, atol=1e-12)
    difference = (draws[..., 1] - draws[..., 0]).ravel()
    scale = np.linalg.norm(root[1] - root[0])
    assert stats.kstest(difference, stats.t(6, 0.1, scale).cdf).pvalue > 1e-4
