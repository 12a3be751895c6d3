import itertools

import numpy as np
import pytest
from made_scores import make
from numpy.testing import assert_allclose

from probtruth.comparison.compare import compare
from probtruth.comparison.decisions import credible_set, decide

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


def test_ranks_are_those_of_brute_force_with_ties_shared():
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 3, (40, 4)).astype(float)
    decided = decide(draws.reshape(4, 10, 4))
    wanted = brute_force(draws)
    assert_allclose(decided.rank_probability, wanted, atol=ROUND_OFF)
    assert_allclose(decided.p_best, wanted[:, 0], atol=ROUND_OFF)
    assert_allclose(decided.expected_rank, wanted @ np.arange(1, 5), atol=ROUND_OFF)
    assert_allclose(decided.expected_regret, (draws - draws.min(1)[:, None]).mean(0), atol=ROUND_OFF)
    assert_allclose(decided.rank_probability.sum(0), 1, atol=ROUND_OFF)


def test_identical_models_share_the_first_rank():
    decided = decide(np.zeros((2, 5, 3)))
    assert_allclose(decided.rank_probability, 1 / 3, atol=ROUND_OFF)
    assert decided.expected_regret.tolist() == [0, 0, 0]


def test_the_smallest_set_that_holds_the_best():
    assert credible_set({"a": 0.6, "b": 0.36, "c": 0.04}) == (["a", "b"], pytest.approx(0.96))
    assert credible_set({"a": 0.99, "b": 0.01}) == (["a"], 0.99)
    held, mass = credible_set({"d": 0.2, "a": 0.4, "b": 0.2, "c": 0.2})
    assert held == ["a", "b", "c", "d"]
    # two that nothing tells apart are in together
    assert credible_set({"a": 0.9, "b": 0.05, "c": 0.05})[0] == ["a", "b", "c"]
    assert mass == 1


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
