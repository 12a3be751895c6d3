"""The default of the estimand class: the target on real gold, tempering by hand, draws of both views."""

import numpy as np
import pytest
from simulated_annotations import misperceived

import probtruth as pt
from probtruth.truth.methods.pooled import temper


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
    alone, mixed = (pt.infer_truth(annotations, name, draws=100, sweeps=50) for name in ("perceived-class", "pooled"))
    assert alone.draws is not None
    assert mixed.draws is not None
    (replaced,) = np.nonzero((alone.draws != mixed.draws).any((1, 2)))
    assert len(replaced) == 50
    assert np.ptp(np.diff(replaced)) <= 1
