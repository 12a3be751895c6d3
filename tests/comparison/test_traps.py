"""Traps of comparing models: the naive way fails in each, ours does not."""

import numpy as np
import pytest
from coverage_study import coverage, fitted
from made_scores import make, rows_by_name
from scipy import stats
from score_generators import GENERATORS

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.design import Structure
from probtruth.comparison.location import combine, moments
from probtruth.comparison.margin import margins
from probtruth.errors import PosteriorError

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


def test_repeats_of_one_question_are_a_cluster():
    # six answers to each of 30 questions, both models alike: naive t rejects a true null a third of the time
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.normal(size=(600, 30)), 6, axis=1) + 0.7 * rng.normal(size=(600, 180))
    ignored = fitted(rows, 1, 0.0)[1]
    heeded = fitted(rows, 6, 0.0)[0]
    rejects = [np.mean([min(one.below(0.0), one.above(0.0)) < 0.025 for one in found]) for found in (ignored, heeded)]
    assert rejects[0] > 0.3
    assert rejects[1] < 0.07


def test_folds_share_their_training_data():
    rng = np.random.default_rng(4)
    folds, rho, replications = 100, 0.1, 1000
    rows = np.sqrt(rho) * rng.normal(size=(replications, 1)) + np.sqrt(1 - rho) * rng.normal(size=(replications, folds))
    naive = np.mean(stats.ttest_1samp(rows, 0, axis=1).pvalue < 0.05)
    options = {"replicates": "folds", "fold_correlation": rho, "engine": "exact"}
    ours = [compare(make([row, 0 * row]), **options).pairs[0] for row in rows[:150]]
    assert naive > 0.4
    assert np.mean([min(row["p_a_better"], row["p_b_better"]) < 0.025 for row in ours]) < 0.08


@pytest.mark.long
def test_peeking_until_the_posterior_is_sure():
    rng = np.random.default_rng(5)
    right = (rng.random((60, 2, 600)) < 0.7).astype(float)
    d = right[:, 0] - right[:, 1]
    n = np.arange(1, 601)
    mean = d.cumsum(1) / n
    sd = np.sqrt(np.maximum((d**2).cumsum(1) / n - mean**2, 1e-12))
    looks = stats.norm.cdf(-mean / (sd / np.sqrt(n)))[:, 20:]
    naive = np.mean((np.maximum(looks, 1 - looks) > 0.95).any(1))
    assert naive > 0.4
    alarms = 0
    for one in right:
        rows = {"item": [*range(600)] * 2, "model": ["a"] * 600 + ["b"] * 600, "score": one.ravel().tolist()}
        alarms += pt.monitor(rows, bounds=(0, 1), higher_is_better=False).decision is not None
    assert alarms / 60 < 0.15  # .05 at most, whenever one looks; three standard errors of 60 runs


def test_no_model_is_the_reference():
    # coding the others against the last one gives it a prior variance K - 1 times that of a contrast
    draws = np.random.default_rng(6).normal(size=(20_000, 4))
    coded = np.c_[draws, -draws.sum(1)]
    assert coded[:, -1].std() / coded[:, 0].std() == pytest.approx(2.0, rel=0.03)
    rng = np.random.default_rng(7)
    values, groups = rng.normal(size=(5, 60)), np.arange(60) // 10
    turned = [1, 2, 3, 4, 0]
    one = compare(make(values, "abcde"), groups, engine="exact")
    other = compare(make(values[turned], [list("abcde")[row] for row in turned]), groups, engine="exact")
    assert one.pairs == other.pairs
    assert one.group_results == other.group_results


def test_nothing_to_judge_by_is_said_and_not_divided_by():
    zeros = np.zeros((2, 20))
    with np.errstate(invalid="ignore"):
        assert np.isnan(stats.ttest_rel(*zeros).statistic)
    same = compare(make(zeros + 0.3, "ab"), engine="exact")
    assert same.pairs[0]["p_a_better"] == 0.5
    shifted = compare(make([np.zeros(20), np.full(20, 0.25)], "ab"), engine="exact").pairs[0]
    assert (shifted["difference"], shifted["low"], shifted["high"], shifted["p_a_better"]) == (-0.25, None, None, None)
    with pytest.raises(PosteriorError, match="got one item in all"):
        compare(make([[1.0], [2.0]], "ab"))


