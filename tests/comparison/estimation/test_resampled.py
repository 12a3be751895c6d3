"""Numbers under other weights of the units: of a mean, what `compare` has; bundles of units that are too many."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimated, rows_of
from numpy.testing import assert_allclose

from probtruth.comparison.estimation import resampled as module
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import About
from probtruth.comparison.estimation.resampled import bundled, estimate_of_metrics, resampled

SCORES = np.random.default_rng(0).normal(size=(3, 48))
GROUP, CLUSTER = np.arange(48) % 3, np.arange(48) % 3 + 3 * (np.arange(48) // 12 + np.arange(48) % 2)
DESIGNS = {
    "items": Design.of(np.zeros(48, int)),
    "clusters": Design.of(np.zeros(48, int), CLUSTER),
    "groups": Design.of(GROUP),
    "both": Design.of(GROUP, CLUSTER),
}
ROUND_OFF = 1e-9


def mean_of(within, scores=SCORES):
    unit = np.arange(scores.shape[1]) if within.unit is None else within.unit

    def values(weights):
        heavy = weights[:, unit]
        return heavy @ scores.T / heavy.sum(1, keepdims=True)

    return values


def located(found, within, n_models):
    about = About(rule="f1", higher_is_better=False, models=tuple("abc"[:n_models]))
    return rows_of(estimate_of_metrics(found, within, within, np.arange(n_models), about))


@pytest.mark.parametrize("design", DESIGNS)
def test_a_mean_has_the_location_that_compare_gives_it(design):
    within = DESIGNS[design]
    found = resampled(mean_of(within), within)
    shares = replace(within, weights=within.group_sizes / 48)
    wanted = rows_of(estimated(SCORES, shares))
    place = located(found, within, 3)
    for name in ("mean", "variance", "third"):
        assert_allclose(getattr(place, name), getattr(wanted, name), rtol=ROUND_OFF, atol=1e-15)
    assert (place.df <= wanted.df + 1e-9).all()


def test_few_items_that_carry_a_difference_leave_few_degrees_of_freedom():
    scores = np.zeros((2, 48))
    scores[0, 5] = 1.0
    within = DESIGNS["items"]
    place = located(resampled(mean_of(within, scores), within), within, 2)
    # one residual of 47/48 and 47 of -1/48: 2 (sum r^2)^2 / (sum r^4 - (sum r^2)^2 / 48) is 2.09
    residual = scores[0] - 1 / 48
    square, fourth = (residual**2).sum(), (residual**4).sum()
    assert place.df[2] == pytest.approx(2 * square**2 / (fourth - square**2 / 48))
    assert place.df[2] < 3


def test_undefined_without_one_unit_is_not_whole():
    within = DESIGNS["items"]
    found = resampled(lambda weights: np.where(weights[:, [3]] == 0, np.nan, 1.0), within)
    assert np.isfinite(found.estimate).all()
    assert not found.defined.any()


def test_too_many_units_are_bundled_inside_their_groups(monkeypatch):
    monkeypatch.setattr(module, "MOST_UNITS", 10)
    for design in DESIGNS.values():
        few = bundled(design, 0)
        assert few.n_units <= 10 + few.n_groups
        assert few.group_sizes.tolist() == design.group_sizes.tolist()
        assert few.unit is not None
        assert (few.of_unit()[few.unit] == design.of_item()).all()
        if design.unit is not None:  # a cluster stays whole
            assert all(len(set(few.unit[design.unit == one].tolist())) == 1 for one in range(len(design.of_unit())))
    assert (bundled(DESIGNS["items"], 0).unit == bundled(DESIGNS["items"], 0).unit).all()
    assert (bundled(DESIGNS["items"], 0).unit != bundled(DESIGNS["items"], 1).unit).any()
