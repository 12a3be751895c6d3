import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probtruth.kernels.exact_sums import AT_ONCE, BLOCK, exact_sum, exact_totals, few_terms, weighted_mean

finite = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e50, 1e50, allow_nan=False, allow_subnormal=False))


@given(finite, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_sum_is_free_of_order_and_odd(values, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert exact_sum(values) == exact_sum(shuffled)
    assert exact_sum(-values) == -exact_sum(values)


@given(finite)
@settings(deadline=None, max_examples=60, derandomize=True)
def test_sum_is_that_of_fsum_to_the_last_digit_of_the_largest_term(values):
    # three pieces keep every bit down to 2^-100 of the largest term
    assert abs(exact_sum(values) - math.fsum(values)) <= math.ulp(math.fsum(values)) + np.abs(values).max() * 2.0**-90


def test_sum_of_many_terms_in_blocks():
    values = np.random.default_rng(0).normal(size=(2, 3 * BLOCK + 7)) * 10.0 ** np.arange(-3, 0).repeat(2).reshape(
        3, 2
    ).mean(0).reshape(2, 1)
    assert exact_sum(values).tolist() == [math.fsum(row) for row in values]
    assert exact_sum(values[:, ::-1]).tolist() == exact_sum(values).tolist()


def test_sum_where_a_running_total_loses_the_small_terms():
    values = np.r_[1e16, np.ones(10_000), -1e16]
    assert np.cumsum(values)[-1] != 10_000  # the naive way fails
    assert exact_sum(values) == 10_000


def test_sum_of_nothing_and_of_zeros():
    assert exact_sum(np.zeros((2, 0))).tolist() == [0.0, 0.0]
    assert exact_sum(np.zeros(3)) == 0


def test_totals_are_those_of_each_place_in_any_order():
    rng = np.random.default_rng(1)
    values, place = rng.normal(size=(2, 500)), rng.integers(0, 7, 500)
    totals = exact_totals(values, place, 7)
    assert totals.tolist() == [[math.fsum(row[place == at]) for at in range(7)] for row in values]
    order = rng.permutation(500)
    assert exact_totals(values[:, order], place[order], 7).tolist() == totals.tolist()


def test_means_and_infinite_scores():
    half = np.full(2, 0.5)
    assert weighted_mean(np.array([1.0, 2.0]), half) == 1.5
    assert weighted_mean(np.array([np.inf, 2.0]), half) == math.inf
    assert weighted_mean(np.array([-np.inf, 2.0]), half) == -math.inf
    assert math.isnan(weighted_mean(np.array([-np.inf, np.inf]), half))
    assert weighted_mean(np.array([np.inf, 2.0]), np.array([0.0, 1.0])) == 2.0


def numbers(seed: int, n: int = AT_ONCE + 17) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n)


class TestReference:
    @pytest.mark.parametrize("seed", range(5))
    def test_the_correctly_rounded_sum_of_all(self, seed):
        values = numbers(seed)
        assert math.fsum(few_terms(values)) == math.fsum(values.tolist())

    def test_what_naive_sums_lose(self):
        values = np.array([1e100, 1.0, -1e100, 2.0**-1074, 1e-30])
        assert math.fsum(few_terms(values)) == math.fsum(values.tolist()) == 1.0 + 1e-30

    def test_numbers_of_one_size_become_few(self):
        assert len(list(few_terms(np.linspace(0.1, 2.3, AT_ONCE)))) < 5


class TestProperties:
    def test_batches_change_nothing(self):
        values = numbers(9)
        parts = [term for start in range(0, len(values), 1000) for term in few_terms(values[start : start + 1000])]
        assert math.fsum(parts) == math.fsum(few_terms(values))

    @pytest.mark.parametrize("size", [1e300, 2.0**899, 2.0**900, 5e-324, 2.0**-1022])
    def test_the_ends_of_the_range(self, size):
        values = size * np.array([1.0, 3.0, -2.0, 1.0])
        assert math.fsum(few_terms(values)) == math.fsum(values.tolist())

    def test_nothing(self):
        assert list(few_terms(np.zeros(0))) == list(few_terms(np.zeros(3))) == []

    @pytest.mark.parametrize("odd", [math.inf, -math.inf])
    def test_infinite(self, odd):
        assert math.fsum(few_terms(np.array([1.0, odd]))) == odd

    def test_not_a_number(self):
        assert math.isnan(math.fsum(few_terms(np.array([1.0, math.nan]))))
