from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.kernels import compensated

FINITE = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)

total, merge = jax.jit(compensated.total), jax.jit(compensated.merge)


def exact(values):
    """The sum as a fraction: Python's own arithmetic, the slow twin."""
    return sum(map(Fraction, np.asarray(values, np.float64).tolist()))


def off(found, values):
    """How far a total is from the exact sum."""
    return abs(Fraction(float(found.high)) + Fraction(float(found.low)) - exact(values))


# Reference


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).exponential(size=9000),
        np.random.default_rng(1).normal(size=9000) * np.exp(5 * np.random.default_rng(2).normal(size=9000)),
        -np.random.default_rng(3).exponential(size=9000),
        np.array([1e7, 1.0, -1e7, 1e-7]),
        np.zeros(3),
    ],
    ids=["losses", "wild", "negative", "cancelling", "zeros"],
)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_a_total_is_within_its_error_of_the_sum_of_fractions(values, kind):
    with jax.enable_x64(kind == "float64"):
        terms = values.astype(kind)
        found = total(terms)
    assert off(found, terms) <= Fraction(float(found.error))
    assert float(found.error) <= 4 * 9000 * float(np.finfo(kind).eps / 2) ** 2 * np.abs(terms).sum() * 1.001


def test_adding_ten_million_float32_terms_loses_nothing_that_float32_shows():
    """One after another in float32 they would be off by per cents."""
    terms = jnp.full((100, 100_000), 0.1, jnp.float32)
    rows = total(terms)
    whole = total(rows.high)
    expected = 10_000_000 * float(np.float32(0.1))
    found = float(compensated.value(whole)) + np.asarray(rows.low, float).sum()
    assert found == pytest.approx(expected, rel=1e-13)


def test_counts_go_past_the_integers_of_float32():
    one = compensated.Total(*(jnp.asarray(part, jnp.float32) for part in (2.0**24, 0.0, 0.0)))
    odd = compensated.Total(*(jnp.asarray(part, jnp.float32) for part in (1.0, 0.0, 0.0)))
    assert float(compensated.value(merge(merge(one, odd), merge(one, odd)))) == 2**25 + 2


# Properties


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(FINITE, min_size=30, max_size=30), st.randoms(use_true_random=False))
def test_any_order_and_batches_stay_within_the_error(values, random):
    random.shuffle(values)
    terms = np.array(values, np.float32)
    parts = [total(terms[first : first + 10]) for first in (20, 0, 10)]
    found = merge(merge(parts[0], parts[1]), parts[2])
    assert off(found, terms) <= Fraction(float(found.error))


def test_unknown_terms_make_the_total_unknown():
    assert np.isnan(compensated.value(total(np.array([1.0, np.nan], np.float32))))


# Transforms


def test_vmap_is_a_loop_and_numpy_merges_as_jax_does():
    terms = np.random.default_rng(0).normal(size=(3, 500)).astype(np.float32)
    rows = [total(row) for row in terms]
    both = jax.vmap(compensated.total)(terms)
    np.testing.assert_array_equal(both.high, [row.high for row in rows])
    on_host = [compensated.Total(*map(np.asarray, row)) for row in rows]
    there, here = merge(rows[0], rows[1]), compensated.merge(on_host[0], on_host[1])
    assert [float(part) for part in there[:2]] == [float(part) for part in here[:2]]
