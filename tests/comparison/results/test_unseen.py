"""What so many items cannot rule out."""

import math

import numpy as np
import pytest
from made_scores import make
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.results.unseen import SEEN, Outcomes, highest_rate

N = 20


def two(bold, careful, labels, n=N):
    """The comparison of two forecasters of the first of two labels."""
    probs = {
        name: np.stack([np.broadcast_to(p, n), 1 - np.broadcast_to(p, n)], axis=1)
        for name, p in (("bold", bold), ("careful", careful))
    }
    truth = pt.Truth.from_labels(np.asarray(labels), n_labels=2)
    return compare(pt.score(pt.Predictions.from_probs(probs), truth), engine="exact")


@pytest.mark.parametrize("n", [1, 2, 20, 1000])
def test_the_highest_rate_is_that_of_clopper_and_pearson(n):
    assert highest_rate(n) == pytest.approx(stats.beta.ppf(0.95, 1, n), rel=1e-12)
    assert highest_rate(n) == pytest.approx(
        stats.binomtest(0, n).proportion_ci(0.9, method="exact").high, rel=1e-9
    )  # two-sided at 90% is one-sided at 95%


def test_twenty_labels_of_one_class_do_not_settle_it():
    (pair,) = two(0.999, 0.95, np.zeros(N, int)).pairs
    rate, seen, unseen = 1 - 0.05 ** (1 / N), math.log(0.95 / 0.999), math.log(0.05 / 0.001)
    assert pair["unseen_rate"] == pytest.approx(rate, rel=1e-12)
    assert pair["unseen_difference"] == pytest.approx((1 - rate) * seen + rate * unseen, rel=1e-9)
    assert pair["difference"] < 0 < pair["unseen_difference"]


def test_what_has_been_seen_is_not_counted_again():
    (pair,) = two(0.999, 0.95, np.r_[1, np.zeros(N - 1, int)]).pairs
    assert pair["difference"] > 0  # the bold one has met its disaster, and careful leads
    assert pair["unseen_difference"] == pytest.approx(pair["difference"], rel=1e-12)
    assert pair["unseen_p_a_better"] == pytest.approx(pair["p_a_better"], rel=1e-12)


def test_the_posterior_is_moved_by_the_unseen():
    spread = np.linspace(0.6, 0.97, N)
    comparison = two(0.9999, spread, np.zeros(N, int))
    (pair,) = comparison.pairs
    assert pair["p_a_better"] > 0.975
    assert pair["unseen_p_a_better"] < 0.5
    (test,) = comparison.model_free
    assert test["t"] < 0


def test_sizes_are_weighed_by_the_forecast_of_the_model_behind():
    probs = np.array([[[0.98, 0.01, 0.01]], [[0.7, 0.2, 0.1]]])
    outcomes = Outcomes(-np.log(probs), np.log(probs), np.array([[True, False, False]]))
    sizes = np.log([0.2 / 0.01, 0.1 / 0.01])
    assert outcomes.size(0, 1) == pytest.approx((0.2 * sizes[0] + 0.1 * sizes[1]) / 0.3, rel=1e-12)
    assert outcomes.size(1, 0) is None  # no label that did not come would cost the other more


def test_an_impossible_label_is_an_infinite_loss_unless_it_is_rounding():
    for p, size in ((0.1, math.inf), (1e-9, None)):
        probs = np.array([[[1.0, 0.0]], [[1 - p, p]]])
        with np.errstate(divide="ignore"):
            outcomes = Outcomes(-np.log(probs), np.log(probs), np.array([[True, False]]))
        assert outcomes.size(0, 1) == size


def test_votes_of_a_hundredth_count_as_seen_and_doubtful_classes_do_not():
    probs = np.array([[[0.9, 0.1]], [[0.6, 0.4]]])
    for estimand, size in (("distribution", None), ("class", pytest.approx(math.log(4)))):
        assert Outcomes(-np.log(probs), np.log(probs), np.array([[0.97, 0.03]]) >= SEEN[estimand]).size(0, 1) == size


def test_bare_scores_have_their_bound_or_none():
    made = np.random.default_rng(0)
    right = (made.random((2, 40)) < [[0.2], [0.5]]).astype(float)
    right[0] = np.minimum(right[0], right[1])  # the first is never worse
    comparison = compare(make(right, "ab"), engine="exact")
    rate, d = highest_rate(40), comparison.pairs[0]["difference"]
    assert comparison.pairs[0]["unseen_difference"] == pytest.approx((1 - rate) * d + rate, rel=1e-12)
    assert comparison.unseen == {"confidence": 0.95, "n_units": 40, "reason": None}
    bare = compare(make(right + made.normal(size=(2, 40)), "ab"), engine="exact")
    assert bare.pairs[0]["unseen_difference"] is None
    assert "a rare larger difference cannot be excluded" in str(bare.unseen["reason"])


def test_clusters_are_the_units():
    rng = np.random.default_rng(1)
    probs = {"a": np.full((30, 2), [0.99, 0.01]), "b": np.stack([p := rng.uniform(0.7, 0.9, 30), 1 - p], 1)}
    scores = pt.score(pt.Predictions.from_probs(probs), pt.Truth.from_labels(np.zeros(30, int), n_labels=2))
    found = compare(scores, clusters=[place // 3 for place in range(30)], engine="exact")
    assert found.pairs[0]["unseen_rate"] == pytest.approx(highest_rate(10), rel=1e-12)


def test_one_vote_an_item_does_not_split_the_variance():
    rng = np.random.default_rng(2)
    probs = {name: np.stack([p := rng.uniform(0.1, 0.9, 60), 1 - p], 1) for name in "ab"}
    for votes, known in ((1, False), (2, True)):
        counts = rng.multinomial(votes, [0.5, 0.5], 60)
        scores = pt.score(pt.Predictions.from_probs(probs), pt.infer_truth(pt.Annotations.from_counts(counts)))
        found = compare(scores, engine="exact")
        assert (found.uncertainty["items"] is not None) is known
        assert any("a second vote on some items" in line for line in found.warnings) is not known
        plan = pt.plan(scores)
        assert (plan.variance["annotation"] is not None) is known


@pytest.mark.parametrize("n_apart", [0, 1])
def test_wins_and_losses_are_twice_as_far_apart_as_right_and_wrong(n_apart):
    right = np.ones((2, 40))
    right[1, ::3] = right[0, ::3] = 0.0
    right[1, :n_apart] = 1 - right[1, :n_apart]
    known, preferred = (compare(make(values, "ab"), engine="exact").pairs[0] for values in (right, 2 * right - 1))
    for column in ("difference", "low", "high", *["unseen_difference"] * n_apart):
        assert preferred[column] == pytest.approx(2 * known[column], rel=1e-12)
    assert preferred["p_a_better"] == known["p_a_better"]
