"""The capital bet by bet, the mixture by quadrature; the sequence holds what was never rejected; false alarms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_study import BOUNDED, UNBOUNDED, alarms, fixed_size, stopping_times
from scipy.integrate import quad
from scipy.stats import norm, skew

from probtruth.study.confidence_sequence import SHARES, SPREAD, STAKES, START, SequentialEvidence

ROUNDING = 1e-9  # Of a few hundred float64 operations
CUBES = 1e-8  # Of sums of cubes over a few hundred units, and of the quadrature
FIND = 1e-6  # How finely the limits are found, with the sizes of scores used here


def of(differences, bound, size=None, largest=1):
    total = np.asarray(differences, np.float64)
    return SequentialEvidence(total, np.ones(len(total)) if size is None else size, largest, bound)


def bet_by_bet(units: SequentialEvidence, mean: float) -> list[float]:
    """The capital of each gambler, bet by bet, and their sum."""
    capital = list(SHARES)
    path = []
    for total, size in zip(units.total, units.size, strict=True):
        gain = (total - mean * size) / (units.largest * (mean + units.bound))
        capital = [money * (1 + stake * gain) for money, stake in zip(capital, STAKES, strict=True)]
        path.append(math.log(math.fsum(capital)))
    return path


@settings(deadline=None, max_examples=50, derandomize=True)
@given(
    st.lists(st.lists(st.floats(-2, 2), min_size=1, max_size=3), min_size=1, max_size=40),
    st.floats(-1.9, 1.9),
    st.floats(0, 0.5),
)
def test_agrees_with_one_bet_after_the_other_and_falls_as_the_mean_grows(clusters, mean, more):
    units = of([sum(c) for c in clusters], 2.0, np.array([float(len(c)) for c in clusters]), 3)
    np.testing.assert_allclose(units.above(mean), bet_by_bet(units, mean), rtol=ROUNDING, atol=ROUNDING)
    assert (units.above(min(mean + more, 1.99)) <= units.above(mean) + ROUNDING).all()


def test_the_expected_capital_is_one_at_the_mean():
    # fair game: all 2^8 sequences of a difference that is .75 with probability .25, else -.25
    steps = np.array([[0.75 if (code >> bit) & 1 else -0.25 for bit in range(8)] for code in range(256)])
    chance = np.prod(np.where(steps > 0, 0.25, 0.75), axis=1)
    last = [math.exp(of(row, 1.0).above(0.0)[-1]) for row in steps]
    assert float(chance @ last) == pytest.approx(1.0, rel=ROUNDING)


@pytest.mark.parametrize("edge", [0.02, 0.1, 0.4])
def test_no_constant_stake_would_have_won_much_more(edge):
    # 2,000 bets of +1 or -1: a gambler who had known the best stake of all is ahead by what the first capital was split
    # into, and by the distance to the next stake, no more
    gains = np.where(np.arange(2000) % 100 < 50 * (1 + edge), 1.0, -1.0)
    stakes = np.linspace(0, 0.95, 2000)
    best = max(float(np.log1p(stake * gains).sum()) for stake in stakes)
    ours = of(gains, 1.0).above(0.0)[-1]
    assert ours > 0.85 * best - math.log(1 / SHARES.min())


def integrated(units: SequentialEvidence, mean: float, n: int) -> float:
    """The likelihood ratio of effects from a half-normal, integrated numerically."""
    total, size = units.total[:n], units.size[:n]
    residual = total - total.sum() / size.sum() * size
    s = np.sqrt((residual**2).sum() / (n - 1))
    u = (total - mean * size).sum() / s / np.sqrt(n)
    # unbiased third moment over the unbiased variance to the 1.5
    g = skew(residual, bias=True) * (n**2 / ((n - 1) * (n - 2))) * ((n - 1) / n) ** 1.5 / np.sqrt(n)
    z = min(u, u + g * u**2 / 3 + g**2 * u**3 / 27 + g / 6) * np.sqrt(n)
    value, _ = quad(
        lambda effect: 2 * norm.pdf(effect / SPREAD) / SPREAD * np.exp(effect * z - n * effect**2 / 2),
        0, 3, limit=500, epsabs=0, epsrel=1e-10,
    )  # fmt: skip
    return float(np.log(value))


@pytest.mark.parametrize("mean", [-0.4, 0.0, 0.1, 0.9])
def test_agrees_with_quadrature(mean):
    rng = np.random.default_rng(0)
    units = of(rng.exponential(size=300), None, rng.integers(1, 4, 300).astype(float), 3)
    path = units.above(mean)
    for n in (START, 137, 300):
        assert path[n - 1] == pytest.approx(integrated(units, mean, n), rel=CUBES, abs=CUBES)


def test_says_nothing_before_the_limit_is_near_nor_without_a_spread():
    path = of(np.random.default_rng(0).normal(5, 1, START), None).above(0.0)
    assert (path[:-1] == 0).all()
    assert path[-1] > 10
    for value in (0.0, 0.1, -3.0):
        assert (of(np.full(300, value), None).above(-1.0) == 0).all()


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=60) | st.just(None))
def test_limits_are_where_rejection_ends(differences):
    normal = np.random.default_rng(0).normal(0.2, 1, 500)
    found = of(normal, None) if differences is None else of(differences, 1.0)
    low, high = found.interval(0.05)
    if differences is None:
        assert -0.5 < low < 0.2 < high < 0.9
    for limit, path in ((low, found.above), (high, found.below)):
        if abs(limit) == 1:
            continue
        outside, inside = (limit - FIND, limit + FIND) if limit == low else (limit + FIND, limit - FIND)
        assert path(outside).max() >= math.log(40) > path(inside).max()


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e50])
@pytest.mark.parametrize("bound", [1.0, None])
def test_scale_and_mirror_change_nothing_but_the_unit_and_the_sign(bound, scale):
    d = np.random.default_rng(5).uniform(-0.5, 1, 200)
    low, high = of(d, bound).interval(0.05)
    assert of(-d, bound).interval(0.05) == (-high, -low)
    scale = max(scale, 1e-100) if bound is None else scale  # cubes of what is smaller are 0
    scaled = of(scale * d, None if bound is None else scale).interval(0.05)
    assert np.array(scaled) / scale == pytest.approx([low, high], rel=FIND)


@pytest.mark.parametrize("bound", [1.0, None])
def test_never_widens(bound):
    found = of(np.random.default_rng(3).uniform(-1, 1, 400), bound)
    ends = np.array([found.first(n).interval(0.05) for n in range(90 if bound else 110, 400, 10)])
    assert (np.diff(ends[:, 0]) >= -FIND).all()
    assert (np.diff(ends[:, 1]) <= FIND).all()


def test_nothing_known():
    assert of([], 1.0).interval(0.05) == (-1.0, 1.0)
    for n in (0, 99, 500):  # too few, and no spread to judge by
        assert of([1.0] * n, None).interval(0.05) == (-math.inf, math.inf)


def test_a_constant_difference_at_the_bound():
    low, high = of([1.0] * 500, 1.0).interval(0.05)
    assert 0.9 < low < 1.0
    assert high == 1.0


@pytest.mark.long
@pytest.mark.parametrize("stream", [*BOUNDED, *UNBOUNDED], ids=lambda stream: stream.name)
def test_false_alarms_under_peeking_after_every_item(stream):
    # nominal .05; five standard errors of 200 streams are .077, and the studies of 1e4 items are in docs/validity
    low, high = alarms(stream, 1000, 200, seed=1)
    assert low + high <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 200)
    assert low + high <= 0.05 or stream.bound is None


@pytest.mark.parametrize("stream", [*BOUNDED[:7], *UNBOUNDED], ids=lambda stream: stream.name)
def test_an_effect_is_found_in_three_times_the_items_of_a_fixed_test(stream):
    times = stopping_times(stream, 0.3, 600, 100, seed=2)
    assert fixed_size(0.3) == 90  # G*Power 3.1, means: difference from constant, two-sided, d = .3, power .8
    assert np.median(times) <= 3 * fixed_size(0.3)
