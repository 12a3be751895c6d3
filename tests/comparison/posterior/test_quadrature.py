import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.posterior.quadrature import Mixture, collapse, draw_location


def test_quantile_inverts_below_and_shift_moves():
    mixture = Mixture(np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([1.0, 0.1]))
    for p in (0.025, 0.5, 0.975):
        assert mixture.below(mixture.quantile(p)) == pytest.approx(p, abs=1e-10)
        assert mixture.shifted(2.0).quantile(p) == pytest.approx(mixture.quantile(p) + 2, abs=1e-10)
    assert mixture.within(0.5) == pytest.approx(mixture.below(0.5) - mixture.below(-0.5))


def test_mixtures_with_weights_of_their_own_are_those_one_by_one():
    weight, mean = np.array([[0.3, 0.7], [0.9, 0.1]]), np.array([[0.0, 1.0], [2.0, -1.0]])
    both = Mixture(weight, mean, np.array([[1.0, 0.1], [0.5, 0.2]]))
    for row in (0, 1):
        one = Mixture(weight[row], mean[row], both.sd[row])
        for name, argument in (("below", 0.3), ("quantile", 0.2), ("within", 0.5)):
            assert getattr(both, name)(argument)[row] == pytest.approx(getattr(one, name)(argument), rel=1e-12)
        assert both.average()[row] == one.average()


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


def test_models_at_a_fixed_distance_share_one_draw():
    # 0 and 2 are identical, 3 is 1 below 1
    pairs = all_pairs(4)
    difference = np.array([{(0, 2): 0.0, (1, 3): 1.0}.get(pair, 9.0) for pair in pairs])
    constant = np.array([pair in {(0, 2), (1, 3)} for pair in pairs])
    alone = collapse(constant, difference, 4)
    assert alone.distinct.tolist() == [0, 1]
    assert alone.home.tolist() == [0, 1, 0, 1]
    drawn = alone.expand(np.array([[0.3, -0.3], [0.1, 0.2]]))
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    np.testing.assert_allclose(drawn[:, 1] - drawn[:, 3], 1.0, rtol=1e-14)
    np.testing.assert_allclose(drawn.sum(1), 0.0, atol=1e-14)


def test_nothing_collapses_where_all_vary():
    alone = collapse(np.zeros(3, bool), np.arange(3.0), 3)
    assert alone.distinct.tolist() == [0, 1, 2]
