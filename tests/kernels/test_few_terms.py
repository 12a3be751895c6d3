"""Many numbers as a few with the same sum: what `math.fsum` makes of them is what it makes of all."""

import math

import numpy as np
import pytest

from probtruth.kernels.exact_sums import AT_ONCE, few_terms


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