def test_float32_and_ungated_draws():
    # a large common level: float32 loses the difference, and says nothing
    rng = np.random.default_rng(8)
    level = rng.gamma(2, 1e5, 10_000)
    values = np.stack([level, level + 1e-3])
    assert float(values.astype(np.float32)[0].mean() - values.astype(np.float32)[1].mean()) == pytest.approx(
        0, abs=1e-9
    )
    noisy = values + rng.normal(0, 1e-3, values.shape)
    row = compare(make(noisy, "ab"), engine="exact").pairs[0]
    assert row["difference"] == pytest.approx(-1e-3, rel=0.05)
    assert row["p_a_better"] > 0.999
    few = compare(make(rng.normal(size=(3, 50))), engine="nuts", draws=25)
    assert any(said.startswith("sampling:") for said in few.warnings)


def test_importance_sampling_from_the_prior_runs_dry():
    rng = np.random.default_rng(9)
    values = rng.normal(0.1, 1.0, 1000)
    mean, scale = rng.normal(0, 1, 10_000), np.abs(rng.normal(0, 1, 10_000))
    log = -1000 * np.log(scale) - ((values[:, None] - mean) ** 2).sum(0) / (2 * scale**2)
    weight = np.exp(log - log.max())
    assert weight.sum() ** 2 / (weight**2).sum() < 50
    found = compare(make([values, np.zeros(1000)], "ab"), engine="nuts", draws=1000)
    assert found.diagnostics["min_ess"] > 1000


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
    assert found.companions[0]["t_p"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)


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
        within = Structure.of(np.arange(200) // 10, None)
        parts = moments(np.stack([values, np.zeros(200)]), within)
        low, high = margins(combine(parts, parts.pairs, np.full(20, 0.05)))[0].interval()
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


def test_many_ties():
    ours, paired_t = coverage(BY_NAME["right or wrong, 95% ties"], 20, 1000, seed=14)
    assert paired_t.holds < 0.7
    assert ours.holds > 0.95


@pytest.mark.parametrize("n_apart", [0, 1])
def test_wins_and_losses_are_twice_as_far_apart_as_right_and_wrong(n_apart):
    right = np.ones((2, 40))
    right[1, ::3] = right[0, ::3] = 0.0
    right[1, :n_apart] = 1 - right[1, :n_apart]
    known, preferred = (compare(make(values, "ab"), engine="exact").pairs[0] for values in (right, 2 * right - 1))
    for column in ("difference", "low", "high", *["unseen_difference"] * n_apart):
        assert preferred[column] == pytest.approx(2 * known[column], rel=1e-12)
    assert preferred["p_a_better"] == known["p_a_better"]


def test_clusters_that_are_ignored():
    generator = BY_NAME["clusters of 5, correlation .3"]
    ours, _ = coverage(generator, 200, 1000, seed=15)
    blind = type(generator)(generator.name, generator.draw, generator.mean)
    _, naive = coverage(blind, 200, 1000, seed=15)
    assert naive.holds < 0.86
    assert ours.holds > 0.93


@pytest.mark.long
def test_new_data_of_the_same_shape_compile_nothing():
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    from probtruth.inference import nuts

    calls = {"naive": 0, "ours": 0}

    def counted(name):
        def program(mean):
            calls[name] += 1
            centre = numpyro.sample("centre", dist.Normal(0, 1))
            numpyro.sample("mean", dist.Normal(centre, 1), obs=mean)

        return program

    naive, ours = counted("naive"), counted("ours")
    after = {}
    for number, data in enumerate((np.zeros(5), np.ones(5))):
        MCMC(NUTS(naive), num_warmup=5, num_samples=5, progress_bar=False).run(jax.random.key(0), jnp.asarray(data))
        nuts.sample(ours, {"mean": data}, 0, draws=100, warmup=100)
        after[number] = dict(calls)
    assert after[1]["naive"] > after[0]["naive"], "NumPyro traces, and compiles, again"
    assert after[1]["ours"] == after[0]["ours"]


def test_tempering_inside_em_collapses():
    rng = np.random.default_rng(16)
    truth = rng.integers(0, 3, 300)
    right = rng.random((300, 5)) < 0.6
    labels = np.where(right, truth[:, None], rng.integers(0, 3, (300, 5)))
    onehot = np.eye(3)[labels]
    found = onehot.mean(1) + 1e-3 * rng.random((300, 3))
    found /= found.sum(1, keepdims=True)
    for _ in range(200):  # Dawid and Skene's algorithm with the likelihood to the power 1/10
        confusion = np.einsum("ik,ijl->jkl", found, onehot) + 0.01
        confusion /= confusion.sum(-1, keepdims=True)
        log = np.log(found.mean(0)) + 0.1 * np.einsum("ijl,jkl->ik", onehot, np.log(confusion))
        found = np.exp(log - log.max(1, keepdims=True))
        found /= found.sum(1, keepdims=True)
    assert np.ptp(found, axis=0).max() < 0.05, "every item the same"
    rows = {"item": np.repeat(np.arange(300), 5), "annotator": np.tile(np.arange(5), 300), "label": labels.ravel()}
    ours = pt.infer_truth(pt.Annotations.from_long(rows), method="dawid-skene-em", draws=0)
    assert np.mean(ours.probs.argmax(1) == truth) > 0.75


def test_a_floor_makes_the_rule_improper():
    truth, floor = np.array([0.98, 0.02]), 0.03

    def floored(report):
        return -(truth * np.log(np.maximum([1 - report, report], floor))).sum()

    assert floored(0.0) < floored(0.02), "reporting 0 beats the truth"
    predictions = pt.Predictions.from_probs({"honest": [truth] * 5, "zero": [[1.0, 0.0]] * 5})
    scores = pt.score(predictions, pt.Truth.from_probs([truth] * 5), floor=floor)
    assert scores.known.proper is False
    assert any("floored rule is not proper" in said for said in compare(scores, engine="exact").warnings)


def test_a_further_model_widens_nothing():
    # a multivariate t whose degrees of freedom fall with K: n - K + 1 of n - 1
    def widening(n, k):
        return stats.t.ppf(0.975, n - k + 1) * np.sqrt((n - 1) / (n - k + 1)) / stats.t.ppf(0.975, n - 1)

    assert widening(20, 5) == pytest.approx(1.10, abs=0.005)
    assert widening(20, 10) == pytest.approx(1.38, abs=0.005)
    values = np.random.default_rng(17).normal(size=(10, 20))
    names = "abcdefghij"
    two, ten = (compare(make(values[:k], names[:k]), engine="exact") for k in (2, 10))
    assert rows_by_name(two)[0]["a", "b"] == rows_by_name(ten)[0]["a", "b"]


# degenerate data


def test_a_model_that_lacks_an_item_and_one_infinite_loss():
    rows = [(item, model, item * 0.1 + (model == "b")) for item in range(12) for model in "abc"]
    rows = [(item, model, np.inf if (item, model) == (3, "c") else score) for item, model, score in rows[:-1]]
    table = dict(zip(("item", "model", "score"), zip(*rows, strict=True), strict=True))
    found = compare(pt.Scores.from_frame(table, higher_is_better=False), engine="exact")
    pairs = rows_by_name(found)[0]
    assert pairs["a", "b"]["p_a_better"] is None  # the same difference on every item
    assert pairs["a", "c"]["difference"] == -np.inf
    assert any("items dropped" in said for said in found.warnings)
    assert any("infinite score on 1 of 11" in said for said in found.warnings)


@pytest.mark.long
@pytest.mark.parametrize("n_models", [2, 30])
def test_two_and_thirty_models(n_models):
    values = np.random.default_rng(18).normal(size=(n_models, 40)) + 0.05 * np.arange(n_models)[:, None]
    found = compare(make(values), engine="exact")
    assert len(found.pairs) == n_models * (n_models - 1) // 2
    assert sum(row["p_best"] for row in found.ranks) == pytest.approx(1, rel=1e-9)


def test_ten_thousand_groups_of_one():
    values = np.random.default_rng(19).normal(size=(2, 10_000))
    found = compare(make(values, "ab"), np.arange(10_000), engine="exact")
    assert found.pairs == compare(make(values, "ab"), engine="exact").pairs
    assert any("answered without groups" in said for said in found.warnings)
