"""A short form of the study of coverage (tests/slow/comparison_coverage.py has the long one)."""

import math

import pytest
from coverage_study import GENERATORS, calibration, coverage

REPLICATIONS = 500
BY_NAME = {generator.name: generator for generator in GENERATORS}
ERRORS = 3.0  # Standard errors of the simulated share that a bound gives way by


@pytest.mark.parametrize("name", ["normal", "exponential", "log loss, 3 annotators", "right or wrong, 60% ties"])
@pytest.mark.parametrize(
    ("n_items", "least"),
    [pytest.param(20, 0.91, marks=pytest.mark.long), (50, 0.90), pytest.param(200, 0.94, marks=pytest.mark.long)],
)
def test_intervals_hold_the_true_mean(name, n_items, least):
    ours, paired_t = coverage(BY_NAME[name], n_items, REPLICATIONS, seed=n_items)
    assert ours.holds >= least - ERRORS * math.sqrt(least * (1 - least) / REPLICATIONS)
    assert ours.holds >= paired_t.holds  # the hull of the t and of its correction
    if name == "normal":
        assert ours.width <= {20: 1.05, 50: 1.02, 200: 1.01}[n_items] * paired_t.width


def test_where_differences_are_rare_the_t_misses_and_pseudo_items_do_not():
    ours, paired_t = coverage(BY_NAME["right or wrong, 95% ties"], 20, REPLICATIONS, seed=1)
    assert paired_t.holds < 0.7  # a third of its intervals have no width
    assert ours.holds > 0.95


def test_skewness_where_the_t_misses():
    ours, paired_t = coverage(BY_NAME["zero-inflated skew"], 50, REPLICATIONS, seed=2)
    assert paired_t.holds < 0.88 < 0.91 < ours.holds
    assert ours.width < 1.3 * paired_t.width  # uncorrected for the noise of a sample's skewness 1.9 times


def test_clusters_are_heeded():
    ours, _ = coverage(BY_NAME["clusters of 5, correlation .3"], 100, REPLICATIONS, seed=3)
    ignored = BY_NAME["clusters of 5, correlation .3"]
    naive, _ = coverage(type(ignored)(ignored.name, ignored.draw, ignored.mean), 100, REPLICATIONS, seed=3)
    assert naive.holds < 0.86 < 0.92 < ours.holds


def test_probabilities_mean_what_they_say():
    error, sure, wrong = calibration(BY_NAME["log loss, hard labels"], 50, 2000, seed=4)
    assert error < 0.03
    assert sure > 0.2
    assert wrong < 0.025
