from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.isotonic import IsotonicRegression

import probtruth as pt
from probtruth.scoring.nelson import source_probability as module
from probtruth.scoring.nelson.source_probability import check_smoothing, equal_count_bins, source_probability
from probtruth.types.arguments import SourceMethod

ROUND_OFF = 1e-12  # Sums of a few hundred numbers near 1 in float64

ESTIMATES = tuple(method for method in get_args(SourceMethod.__value__) if method != "truth")


def reports(n=300, seed=0):
    rng = np.random.default_rng(seed)
    reported = rng.uniform(size=n)
    return reported, (rng.uniform(size=n) < reported).astype(float)


def test_isotonic_is_scikit_learns():
    reported, events = reports()
    expected = IsotonicRegression().fit_transform(reported, events)
    np.testing.assert_allclose(source_probability(reported, events, "isotonic", None), expected, rtol=ROUND_OFF)


def test_kernel_is_the_weighted_mean():
    reported, events = reports()
    weights = np.exp(-(((reported[:, None] - reported) / 0.07) ** 2) / 2)
    found = source_probability(reported, events, "kernel", 0.07)
    of_grid = 2 / (8 * module.STEPS_PER_BANDWIDTH**2)  # linear interpolation, both ways: h^2/8 times the curvature
    np.testing.assert_allclose(found, weights @ events / weights.sum(1), atol=of_grid)


def test_bins_hold_equal_counts_and_bayes_bins_are_the_posterior_mean_of_a_beta_prior():
    """Of Beta(f, 1 - f) with f the frequency of all entries: one entry's worth (scipy)."""
    reported, events = reports(300)
    place, f = equal_count_bins(reported, 10), events.mean()
    np.testing.assert_array_equal(np.bincount(place), 30)
    found, posterior = (source_probability(reported, events, way, 10) for way in ("bins", "bayes-bins"))
    for here in range(10):
        hits, size = events[place == here].sum(), (place == here).sum()
        np.testing.assert_allclose(found[place == here], hits / size, rtol=ROUND_OFF)
        expected = scipy.stats.beta(f + hits, 1 - f + size - hits).mean()
        np.testing.assert_allclose(posterior[place == here], expected, rtol=ROUND_OFF)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    hnp.arrays(np.float64, 30, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])),
    hnp.arrays(np.float64, 30, elements=st.floats(0, 1)),
    st.sampled_from(ESTIMATES),
    st.permutations(range(30)),
)
def test_equal_reports_share_and_the_order_does_not_matter(reported, events, method, order):
    found = source_probability(reported, events, method, None)
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[events > 0] > 0).all()
    for value in np.unique(reported):
        assert np.ptp(found[reported == value]) == 0
    moved = source_probability(reported[order], events[order], method, None)
    np.testing.assert_allclose(moved, found[order], atol=ROUND_OFF)


@pytest.mark.parametrize("method", ESTIMATES)
def test_one_report_for_all_has_the_mean_frequency(method):
    np.testing.assert_allclose(source_probability(np.full(4, 0.3), np.array([1.0, 0, 0, 1]), method, None), 0.5)


@pytest.mark.parametrize("method", ["bins", "bayes-bins"])
def test_more_bins_than_reports_give_each_its_own(method):
    reported, events = np.array([0.1, 0.1, 0.4, 0.8]), np.array([0.0, 1.0, 0.0, 1.0])
    own = source_probability(reported, events, method, 4)
    np.testing.assert_array_equal(source_probability(reported, events, method, 1e30), own)


@pytest.mark.parametrize(
    ("method", "smoothing", "message"),
    [
        ("bins", 2.5, "got bins 2.5, expected an integer of at least 1"),
        ("bins", 0, "got bins 0, expected an integer of at least 1"),
        ("kernel", 0.0, "expected a number of at least 1e-05"),
        ("bins", float("nan"), "got bins nan, expected an integer of at least 1"),
        ("truth", 3, "expected none for 'truth'"),
    ],
)
def test_errors(method, smoothing, message):
    with pytest.raises(pt.InputError, match=message):
        check_smoothing(method, smoothing)
