"""Votes on pairs of models: published strengths, likelihoods by scipy, and simulated prompts and annotators."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, binomtest

import probtruth as pt
from probtruth.comparison.votes.fit import Fit, Pairs
from probtruth.comparison.votes.likelihood import Chances, Preference
from probtruth.comparison.votes.votes import estimate_of_votes
from probtruth.errors import InputError
from probtruth.report.tables import frontier_sentence

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
# Chocolate puddings, six brands: table 1 of Davidson 1970, votes for i, votes for j and ties of the pairs of brands
# (1, 2), (1, 3) to (5, 6). Worths and weight of ties: the R package PlackettLuce 0.4, `coef(mod, log = FALSE)` in its
# overview, which are Davidson's.
WON = (19, 16, 18, 13, 18, 19, 23, 16, 22, 19, 16, 13, 17, 14, 11)
LOST = (22, 19, 23, 19, 21, 19, 19, 20, 20, 20, 15, 18, 14, 19, 21)
TIED = (16, 12, 13, 18, 12, 10, 9, 12, 12, 15, 17, 10, 16, 18, 12)
WORTHS = (0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855)
PUDDING_TIES = 0.7468147
FOUR_DIGITS = 5e-5
ABOUT = 0.015  # Clopper and Pearson's interval covers more than it says; Wilson's begins 0.007 higher


def votes_from(left, right, outcome, n_models, item=None, annotator=None, placed=True) -> pt.Votes:
    places = np.arange(len(outcome)) if item is None else item
    models = tuple(f"m{at:02d}" for at in range(n_models))
    items = tuple(map(str, range(int(places.max()) + 1)))
    annotators = () if annotator is None else tuple(f"u{at}" for at in range(int(annotator.max()) + 1))
    return pt.Votes(places, left, right, outcome, models, items, annotator, annotators, item is not None, placed)


def part_of(votes: pt.Votes, chosen: np.ndarray) -> pt.Votes:
    columns = ("item", "left", "right", "outcome", "annotator")
    return replace(votes, **{name: getattr(votes, name)[chosen] for name in columns})


def simulated(rng, n_models, prompts, annotators, n, spread, ties) -> tuple[pt.Votes, float]:
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
    of_left = chances.mean + (1 - chances.tie) / 2
    outcome = np.where(u < of_left, 1, np.where(u < of_left + chances.tie, 0, -1))
    noise = spread * np.sqrt(2 * 1.25) * np.random.default_rng(0).standard_normal(200_000)
    true = float(Preference(ties).at(strength[-1] - strength[0] + noise).mean())
    return votes_from(left, right, outcome, n_models, item, annotator), true


def test_baseball_1987_has_the_published_strengths():
    wins = np.ravel(WINS)
    left, right = np.repeat(np.indices((7, 7)).reshape(2, 49), wins, axis=1)
    votes = votes_from(left, right, np.ones(wins.sum(), int), 7, placed=False)
    strength = Fit.of(votes, added=0.0).strength
    np.testing.assert_allclose(strength - strength[-1], PUBLISHED, rtol=0, atol=FOUR_DIGITS)


def test_puddings_have_davidsons_worths_and_ties():
    left, right = np.repeat(np.tile(np.triu_indices(6, 1), 3), WON + LOST + TIED, axis=1)
    outcome = np.repeat([1, -1, 0], [sum(WON), sum(LOST), sum(TIED)])
    fit = Fit.of(votes_from(left, right, outcome, 6, placed=False), added=0.0)
    worth = np.exp(fit.strength)
    np.testing.assert_allclose(worth / worth.sum(), WORTHS, rtol=0, atol=FOUR_DIGITS)
    assert fit.preference.tie_weight == pytest.approx(PUDDING_TIES, abs=FOUR_DIGITS)


def test_ties_have_the_largest_likelihood_of_davidsons_model():
    votes, _ = simulated(np.random.default_rng(1), 5, 40, 8, 800, 0.3, 1.0)
    # a fifth of the votes is on one prompt, and one model stands left there
    more = {"item": [0] * 200, "left": [0] * 200, "right": [1] * 200, "outcome": [1, 1, 0, -1] * 50}
    longer = {name: np.append(getattr(votes, name), added) for name, added in more.items()}
    votes = replace(votes, **longer, annotator=np.append(votes.annotator, [0] * 200))

    # the side is held by as many votes as balance says, so that the likelihood alone is that without it
    free_side = Fit.of(votes, added=0.0)
    firm = 16.0 / 4 / (Pairs.of(votes.left, votes.right).balance ** 2 + 1e-6)

    def minus_likelihood(free: np.ndarray) -> float:
        strength = np.append(free[:4], 0.0)
        d = strength[votes.left] - strength[votes.right] + free[5]
        logits = np.stack([d / 2, np.full(len(d), free[4]), -d / 2])  # left, tie, right
        of_outcome = logits[1 - votes.outcome, np.arange(len(d))]
        return float((np.logaddexp.reduce(logits, axis=0) - of_outcome).sum() + firm * free[5] ** 2 / 2)

    found = minimize(minus_likelihood, np.zeros(6), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(free_side.strength[:4] - free_side.strength[4], found.x[:4], atol=1e-4)
    assert np.log(free_side.preference.tie_weight) == pytest.approx(found.x[4], abs=1e-4)
    assert free_side.preference.side == pytest.approx(found.x[5], abs=1e-4)


def test_preference_and_difference_are_each_others_inverse():
    for ties in (0.0, 0.3, 5.0):
        for points in (0.0, 0.01, 0.2, 0.49):
            found = Preference(ties, 0.4).difference_at(points)
            assert Preference(ties, 0.4).at(found) == pytest.approx(0.5 + points, abs=1e-12)
    extreme = Preference(1.0).at(np.array([-3000.0, 0.0, 3000.0]))
    assert extreme.tolist() == [0.0, 0.5, 1.0]


def test_a_model_that_wins_every_vote_has_a_finite_strength():
    left, right = np.repeat([[0, 0, 1, 2, 2], [1, 2, 2, 0, 1]], [2, 1, 1, 1, 2], axis=1)
    outcome = np.array([1, 1, 1, 1, -1, -1, -1])
    ranks = pt.compare(votes_from(left, right, outcome, 3, np.arange(7))).ranks
    assert np.isfinite([rank.score for rank in ranks]).all()
    assert ranks[0].model == "m00"


def test_of_many_models_with_few_votes_a_pair_strengths_are_not_drawn_together():
    """Half a vote each way on each of the pairs that were compared is more than their votes: the slope was 0.6."""
    rng = np.random.default_rng(0)
    true = np.linspace(0.0, 3.0, 40)
    left = rng.integers(40, size=1200)
    right = (left + rng.integers(1, 40, size=1200)) % 40
    outcome = np.where(rng.random(1200) < 1 / (1 + np.exp(true[right] - true[left])), 1, -1)
    votes = votes_from(left, right, outcome, 40, placed=False)
    slope = np.polyfit(true, Fit.of(votes).strength, 1)[0]
    assert slope == pytest.approx(1.0, abs=0.1)
    pairs = pt.compare(votes, engine="exact").pairs
    held = [row.low <= true[int(row.a[1:])] - true[int(row.b[1:])] <= row.high for row in pairs]
    assert np.mean(held) > 0.9


@pytest.mark.parametrize(("n", "exact"), [(20, 0.8316), (40, 0.9119)])
def test_votes_that_all_say_the_same_have_an_interval_with_a_width(n, exact):
    # scipy 1.17: beta.ppf(0.025, n, 1), which is Clopper and Pearson's
    ones = np.ones(n, int)
    won, tied = [pt.compare(votes_from(0 * ones, ones, outcome, 2)).pairs[0] for outcome in (ones, 0 * ones)]
    assert won.p_a_preferred_low == pytest.approx(exact, abs=ABOUT)
    assert won.p_a_preferred_high > 0.997
    assert tied.p_a_preferred_low < 0.495 < 0.505 < tied.p_a_preferred_high


def test_the_order_of_votes_changes_nothing_nor_do_sides_that_are_not_recorded():
    rng = np.random.default_rng(2)
    votes, _ = simulated(rng, 4, 30, 6, 500, 0.5, 0.5)
    votes = replace(votes, placed=False)
    order = rng.permutation(500)
    flip = rng.random(500) < 0.5
    left = np.where(flip, votes.right, votes.left)[order]
    right = np.where(flip, votes.left, votes.right)[order]
    outcome = np.where(flip, -votes.outcome, votes.outcome)[order]
    other = votes_from(left, right, outcome, 4, votes.item[order], votes.annotator[order], placed=False)
    for one, two in zip(pt.compare(votes).pairs, pt.compare(other).pairs, strict=True):
        assert one.low == pytest.approx(two.low, rel=1e-7)
        assert one.p_a_preferred == pytest.approx(two.p_a_preferred, rel=1e-7)


def test_an_advantage_of_the_left_side_is_taken_off_where_pairs_stand_both_ways_round():
    rng = np.random.default_rng(12)
    n = 6000
    first = rng.random(n) < 0.8  # the weaker model stands left four times in five
    left = np.where(first, 0, 1)
    d = np.where(first, -0.5, 0.5) + 0.8
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-d)), 1, -1)
    votes = votes_from(left, 1 - left, outcome, 2)
    fit = Fit.of(votes)
    assert fit.preference.side == pytest.approx(0.8, abs=0.15)
    assert fit.strength[1] - fit.strength[0] == pytest.approx(0.5, abs=0.15)
    assert Fit.of(replace(votes, placed=False)).strength[1] < 0
    mirrored = votes_from(1 - left, left, -outcome, 2)
    assert Fit.of(mirrored).preference.side == pytest.approx(-fit.preference.side, rel=1e-7)
    pair = pt.compare(votes).pairs[0]
    assert pt.compare(mirrored).pairs[0].p_a_preferred_low == pytest.approx(pair.p_a_preferred_low, rel=1e-7)


def test_a_vote_the_other_way_round_changes_little():
    # of tables in which one model always stands left, nothing is known of sides; one vote tells next to nothing
    rng = np.random.default_rng(13)
    outcome = np.where(rng.random(400) < 0.6, 1, -1)
    left = np.zeros(400, int)
    before = pt.compare(votes_from(left, 1 - left, outcome, 2)).pairs[0]
    left[0] = 1
    outcome[0] = -outcome[0]
    after = pt.compare(votes_from(left, 1 - left, outcome, 2)).pairs[0]
    tenth = (before.high - before.low) / 10
    assert after.low == pytest.approx(before.low, abs=tenth)
    assert after.high == pytest.approx(before.high, abs=tenth)


def test_prompts_and_annotators_widen_the_interval():
    votes, _ = simulated(np.random.default_rng(3), 3, 20, 5, 2000, 1.0, 0.5)
    whole = pt.compare(votes)
    assert [row.models for row in whole.pairs] == list(combinations(votes.models, 2))
    row = whole.pairs[0]
    assert row.p_a_preferred == pytest.approx(Fit.of(votes).preference.at(row.difference))
    assert row.seen_from(row.b).p_a_preferred_low == pytest.approx(1 - row.p_a_preferred_high)
    independent = pt.compare(votes_from(votes.left, votes.right, votes.outcome, 3))
    assert whole.pairs[1].difference == pytest.approx(independent.pairs[1].difference, rel=1e-9)
    width = whole.pairs[1].high - whole.pairs[1].low
    assert width > 1.5 * (independent.pairs[1].high - independent.pairs[1].low)
    assert whole.uncertainty["annotators"] is not None
    assert "annotators" in " ".join(independent.warnings)


def test_what_chance_gives_few_annotators_is_taken_off_without_bias():
    """The totals of n annotators who are alike vary n/(n-1) times less than single votes; it was taken off too much."""
    totals, chance = [], []
    for seed in range(150):
        votes, _ = simulated(np.random.default_rng(300 + seed), 2, 150, 4, 150, 0.0, 0.5)
        part = estimate_of_votes(votes)[0].parts["annotators"]
        totals.append(part.with_chance[2, 0])
        if part.variance[2, 0] > 0:
            chance.append(totals[-1] - part.variance[2, 0])
    error = np.std(totals) / np.sqrt(150)
    assert np.mean(totals) == pytest.approx(np.mean(chance), abs=2 * error)


def test_uncertainty_says_what_to_get_more_of():
    few_votes, _ = simulated(np.random.default_rng(8), 3, 500, 200, 500, 0.0, 0.5)
    assert pt.compare(few_votes).uncertainty["votes"] > 0.7
    few_prompts, _ = simulated(np.random.default_rng(8), 3, 10, 200, 5000, 1.0, 0.5)
    comparison = pt.compare(few_prompts)
    assert comparison.uncertainty["items"] > 0.6
    low, high = comparison.uncertainty_intervals["votes"]
    assert low <= comparison.uncertainty["votes"] <= high


def test_a_plan_begins_with_the_votes_that_are_there_and_says_what_more_would_do():
    votes, _ = simulated(np.random.default_rng(8), 3, 40, 15, 800, 0.7, 0.5)
    comparison = pt.compare(votes)
    pair = comparison.pair("m00", "m02")
    width = pair.p_a_preferred_high - pair.p_a_preferred_low
    wanted = {"width": 0.97 * width, "costs": {"item": 5, "annotation": 1}}
    made = pt.plan(comparison, "m00", "m02", **wanted)
    rows = {row["design"]: row for row in made.designs}
    same = rows["same design"]
    assert (same["n_items"], same["n_annotators"]) == (40, 20)
    assert same["width"] == pytest.approx(width, rel=1e-9)
    assert made.difference == pytest.approx(pair.p_a_preferred - 0.5)
    assert made.designs == pt.plan(votes, "m00", "m02", **wanted).designs
    assert {"items x 2", "annotators x 2", "panel x 2"} <= set(rows)
    assert max(rows[name]["width"] for name in ("items x 2", "annotators x 2", "panel x 2")) < same["width"]
    assert rows["cheapest"]["width"] <= wanted["width"]
    # what the plan says of twice the prompts and the votes comes true
    larger = [simulated(np.random.default_rng(seed), 3, 160, 15, 3200, 0.7, 0.5)[0] for seed in range(5)]
    pairs = [pt.compare(one).pairs[1] for one in larger]
    found = np.mean([row.p_a_preferred_high - row.p_a_preferred_low for row in pairs])
    assert pt.plan(votes, "m00", "m02", n_items=160).designs[1]["width"] == pytest.approx(found, rel=0.3)


def test_a_plan_of_votes_knows_their_groups_and_refuses_what_compare_refuses():
    """Groups were left out: one difference by `compare`, another by `plan`; clusters were ignored in silence."""
    votes, _ = simulated(np.random.default_rng(8), 2, 40, 15, 400, 0.7, 0.5)
    groups = {item: "few" if int(item) < 5 else "many" for item in votes.items}
    comparison = pt.compare(votes, groups=groups, engine="exact")
    pair = comparison.pairs[0]
    made = pt.plan(comparison)
    assert made.difference == pytest.approx(pair.p_a_preferred - 0.5)
    assert made.designs[0]["width"] == pytest.approx(pair.p_a_preferred_high - pair.p_a_preferred_low)
    assert made.designs == pt.plan(votes, groups=groups).designs != pt.plan(votes).designs
    for what in ("clusters", "annotations"):
        with pytest.raises(InputError, match=f"votes with {what}"):
            pt.plan(votes, **{what: groups})


@pytest.mark.long
def test_groups_of_prompts_have_strengths_of_their_own():
    votes, _ = simulated(np.random.default_rng(21), 3, 60, 15, 3000, 0.3, 0.5)
    groups = {item: "even" if int(item) % 2 == 0 else "odd" for item in votes.items}
    odd = votes.item % 2 == 1
    votes = replace(votes, outcome=np.where(odd, -votes.outcome, votes.outcome))
    found = pt.compare(votes, groups=groups)
    rows = {(row.group, *row.models): row for row in found.groups}
    even = rows["even", "m00", "m02"]
    assert even.high < 0 < rows["odd", "m00", "m02"].low
    assert even.n_items == 30
    # strengths of a group are those of its votes alone, but for the ties and the side that all share
    alone = part_of(votes, ~odd)
    alone = replace(alone, item=alone.item // 2, items=votes.items[::2])
    tenth = (even.high - even.low) / 10
    assert even.difference == pytest.approx(pt.compare(alone).pairs[1].difference, abs=tenth)
    population = {row.models: row for row in found.group_results["population of groups"]}["m00", "m02"]
    assert population.low < 0 < population.high
    assert found.pairs[1].low < 0 < found.pairs[1].high
    assert pt.compare(votes, groups=groups, weights={"even": 1.0, "odd": 0.0}).pairs[1].high < 0
    one_pair = replace(votes, left=np.where(odd, 0, votes.left), right=np.where(odd, 1, votes.right))
    with pytest.raises(InputError, match="group 'odd': no chain of votes"):
        pt.compare(one_pair, groups=groups)
    with pytest.raises(InputError, match="groups and the engine 'nuts'"):
        pt.compare(votes, groups=groups, engine="nuts")


def test_annotators_of_one_group_add_to_its_answer_what_they_would_alone():
    """Three annotators in each of four languages moved a language as little as twelve would."""
    rng = np.random.default_rng(0)
    n_groups, n_votes = 4, 400
    group = np.repeat(np.arange(n_groups), n_votes)
    who = rng.integers(3, size=len(group)) + 3 * group
    taste = np.tile([-1.0, 0.0, 1.0], n_groups)
    outcome = np.where(rng.random(len(group)) < 1 / (1 + np.exp(-taste[who])), 1, -1)
    votes = votes_from(np.zeros_like(group), np.ones_like(group), outcome, 2, np.arange(len(group)), who)
    found = pt.compare(votes, groups=[f"g{at}" for at in group])
    known = 2 * 1.96 * np.sqrt(1 / 3)  # annotators of sd 1, which is what four groups of three say
    for row in found.groups:
        assert row.high - row.low == pytest.approx(known, rel=0.25)


def test_one_annotator_in_each_group_says_nothing_of_others():
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(3), 100)
    left = np.zeros_like(who)
    votes = votes_from(left, left + 1, rng.choice([1, -1], 300), 2, np.arange(300), who)
    found = pt.compare(votes, groups=[f"g{at}" for at in who])
    assert found.uncertainty["annotators"] is None
    assert any("each group has one annotator" in warning for warning in found.warnings)


def test_covariates_leave_the_strengths_of_answers_that_are_alike():
    rng = np.random.default_rng(22)
    n = 6000
    left = rng.integers(2, size=n)
    longer = np.where(left == 0, 1.0, -1.0) + rng.normal(size=n)  # model 0 writes more
    d = np.where(left == 0, -0.5, 0.5) + 0.8 * longer
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-d)), 1, -1)
    votes = votes_from(left, 1 - left, outcome, 2, rng.integers(100, size=n), rng.integers(30, size=n))
    bare = pt.compare(votes).pairs[0]
    votes = replace(votes, covariates={"length": 100 * longer})
    found = pt.compare(votes)
    assert bare.difference > 0
    assert found.pairs[0].low < -0.5 < found.pairs[0].high < 0
    (row,) = found.decisions["covariates"]
    size = np.sqrt(np.square(longer).mean())
    assert row["low"] < 0.8 * size < row["high"]
    assert row["high"] - row["low"] < 0.3
    turned = replace(votes, left=votes.right, right=votes.left, outcome=-outcome, covariates={"length": -longer})
    assert pt.compare(turned).pairs[0].low == pytest.approx(found.pairs[0].low, rel=1e-7)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_of_independent_votes_the_interval_covers_and_is_near_wilsons(n):
    rows = []
    for won in range(n + 1):
        outcome = np.where(np.arange(n) < won, 1, -1)
        rows += pt.compare(votes_from(np.zeros(n, int), np.ones(n, int), outcome, 2, placed=False)).pairs
    low = np.array([row.p_a_preferred_low for row in rows])
    high = np.array([row.p_a_preferred_high for row in rows])
    np.testing.assert_allclose(low, 1 - high[::-1], atol=1e-9)
    assert (np.diff(low) > 0).all()
    assert (np.diff(low) < 3 / n).all()
    for true in (0.5, 0.7, 0.9, 0.97):
        chance = binom.pmf(np.arange(n + 1), n, true)
        assert chance[(low <= true) & (true <= high)].sum() >= 0.93
    wilson = [binomtest(won, n).proportion_ci(method="wilson") for won in range(n + 1)]
    width = (high - low) / np.array([row.high - row.low for row in wilson])
    assert 0.9 < width.min() < width.max() < 1.3


def test_as_the_second_annotator_goes_the_interval_becomes_that_of_one():
    votes, _ = simulated(np.random.default_rng(9), 2, 60, 2, 600, 0.5, 0.5)
    second = np.flatnonzero(votes.annotator == 1)
    widths = []
    for left_out in range(len(second) + 1):
        part = part_of(votes, np.delete(np.arange(600), second[:left_out]))
        if left_out == len(second):
            part = replace(part, annotators=("u0",))
        if left_out % 10 == 0 or left_out > len(second) - 10:
            found = pt.compare(part)
            widths.append(found.pairs[0].high - found.pairs[0].low)
    assert found.uncertainty["annotators"] is None
    assert max(abs(np.diff(widths))[-9:]) < widths[-1] / 10


def test_a_rope_is_in_points_of_the_preference():
    votes, _ = simulated(np.random.default_rng(4), 3, 100, 20, 3000, 0.2, 0.5)
    found = pt.compare(votes, rope=0.02)
    fit = Fit.of(votes)
    assert found.rope == pytest.approx(fit.preference.difference_at(0.02))
    assert pt.compare(votes, rope="2%").rope == found.rope
    with pytest.raises(InputError, match="rope"):
        pt.compare(votes, rope=0.5)
    with pytest.raises(InputError, match="votes with clusters"):
        pt.compare(votes, clusters={"a": "b"})


def test_models_that_no_chain_of_votes_connects_are_not_compared():
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


def test_a_cycle_is_said_and_chance_is_not():
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


@pytest.mark.parametrize(("prompts", "annotators"), [(12, 40), (60, 12)])
@pytest.mark.long
def test_the_probability_of_preference_is_covered(prompts, annotators):
    covered = 0
    for seed in range(80):
        votes, true = simulated(np.random.default_rng(1000 + seed), 3, prompts, annotators, 600, 0.5, 0.6)
        row = pt.compare(votes).pair("m02", "m00")
        covered += row.p_a_preferred_low <= true <= row.p_a_preferred_high
    assert covered >= 0.9 * 80


def test_what_quality_costs_is_said_in_the_probability_of_being_preferred():
    """The limit was a difference in log-odds, in the sentence and as an argument."""
    votes, _ = simulated(np.random.default_rng(7), 3, 40, 8, 2000, 0.2, 0.1)
    prices = {"m00": 3.0, "m01": 2.0, "m02": 1.0}
    comparison = pt.compare(votes, rope=0.3)
    found = comparison.frontier(prices)
    assert found.rope == 0.3
    for points in (0.02, 0.1, 0.3):
        other = pt.compare(votes, rope=points).frontier(prices)
        assert vars(comparison.frontier(prices, rope=points)) == vars(other)
    assert found.cheapest is not None
    said = frontier_sentence(found, pt.Result.of(comparison, prices))
    wanted = "The cheapest model to which the best is preferred with probability at most 0.8 (P at least 0.95)"
    assert wanted in said
    assert found.cheapest in said


def test_two_votes_do_not_make_an_annotator_the_least_attentive() -> None:
    """u0 votes at random and u1 for the better of m01 and m02; u2 finds m00 little better than m02, u3 twice worse."""
    annotator = np.append(np.tile([0, 1, 2], 60), [3, 3])
    first = np.append(np.tile([1, 1, 0], 60), [0, 0])
    wins = np.append(np.tile([1, 1, 1, -1, 1, -1], 30), [-1, -1])
    wins[2:12:6] = 1  # two more of u2's for m00
    wins[5:12:6] = 1
    swapped = np.arange(len(first)) // 6 % 2 == 1
    swapped[-1] = True
    left = np.where(swapped, 2, first)
    right = np.where(swapped, first, 2)
    votes = votes_from(left, right, np.where(swapped, -wins, wins), 3, annotator=annotator)
    at_random, attentive, _, few = pt.compare(votes, engine="exact").annotators().iter_rows(named=True)
    assert [at_random["annotator"], few["annotator"]] == ["u0", "u3"]
    assert at_random["attention"] < few["attention"] < attentive["attention"]
    assert few["n_votes"] == 2
    assert -2 < few["attention_low"] < 1 < few["attention_high"] < 4
