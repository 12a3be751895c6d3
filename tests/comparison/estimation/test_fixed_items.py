import math
from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimate_from, make, rows_by_name
from numpy.testing import assert_allclose

from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.estimate import MANY, rows_from_models
from probtruth.comparison.estimation.fixed_items import fixed_part, fixed_variance
from probtruth.comparison.posterior.margin import margins
from probtruth.errors import InputError, PosteriorError
from probtruth.types import LabelsBehind

MONTE_CARLO = 5.0
N = 40
EQUAL = np.full(N, 1 / N)


def scored(probs, loss, votes, rng, **fields):
    """Scores against vote shares of so many votes an item."""
    shares = np.stack([rng.multinomial(m, p) / m for m, p in zip(votes, probs, strict=True)])
    values = (loss * shares).sum(-1)
    return make(values, labels=LabelsBehind(loss, shares, "distribution", shares, votes, **fields))


@pytest.fixture(scope="module")
def setting():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(3), N), rng.normal(size=(3, N, 3))


def test_label_variance_is_unbiased_over_repeated_votes(setting):
    probs, loss = setting
    rng = np.random.default_rng(1)
    votes = np.full(N, 4)
    estimates = [fixed_variance(scored(probs, loss, votes, rng), EQUAL, None, 0, 1) for _ in range(500)]
    difference = loss[0] - loss[1]
    truth = sum(((probs * difference**2).sum(1) - (probs * difference).sum(1) ** 2) / 4 / N**2)
    assert abs(np.mean(estimates) - truth) < MONTE_CARLO * np.std(estimates) / np.sqrt(len(estimates))


def test_third_moments_are_unbiased_over_repeated_votes(setting):
    probs, loss = setting
    rng = np.random.default_rng(2)
    votes = np.full(N, 5)
    order = np.arange(3)
    found = [fixed_part(scored(probs, loss, votes, rng), EQUAL, None, None, order).third[0, 0] for _ in range(500)]
    centred = loss[0] - (probs * loss[0]).sum(1)[:, None]
    truth = sum((probs * centred**3).sum(1) / 5**2 / N**3)
    assert abs(np.mean(found) - truth) < MONTE_CARLO * np.std(found) / np.sqrt(len(found))


def margin_of(scores):
    part = fixed_part(scores, EQUAL, None, None, np.arange(2))
    found = estimate_from(
        rows_from_models(scores.losses @ EQUAL), part.variance[:, 0], part.df[:, 0], part.third[:, 0], N
    )
    return margins(found)[2].interval()


@pytest.mark.long
@pytest.mark.parametrize("n_votes", [2, 3, 5])
def test_intervals_for_these_items_hold_their_own_mean(setting, n_votes):
    probs, loss = setting
    rng = np.random.default_rng(n_votes)
    truth = ((loss[0] - loss[1]) * probs).sum() / N
    inside = 0
    for _ in range(400):
        scores = scored(probs, loss[:2], np.full(N, n_votes), rng)
        low, high = margin_of(scores)
        inside += low <= truth <= high
    assert inside / 400 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)
    these, new = (compare(scores, engine="exact", population=name).pairs[0] for name in ("these-items", "new-items"))
    assert these["high"] - these["low"] < new["high"] - new["low"]  # held items vary less than new ones


