"""The true difference is what it says, whatever the design; ties and bounds stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.comparison.evidence.design import Structure
from probtruth.errors import InputError
from probtruth.study.simulated_worlds import World

SAME = 1e-9
"""True differences are found to 1e-14 of a standard deviation; the rest is rounding."""


def world(difference, groups=None, clusters=None, weights=None, reach=0.0, bounded=False):
    groups = np.zeros(len(difference), np.int64) if groups is None else np.asarray(groups)
    within = Structure.of(groups, None if clusters is None else np.asarray(clusters))
    shares = np.bincount(groups) / len(groups) if weights is None else np.asarray(weights)
    return World.of(np.asarray(difference, float), within, shares, 1.0, reach, bounded)


def designs(seed):
    rng = np.random.default_rng(seed)
    right = rng.choice([-1.0, 0.0, 0.0, 1.0], 60)
    sizes = rng.integers(1, 5, 20)
    clusters = np.repeat(np.arange(20), sizes)
    skew = rng.exponential(size=len(clusters)) - 0.8
    groups = np.repeat([0, 1, 2], 20)
    yield world(skew)
    yield world(skew, clusters=clusters)
    yield world(right)
    yield world(right, groups, weights=[0.5, 0.3, 0.2])
    yield world(rng.permutation(right)[: len(clusters)] if len(clusters) <= 60 else right, None)
    yield world(np.where(skew > 0.3, skew, 0.0), clusters=clusters)
    yield world(rng.normal(size=60), groups, clusters=np.arange(60) // 2, weights=[0.6, 0.2, 0.2])
    yield world(skew / 6, bounded=True)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1000), steps=st.floats(-2, 2))
def test_the_mean_is_what_was_asked_for(seed, steps):
    for one in designs(seed):
        to = steps * float(np.abs(one.values).std()) / len(one.size) ** 0.5
        moved = one.ready_for(to).moved(to)
        assert abs(moved.mean - to) <= SAME
        if one.fixed:
            assert set(np.abs(moved.values)) == set(np.abs(one.values))


def test_studies_have_that_mean():
    rng = np.random.default_rng(0)
    for one in designs(3):
        moved = one.ready_for(0.05).moved(0.05)
        found = np.concatenate([place.mean for place in moved.studies(rng, 200)])
        error = found.std() / len(found) ** 0.5
        bias = 0.02 * found.std() if one.clustered else 0.0  # of the ratio of totals to items
        assert abs(found.mean() - 0.05) < 4 * error + bias
        assert len(found) == 200


def test_a_study_has_the_design_of_the_data():
    one = world(np.arange(12.0), [0] * 4 + [1] * 8, np.arange(12) // 2)
    assert (one.n_units, one.n_items, one.drawn.tolist()) == (6, 12, [2, 4])
    picks = one.picks(np.random.default_rng(0), 50)
    assert picks.shape == (50, 6)
    assert picks[:, :2].max() == 1
    assert picks[:, 2:].min() == 2
    double = one.scaled(24)
    assert (double.n_units, double.n_items) == (12, 24)
    assert one.scaled(2).drawn.tolist() == [1, 1]
    (alone,) = one.alone(30).picks(np.random.default_rng(0), 1)
    assert sorted(set(alone)) == [0, 1, 2, 3, 4, 5]


def test_mirror_images_join_where_one_model_is_never_worse():
    one = world(np.repeat([0.0, 1.0], [30, 10]), reach=1.0)
    assert not one.ready_for(0.25).mirrored
    with pytest.raises(InputError, match="true difference of -0"):
        one.moved(-0.1)
    both = one.ready_for(0.0, 0.25, -0.1)
    assert both.mirrored
    for to in (0.0, 0.25, -0.1):
        assert abs(both.moved(to).mean - to) <= SAME


def test_differences_that_cannot_be():
    one = world(np.repeat([0.0, 1.0, -1.0], 10), reach=1.0)
    with pytest.raises(InputError, match="in size, as these"):
        one.moved(0.95)
    with pytest.raises(InputError, match="true difference of inf"):
        one.moved(np.inf)


def test_the_same_difference_everywhere_is_left_alone():
    one = world(np.full(8, 0.5), bounded=True)
    assert one.ready_for(0.5) is one


def test_annotators_are_drawn_too():
    """All the variance is the annotators': with cells it is seen, without it is not."""
    rng = np.random.default_rng(5)
    leaning = rng.normal(size=6)
    cells = leaning + 0.01 * rng.normal(size=(40, 6))
    cells[rng.random(cells.shape) < 0.2] = np.nan
    within = Structure.of(np.zeros(40, np.int64), None)
    one = World.of(np.nanmean(cells, 1), within, np.ones(1), 5.0, 0.0, cells=cells)
    blind = World.of(np.nanmean(cells, 1), within, np.ones(1), 5.0, 0.0)
    places = list(one.moved(0.0).studies(np.random.default_rng(1), 300))
    means = np.array([place.mean[0] for place in places])
    assert abs(means.mean()) < 4 * means.std() / 300**0.5
    assert means.std() > 3 * np.concatenate([place.mean for place in blind.studies(rng, 300)]).std()
    claimed = np.mean([place.variance[0] for place in places])
    assert 0.7 < claimed / means.var() < 1.5
    both = one.ready_for(0.0)
    assert both is one
