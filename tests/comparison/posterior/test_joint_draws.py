import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, contrast_covariance, contrasts, moments
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.posterior.engines import draw_location, factor
from probtruth.comparison.posterior.joint_draws import rake, with_margins
from probtruth.comparison.posterior.margins import Margin, margins


def drawn(values, groups=None):
    """Draws of the program, and all that is needed to give them the pairs' margins."""
    n_models, n_items = values.shape
    parts = moments(values, Structure.of(np.zeros(n_items, int) if groups is None else groups, None))
    place = combine(parts, parts.pairs, parts.n_items / n_items)
    mean, root = contrasts(place.centre, n_models), factor(contrast_covariance(place.variance, n_models))
    draws = draw_location(mean, root, place.total_df, (4, 2500), 0)["contrast"]
    return draws, mean, root, place.total_df, margins(place)


def distance(draws, a, b, margin):
    """Kolmogorov's distance of the draws' difference from the margin."""
    difference = (draws[..., a] - draws[..., b]).ravel()
    return stats.kstest(difference, np.vectorize(margin.below)).statistic


def test_two_models_have_their_margin():
    setup = drawn(np.random.default_rng(0).lognormal(size=(2, 30)))
    moved = with_margins(*setup)
    (margin,) = setup[-1]
    assert abs(margin.skewness) > 0.05
    assert distance(moved, 0, 1, margin) < 0.02  # 10,000 draws: 1.95 / 100 is Kolmogorov's .1 per cent point
    assert distance(setup[0], 0, 1, margin) > distance(moved, 0, 1, margin)


def test_margins_without_skewness_leave_the_draws_alone():
    draws, mean, root, df, made = drawn(np.random.default_rng(1).normal(size=(4, 30)))
    straight = [Margin(margin.centre, margin.scale, margin.df) for margin in made]
    assert_allclose(with_margins(draws, mean, root, df, straight), draws, atol=1e-12)


def test_many_models_come_near_all_their_margins():
    setup = drawn(np.random.default_rng(2).lognormal(size=(5, 50)))
    moved = with_margins(*setup)
    apart = [distance(moved, a, b, margin) for (a, b), margin in zip(all_pairs(5), setup[-1], strict=True)]
    assert max(apart) < 0.05
    assert_allclose(moved.sum(-1), 0, atol=1e-12)


def test_a_model_that_is_known_badly_does_not_disturb_a_pair_that_is_known_well():
    rng = np.random.default_rng(3)
    values = rng.lognormal(size=(3, 40)) * np.array([[1.0], [1.0], [1000.0]])
    draws, mean, root, df, made = drawn(values)
    moved = with_margins(draws, mean, root, df, made)
    assert distance(moved, 0, 1, made[0]) < 0.03


def test_groups_of_unequal_spread_give_every_pair_its_own_degrees_of_freedom():
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1], [5, 40])
    scale = np.where(groups == 0, np.array([[1.0], [1.0], [30.0]]), 1.0)
    setup = drawn(rng.normal(size=(3, 45)) * scale, groups)
    assert setup[-1][0].df > 2 * setup[-1][1].df
    moved = with_margins(*setup)
    for (a, b), margin in zip(all_pairs(3), setup[-1], strict=True):
        assert distance(moved, a, b, margin) < 0.04


@pytest.fixture(scope="module")
def raked():
    setup = drawn(np.random.default_rng(5).lognormal(size=(4, 20)))
    moved = with_margins(*setup)
    return moved.reshape(-1, 4), rake(moved, setup[-1]), setup[-1]


def test_raked_draws_order_every_pair_as_its_margin_says(raked):
    draws, weights, made = raked
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    for (a, b), margin in zip(all_pairs(4), made, strict=True):
        assert weights @ (draws[:, a] < draws[:, b]) == pytest.approx(margin.below(0.0), abs=1e-5)


def test_raking_is_gentle(raked):
    _, weights, _ = raked
    assert 1 / (weights**2).sum() > 0.9 * len(weights)


def test_raking_leaves_orders_that_no_draw_has_and_constants():
    draws = np.random.default_rng(6).normal(size=(100, 3)) + np.array([0.0, 0.0, 50.0])
    draws[:, 1] = draws[:, 0]
    weights = rake(draws, [Margin(0.0, 0.0, 9.0), Margin(-50.0, 1.0, 9.0), Margin(-50.0, 1.0, 9.0)])
    assert_allclose(weights, 0.01, rtol=1e-12)
