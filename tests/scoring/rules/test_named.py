import pickle
from functools import cache

import jax
import numpy as np
import pytest
from compiled_once import by_rows, x64
from hypothesis import given, settings
from hypothesis import strategies as st

import probtruth as pt
from probtruth.scoring.rules import RULES

ROUNDING = 1e-12
"""Relative and absolute error of sums of up to ten terms in float64."""


def table(seed=0, items=20, labels=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(labels) / 2, items), rng.dirichlet(np.ones(labels) / 2, items)


# Reference


def test_quadratic_on_both_sides_of_the_decomposition():
    # Chakraborty et al. (2015), Equation 11, at truth (.7, .3), forecast (.5, .5): -.5 = -.58 + .08
    truth, probs = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    rule = pt.rules.quadratic
    parts = [float(x64(f, *a)) for f, a in ((rule.expected, (probs, truth)), (rule.entropy, (truth,)))]
    np.testing.assert_allclose([*parts, x64(rule.divergence, probs, truth)], [-0.5, -0.58, 0.08], rtol=ROUNDING)


def test_spherical_divergence_is_length_times_one_minus_cosine():
    truth, probs = np.array([0.7, 0.3]), np.array([0.6, 0.4])
    length, other = np.sqrt(0.58), np.sqrt(0.52)
    cosine = (0.42 + 0.12) / (length * other)
    np.testing.assert_allclose(x64(pt.rules.spherical.divergence, probs, truth), length * (1 - cosine), rtol=1e-10)


# Properties


@cache
def parts_of(rule):
    """All that a rule gives for probabilities and truth, to be compiled together."""

    def parts(probs, truth):
        logs = jax.numpy.log(probs)
        expected = rule.expected(probs, truth), rule.expected_from_log(logs, truth)
        divergence = rule.divergence(probs, truth), rule.divergence_from_log(logs, truth)
        return *expected, *divergence, rule.entropy(truth), rule.per_label(probs)

    return parts


@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        pytest.param(
            labels, rule, marks=pytest.mark.long if labels == 2 and name != "log" else (), id=f"{labels}-{name}"
        )
        for labels in (2, 3)
        for name, rule in RULES.items()
    ],
)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**31))
def test_expected_is_entropy_plus_divergence_and_the_mean_of_the_losses(rule, labels, seed):
    probs, truth = table(seed, 20, labels)
    expected, from_log, divergence, log_divergence, entropy, losses = x64(parts_of(rule), probs, truth)
    close = {"rtol": ROUNDING, "atol": ROUNDING}
    np.testing.assert_allclose(expected, entropy + divergence, **close)
    np.testing.assert_allclose(expected, (truth * losses).sum(1), **close)
    np.testing.assert_allclose(expected, from_log, **close)
    np.testing.assert_allclose(divergence, log_divergence, rtol=1e-9, atol=ROUNDING)
    assert (divergence >= 0).all()
    low, high = rule.range_for(labels)
    assert low <= losses.min() + ROUNDING
    assert losses.max() <= high + ROUNDING


@pytest.mark.parametrize("name", ["log", "brier", "quadratic", "spherical", "ranked-probability"])
def test_divergence_of_close_distributions_keeps_its_digits_in_float32(name):
    # p = t (1 + d): the quadratic term of the divergence, in float64 with exact differences
    truth = np.array([0.5, 0.25, 0.25], np.float32)
    probs = (truth + np.array([2.0**-14, -(2.0**-14), 0], np.float32)).astype(np.float32)
    rule = RULES[name]
    exact = x64(parts_of(rule), probs.astype(float), truth.astype(float))[2]
    expected, _, ours, _, entropy, _ = by_rows(parts_of(rule), probs, truth)
    naive = expected - entropy
    np.testing.assert_allclose(ours, exact, rtol=1e-5)  # a few units of float32 rounding
    assert abs(naive - exact) > 0.01 * exact, "subtraction was expected to lose the digits"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_losses_at_the_corners_are_the_range(rule):
    losses = x64(parts_of(rule), np.eye(3), np.eye(3))[-1]
    low, high = rule.range_for(3)
    assert losses.min() == low
    assert losses.max() == (high if rule.name != "quadratic" else 1.0)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
def test_vmap_and_grad(rule, dtype):
    probs, truth = (array.astype(dtype) for array in table())
    close = 1e-4 if dtype == np.float32 else 1e-10  # divergences of order .1 at a few units of rounding

    def slopes(probs, truth):
        expected, divergence = rule.expected(probs, truth), rule.divergence(probs, truth)
        return expected.sum() + divergence.sum()

    @jax.jit
    def transformed(probs, truth):
        logs = jax.numpy.log(probs)
        plain = rule.divergence(probs, truth), rule.per_label_from_log(logs)
        mapped = jax.vmap(rule.divergence)(probs, truth), jax.vmap(rule.per_label_from_log)(logs)
        return plain, mapped, jax.grad(slopes, (0, 1))(probs, truth)

    with jax.enable_x64(dtype == np.float64):
        plain, mapped, of_both = transformed(probs, truth)
    for one, other in zip(plain, mapped, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(other, one, rtol=close, atol=close)
    assert all(np.isfinite(slope).all() for slope in of_both)


@pytest.mark.parametrize(
    "name",
    ["log", *(pytest.param(n, marks=pytest.mark.long) for n in RULES if n != "log")],
)
def test_without_jit_the_same(name):
    """Each operation is compiled by itself, which takes seconds."""
    rule = RULES[name]
    probs, truth = table()
    compiled = x64(parts_of(rule), probs, truth)
    with jax.enable_x64(True):
        plain = rule.divergence(probs, truth), rule.per_label(probs)
    for one, other in zip(plain, (compiled[2], compiled[-1]), strict=True):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


# Flags and errors


def test_flags():
    flags = {rule.name: (rule.proper, rule.strictly_proper, rule.local) for rule in RULES.values()}
    assert flags["log"] == (True, True, True)
    assert flags["brier"] == flags["spherical"] == flags["ranked-probability"] == (True, True, False)
    assert flags["zero-one"] == (True, False, False)
    assert flags["linear"] == (False, False, True)
    assert all("doi:" in rule.source for rule in RULES.values())


@pytest.mark.parametrize(
    ("rule", "message"),
    [("brierr", "Did you mean 'brier'"), (3, "rule of type int"), ("", "expected one of 'log'")],
)
def test_unknown_rule(rule, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.get_rule(rule)


def test_a_rule_sent_to_another_process_is_the_same_there():
    """Else every batch that a worker gets would be compiled anew."""
    assert all(pickle.loads(pickle.dumps(rule)) is rule for rule in RULES.values())
    ordered = RULES["ranked-probability"].in_order(["low", "high"])
    assert pickle.loads(pickle.dumps(ordered)) == ordered
