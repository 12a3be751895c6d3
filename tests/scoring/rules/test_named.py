import pickle

import numpy as np
import pytest
from compiled_once import x64

import probtruth as pt
from probtruth.scoring.rules import RULES

ROUNDING = 1e-12
"""Relative and absolute error of sums of up to ten terms in float64."""


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
