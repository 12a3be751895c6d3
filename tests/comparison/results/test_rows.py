import numpy as np
import pytest
import scipy.stats
from made_scores import make, side_by_side

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.results.rows import BOTH_INFINITE
from probtruth.types import RuleFacts, Scores

NOISE = np.random.default_rng(0).normal(size=(2, 30))


def test_pairs_stand_once_by_name_whatever_the_order_of_the_models():
    one, other = compare(make(NOISE, "yx"), rope=0.1), compare(make(NOISE[::-1], "xy"), rope=0.1)
    (row,) = one.pairs
    assert (row["a"], row["b"], row["difference"]) == ("x", "y", pytest.approx(NOISE[1].mean() - NOISE[0].mean()))
    assert row == other.pairs[0]
    assert compare(make(NOISE, "yx")).pairs[0]["p_equivalent"] is None


def test_equal_means_that_rounding_tells_apart_favour_nobody():
    """0.3 times 21 of 30 in three groups: differences of 1e-18, of one sign or the other, favoured a or b."""
    for seed in range(6):
        ones = [np.random.default_rng(2 * seed + model).permutation(np.repeat([0, 1], [9, 21])) for model in (0, 1)]
        (row,) = compare(make(0.3 * np.array(ones), "ab"), groups=[0, 1, 2] * 10, engine="exact").pairs
        assert (row["difference"], row["favours"], row["p_a_better"]) == (0.0, None, pytest.approx(0.5, abs=1e-12))


def test_what_is_unknown_has_its_reason_and_only_labels_have_a_floor():
    found = compare(make([[np.inf, 1.0, 2.0], [np.inf, 1.5, 1.0], [0.4, 0.6, 0.5]], "abc"))
    unknown, known = found.pairs[:2]
    assert (unknown["difference"], unknown["p_a_better"], unknown["reason"]) == (None, None, BOTH_INFINITE)
    assert (known["p_a_better"] is None, known["reason"]) == (False, None)
    assert not any("the same difference" in said or "floor" in said for said in found.warnings)
    assert [(row["p_best"], row["expected_rank"]) for row in found.ranks] == [(1.0, 1.0), (0.0, 2.5), (0.0, 2.5)]


def test_models_come_best_first_and_in_the_orientation_given():
    scores = make([[1.0, 2.0], [4.0, 4.0]], "ab", higher_is_better=True)
    first, second = compare(scores).ranks
    assert (first["model"], first["score"]) == ("b", 4.0)
    assert (second["model"], second["score"]) == ("a", 1.5)
    assert second["low"] < second["score"] < second["high"]


def test_divergence_is_what_lies_above_the_entropy():
    scores = make([[1.0, 2.0], [4.0, 4.0]], "ab", known=RuleFacts(entropy=0.5))
    assert [row["divergence"] for row in compare(scores).ranks] == [1.0, 3.5]


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_no_interval_reaches_beyond_what_scores_can_differ_by(higher_is_better):
    always = make([[1.0] * 20, [0.0] * 20], "ab", higher_is_better=higher_is_better)
    (row,) = compare(always).pairs
    assert -1 <= row["low"] < row["difference"] == 1 == row["high"]
    nearly = make([[1.0] * 5 + [0.0], [0.0] * 6], "ab", higher_is_better=higher_is_better)
    groups = compare(nearly, groups=[0, 1] * 3, engine="exact")
    for row in (*groups.pairs, *groups.groups, *groups.group_results["one new group"], *groups.ranks):
        assert row["low"] is None or -1 <= row["low"] <= row["high"] <= 1
    assert all(row["low"] is None or row["low"] >= 0 for row in groups.ranks)


def test_three_regions_of_a_rope_sum_to_1_and_say_non_inferiority():
    """t of 9 paired differences by scipy: P(d < -r), P(-r < d < r), P(d > r); not worse by r: 1 less the last."""
    difference = np.array([-0.4, -0.1, 0.2, -0.3, 0.1, -0.5, -0.2, 0.0, 0.3])
    rows = side_by_side(a=difference, b=0 * difference)
    rope = 0.05
    for higher in (False, True):
        pair = compare(Scores.from_frame(rows, higher_is_better=higher), rope=rope, engine="exact").pairs[0]
        shares = [pair.p_a_better_rope, pair.p_equivalent, pair.p_b_better_rope]
        assert sum(shares) == pytest.approx(1, abs=1e-12)
        assert pair.seen_from("b").p_a_not_worse == pytest.approx(1 - pair.p_a_better_rope)
        better_below = pair.p_a_better_rope if not higher else pair.p_b_better_rope
        scale = difference.std(ddof=1) / 3
        plain = scipy.stats.t.cdf((-rope - difference.mean()) / scale, 8)
        assert better_below == pytest.approx(plain, abs=0.01)  # the margin is bent a little for skewness
    assert compare(Scores.from_frame(rows, higher_is_better=True), engine="exact").pairs[0].p_a_not_worse is None


def test_the_interval_of_a_log_loss_does_not_reach_below_0():
    """15 sure and right forecasts but one: 0 lies within the t interval of the mean."""
    probs = [[0.99, 0.01]] * 14 + [[0.6, 0.4]]
    truth = pt.Truth.from_labels([0] * 15, n_labels=2)
    result = pt.evaluate(truth, pt.Predictions.from_probs({"m": probs}), engine="exact")
    (row,) = result.comparison.ranks
    assert row.low == 0.0
    assert row.high > row.score > 0.0
