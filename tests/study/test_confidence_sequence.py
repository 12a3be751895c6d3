"""The sequence holds what was never rejected; false alarms; time to a decision."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_study import BOUNDED, UNBOUNDED, alarms, evidence, fixed_size, stopping_times

from probtruth.study.arrivals import Units
from probtruth.study.confidence_sequence import SequentialEvidence

FIND = 1e-6
"""How finely the limits are found, with the sizes of scores used here."""


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


@pytest.mark.parametrize("reach", [2.0, None])
def test_mirrored_differences_give_the_mirrored_sequence(reach):
    d = np.random.default_rng(0).uniform(-1, 0.8, 300)
    low, high = SequentialEvidence(units(d), reach).interval(300, 0.1)
    assert SequentialEvidence(units(-d), reach).interval(300, 0.1) == (-high, -low)


@pytest.mark.parametrize("reach", [1.0, None])
def test_never_widens(reach):
    found = SequentialEvidence(units(np.random.default_rng(3).uniform(-1, 1, 400)), reach)
    ends = np.array([found.interval(n, 0.05) for n in range(90, 400, 10)])
    assert (np.diff(ends[:, 0]) >= -FIND).all() if reach else (np.diff(ends[2:, 0]) >= -FIND).all()
    assert (np.diff(ends[:, 1]) <= FIND).all() if reach else (np.diff(ends[2:, 1]) <= FIND).all()


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
    assert low + high <= 0.05 or stream.reach is None


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
