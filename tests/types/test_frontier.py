"""The frontier of score and cost against counting by hand."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.types.frontier import Frontier, _unbeaten


def by_hand(losses: np.ndarray, cost: np.ndarray) -> np.ndarray:
    unbeaten = np.ones(losses.shape, bool)
    for draw, row in enumerate(losses):
        for one in range(len(cost)):
            for other in range(len(cost)):
                as_good = row[other] <= row[one] and cost[other] <= cost[one]
                if as_good and (row[other] < row[one] or cost[other] < cost[one]):
                    unbeaten[draw, one] = False
    return unbeaten


def test_no_model_that_is_beaten_is_on_the_frontier() -> None:
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 4, (200, 6)).astype(float)  # with ties
    cost = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 5.0])
    np.testing.assert_array_equal(_unbeaten(losses, cost), by_hand(losses, cost))


def test_the_best_model_is_always_on_it_and_the_cheapest_within_the_rope_is_named() -> None:
    losses = np.array([[0.0, 0.05, 1.0], [0.0, 0.08, 1.0]])
    costs = {"best": 10.0, "near": 1.0, "poor": 0.1}
    found = Frontier.of(list(costs), np.zeros(3), losses, costs, 0.1)
    assert [offer.model for offer in found.offers] == ["poor", "near", "best"]
    assert [offer.p_frontier for offer in found.offers] == [1.0, 1.0, 1.0]
    assert [offer.p_good_enough for offer in found.offers] == [0.0, 1.0, 1.0]
    assert found.cheapest == "near"
    assert found.offers[1].expected_regret == pytest.approx(0.065)
    assert Frontier.of(list(costs), np.zeros(3), losses, costs, None).cheapest is None
    dear = Frontier.of(list(costs), np.zeros(3), losses, costs | {"poor": 20.0}, 0.01)
    assert dear.offers[-1].p_frontier == 0.0
    assert dear.cheapest == "best"


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_a_comparison_knows_its_frontier(higher_is_better: bool) -> None:
    rng = np.random.default_rng(1)
    sign = -1.0 if higher_is_better else 1.0
    rows = {name: sign * (mean + rng.standard_normal(50)) for name, mean in (("a", 0.0), ("b", 0.1), ("c", 3.0))}
    table = {
        "item": list(range(50)) * 3,
        "model": np.repeat(list(rows), 50).tolist(),
        "score": np.concatenate(list(rows.values())),
    }
    comparison = pt.compare(pt.Scores.from_frame(table, higher_is_better=higher_is_better), rope=0.5)
    found = comparison.frontier({"a": 2.0, "b": 1.0, "c": 1.5})
    chance = {offer.model: offer.p_frontier for offer in found.offers}
    assert chance["c"] < 0.01  # b is cheaper and better
    assert chance["b"] == 1.0
    best = {rank.model: rank.p_best for rank in comparison.ranks}
    assert chance["a"] == pytest.approx(best["a"], abs=0.02)  # it is on it where it is better than b
    assert found.cheapest == "b"
    with pytest.raises(InputError, match="no cost of 'c'"):
        comparison.frontier({"a": 2.0, "b": 1.0})
    with pytest.raises(InputError, match="cost of 'a'"):
        comparison.frontier({"a": -2.0, "b": 1.0, "c": 1})
