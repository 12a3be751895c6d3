import itertools

import numpy as np
from numpy.testing import assert_allclose

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, moments
from probtruth.comparison.posterior.decisions import decide, interchangeable, symmetric

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


def test_weights_count_as_so_many_draws():
    draws = np.random.default_rng(3).normal(size=(5, 3))
    counts = np.array([1, 2, 3, 1, 3])
    weighted, repeated = decide(draws, counts / 10), decide(np.repeat(draws, counts, axis=0))
    for name in ("p_best", "rank_probability", "expected_rank", "expected_regret"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=ROUND_OFF)


def test_identical_models_share_the_first_rank():
    decided = decide(np.zeros((2, 5, 3)))
    assert_allclose(decided.rank_probability, 1 / 3, atol=ROUND_OFF)
    assert decided.expected_regret.tolist() == [0, 0, 0]


def of(values):
    parts = moments(values, Structure.of(np.zeros(values.shape[1], int), None))
    return combine(parts, parts.pairs, np.ones(1))


def test_models_that_data_cannot_tell_apart_get_the_same():
    # swapping models 0 and 1 is the same as swapping the items 0 and 1
    values = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.5, 0.5, 0.2, 0.9]])
    classes = interchangeable(of(values), 3)
    assert classes.tolist() == [0, 0, 2]
    decided = symmetric(decide(np.random.default_rng(1).normal(size=(1, 50, 3))), classes)
    assert decided.p_best[0] == decided.p_best[1] != decided.p_best[2]
    assert_allclose(decided.p_best.sum(), 1, atol=ROUND_OFF)
    assert_allclose(decided.rank_probability.sum(0), 1, atol=ROUND_OFF)


def test_models_of_different_mean_or_skewness_are_not_interchangeable():
    rng = np.random.default_rng(2)
    assert interchangeable(of(rng.normal(size=(4, 10))), 4).tolist() == [0, 1, 2, 3]
    skewed = np.array([3.0, -1.0, -1.0, -1.0, 0.0])
    assert interchangeable(of(np.stack([skewed, np.zeros(5)])), 2).tolist() == [0, 1]
