import math

import pytest
from scipy import stats

from probtruth.comparison.margins import Margin, infinite_margin

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
    assert margin.flipped().above(0.0) == margin.below(0.0)


@pytest.mark.parametrize(("centre", "p", "equivalent"), [(0.0, 0.5, 1.0), (0.2, 0.0, 0.0), (-0.05, 1.0, 1.0)])
def test_no_spread_is_a_point(centre, p, equivalent):
    margin = Margin(centre, 0.0, 5.0)
    assert (margin.below(0.0), margin.above(0.0)) == (p, 1 - p)
    assert margin.within(0.1) == equivalent
    assert margin.interval() == (centre, centre)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (math.inf, 1.0, (math.inf, 0.0)),
        (1.0, math.inf, (-math.inf, 1.0)),
        (-math.inf, 1.0, (-math.inf, 1.0)),
        (-math.inf, math.inf, (-math.inf, 1.0)),
        (math.inf, math.inf, (None, None)),
        (math.nan, 1.0, (None, None)),
    ],
)
def test_infinite_means(a, b, wanted):
    assert infinite_margin(a, b) == wanted
