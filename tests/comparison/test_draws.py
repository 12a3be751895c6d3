"""Joint draws have the margins of the pairs, whatever the spreads."""

from itertools import combinations

import numpy as np
import pytest
from made_scores import located
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.estimation.estimate import Part
from probtruth.comparison.posterior.margin import Margin, other_df
from probtruth.comparison.posterior.posterior import Tree, closed_form, total_df


def drawn(values, groups=None, straight=False):
    """Draws of the models' means, and the margins of the pairs."""
    place = located(values, groups)
    made = place.margins
    df = total_df(Part(place.variance, place.third, place.df))
    tree = Tree.of(made, len(values), df)
    if straight:
        made = [Margin(margin.centre, margin.scale, margin.df) for margin in made]
    return tree.means(tree.draw(made, closed_form(tree.root, df, 2500, 0), df)), made


def distance(draws, a, b, margin):
    """Kolmogorov's distance of the draws' difference from the margin."""
    return stats.kstest(draws[:, a] - draws[:, b], np.vectorize(margin.below)).statistic


@pytest.mark.parametrize("straight", [True, False])
def test_all_pairs_come_near_their_margins(straight):
    draws, made = drawn(np.random.default_rng(2).lognormal(size=(5, 50)), straight=straight)
    apart = [distance(draws, a, b, margin) for (a, b), margin in zip(combinations(range(5), 2), made, strict=True)]
    assert max(apart) < (0.02 if straight else 0.05)


@pytest.mark.parametrize("size", [1e3, 1e8, 1e-8])
def test_a_model_of_another_scale_does_not_disturb_a_pair(size):
    rng = np.random.default_rng(3)
    values = rng.lognormal(size=(4, 40)) * np.array([[1.0], [1.0], [size], [size]])
    draws, made = drawn(values)
    for (a, b), margin in zip(combinations(range(4), 2), made, strict=True):
        if {a, b} == ({0, 1} if size > 1 else {2, 3}):
            assert distance(draws, a, b, margin) < 0.03


def test_groups_of_unequal_spread_give_every_pair_its_own_degrees_of_freedom():
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1], [5, 40])
    scale = np.where(groups == 0, np.array([[1.0], [1.0], [30.0]]), 1.0)
    draws, made = drawn(rng.normal(size=(3, 45)) * scale, groups)
    assert made[0].df > 2 * made[1].df
    for (a, b), margin in zip(combinations(range(3), 2), made, strict=True):
        assert distance(draws, a, b, margin) < 0.04


def test_identical_models_are_drawn_as_ties_and_constants_as_constants():
    rng = np.random.default_rng(4)
    row, other = rng.normal(size=(2, 30))
    for values, constant in (([row, other, row], False), ([row, row + 0.5, row], True)):
        draws, _ = drawn(np.stack(values))
        assert np.array_equal(draws[:, 0], draws[:, 2])
        if constant:
            assert_allclose(draws[:, 1] - draws[:, 0], 0.5, rtol=1e-12)


def test_draws_of_the_steps_are_multivariate_t():
    root = np.linalg.cholesky(np.array([[1.0, 0.6], [0.6, 1.0]]))
    draws = closed_form(root, 6.0, 2500, 3)
    for direction in (np.array([1.0, 0.0]), np.array([0.8, -1.0])):
        scale = np.linalg.norm(direction @ root)
        assert stats.kstest(draws @ direction, stats.t(6, 0, scale).cdf).pvalue > 1e-4
    assert stats.kstest(other_df(draws[:, 0], 6.0, 30.0), stats.t(30).cdf).pvalue > 1e-4