@pytest.mark.parametrize("n_differ", [1, 5, 40])
@pytest.mark.parametrize("n_votes", [2, 10])
def test_votes_that_all_agree_leave_as_much_unsure_as_one_vote_more(n_differ, n_votes):
    """The interval had no width, and P was 1, where the votes of two people agreed on the one item that counts."""
    votes = np.full(N, n_votes)
    shares = np.eye(2)[np.arange(N) % 2]
    loss = np.zeros((2, N, 2))
    loss[0, :n_differ] = 1 - shares[:n_differ]
    loss[1, :n_differ] = shares[:n_differ]
    values = (loss * shares).sum(-1)
    scores = make(values, labels=LabelsBehind(loss, shares, "distribution", shares, votes))
    row = compare(scores, population="these-items", engine="exact").pairs[0]
    assert row["difference"] == pytest.approx(-n_differ / N)
    # the rule of three: of so many votes that agree, up to 3 in so many new ones may not
    reach = (row["high"] - row["difference"]) * N / (2 * n_differ)
    n_agree = n_votes * n_differ
    if n_agree > 2:
        assert 0.6 < reach / min(3 / n_agree, 1) < 1.25
    else:  # nearly nothing is known
        assert row["high"] > -row["difference"]
        assert row["p_a_better"] < 0.95


def test_one_vote_more_counts_by_the_share_of_items_on_which_all_agree(setting):
    """With a conflict on every item, nothing is added."""
    shares = np.tile([0.5, 0.5, 0.0], (N, 1))
    loss = setting[1]
    values = (loss * shares).sum(-1)
    found = []
    for agreed in (0, 1, 20):
        shares[:agreed] = [1.0, 0.0, 0.0]
        scores = make(values, labels=LabelsBehind(loss, shares, "distribution", shares, np.full(N, 4)))
        seen = fixed_variance(scores, EQUAL, None, 0, 1)
        found.append(fixed_part(scores, EQUAL, None, None, np.arange(3)).variance[3, 0] / seen - 1)
    assert found[0] == 0
    assert 0 < found[1] < 0.01 < found[2] < 0.2


def test_single_votes_are_as_uncertain_as_the_models_say(setting):
    probs, loss = setting
    rng = np.random.default_rng(3)
    forecast = rng.dirichlet(np.ones(3), N)
    scores = scored(probs, loss, np.full(N, 1), rng, log_probs=np.log(np.stack([forecast, forecast])))
    difference = loss[0] - loss[1]
    wanted = ((forecast * difference**2).sum(1) - (forecast * difference).sum(1) ** 2).sum() / N**2
    assert fixed_variance(scores, EQUAL, None, 0, 1) == pytest.approx(wanted, rel=1e-12)
    comparison = compare(scores, engine="exact", population="these-items")
    assert any("single vote" in warning for warning in comparison.warnings)
    naive = scored(probs, loss, np.full(N, 1), rng)
    assert fixed_variance(naive, EQUAL, None, 0, 1) is None


def test_under_one_true_class_the_posterior_of_the_class_is_what_is_unsure(setting):
    probs, loss = setting
    scores = make((loss * probs).sum(-1), labels=LabelsBehind(loss, probs, "class", probs, np.full(N, 3)))
    difference = loss[0] - loss[1]
    wanted = ((probs * difference**2).sum(1) - (probs * difference).sum(1) ** 2).sum() / N**2
    assert fixed_variance(scores, EQUAL, None, 0, 1) == pytest.approx(wanted, rel=1e-12)
    assert fixed_part(scores, EQUAL, None, None, np.arange(3)).df[3] == MANY


def test_certain_labels_leave_nothing_unsure():
    loss = np.random.default_rng(4).normal(size=(2, N, 3))
    one_hot = np.eye(3)[np.arange(N) % 3]
    scores = make((loss * one_hot).sum(-1), labels=LabelsBehind(loss, one_hot, "class"))
    row = compare(scores, engine="exact", population="these-items").pairs[0]
    assert row["low"] == row["high"] == row["difference"]
    assert row["p_a_better"] in (0.0, 1.0)


def test_what_the_result_says(setting):
    probs, loss = setting
    scores = scored(probs, loss, np.full(N, 4), np.random.default_rng(5))
    these, new = (compare(scores, engine="exact", population=name) for name in ("these-items", "new-items"))
    assert these.settings["population"] == "these-items"
    assert "these very items" in these.estimand
    assert these.uncertainty == {"items": 0.0, "annotators": None, "labels": 1.0}
    assert 0 < new.uncertainty["labels"] < 1
    assert new.uncertainty["labels"] + new.uncertainty["items"] == pytest.approx(1)
    for pair, row in rows_by_name(these)[0].items():
        assert row["difference"] == pytest.approx(rows_by_name(new)[0][pair]["difference"], rel=1e-12)
    assert all(row["wilcoxon_p"] is None and row["t_p"] is not None for row in these.model_free)


