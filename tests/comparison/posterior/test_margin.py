from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimate_from
from scipy import stats

from probtruth.comparison.posterior.margin import Margin, Mixture, margins

ROUND_OFF = 1e-12


def test_a_margin_is_scipys_t():
    margin, t = Margin(0.3, 0.2, 7.0), stats.t(7, 0.3, 0.2)
    assert margin.below(0.1) == pytest.approx(t.cdf(0.1), rel=ROUND_OFF)
    assert margin.above(0.1) == pytest.approx(t.sf(0.1), rel=ROUND_OFF)
    assert margin.within(0.1) == pytest.approx(t.cdf(0.1) - t.cdf(-0.1), rel=ROUND_OFF)
    assert margin.interval() == pytest.approx(t.interval(0.95), rel=ROUND_OFF)


def test_both_tails_keep_their_digits():
    margin = Margin(30.0, 1.0, 50.0)
    assert margin.below(0.0) == pytest.approx(stats.t(50).sf(30.0), rel=1e-9)
    assert Margin(-30.0, 1.0, 50.0).above(0.0) == margin.below(0.0)


def hall(margin, value):
    """Hall's transformed statistic by its definition: W + g W^2/3 + g^2 W^3/27 + g/(6n), times root n."""
    n = 40
    w, g = (margin.centre - value) / (margin.scale * n**0.5), margin.skewness * n**0.5
    return n**0.5 * (w + g * w**2 / 3 + g**2 * w**3 / 27 + g / (6 * n))


@pytest.mark.parametrize("skewness", [-1.2, -0.1, -1e-5, 1e-4, 0.4, 2.0])
@pytest.mark.parametrize("value", [-0.9, -0.2, 0.1, 0.3, 0.5, 1.4])
def test_the_outer_skew_t_is_the_hull_of_the_t_and_of_halls(skewness, value):
    margin, t = Margin(0.3, 0.2, 39.0, skewness), stats.t(39)
    by_t, by_hall = t.sf((0.3 - value) / 0.2), t.sf(hall(margin, value))
    # the one nearer to even odds, and even odds where they disagree on the side
    wanted = max(by_t, by_hall) if max(by_t, by_hall) < 0.5 else min(by_t, by_hall)
    wanted = wanted if (by_t < 0.5) == (by_hall < 0.5) else 0.5
    assert margin.below(value) == pytest.approx(wanted, rel=1e-9)
    assert margin.below(value) + margin.above(value) == pytest.approx(1, rel=ROUND_OFF)
    assert Margin(-0.3, 0.2, 39.0, -skewness).below(-value) == margin.above(value)


@pytest.mark.parametrize("skewness", [-1.2, -1e-5, 0.4, 2.0])
def test_interval_and_draws_invert_below(skewness):
    margin = Margin(0.3, 0.2, 39.0, skewness)
    low, high = margin.interval(0.9)
    assert margin.below(low) == pytest.approx(0.05, rel=1e-9)
    assert margin.above(high) == pytest.approx(0.05, rel=1e-9)
    drawn = margin.at(stats.t(39).ppf([0.95, 0.05]))
    assert drawn == pytest.approx([low, high], rel=1e-9)
    assert Margin(0.3, 0.2, 39.0).interval(0.9)[0] >= low
    assert Margin(0.3, 0.2, 39.0).interval(0.9)[1] <= high


@pytest.mark.parametrize("df", [3.0, 19.0, 1e6])
def test_no_end_lies_half_again_as_far_out_as_the_ts(df):
    one = np.ones(3)
    left, right, little = margins(estimate_from(0 * one, one, df, np.array([-9.0, 9.0, 0.05])))
    assert left == replace(right, skewness=-right.skewness)
    assert little.skewness == 0.05
    reach = stats.t(df).ppf(0.975)
    assert right.interval()[0] == pytest.approx(-reach, rel=1e-9)
    assert 1.4 * reach < right.interval()[1] < 1.5 * reach


@pytest.mark.parametrize(("centre", "p", "equivalent"), [(0.0, 0.5, 1.0), (0.2, 0.0, 0.0), (-0.05, 1.0, 1.0)])
def test_no_spread_is_a_point(centre, p, equivalent):
    margin = Margin(centre, 0.0, 5.0)
    assert (margin.below(0.0), margin.above(0.0)) == (p, 1 - p)
    assert margin.within(0.1) == equivalent
    assert margin.interval() == (centre, centre)


def test_quantile_inverts_below():
    mixture = Mixture(np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([1.0, 0.1]))
    for p in (0.025, 0.5, 0.975):
        assert mixture.below(mixture.quantile(p)) == pytest.approx(p, abs=1e-10)
    assert mixture.within(0.5) == pytest.approx(mixture.below(0.5) - mixture.below(-0.5))


@pytest.mark.parametrize("df", [1.0, 1.7, 30.0])
def test_a_mixture_of_ts_is_their_weighted_sum(df):
    mixture = Mixture(np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([1.0, 0.1]), df)
    for value in (-20.0, 0.2, 3.0):
        wanted = 0.3 * stats.t(df).cdf(value) + 0.7 * stats.t(df, 1.0, 0.1).cdf(value)  # scipy
        assert mixture.below(value) == pytest.approx(wanted, rel=1e-3)
    for p in (0.025, 0.5, 0.975):
        assert mixture.below(mixture.quantile(p)) == pytest.approx(p, abs=1e-10)
