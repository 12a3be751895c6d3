"""Numbers under other weights of the units: of a mean, what `compare` has; units that are too many to be left out."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimated, rows_of
from numpy.testing import assert_allclose

from probtruth.comparison.estimation import resampled as module
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import About
from probtruth.comparison.estimation.resampled import estimate_of_metrics, resampled

SCORES = np.random.default_rng(0).normal(size=(3, 48))
GROUP, CLUSTER = np.arange(48) % 3, np.arange(48) % 3 + 3 * (np.arange(48) // 12 + np.arange(48) % 2)
DESIGNS = {
    "items": Design.of(np.zeros(48, int)),
    "clusters": Design.of(np.zeros(48, int), CLUSTER),
    "groups": Design.of(GROUP),
    "both": Design.of(GROUP, CLUSTER),
}
ROUND_OFF = 1e-9


def means(within, scores=SCORES):
    """What is resampled of the mean of scores, which certain labels give."""
    unit = np.arange(scores.shape[1]) if within.unit is None else within.unit

    def values(weights):
        heavy = weights[:, unit]
        return heavy @ scores.T / heavy.sum(1, keepdims=True)

    linear = scores[:, :, None]
    return resampled(values, linear, linear[:, :0], np.ones((scores.shape[1], 1)), within)


def located(found, within, n_models):
    about = About(rule="f1", higher_is_better=False, models=tuple("abc"[:n_models]))
    return rows_of(estimate_of_metrics(found, within, np.arange(n_models), about))


@pytest.mark.parametrize("most", [10, 500])
@pytest.mark.parametrize("design", DESIGNS)
def test_a_mean_has_the_location_that_compare_gives_it(design, most, monkeypatch):
    """However many units are left out: of a mean the slopes say the same."""
    monkeypatch.setattr(module, "MOST_UNITS", most)
    within = DESIGNS[design]
    found = means(within)
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
    place = located(means(within, scores), within, 2)
    # one residual of 47/48 and 47 of -1/48: 2 (sum r^2)^2 / (sum r^4 - (sum r^2)^2 / 48) is 2.09
    residual = scores[0] - 1 / 48
    square, fourth = (residual**2).sum(), (residual**4).sum()
    assert place.df[2] == pytest.approx(2 * square**2 / (fourth - square**2 / 48))
    assert place.df[2] < 3


def test_undefined_without_one_unit_is_not_whole():
    within = DESIGNS["items"]
    none = np.zeros((1, 48, 1))
    found = resampled(lambda weights: np.where(weights[:, [3]] == 0, np.nan, 1.0), none, none, np.ones((48, 1)), within)
    assert np.isfinite(found.estimate).all()
    assert not found.defined.any()


def test_of_many_units_those_that_move_a_metric_most_are_left_out(monkeypatch):
    """A recall of eight items with the label, of which each moves it by more than its slope says."""
    label = np.arange(2000) < 8
    right = np.random.default_rng(1).random((2, 2000)) < 0.6
    within = Design.of(np.zeros(2000, int))
    recall = right[:, label].mean(1)
    slope = np.where(label, (right - recall[:, None]) * 2000 / 8, 0.0)
    linear = recall[:, None, None] + np.stack([np.zeros_like(slope), slope], 2)
    truth = np.stack([~label, label], 1) * 1.0

    def values(weights):
        heavy = weights * label
        return heavy @ right.T / heavy.sum(1, keepdims=True)

    few = located(resampled(values, linear, linear[:, :0], truth, within), within, 2)
    monkeypatch.setattr(module, "MOST_UNITS", 2000)
    every = located(resampled(values, linear, linear[:, :0], truth, within), within, 2)
    assert_allclose(few.variance, every.variance, rtol=1e-9)
