"""Traps of comparing models: the naive way fails in each, ours does not."""

import numpy as np
import pytest
from coverage_study import GENERATORS, coverage
from made_scores import located, make
from scipy import stats

import probtruth as pt
from probtruth.comparison.compare import compare

BY_NAME = {generator.name: generator for generator in GENERATORS}


def test_the_location_of_a_t_is_not_the_mean():
    rng = np.random.default_rng(0)
    rare = rng.random(4000) < 0.1
    differences = np.where(rare, rng.normal(-0.25, 0.1, 4000), rng.normal(0.015, 0.02, 4000))  # mean -.0115
    _, location, _ = stats.t.fit(differences)
    assert location > 0.01, "the fitted location has the other sign"
    row = compare(make([differences, np.zeros(4000)], "ab"), engine="exact").pairs[0]
    assert row["p_a_better"] > 0.99
    assert row["low"] < -0.0115 < row["high"]


def test_each_probability_has_the_name_of_its_estimand():
    rng = np.random.default_rng(1)
    effect = np.repeat(rng.normal(-0.1, 0.2, 12), 50)
    values = np.stack([effect + rng.normal(0, 0.3, 600), rng.normal(0, 0.3, 600)])
    found = compare(make(values, "ab"), np.repeat(np.arange(12), 50), engine="exact")
    said = [found.pairs[0]["p_a_better"], *(rows[0]["p_a_better"] for rows in found.group_results.values())]
    assert list(found.group_results) == ["population of groups", "one new group"]
    assert said[0] > said[1] > said[2] > 0.5, "three questions, three answers from one table"
    assert "these 12 groups" in found.estimand


def shared_labels(rng, n_items, n_votes):
    truth = rng.dirichlet(np.ones(2), n_items)
    models = {name: 0.9 * truth + 0.1 * rng.dirichlet(np.ones(2), n_items) for name in "ab"}
    counts = rng.binomial(n_votes, truth[:, 0])
    return models, np.stack([counts, n_votes - counts], 1)


def test_the_same_labels_serve_all_models():
    rng = np.random.default_rng(2)
    models, counts = shared_labels(rng, 300, 5)
    scores = pt.score(pt.Predictions.from_probs(models), vote_share(counts))
    found = compare(scores, population="these-items", engine="exact")
    widths = [row["high"] - row["low"] for row in found.ranks]
    row = found.pairs[0]
    independent = np.hypot(*widths)
    # what relabelling the same items does to the difference, 400 times
    shares = counts / 5
    again = [relabelled(rng, models, shares) for _ in range(400)]
    true_width = 2 * 1.96 * np.std(again) * np.sqrt(5 / 4)  # votes drawn from shares spread by 4/5 of the variance
    assert independent > 2 * true_width
    assert row["high"] - row["low"] == pytest.approx(true_width, rel=0.15)


def relabelled(rng, models, shares):
    first = rng.binomial(5, shares[:, 0]) / 5
    gain = np.log(models["b"] / models["a"])
    return float((first * gain[:, 0] + (1 - first) * gain[:, 1]).mean())


def vote_share(counts):
    return pt.infer_truth(pt.Annotations.from_counts(counts), method="vote-share")


def test_folds_share_their_training_data():
    rng = np.random.default_rng(4)
    folds, rho, replications = 100, 0.1, 1000
    rows = np.sqrt(rho) * rng.normal(size=(replications, 1)) + np.sqrt(1 - rho) * rng.normal(size=(replications, folds))
    naive = np.mean(stats.ttest_1samp(rows, 0, axis=1).pvalue < 0.05)
    options = {"replicates": "folds", "fold_correlation": rho, "engine": "exact"}
    ours = [compare(make([row, 0 * row]), **options).pairs[0] for row in rows[:150]]
    assert naive > 0.4
    assert np.mean([min(row["p_a_better"], row["p_b_better"]) < 0.025 for row in ours]) < 0.08


def label_study(rng, replications, n_items=200, n_votes=2):
    """Mean differences of log loss against few votes, with their plug-in variance and that of the labels."""
    truth = rng.dirichlet([1.0, 1.0], (replications, n_items))[..., 0]
    logit = np.log(truth / (1 - truth))
    p, q = (1 / (1 + np.exp(-(scale * logit + rng.normal(size=truth.shape)))) for scale in (1.0, 0.6))
    gain = np.log(q / p), np.log((1 - q) / (1 - p))
    share = rng.binomial(n_votes, truth) / n_votes
    loss = share * gain[0] + (1 - share) * gain[1]
    labels = (share * (1 - share) * (gain[0] - gain[1]) ** 2 / (n_votes - 1)).sum(1) / n_items**2
    exact = truth * gain[0] + (1 - truth) * gain[1]
    smooth = (share * n_votes + 1) / (n_votes + 2)
    return loss, labels, float(exact.mean()), smooth * gain[0] + (1 - smooth) * gain[1]


