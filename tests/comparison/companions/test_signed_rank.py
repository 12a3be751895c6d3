import itertools

import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions.signed_rank import EXACT, signed_rank_p


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
