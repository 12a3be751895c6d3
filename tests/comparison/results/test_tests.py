import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_scores import estimated, make
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.options import checked_options
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.results.tests import EXACT, EXPLICIT, FLIPS, model_free_tests, sign_flip_p, signed_rank_p

SEED = 0
MONTE_CARLO = 5.0


def of(values, clusters=None, groups=None):
    plan = Design.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    plan = replace(plan, weights=plan.group_sizes / plan.n_items)
    estimate = estimated(values, plan)
    estimate = replace(estimate, about=replace(estimate.about, models=estimate.names, values=values))
    tests = model_free_tests(estimate, Posterior(estimate), checked_options(seed=SEED))
    return [SimpleNamespace(**row) for row in tests]


def error(p):
    """Five Monte Carlo standard errors of random flips."""
    return MONTE_CARLO * np.sqrt(p * (1 - p) / FLIPS)


def test_repeats_of_an_item_in_a_cluster_are_no_more_evidence():
    values = np.random.default_rng(1).normal([[0.0], [0.4]], 1, (2, 20))
    (plain,), (repeated,) = of(values), of(np.repeat(values, 3, axis=1), clusters=np.arange(60) // 3)
    assert repeated.t_p == pytest.approx(plain.t_p)
    assert repeated.sign_flip_p == pytest.approx(plain.sign_flip_p)
    (naive,) = of(np.repeat(values, 3, axis=1))
    assert naive.sign_flip_p < plain.sign_flip_p


def test_flips_within_groups_reject_a_true_null_as_often_as_they_say():
    rng = np.random.default_rng(6)
    groups, flat = np.repeat([0, 1, 2], [6, 10, 30]), np.zeros(46)
    centre = np.array([-5.0, 1.0, 2.0 / 3])  # weighted with the groups' sizes: 0
    tests = [of(np.stack([centre[groups] + rng.normal(size=46), flat]), groups=groups)[0] for _ in range(200)]
    p = np.array([test.sign_flip_p for test in tests])
    assert abs((p < 0.2).mean() - 0.2) < MONTE_CARLO * np.sqrt(0.16 / 200)
    assert np.abs(p - [test.t_p for test in tests]).mean() < 0.02


def test_flips_within_groups_by_hand():
    """Deviations from an estimated mean are too small by the root of (n - 1)/n; three items and four."""
    difference = np.array([0.4, 1.0, 0.1, -0.3, 0.9, 0.5, 0.7])
    groups = np.repeat([0, 1], [3, 4])
    means = np.array([difference[:3].mean(), difference[3:].mean()])
    freedom = np.sqrt(np.repeat([3 / 2, 4 / 3], [3, 4]))
    own = (freedom * (difference - means[groups]) + difference.mean()) / 7
    flipped = [abs(own @ np.array(signs)) for signs in itertools.product([1, -1], repeat=7)]
    wanted = np.mean(np.array(flipped) >= abs(own.sum()) * (1 - 1e-9))
    (found,) = of(np.stack([difference, np.zeros(7)]), groups=groups)
    assert found.sign_flip_p == pytest.approx(wanted, rel=1e-12)


def test_tests_that_do_not_exist_are_none():
    (row,) = of(np.zeros((2, 5)))
    assert {value for name, value in vars(row).items() if name not in ("a", "b")} == {None}
    (constant,) = of(np.stack([np.zeros(5), np.full(5, 0.1)]))
    assert constant.t_p is None
    assert constant.sign_flip_p == 2 / 2**5


@pytest.mark.parametrize("n", [1, 5, 20, EXACT])
def test_exact_p_is_scipys_without_ties(n):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    assert signed_rank_p(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, rel=1e-10)


def test_exact_p_with_ties_is_that_of_all_signs():
    values = np.array([1.0, 1.0, -1.0, 2.0, 2.0, -3.0, 4.0, 0.0])
    ranks = stats.rankdata(np.abs(values[:-1]))
    observed = ranks[values[:-1] > 0].sum()
    sums = [np.dot(ranks, signs) for signs in itertools.product([0, 1], repeat=7)]
    tail = min(np.mean([total >= observed for total in sums]), np.mean([total <= observed for total in sums]))
    assert signed_rank_p(values) == pytest.approx(2 * tail, rel=1e-12)


@pytest.mark.parametrize("decimals", [1, 9])
def test_normal_p_is_scipys_with_and_without_ties(decimals):
    values = np.round(np.random.default_rng(7).normal(0.1, 1, 200), decimals)
    assert signed_rank_p(values) == pytest.approx(stats.wilcoxon(values, method="asymptotic").pvalue, rel=1e-10)


def test_zeros_are_left_out_and_nothing_is_left():
    values = np.random.default_rng(8).normal(size=12)
    assert signed_rank_p(np.r_[values, np.zeros(9)]) == signed_rank_p(values) == signed_rank_p(-values)
    assert signed_rank_p(np.zeros(4)) is None


def test_units_of_one_size_are_mcnemars_test():
    values = np.r_[np.ones(14), -np.ones(4), np.zeros(30)]
    wanted = stats.binomtest(14, 18).pvalue
    assert sign_flip_p(values[None], SEED) == [pytest.approx(wanted, abs=error(wanted))]


@pytest.mark.parametrize("n", [2, 5, 12])
def test_few_units_are_tried_in_every_pattern_as_scipy_does(n):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    wanted = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flip_p(values[None], SEED) == [pytest.approx(wanted, rel=1e-12)]


def test_many_units_agree_with_scipys_permutation_test():
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, 30)
    reference = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    (p,) = sign_flip_p(values[None], SEED)
    assert p == pytest.approx(
        reference, abs=MONTE_CARLO * np.sqrt(reference * (1 - reference) * (1 / FLIPS + 1 / 20_000))
    )


def test_what_no_flip_reaches_has_the_least_p_there_is():
    """(0 + 1) / (FLIPS + 1), never 0: Phipson and Smyth 2010, doi:10.2202/1544-6115.1585."""
    values = np.linspace(1, 2, 60)
    assert sign_flip_p(values[None], SEED) == [1 / (FLIPS + 1)]


def test_units_beyond_those_flipped_one_by_one_enter_as_a_normal():
    rng = np.random.default_rng(2)
    values = rng.normal(0.03, 1, 5 * EXPLICIT)
    p = stats.ttest_1samp(values, 0).pvalue
    assert sign_flip_p(values[None], SEED) == [pytest.approx(p, abs=error(p))]
    one_large = np.r_[np.full(3 * EXPLICIT, 1e-3), -np.full(3 * EXPLICIT, 1e-3), 1.0]
    # the sign of one unit decides, and the others add as much as they take: no evidence
    assert sign_flip_p(one_large[None], SEED) == [pytest.approx(0.5, abs=error(0.5))]


def test_the_seed_of_the_comparison_draws_the_tests():
    values = np.random.default_rng(9).normal([[0.0], [0.2]], 1, (2, 60))
    tests: list[float] = []
    for seed in (1, 1, 2):
        comparison = compare(make(values), engine="exact", seed=seed)
        (row,) = comparison.model_free_tests().to_dicts()
        tests.append(row["sign_flip_p"])
    first, same, other = tests
    assert first == same
    assert first != other
    assert first == pytest.approx(other, abs=MONTE_CARLO * np.sqrt(2 * first * (1 - first) / FLIPS))