def test_split_of_the_variance_predicts_other_numbers_of_votes():
    # V_items + V_labels/m: from m = 3 the total spread at m = 12 follows
    rng = np.random.default_rng(6)
    n = 4000
    probs, loss = rng.dirichlet(np.ones(3), n), rng.normal(size=(2, n, 3))
    few, many = (scored(probs, loss, np.full(n, m), rng) for m in (3, 12))
    equal = np.full(n, 1 / n)
    labels = fixed_variance(few, equal, None, 0, 1)
    total = [np.var(s.values[0] - s.values[1], ddof=1) / n for s in (few, many)]
    assert total[1] == pytest.approx(total[0] - labels + labels * 3 / 12, rel=0.07)  # a variance of 4,000: 2.2% each


@pytest.mark.parametrize("from_labels", [False, True])
def test_labels_of_unknown_uncertainty_are_an_error(from_labels, setting):
    _, loss = setting
    behind = LabelsBehind(loss, np.full((N, 3), 1 / 3), "distribution") if from_labels else None
    scores = make(loss[..., 0], labels=behind)
    with pytest.raises(InputError, match="population='these-items'"):
        compare(scores, population="these-items")
    assert fixed_variance(scores, EQUAL, None, 0, 1) is None


def test_infinite_loss_counts_only_under_labels_that_may_be():
    shares = np.array([[1.0, 0.0], [0.5, 0.5]])
    votes = np.array([2, 2])
    loss = np.array([[[0.0, np.inf], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    half = np.full(2, 0.5)
    scores = make(loss[..., 0], labels=LabelsBehind(loss, shares, "distribution", shares, votes))
    assert fixed_variance(scores, half, None, 0, 1) == 0.0625
    loss[0, 1, 1] = np.inf
    assert fixed_variance(scores, half, None, 0, 1) is None
    with pytest.raises(PosteriorError, match="model '000' has an infinite loss under a label that item '1' may have"):
        fixed_part(scores, half, None, None, np.arange(2))


def test_fitted_weights_leave_these_items_unsure_too(setting):
    """Given the votes, the error of a mean is that of the classes under the weights, and what these move it by.

    The two do not go together: the variance of a sum, sum(f^2) / n^2 for what an item moves through the weights. In
    simulated crowds (30 annotators of 0.7, three votes on each of 300 items) 95% intervals without it held 0.59.
    """
    probs, loss = setting
    rng = np.random.default_rng(3)
    scores = make((loss * probs).sum(-1), labels=LabelsBehind(loss, probs, "class"))
    moved = rng.normal(size=(3, N))
    without = fixed_part(scores, EQUAL, None, None, np.arange(3))
    part = fixed_part(scores, EQUAL, moved, None, np.arange(3))
    assert_allclose(part.variance[:3] - without.variance[:3], (moved**2).sum(1, keepdims=True) / N**2)
    of_pair = ((moved[0] - moved[2]) ** 2).sum() / N**2
    assert_allclose(part.variance[4] - without.variance[4], of_pair)
    assert_allclose(part.third, without.third)


def test_these_items_know_of_the_weights(setting):
    probs, loss = setting
    scores = make((loss * probs).sum(-1), labels=LabelsBehind(loss, probs, "class"))
    moved = np.random.default_rng(3).normal(size=(3, N))
    plain = compare(scores, population="these-items", engine="exact").pairs[0]
    wider = compare(replace(scores, influence=moved), population="these-items", engine="exact").pairs[0]
    assert wider.high - wider.low > 1.1 * (plain.high - plain.low)
