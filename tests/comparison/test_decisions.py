import itertools

import numpy as np
import pytest
from made_scores import make
from numpy.testing import assert_allclose

from probtruth.comparison.compare import compare
from probtruth.comparison.posterior.posterior import CUT, decide, tiers

ROUND_OFF = 1e-12


def brute_force(draws):
    """Ranks of each draw with ties broken in every possible way."""
    n_models = draws.shape[1]
    probability = np.zeros((n_models, n_models))
    for draw in draws:
        orders = [
            order
            for order in itertools.permutations(range(n_models))
            if all(draw[first] <= draw[then] for first, then in itertools.pairwise(order))
        ]
        for order in orders:
            for rank, model in enumerate(order):
                probability[model, rank] += 1 / len(orders) / len(draws)
    return probability


def test_ranks_are_those_of_brute_force_and_twins_share_them():
    draws = np.random.default_rng(0).normal(size=(40, 3))[:, [2, 0, 1, 0, 0]]
    chances, regret = decide(draws.reshape(4, 10, 5))
    assert_allclose(chances, brute_force(draws), atol=ROUND_OFF)
    assert_allclose(regret, (draws - draws.min(1)[:, None]).mean(0), atol=ROUND_OFF)


def test_decisions_of_a_comparison(five, five_compared):
    said = five_compared.decisions
    best = five_compared.ranks[0]
    assert (said["chosen"], said["score"]) == (best["model"], pytest.approx(best["score"]))
    assert set(said["credible_set"]) <= set(five.models)
    assert said["credible_set_probability"] >= 0.95
    for row in said["rank_probability"]:
        (rank,) = [one for one in five_compared.ranks if one["model"] == row["model"]]
        assert sum(row["probability"]) == pytest.approx(1, rel=1e-12)
        assert row["probability"][0] == rank["p_best"]


def test_identical_models_are_all_in_the_set_and_infinite_ones_are_not():
    row = np.random.default_rng(1).normal(size=30)
    assert compare(make([row, row], "ab"), engine="exact").decisions["credible_set"] == ["a", "b"]
    worse = compare(make([row, row, np.r_[np.inf, row[1:]]], "abc"), engine="exact").decisions
    assert worse["credible_set"] == ["a", "b"]
    unknown = compare(make([np.r_[np.inf, row], np.r_[np.inf, row]], "ab")).decisions
    assert unknown["credible_set"] is None
    assert unknown["chosen"] is None


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


def test_tiers_follow_the_means_and_no_cut_parts_equal_means_or_models_within_the_rope():
    sure, means = draws_of(1000, 0, 0), np.array([0.1, 0.2, 0.3])
    turned = [2, 0, 1]
    assert tiers(draws_of(970, 30, 0)[:, turned], means[turned]).tolist() == [2, 1, 1]
    assert tiers(sure, means, rope=0.5).tolist() == [1, 2, 3]
    assert tiers(sure, means, rope=1.5).tolist() == [1, 1, 1]
    assert tiers(sure, np.array([0.1, 0.1, 0.3])).tolist() == [1, 1, 2]
