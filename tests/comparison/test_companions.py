import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions import companions, holm
from probtruth.comparison.margins import Margin


def test_tests_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.gamma(1.0, size=(2, 25))
    error = stats.sem(a - b)
    (row,) = companions([a - b], [Margin(float((a - b).mean()), float(error), 24.0)])
    reference = stats.ttest_rel(a, b)
    assert (row["t"], row["df"]) == (pytest.approx(reference.statistic), 24)
    assert row["t_p"] == pytest.approx(reference.pvalue)
    assert row["wilcoxon_p"] == pytest.approx(stats.wilcoxon(a, b).pvalue)
    assert row["t_p_holm"] == row["t_p"]


def test_tests_that_do_not_exist_are_none():
    rows = companions([np.zeros(5), np.full(5, np.inf)], [Margin(0.0, 0.0, 4.0), None])
    assert all(value is None for row in rows for value in row.values())


def test_holm_by_hand():
    # Holm 1979: .01 * 4, max(.04, .02 * 3), max(.06, .03 * 2), 1 * .5; the missing one is not counted
    assert holm([0.02, None, 0.01, 0.5, 0.03]) == pytest.approx([0.06, None, 0.04, 0.5, 0.06])
    assert holm([]) == []
    assert holm([None]) == [None]
