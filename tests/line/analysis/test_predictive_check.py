"""Replicated differences are like the program, the real ones may not be."""

import numpy as np
import pytest
from scipy.stats import t

from probtruth.line.analysis.predictive_check import STATISTICS, replicated

RANDOM = np.random.default_rng(0)
NORMAL = RANDOM.normal(0.1, 0.5, 400)


def row(rows, name):
    return next(one for one in rows if one["statistic"] == name)


def test_the_replicated_mean_has_the_predictive_distribution():
    """Reference: a new mean of n normal items is t with n - 1 degrees of freedom about the mean, scale s sqrt(2/n)."""
    found = row(replicated(NORMAL, 1)[0], "mean")
    n = len(NORMAL)
    low, high = NORMAL.mean() + NORMAL.std(ddof=1) * np.sqrt(2 / n) * t.ppf([0.025, 0.975], n - 1)
    five_errors = 5 * (high - low) / 3.92 * np.sqrt(0.025 * 0.975 / 400) / 0.0584  # a quantile of 400 replicates
    assert found["low"] == pytest.approx(low, abs=five_errors)
    assert found["high"] == pytest.approx(high, abs=five_errors)
    assert 0.35 < found["p"] < 0.65


def test_normal_differences_surprise_nowhere():
    rows, again = replicated(NORMAL, 2)
    assert [one["statistic"] for one in rows] == list(STATISTICS)
    assert all(0.01 < one["p"] < 0.99 for one in rows)
    assert len(again) == 250 * 400


@pytest.mark.parametrize(
    ("differences", "name", "side"),
    [
        (RANDOM.standard_t(2, 400), "largest", 0.0),
        (np.where(RANDOM.random(400) < 0.6, 0.0, NORMAL), "ties", 0.0),
        (-RANDOM.exponential(1.0, 400), "skewness", 1.0),
    ],
)
def test_what_is_not_normal_is_found(differences, name, side):
    assert abs(row(replicated(differences)[0], name)["p"] - side) < 0.01


@pytest.mark.parametrize("differences", [[1.0, 2.0], [0.5] * 9, [1.0, np.inf, 2.0], []])
def test_where_nothing_can_be_replicated(differences):
    rows, again = replicated(np.array(differences, float))
    assert rows == []
    assert len(again) == 0


def test_the_seed_decides():
    assert replicated(NORMAL, 3)[0] == replicated(NORMAL, 3)[0]
    assert replicated(NORMAL, 3)[0] != replicated(NORMAL, 4)[0]


def test_of_many_items_a_part_is_replicated():
    rows, again = replicated(RANDOM.normal(size=50_000))
    assert row(rows, "mean")["low"] < 0 < row(rows, "mean")["high"]
    assert len(again) == 100_000
