import numpy as np
import pytest

from probtruth.comparison.decisions import CUT, tiers


def draws_of(*shares):
    """Three models in the order 0, 1, 2 of their means; each share of the draws has them in another order."""
    orders = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [0.0, 2.0, 1.0]])
    return np.repeat(orders, np.array(shares), axis=0)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((1000, 0, 0), [1, 2, 3]),
        ((975, 25, 0), [1, 2, 3]),  # 0 before 1 in exactly .975 of the draws
        ((970, 30, 0), [1, 1, 2]),
        ((970, 0, 30), [1, 2, 2]),
        ((940, 30, 30), [1, 1, 1]),
    ],
)
def test_a_tier_begins_where_the_two_sides_are_in_order_with_the_probability_of_a_cut(shares, expected):
    assert CUT == 0.975
    assert tiers(draws_of(*shares), np.array([0.1, 0.2, 0.3])).tolist() == expected


def test_tiers_follow_the_means_whatever_the_order_of_the_models():
    draws, means = draws_of(970, 30, 0), np.array([0.1, 0.2, 0.3])
    assert tiers(draws[:, [2, 0, 1]], means[[2, 0, 1]]).tolist() == [2, 1, 1]


def test_a_difference_inside_the_rope_is_no_cut():
    draws, means = draws_of(1000, 0, 0), np.array([0.1, 0.2, 0.3])
    assert tiers(draws, means, rope=0.5).tolist() == [1, 2, 3]
    assert tiers(draws, means, rope=1.5).tolist() == [1, 1, 1]


def test_equal_means_are_never_parted():
    assert tiers(draws_of(1000, 0, 0), np.array([0.1, 0.1, 0.3])).tolist() == [1, 1, 2]
