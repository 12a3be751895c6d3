import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions.paired_tests import Companion, companions, holm
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, moments


def of(values, clusters=None, groups=None):
    within = Structure.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    parts = moments(values, within)
    weights = parts.n_items / values.shape[1]
    return companions(values, within, weights, combine(parts, parts.pairs, weights))


def test_tests_are_those_of_scipy():
    a, b = np.random.default_rng(0).gamma(1.0, size=(2, 25))
    (row,) = of(np.stack([a, b]))
    reference = stats.ttest_rel(a, b)
    assert (row.t, row.df) == (pytest.approx(reference.statistic), pytest.approx(24))
    assert row.t_p == pytest.approx(reference.pvalue)
    assert row.wilcoxon_p == pytest.approx(stats.wilcoxon(a, b).pvalue)


def test_pseudo_items_do_not_touch_the_t():
    a = np.r_[1.0, 1.0, np.zeros(18)]
    (row,) = of(np.stack([a, np.zeros(20)]))
    assert row.t_p == pytest.approx(stats.ttest_1samp(a, 0).pvalue)


def test_repeats_of_an_item_in_a_cluster_are_no_more_evidence():
    values = np.random.default_rng(1).normal([[0.0], [0.4]], 1, (2, 20))
    (plain,), (repeated,) = of(values), of(np.repeat(values, 3, axis=1), clusters=np.arange(60) // 3)
    assert repeated.t_p == pytest.approx(plain.t_p)
    assert repeated.sign_flip_p == pytest.approx(plain.sign_flip_p)
    assert repeated.bootstrap_p_a_better == pytest.approx(plain.bootstrap_p_a_better)
    (naive,) = of(np.repeat(values, 3, axis=1))
    assert naive.sign_flip_p < plain.sign_flip_p


def test_groups_of_different_means_are_compared_within():
    rng = np.random.default_rng(2)
    groups = np.arange(60) % 2
    values = np.stack([rng.normal(0.3, 0.5, 60) + 20 * groups - 10, np.zeros(60)])
    (row,) = of(values, groups=groups)
    assert row.bootstrap_p_a_better < 0.01  # the spread between the groups does not count
    assert row.t_p < 0.01


def test_tests_that_do_not_exist_are_none():
    (row,) = of(np.zeros((2, 5)))
    assert row == Companion() == Companion().flipped()
    (constant,) = of(np.stack([np.zeros(5), np.full(5, 0.1)]))
    assert (constant.t_p, constant.bootstrap_p_a_better) == (None, None)
    assert constant.sign_flip_p == 2 / 2**5


def test_flipped_is_b_minus_a():
    assert Companion(1.0, 5.0, 0.1, 0.2, 0.3, 0.75).flipped() == Companion(-1.0, 5.0, 0.1, 0.2, 0.3, 0.25)


def test_holm_by_hand():
    # Holm 1979: .01 * 4, max(.04, .02 * 3), max(.06, .03 * 2), 1 * .5; the missing one is not counted
    assert holm([0.02, None, 0.01, 0.5, 0.03]) == pytest.approx([0.06, None, 0.04, 0.5, 0.06])
    assert holm([]) == []
    assert holm([None]) == [None]
