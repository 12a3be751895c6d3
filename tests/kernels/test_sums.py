from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.kernels import sums

FLOAT32 = 1e-6
"""Relative error of a few float32 roundings."""
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)

add, merge, approximate = map(jax.jit, (sums.add, sums.merge, sums.approximate))


def exact(values):
    """The sum as a fraction: Python's own arithmetic, the slow twin."""
    return sum(map(Fraction, np.asarray(values, np.float64).tolist()))


def same(one, other):
    return all(np.array_equal(*pair) for pair in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


# Reference


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).exponential(size=9000),
        np.random.default_rng(1).normal(size=9000) * np.exp(20 * np.random.default_rng(2).normal(size=9000)),
        -np.random.default_rng(3).exponential(size=9000),
        np.full(5000, 3e38),
        np.full(10, 1e-37),
        np.array([1e30, 1.0, -1e30, 1e-30]),
        np.zeros(3),
    ],
    ids=["losses", "wild", "negative", "largest", "smallest", "cancelling", "zeros"],
)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_sum_is_that_of_fractions(values, kind):
    with jax.enable_x64(kind == "float64"):
        terms = np.pad(values, (0, 9000 - len(values))).astype(kind)
        (total,) = sums.exact(add(sums.zero(), terms))
    assert total == exact(terms)


def test_float64_extremes():
    with jax.enable_x64(True):
        values = np.pad([1e308, 1e308, -3.0, 2.3e-308], (0, 8996))
        assert sums.exact(add(sums.zero(), values)) == [exact(values)]


def test_no_terms():
    assert sums.exact(add(sums.zero(), np.zeros(0, np.float32))) == [0]


def test_subnormal_terms_count_as_zero():
    assert sums.exact(add(sums.zero(), np.full(3, 1e-40, np.float32))) == [0]


def test_adding_ten_million_float32_terms_loses_nothing():
    """One after another in float32 they would be off by per cents."""
    terms = jnp.full(10_000_000, 0.1, jnp.float32)
    total = sums.means(add(sums.zero(), terms), 1)
    assert float(total) == 10_000_000 * float(np.float32(0.1))


def test_counts_go_past_the_integers_of_float32():
    counts = sums.no_count()
    for _ in range(5):
        counts = sums.settle(sums.count(counts, jnp.asarray(2**30, jnp.int32)))
    assert sums.whole(counts) == 5 * 2**30


# Properties


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(FINITE, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_order_and_batches_change_no_bit(values, random):
    terms = np.array(values, np.float32)
    whole = add(sums.zero(), np.resize(terms, 30))
    shuffled = np.resize(terms, 30).tolist()
    random.shuffle(shuffled)
    parts = [add(sums.zero(), np.array(shuffled[place : place + 10], np.float32)) for place in (20, 0, 10)]
    assert same(whole, merge(merge(parts[0], parts[1]), parts[2]))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(FINITE, min_size=20, max_size=20))
def test_traced_total_is_near_the_exact_one(values):
    totals = add(sums.zero(), np.resize(values, 30).astype(np.float32))
    (total,) = sums.exact(totals)
    if abs(total) < 2**127:
        np.testing.assert_allclose(float(approximate(totals)), float(total), rtol=FLOAT32, atol=1.2e-38)


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([1.0, np.inf], np.inf),
        ([1.0, -np.inf], -np.inf),
        ([np.inf, -np.inf], np.nan),
        ([1.0, np.nan, np.inf], np.nan),
    ],
)
def test_infinite_and_unknown_terms_are_counted(values, mean):
    totals = add(sums.zero(), np.array(values, np.float32))
    np.testing.assert_equal(float(sums.means(totals, len(values))), mean)
    np.testing.assert_equal(float(approximate(totals)), mean)
    odd = [np.isposinf(values).sum(), np.isneginf(values).sum(), np.isnan(values).sum()]
    assert sums.whole(totals.odd).tolist() == odd


def test_mean_of_nothing_is_unknown():
    assert np.isnan(sums.means(sums.zero(), 0))


# Transforms


def test_vmap_is_a_loop_and_leaves_are_int32_in_both_modes():
    terms = np.random.default_rng(0).normal(size=(3, 500)).astype(np.float32)
    rows = [add(sums.zero(), row) for row in terms]
    both = jax.vmap(lambda row: sums.add(sums.zero(), row))(terms)
    assert all(same(jax.tree.map(lambda leaf, at=at: leaf[at], both), row) for at, row in enumerate(rows))
    assert same(add(sums.zero((3,)), terms), both)
    with jax.enable_x64(True):
        wide = jax.jit(lambda row: sums.add(sums.zero(), row))(terms[0])
    assert same(wide, rows[0])
    assert {leaf.dtype.name for leaf in jax.tree.leaves(wide)} == {"int32"}
