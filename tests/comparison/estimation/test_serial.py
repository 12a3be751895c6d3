"""Neighbours that are alike are noticed, and nothing else is."""

import numpy as np
import pytest
from made_scores import make
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.serial import lag_one


def autoregressive(rng, n, phi=0.5):
    noise, values = rng.normal(size=n + 50), np.zeros(n + 50)
    for place in range(1, n + 50):
        values[place] = phi * values[place - 1] + noise[place]
    return values[50:]


def warned(rows, **options):
    return any("next to each other" in line for line in compare(make(rows, "ab"), engine="exact", **options).warnings)


def test_the_correlation_is_that_of_ranks():
    row = autoregressive(np.random.default_rng(0), 200)
    ranks = stats.rankdata(row)
    plain = stats.pearsonr(ranks[1:], ranks[:-1]).statistic
    found, z = lag_one(row, np.zeros(200, int))
    assert found == pytest.approx(plain, abs=0.02)  # ends and bias are of the order 1/n
    assert z == pytest.approx(found * np.sqrt(199))


def test_differences_that_follow_each_other_are_warned_of():
    row = autoregressive(np.random.default_rng(1), 200)
    assert warned([row, np.zeros(200)])
    assert not warned([row[np.random.default_rng(2).permutation(200)], np.zeros(200)])
    assert not warned([row, np.zeros(200)], clusters=np.arange(200) // 10)


def test_the_order_is_that_of_the_caller():
    row = autoregressive(np.random.default_rng(1), 200)
    turn = np.random.default_rng(3).permutation(200)  # the caller's row of each item
    mixed = row[turn]
    for rows, known, expected in ((turn, True, True), (None, True, False), (turn, False, False)):
        scores = make([mixed, np.zeros(200)], "ab", item_rows=rows, item_order=known)
        assert any("next to each other" in line for line in compare(scores, engine="exact").warnings) is expected


@pytest.mark.parametrize("kind", ["normal", "rare", "sorted groups"])
@pytest.mark.long
def test_false_alarms_are_rarer_than_one_in_a_hundred(kind):
    # 2,000 data sets: 1 per cent would be 20, and more than 33 has a chance of .002 under it
    rng, alarms = np.random.default_rng(4), 0
    group = np.arange(60) // 15 if kind == "sorted groups" else np.zeros(60, int)
    for _ in range(2000):
        row = (rng.random(60) < 0.1) * 1.0 if kind == "rare" else rng.normal(size=60) + 5 * group
        alarms += lag_one(row, group)[1] > stats.norm.ppf(0.995)
    assert alarms <= 33
