"""The default of the estimand class: the target on real gold, tempering by hand, draws of both views, stacking."""

import numpy as np
import pytest
from simulated_annotations import misperceived, simulate

import probtruth as pt
from probtruth.truth.methods.pooled import predicted, split, stacking_weight, temper


@pytest.mark.long
def test_snow_rte(snow_rte) -> None:
    """Without gold: log loss on the experts' labels at most .20, error at most 7.3 per cent (EM: infinite, 7.25)."""
    annotations, gold = snow_rte
    truth = pt.infer_truth(annotations, estimand="class")
    assert truth.method == "pooled"
    right = truth.probs[np.arange(len(gold)), gold]
    assert -np.log(right).mean() <= 0.20
    assert (truth.probs.argmax(1) != gold).mean() <= 0.073
    ordered = np.sort(truth.probs, 1)[:, ::-1]
    needed = (np.cumsum(ordered, 1) < 0.95).sum(1) + 1
    rank = (truth.probs > right[:, None]).sum(1)
    assert (rank < needed).mean() >= 0.90


def test_temper_by_hand() -> None:
    """With one vote nothing changes; with n votes the odds over the marginals' are raised to 1 / (1 + (n - 1) rho)."""
    probs, marginals = np.array([[0.9, 0.1], [0.9, 0.1], [1.0, 0.0]]), np.array([0.6, 0.4])
    found = temper(probs, marginals, np.array([1.0, 5.0, 5.0]), 0.4)
    np.testing.assert_allclose(found[0], probs[0])
    powers = 1 / (1 + 4 * np.random.default_rng(0).beta(2.4, 3.6, 200_000))
    odds = 6 / 4 * (9 / (6 / 4)) ** powers
    quadrature = 2e-3  # twenty nodes at the middles of equally likely strips
    np.testing.assert_allclose(found[1, 0], np.mean(odds / (1 + odds)), atol=quadrature)
    np.testing.assert_array_equal(found[2], probs[2])


def test_votes_that_say_nothing_leave_the_marginals() -> None:
    """However many annotations there are, an item of which they say nothing has the marginals' probabilities."""
    marginals = np.array([0.001, 0.049, 0.95])
    found = temper(np.tile(marginals, (3, 1)), marginals, np.array([1.0, 10.0, 1000.0]), 0.4)
    np.testing.assert_allclose(found, np.tile(marginals, (3, 1)))


def test_draws_are_of_both_views() -> None:
    annotations, _ = misperceived(2)
    truth = pt.infer_truth(annotations, "pooled", draws=400, sweeps=100)
    assert truth.draws is not None
    assert len(truth.draws) == 400
    mixing = 0.15  # half of the draws are of correlated sweeps, the largest of 600 cells
    np.testing.assert_allclose(truth.draws.mean(0, dtype=float), truth.probs, atol=mixing)
    np.testing.assert_allclose(truth.probs.sum(1), 1)


@pytest.mark.parametrize("rho", [0, 1, "a", -0.2])
def test_rho_is_between_0_and_1(simulated, rho: object) -> None:
    with pytest.raises(pt.InputError, match="a number above 0 and below 1"):
        pt.infer_truth(simulated[0], "pooled", rho=rho)


def test_replaced_draws_are_spread_evenly() -> None:
    """Chains stand one after the other: a view that took the first draws would take those of one chain."""
    annotations, _ = misperceived(2)
    alone = pt.infer_truth(annotations, "perceived-class", draws=100, sweeps=50)
    mixed = pt.infer_truth(annotations, "pooled", draws=100, sweeps=50, weight=0.75)
    assert alone.draws is not None
    assert mixed.draws is not None
    (replaced,) = np.nonzero((alone.draws != mixed.draws).any((1, 2)))
    assert len(replaced) == 25
    assert np.ptp(np.diff(replaced)) <= 1


def test_split_takes_one_of_an_item_at_most() -> None:
    annotations, _, _ = simulate(120, 8, 5, 3, seed=11)
    rest, rows = split(annotations, seed=0)
    assert len(rows) == 120  # a fifth of 600
    assert len(set(annotations.item[rows])) == 120
    assert len(rest.item) == 480
    np.testing.assert_array_equal(split(annotations, seed=0)[1], rows)


def test_predicted_by_hand() -> None:
    annotations = pt.Annotations.from_long({"item": ["a", "a"], "annotator": ["p", "q"], "label": ["x", "y"]})
    confusion = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]])
    found = predicted(np.array([[0.25, 0.75]]), confusion, annotations, np.array([0, 1]))
    np.testing.assert_allclose(found, [0.25 * 0.9 + 0.75 * 0.2, 0.25 * 0.4 + 0.75 * 0.5])


def test_weight_goes_to_the_better_view() -> None:
    """Truths drawn from p = .8: views that say .8 and .5; with nothing to choose from, a half."""
    drawn = np.random.default_rng(0).random(2000) < 0.8
    good, poor = np.where(drawn, 0.8, 0.2), np.full(2000, 0.5)
    assert stacking_weight(good, poor) > 0.85
    assert stacking_weight(poor, good) < 0.15
    solver = 1e-4
    assert stacking_weight(poor, poor) == pytest.approx(0.5, abs=solver)


def test_pooled_takes_a_weight() -> None:
    annotations, _ = misperceived(5)
    options = {"sweeps": 40, "chains": 1, "draws": 20}
    half, first = (pt.infer_truth(annotations, "pooled", weight=weight, **options) for weight in (0.5, 0.999))
    alone = pt.infer_truth(annotations, "perceived-class", **options)
    np.testing.assert_allclose(first.probs, alone.probs, atol=2e-3)  # one part in a thousand is tempered
    stacked = pt.infer_truth(annotations, "pooled", weight="held-out", **options)
    share = stacked.diagnostics["weight"]
    assert isinstance(share, float)
    tempered = 2 * half.probs - alone.probs
    np.testing.assert_allclose(stacked.probs, share * alone.probs + (1 - share) * tempered)
    np.testing.assert_allclose(stacked.probs.sum(1), 1)


def test_errors() -> None:
    annotations, _ = misperceived(5)
    with pytest.raises(pt.InputError, match="weight 2"):
        pt.infer_truth(annotations, "pooled", weight=2)
    single = pt.Annotations.from_long({"item": ["a", "b"], "annotator": ["p", "q"], "label": ["x", "y"]})
    with pytest.raises(pt.InputError, match="without an item of two annotations"):
        pt.infer_truth(single, "pooled", weight="held-out")
