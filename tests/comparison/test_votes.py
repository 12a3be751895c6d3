"""Votes on pairs of models: published strengths, likelihoods by scipy, and simulated prompts and annotators."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import probtruth as pt
from probtruth.comparison.votes import Chances, Fit, difference_at, preferred
from probtruth.errors import InputError

# American League 1987, games won by the row's team against the column's: Agresti, Categorical Data Analysis (2002),
# table 10.10. Strengths relative to Baltimore: the vignette of BradleyTerry2 (R), model without an effect of home.
WINS = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)
PUBLISHED = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)
FOUR_DIGITS = 5e-5


def votes_from(
    left: np.ndarray,
    right: np.ndarray,
    outcome: np.ndarray,
    n_models: int,
    item: np.ndarray | None = None,
    annotator: np.ndarray | None = None,
) -> pt.Votes:
    n = len(outcome)
    places = np.arange(n) if item is None else item
    return pt.Votes(
        places,
        left,
        right,
        outcome,
        tuple(f"m{at:02d}" for at in range(n_models)),
        tuple(map(str, range(int(places.max()) + 1))),
        annotator,
        () if annotator is None else tuple(f"u{at}" for at in range(int(annotator.max()) + 1)),
        item is not None,
    )


def simulated(
    rng: np.random.Generator, n_models: int, prompts: int, annotators: int, n: int, spread: float, ties: float
) -> tuple[pt.Votes, float]:
    """Votes whose differences have tastes of prompts and of annotators; and P(last is preferred to the first)."""
    strength = np.linspace(-0.5, 0.5, n_models)
    left = rng.integers(n_models, size=n)
    right = (left + rng.integers(1, n_models, size=n)) % n_models
    item = rng.integers(prompts, size=n)
    annotator = rng.integers(annotators, size=n)
    of_item = spread * rng.standard_normal((prompts, n_models))
    of_annotator = spread / 2 * rng.standard_normal((annotators, n_models))
    quality = strength + of_item[item][:, :] + of_annotator[annotator]
    rows = np.arange(n)
    chances = Chances.of(quality[rows, left] - quality[rows, right], ties)
    u = rng.random(n)
    outcome = np.where(u < chances.left, 1, np.where(u < chances.left + chances.tie, 0, -1))
    noise = spread * np.sqrt(2 * 1.25) * np.random.default_rng(0).standard_normal(200_000)
    true = float(preferred(strength[-1] - strength[0] + noise, ties).mean())
    return votes_from(left, right, outcome, n_models, item, annotator), true


def test_baseball_1987_has_the_published_strengths() -> None:
    left, right = [], []
    for one, row in enumerate(WINS):
        for other, wins in enumerate(row):
            left += [one] * wins
            right += [other] * wins
    votes = votes_from(np.array(left), np.array(right), np.ones(len(left), int), 7)
    strength = Fit.of(votes, added=0.0).strength
    np.testing.assert_allclose(strength - strength[-1], PUBLISHED, rtol=0, atol=FOUR_DIGITS)


def test_ties_have_the_largest_likelihood_of_davidsons_model() -> None:
    votes, _ = simulated(np.random.default_rng(1), 5, 40, 8, 800, 0.3, 1.0)

    def minus_likelihood(free: np.ndarray) -> float:
        strength = np.append(free[:4], 0.0)
        d = strength[votes.left] - strength[votes.right]
        logits = np.stack([d / 2, np.full(len(d), free[4]), -d / 2])  # left, tie, right
        of_outcome = logits[1 - votes.outcome, np.arange(len(d))]
        return float((np.logaddexp.reduce(logits, axis=0) - of_outcome).sum())

    found = minimize(minus_likelihood, np.zeros(5), method="BFGS", options={"gtol": 1e-6})
    fit = Fit.of(votes, added=0.0)
    np.testing.assert_allclose(fit.strength[:4] - fit.strength[4], found.x[:4], atol=1e-4)
    assert np.log(fit.tie_weight) == pytest.approx(found.x[4], abs=1e-4)


def test_preference_and_difference_are_each_others_inverse() -> None:
    for ties in (0.0, 0.3, 5.0):
        for points in (0.0, 0.01, 0.2, 0.49):
            assert preferred(difference_at(points, ties), ties) == pytest.approx(0.5 + points, abs=1e-12)
    extreme = preferred(np.array([-3000.0, 0.0, 3000.0]), 1.0)
    assert extreme.tolist() == [0.0, 0.5, 1.0]


def test_a_model_that_wins_every_vote_has_a_finite_strength() -> None:
    left = np.array([0, 0, 0, 1, 1, 2, 2])
    right = np.array([1, 1, 2, 2, 0, 0, 1])
    outcome = np.array([1, 1, 1, 1, -1, -1, -1])
    comparison = pt.compare(votes_from(left, right, outcome, 3, np.arange(7)))
    assert np.isfinite([rank.score for rank in comparison.ranks]).all()
    assert comparison.ranks[0].model == "m00"


def test_swapped_sides_and_the_order_of_votes_change_nothing() -> None:
    rng = np.random.default_rng(2)
    votes, _ = simulated(rng, 4, 30, 6, 500, 0.5, 0.5)
    order = rng.permutation(500)
    flip = rng.random(500) < 0.5
    left = np.where(flip, votes.right, votes.left)[order]
    right = np.where(flip, votes.left, votes.right)[order]
    outcome = np.where(flip, -votes.outcome, votes.outcome)[order]
    other = votes_from(left, right, outcome, 4, votes.item[order], votes.annotator[order])
    for one, two in zip(pt.compare(votes).pairs, pt.compare(other).pairs, strict=True):
        assert one.low == pytest.approx(two.low, rel=1e-7)
        assert one.p_a_preferred == pytest.approx(two.p_a_preferred, rel=1e-7)


def test_prompts_and_annotators_widen_the_interval() -> None:
    votes, _ = simulated(np.random.default_rng(3), 3, 20, 5, 2000, 1.0, 0.5)
    whole = pt.compare(votes)
    bare = votes_from(votes.left, votes.right, votes.outcome, 3)
    independent = pt.compare(bare)
    assert whole.pairs[1].difference == pytest.approx(independent.pairs[1].difference, rel=1e-9)
    width = whole.pairs[1].high - whole.pairs[1].low
    assert width > 1.5 * (independent.pairs[1].high - independent.pairs[1].low)
    assert whole.uncertainty["annotators"] is not None
    assert "annotators" in " ".join(independent.warnings)


def test_a_rope_is_in_points_of_the_preference() -> None:
    votes, _ = simulated(np.random.default_rng(4), 3, 100, 20, 3000, 0.2, 0.5)
    found = pt.compare(votes, rope=0.02)
    assert found.rope == pytest.approx(difference_at(0.02, Fit.of(votes).tie_weight))
    assert pt.compare(votes, rope="2%").rope == found.rope
    with pytest.raises(InputError, match="rope"):
        pt.compare(votes, rope=0.5)
    with pytest.raises(InputError, match="votes with groups"):
        pt.compare(votes, groups={"a": "b"})


def test_models_that_no_chain_of_votes_connects_are_not_compared() -> None:
    votes, _ = simulated(np.random.default_rng(5), 3, 30, 6, 300, 0.2, 0.5)
    left = np.concatenate([votes.left, votes.left + 3])
    right = np.concatenate([votes.right, votes.right + 3])
    both = votes_from(left, right, np.tile(votes.outcome, 2), 6, np.tile(votes.item, 2), np.tile(votes.annotator, 2))
    comparison = pt.compare(both)
    for row in comparison.pairs:
        across = (row.a < "m03") != (row.b < "m03")
        assert (row.difference is None) == across
        assert (row.p_a_preferred is None) == across
    assert all(rank.p_best is None for rank in comparison.ranks)
    assert any("no chain of votes" in said for said in comparison.warnings)


def test_a_cycle_is_said_and_chance_is_not() -> None:
    n = 300
    left = np.repeat([0, 1, 2], n)
    right = np.repeat([1, 2, 0], n)
    outcome = np.where(np.random.default_rng(6).random(3 * n) < 0.7, 1, -1)
    cycle = votes_from(left, right, outcome, 3, np.tile(np.arange(60), 15))
    assert any("does not explain who beats whom" in said for said in pt.compare(cycle).warnings)
    said = 0
    for seed in range(30):
        votes, _ = simulated(np.random.default_rng(100 + seed), 4, 40, 8, 400, 0.0, 0.5)
        said += any("does not explain" in one for one in pt.compare(votes).warnings)
    assert said <= 2


@pytest.mark.parametrize(("prompts", "annotators", "spread", "least"), [(12, 40, 0.5, 0.9), (60, 12, 0.5, 0.9)])
def test_the_probability_of_preference_is_covered(prompts: int, annotators: int, spread: float, least: float) -> None:
    covered = 0
    runs = 80
    for seed in range(runs):
        votes, true = simulated(np.random.default_rng(1000 + seed), 3, prompts, annotators, 600, spread, 0.6)
        row = {pair.models: pair for pair in pt.compare(votes).pairs}["m00", "m02"].seen_from("m02")
        covered += row.p_a_preferred_low <= true <= row.p_a_preferred_high
    assert covered >= least * runs


def test_every_pair_is_reported_once_and_both_engines_agree() -> None:
    votes, _ = simulated(np.random.default_rng(7), 4, 40, 10, 800, 0.3, 0.5)
    comparison = pt.compare(votes)
    assert [row.models for row in comparison.pairs] == list(combinations(votes.models, 2))
    row = comparison.pairs[0]
    assert row.p_a_preferred == pytest.approx(preferred(row.difference, Fit.of(votes).tie_weight))
    assert row.seen_from(row.b).p_a_preferred_low == pytest.approx(1 - row.p_a_preferred_high)
