"""The capital bet by bet, the mixture by quadrature; the sequence holds what was never rejected; false alarms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_study import BOUNDED, UNBOUNDED, alarms, evidence, fixed_size, stopping_times
from scipy.integrate import quad
from scipy.stats import norm, skew

from probtruth.study.confidence_sequence import (
    SHARES,
    SPREAD,
    STAKES,
    START,
    SequentialEvidence,
    Units,
    log_capital,
    log_evidence,
)

ROUNDING = 1e-9  # Of a few hundred float64 operations
CUBES = 1e-8  # Of sums of cubes over a few hundred units, and of the quadrature
FIND = 1e-6  # How finely the limits are found, with the sizes of scores used here


def bet_by_bet(units: Units, mean: float, bound: float) -> list[float]:
    """The capital of each gambler, bet by bet, and their sum."""
    capital = list(SHARES)
    path = []
    for total, size in zip(units.total, units.size, strict=True):
        gain = (total - mean * size) / (units.largest * (mean + bound))
        capital = [money * (1 + stake * gain) for money, stake in zip(capital, STAKES, strict=True)]
        path.append(math.log(math.fsum(capital)))
    return path


def test_one_bet_by_hand():
    # a difference of +1 of at most 1, against a mean of 0: the gambler with stake c has 1 + c
    (log,) = log_capital(Units(np.ones(1), np.ones(1), 1), 0.0, 1.0)
    assert log == pytest.approx(math.log(float(SHARES @ (1 + STAKES))), rel=ROUNDING)


def test_shares_are_a_capital_of_one():
    assert SHARES.sum() == pytest.approx(1, rel=ROUNDING)
    assert (STAKES < 1).all()


@settings(deadline=None, max_examples=50, derandomize=True)
@given(
    st.lists(st.lists(st.floats(-2, 2), min_size=1, max_size=3), min_size=1, max_size=40),
    st.floats(-1.9, 1.9),
)
def test_agrees_with_one_bet_after_the_other(clusters, mean):
    units = Units(np.array([sum(c) for c in clusters]), np.array([float(len(c)) for c in clusters]), 3)
    np.testing.assert_allclose(
        log_capital(units, mean, 2.0), bet_by_bet(units, mean, 2.0), rtol=ROUNDING, atol=ROUNDING
    )


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.floats(-0.99, 0.99), st.floats(0, 0.5))
def test_falls_as_the_mean_grows(differences, mean, more):
    units = Units(np.array(differences), np.ones(len(differences)), 1)
    higher = min(mean + more, 0.999)
    assert (log_capital(units, higher, 1.0) <= log_capital(units, mean, 1.0) + ROUNDING).all()


def test_the_expected_capital_is_one_at_the_mean():
    # fair game: all 2^8 sequences of a difference that is .75 with probability .25, else -.25
    steps = np.array([[0.75 if (code >> bit) & 1 else -0.25 for bit in range(8)] for code in range(256)])
    chance = np.prod(np.where(steps > 0, 0.25, 0.75), axis=1)
    last = [math.exp(log_capital(Units(row, np.ones(8), 1), 0.0, 1.0)[-1]) for row in steps]
    assert float(chance @ last) == pytest.approx(1.0, rel=ROUNDING)


@pytest.mark.parametrize("edge", [0.02, 0.1, 0.4])
def test_no_constant_stake_would_have_won_much_more(edge):
    # 2,000 bets of +1 or -1: a gambler who had known the best stake of all is ahead by what the first capital was split
    # into, and by the distance to the next stake, no more
    gains = np.where(np.arange(2000) % 100 < 50 * (1 + edge), 1.0, -1.0)
    stakes = np.linspace(0, 0.95, 2000)
    best = max(float(np.log1p(stake * gains).sum()) for stake in stakes)
    ours = log_capital(Units(gains, np.ones(2000), 1), 0.0, 1.0)[-1]
    assert ours > 0.85 * best - math.log(1 / SHARES.min())


def integrated(units: Units, mean: float, n: int) -> float:
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
    units = Units(rng.exponential(size=300), rng.integers(1, 4, 300).astype(float), 3)
    path = log_evidence(units, mean)
    for n in (START, 137, 300):
        assert path[n - 1] == pytest.approx(integrated(units, mean, n), rel=CUBES, abs=CUBES)


def test_says_nothing_before_the_limit_is_near():
    units = Units(np.random.default_rng(0).normal(5, 1, START), np.ones(START), 1)
    path = log_evidence(units, 0.0)
    assert (path[:-1] == 0).all()
    assert path[-1] > 10


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0])
def test_units_that_do_not_vary_are_no_evidence(value):
    assert (log_evidence(Units(np.full(300, value), np.ones(300), 1), -1.0) == 0).all()


def test_does_not_depend_on_the_unit_of_the_score():
    d = np.random.default_rng(1).normal(0.3, 1, 400)
    plain = log_evidence(Units(d, np.ones(400), 1), 0.1)
    scaled = log_evidence(Units(1e-9 * d, np.ones(400), 1), 1e-10)
    np.testing.assert_allclose(scaled, plain, rtol=CUBES, atol=CUBES)


def units(differences):
    array = np.asarray(differences, np.float64)
    return Units(array, np.ones(len(array)), 1)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=60))
def test_bounded_limits_are_where_rejection_ends(differences):
    found = SequentialEvidence(units(differences), 1.0)
    low, high = found.interval(len(differences), 0.05)
    for limit, path in ((low, found.above), (high, found.below)):
        if abs(limit) == 1:
            continue
        outside, inside = (limit - FIND, limit + FIND) if limit == low else (limit + FIND, limit - FIND)
        assert path(outside).max() >= math.log(40)
        assert path(inside).max() < math.log(40)


def test_unbounded_limits_are_where_rejection_ends():
    found = SequentialEvidence(units(np.random.default_rng(0).normal(0.2, 1, 500)), None)
    low, high = found.interval(500, 0.05)
    assert -0.5 < low < 0.2 < high < 0.9
    assert found.above(low - FIND).max() >= math.log(40) > found.above(low + FIND).max()
    assert found.below(high + FIND).max() >= math.log(40) > found.below(high - FIND).max()


@pytest.mark.parametrize("bound", [2.0, None])
def test_mirrored_differences_give_the_mirrored_sequence(bound):
    d = np.random.default_rng(0).uniform(-1, 0.8, 300)
    low, high = SequentialEvidence(units(d), bound).interval(300, 0.1)
    assert SequentialEvidence(units(-d), bound).interval(300, 0.1) == (-high, -low)


@pytest.mark.parametrize("bound", [1.0, None])
def test_never_widens(bound):
    found = SequentialEvidence(units(np.random.default_rng(3).uniform(-1, 1, 400)), bound)
    ends = np.array([found.interval(n, 0.05) for n in range(90, 400, 10)])
    assert (np.diff(ends[:, 0]) >= -FIND).all() if bound else (np.diff(ends[2:, 0]) >= -FIND).all()
    assert (np.diff(ends[:, 1]) <= FIND).all() if bound else (np.diff(ends[2:, 1]) <= FIND).all()


def test_nothing_known():
    assert SequentialEvidence(units([]), 1.0).interval(0, 0.05) == (-1.0, 1.0)
    assert SequentialEvidence(units([]), None).interval(0, 0.05) == (-math.inf, math.inf)
    assert SequentialEvidence(units([1.0] * 99), None).interval(99, 0.05) == (-math.inf, math.inf)
    assert SequentialEvidence(units([1.0] * 500), None).interval(500, 0.05) == (
        -math.inf,
        math.inf,
    )  # no spread to judge by


def test_a_constant_difference_at_the_bound():
    low, high = SequentialEvidence(units([1.0] * 500), 1.0).interval(500, 0.05)
    assert 0.9 < low < 1.0
    assert high == 1.0


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e50])
def test_scale_changes_nothing_but_the_unit(scale):
    d = np.random.default_rng(5).uniform(-0.5, 1, 200)
    low, high = SequentialEvidence(units(d), 1.0).interval(200, 0.05)
    scaled = SequentialEvidence(units(scale * d), scale).interval(200, 0.05)
    assert np.array(scaled) / scale == pytest.approx([low, high], rel=FIND)


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


@pytest.mark.long
def test_covers_the_mean_at_all_times():
    stream = BOUNDED[1]
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(20):
        d = np.minimum(stream.draw(rng, 500) + 0.2, 1.0)  # at most .9 + .2
        mean = float(np.minimum(stream.draw(np.random.default_rng(0), 400_000) + 0.2, 1.0).mean())
        low, high = evidence(stream, d).interval(500, 0.05)
        missed += not low <= mean <= high
    assert missed <= 1 + 5 * math.sqrt(20 * 0.05 * 0.95)
