"""The capital is that of the gamblers, one bet after the other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.study.arrivals import Units
from probtruth.study.confidence_sequence import SHARES, STAKES, log_capital

ROUNDING = 1e-9
"""Of a few hundred float64 operations."""


def slowly(units: Units, mean: float, reach: float) -> list[float]:
    """The capital of each gambler, bet by bet, and their sum."""
    capital = list(SHARES)
    path = []
    for total, size in zip(units.total, units.size, strict=True):
        gain = (total - mean * size) / (units.largest * (mean + reach))
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
    np.testing.assert_allclose(log_capital(units, mean, 2.0), slowly(units, mean, 2.0), rtol=ROUNDING, atol=ROUNDING)


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
