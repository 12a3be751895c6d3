"""The frontier of score and cost against counting by hand."""

import numpy as np
import pytest
from made_scores import make

import probtruth as pt
from probtruth.errors import InputError
from probtruth.types.frontier import Frontier, prices, unbeaten


def by_hand(losses: np.ndarray, cost: np.ndarray) -> np.ndarray:
    unbeaten = np.ones(losses.shape, bool)
    for draw, row in enumerate(losses):
        for one in range(len(cost)):
            for other in range(len(cost)):
                as_good = row[other] <= row[one] and cost[other] <= cost[one]
                if as_good and (row[other] < row[one] or cost[other] < cost[one]):
                    unbeaten[draw, one] = False
    return unbeaten


def frontier(losses: np.ndarray, costs: dict[str, float], rope: float | None) -> Frontier:
    drawn = np.broadcast_to(prices(costs, list(costs)), losses.shape)
    return Frontier.of(list(costs), np.zeros(len(costs)), losses, drawn, rope)


def test_no_model_that_is_beaten_is_on_the_frontier() -> None:
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 4, (200, 6)).astype(float)  # with ties
    cost = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 5.0])
    costs = np.broadcast_to(cost, losses.shape)
    np.testing.assert_array_equal(unbeaten(losses, costs), by_hand(losses, cost))


def test_the_best_model_is_always_on_it_and_the_cheapest_within_the_rope_is_named() -> None:
    losses = np.array([[0.0, 0.05, 1.0], [0.0, 0.08, 1.0]])
    costs = {"best": 10.0, "near": 1.0, "poor": 0.1}
    found = frontier(losses, costs, 0.1)
    assert [offer.model for offer in found.offers] == ["poor", "near", "best"]
    assert [offer.p_frontier for offer in found.offers] == [1.0, 1.0, 1.0]
    assert [offer.p_good_enough for offer in found.offers] == [0.0, 1.0, 1.0]
    assert found.cheapest == "near"
    assert found.offers[1].expected_regret == pytest.approx(0.065)
    assert frontier(losses, costs, None).cheapest is None
    dear = frontier(losses, costs | {"poor": 20.0}, 0.01)
    assert dear.offers[-1].p_frontier == 0.0
    assert dear.cheapest == "best"


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_a_comparison_knows_its_frontier(higher_is_better: bool) -> None:
    rng = np.random.default_rng(1)
    sign = -1.0 if higher_is_better else 1.0
    rows = {name: sign * (mean + rng.standard_normal(50)) for name, mean in (("a", 0.0), ("b", 0.1), ("c", 3.0))}
    comparison = pt.compare(make(list(rows.values()), "abc", higher_is_better=higher_is_better), rope=0.5)
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


def test_costs_by_item_are_drawn_together_with_the_scores() -> None:
    """Against the covariance of the means by hand: as items are dearer, so they are harder."""
    rng = np.random.default_rng(2)
    n = 4000
    score = rng.standard_normal((3, n)) + np.array([[0.0], [0.01], [0.02]])
    cost = 5.0 + 0.8 * score + 0.6 * rng.standard_normal((3, n))
    cost[0] += 1.0
    comparison = pt.compare(make(score, "abc"))
    draws = comparison.datatree["posterior"]["contrast"].to_numpy().reshape(-1, 3)
    drawn = comparison.costs_drawn(make(cost, "abc"), ("a", "b", "c"), draws)
    np.testing.assert_allclose(drawn.mean(0), cost.mean(1), atol=5 / np.sqrt(n * len(draws)))
    centred = np.concatenate([draws - draws.mean(0), drawn - drawn.mean(0)], axis=1)
    contrast = score - score.mean(0)
    expected = np.cov(np.concatenate([contrast, cost])) / n
    # Monte Carlo: a covariance of so many draws is off by sqrt(2/draws) of its variances
    np.testing.assert_allclose(np.cov(centred.T), expected, atol=5 * np.sqrt(2 / len(draws)) / n)
    found = {offer.model: offer for offer in comparison.frontier(make(cost, "abc")).offers}
    assert found["a"].cost == pytest.approx(cost[0].mean(), rel=1e-9)  # without Monte Carlo error
    assert found["a"].cost_low < cost[0].mean() < found["a"].cost_high
    assert found["a"].cost_high - found["a"].cost_low == pytest.approx(2 * 1.96 / np.sqrt(n), rel=0.1)
    with pytest.raises(InputError, match="no cost of item '3999'"):
        comparison.frontier(make(cost[:, :-1], "abc"))


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_a_model_whose_mean_cost_is_not_known_is_named(unknown: float) -> None:
    """Infinite costs ended in `LinAlgError`; a model without any cost, in a sentence about its scores."""
    rng = np.random.default_rng(3)
    cost = rng.random((2, 40))
    cost[1, : 1 if np.isinf(unknown) else 40] = unknown
    comparison = pt.compare(make(rng.standard_normal((2, 40)), "ab"), engine="exact")
    with pytest.raises(InputError, match="no cost of model 'b', or an infinite one"):
        comparison.frontier(make(cost, "ab"))


def test_models_of_like_costs_by_item_tie_and_a_free_one_costs_nothing() -> None:
    """Rounding decided which of two models with the same costs was dearer: of the worse one P was 0.2 to 0.5."""
    rng = np.random.default_rng(0)
    score = rng.standard_normal((3, 60)) + np.array([[0.0], [2.0], [4.0]])
    tokens = rng.lognormal(size=60)
    comparison = pt.compare(make(score, "abc", higher_is_better=False), engine="exact")
    for cost in (np.tile(tokens, (3, 1)), np.full((3, 60), 0.02)):
        found = {offer.model: offer.p_frontier for offer in comparison.frontier(make(cost, "abc")).offers}
        assert found == {"a": 1.0, "b": 0.0, "c": 0.0}
    free = comparison.frontier(make(np.stack([tokens, 0 * tokens, 0 * tokens]), "abc")).offers
    assert [(offer.model, offer.cost, offer.cost_high, offer.p_frontier) for offer in free[:2]] == [
        ("b", 0.0, None, 1.0),
        ("c", 0.0, None, 0.0),
    ]
