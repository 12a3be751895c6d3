"""Ranks are those of SciPy."""

import numpy as np
import pytest
from scipy.stats import rankdata

from probtruth.comparison.estimation.pairs import first_and_last


@pytest.mark.parametrize("shape", [(1,), (7,), (400, 5), (3, 2, 60), (0, 3)])
def test_ranks_are_those_of_scipy(shape):
    """Among five numbers, of which two are the zeros of either sign, many tie."""
    values = np.random.default_rng(0).choice([-np.inf, -0.0, 0.0, 1.5, np.inf], shape)
    first, last = first_and_last(values)
    if values.size:
        assert np.array_equal(first, rankdata(values, "min", axis=-1))
        assert np.array_equal(last, rankdata(values, "max", axis=-1))
    assert first.shape == last.shape == shape
    assert first.dtype == last.dtype == np.int64


def test_ranks_of_different_numbers_are_a_permutation():
    values = np.random.default_rng(1).normal(size=1000)
    first, last = first_and_last(values)
    assert np.array_equal(first, last)
    assert np.array_equal(first, rankdata(values))