def test_items_already_carry_the_label_noise():
    loss, labels, truth, _ = label_study(np.random.default_rng(10), 2000)
    mean, variance = loss.mean(1), loss.var(axis=1, ddof=1) / 200
    once = np.abs(mean - truth) < 1.96 * np.sqrt(variance)
    twice = np.abs(mean - truth) < 1.96 * np.sqrt(variance + labels)
    assert twice.mean() > 0.97
    assert np.sqrt((variance + labels) / variance).mean() > 1.15
    assert 0.93 < once.mean() < 0.965
    counts = np.random.default_rng(0).multinomial(2, [0.6, 0.4], 50)
    models = {name: np.random.default_rng(seed).dirichlet([1, 1], 50) for seed, name in enumerate("ab")}
    found = compare(pt.score(pt.Predictions.from_probs(models), vote_share(counts)), engine="exact")
    d = (counts / 2 * np.log(models["b"] / models["a"])).sum(1)
    assert found.model_free[0]["t_p"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)


def test_scoring_draws_of_a_label_posterior_shrinks_the_difference():
    loss, _, truth, smooth = label_study(np.random.default_rng(11), 500, n_items=1000)
    se = loss.std(axis=1, ddof=1) / np.sqrt(1000)
    assert np.abs((smooth.mean(1) - truth) / se).mean() > 3
    assert np.mean(np.abs(smooth.mean(1) - truth) < 1.96 * se) < 0.1
    assert np.mean(np.abs(loss.mean(1) - truth) < 1.96 * se) > 0.92
    counts = np.array([[2, 0], [1, 1], [0, 2]] * 10)
    models = {"a": np.full((30, 2), 0.5), "b": np.tile([0.9, 0.1], (30, 1))}
    scores = pt.score(pt.Predictions.from_probs(models), pt.infer_truth(pt.Annotations.from_counts(counts)))
    np.testing.assert_allclose(scores.values[1], -(counts / 2) @ np.log([0.9, 0.1]), rtol=1e-6)


@pytest.mark.long
def test_groups_weighted_by_their_own_spread():
    rng = np.random.default_rng(12)
    naive, ours = 0, 0
    for _ in range(500):
        values = rng.exponential(size=200)  # 20 groups of 10, mean 1
        groups = values.reshape(20, 10)
        weight = 10 / groups.var(axis=1, ddof=1)
        weighted = (weight * groups.mean(1)).sum() / weight.sum()
        naive += abs(weighted - 1) < 1.96 / np.sqrt(weight.sum())
        low, high = located(np.stack([values, np.zeros(200)]), np.arange(200) // 10).margins[0].interval()
        ours += low < 1 < high
    assert naive / 500 < 0.75
    assert ours / 500 > 0.91


def test_bootstraps_of_twenty_items():
    rng = np.random.default_rng(13)
    rows = rng.lognormal(size=(400, 20))
    picked = rng.integers(0, 20, (1000, 20))
    low, high = np.quantile(rows[:, picked].mean(2), [0.025, 0.975], axis=1)
    bootstrap = np.mean((low < np.exp(0.5)) & (np.exp(0.5) < high))
    ours, paired_t = coverage(BY_NAME["log-normal"], 20, 2000, seed=13)
    assert bootstrap < 0.86
    assert ours.holds > 0.91
    assert ours.holds > paired_t.holds > bootstrap


@pytest.mark.parametrize("n_apart", [0, 1])
def test_wins_and_losses_are_twice_as_far_apart_as_right_and_wrong(n_apart):
    right = np.ones((2, 40))
    right[1, ::3] = right[0, ::3] = 0.0
    right[1, :n_apart] = 1 - right[1, :n_apart]
    known, preferred = (compare(make(values, "ab"), engine="exact").pairs[0] for values in (right, 2 * right - 1))
    for column in ("difference", "low", "high", *["unseen_difference"] * n_apart):
        assert preferred[column] == pytest.approx(2 * known[column], rel=1e-12)
    assert preferred["p_a_better"] == known["p_a_better"]
