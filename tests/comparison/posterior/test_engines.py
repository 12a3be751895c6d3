from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from probtruth.comparison.evidence.moments import combine, contrast_covariance, contrasts, moments
from probtruth.comparison.evidence.structure import Structure
from probtruth.comparison.posterior.engines import (
    _hierarchy_agrees,
    _location_agrees,
    factor,
    population_of,
    sample_location,
    sample_population,
)
from probtruth.comparison.posterior.margins import margins
from probtruth.inference.nuts import _compiled

NO_PROGRESS = lambda done, total: None  # noqa: E731


def location(values):
    parts = moments(values, Structure.of(np.zeros(values.shape[1], int), None))
    return combine(parts, parts.pairs, np.ones(1))


def sampled_of(place, n_models, engine, draws):
    return sample_location(place, margins(place), n_models, engine, draws, 0, NO_PROGRESS)


@pytest.fixture(scope="module")
def place():
    return location(np.random.default_rng(3).gamma(1.0, size=(5, 80)))


def test_factor_is_a_root_on_the_directions_that_vary(place):
    covariance = contrast_covariance(place.variance, 5)
    root = factor(covariance)
    assert root.shape == (5, 4)
    assert_allclose(root @ root.T, covariance, atol=1e-12 * covariance.max())


def test_engines_agree_on_moments(place):
    nuts = sampled_of(place, 5, "nuts", 2500)
    exact = sampled_of(place, 5, "exact", 2500)
    assert nuts.engines_agree is True
    assert nuts.divergences == 0
    assert nuts.max_rhat < 1.01
    assert (exact.engines_agree, exact.max_rhat) == (None, None)
    wanted = np.sqrt(np.diag(contrast_covariance(place.variance, 5)) * 79 / 77)
    for sampled in (nuts, exact):
        draws = sampled.sites["program_contrast"].reshape(-1, 5)
        assert_allclose(draws.std(0), wanted, rtol=0.05)  # 10,000 draws: five standard errors of an sd are 3.5%
        assert_allclose(draws.mean(0), contrasts(place.mean, 5), atol=5 * wanted.max() / 50)


def test_disagreement_of_the_engines_is_seen(place):
    sampled = sampled_of(place, 5, "nuts", 2500)
    mean, root = contrasts(place.mean, 5), factor(contrast_covariance(place.variance, 5))
    sites = {**sampled.sites, "contrast": sampled.sites["program_contrast"]}
    assert _location_agrees(sites, mean, root, 79.0)
    assert not _location_agrees({**sites, "scale": sites["scale"] * 0.8}, mean + root[:, 0], root, 79.0)
    moved = {**sites, "contrast": sites["contrast"] + np.linspace(0, 0.5, 5)}
    assert not _location_agrees(moved, mean, root, 79.0)


def test_identical_models_are_drawn_as_ties_and_constants_as_constants():
    rng = np.random.default_rng(4)
    row, other = rng.normal(size=(2, 30))
    for values, kept in (([row, row, other], False), ([row, row, row + 0.5], True)):
        sampled = sampled_of(location(np.stack(values)), 3, "exact", 100)
        contrast = sampled.sites["contrast"]
        assert np.array_equal(contrast[..., 0], contrast[..., 1])
        if kept:
            assert_allclose(contrast[..., 2] - contrast[..., 0], 0.5, rtol=1e-12)
            assert np.ptp(contrast[..., 0]) == 0


def groups_of(values, n_groups):
    n_items = values.shape[1]
    return moments(values, Structure.of(np.arange(n_items) // (n_items // n_groups), None))


def test_population_by_both_engines():
    rng = np.random.default_rng(5)
    groups = groups_of(rng.normal(size=(3, 120)) + np.repeat(rng.normal(0, 0.3, (3, 6)), 20, axis=1), 6)
    nuts = sample_population(population_of(groups, 3), "nuts", 2500, 0, NO_PROGRESS)
    exact = sample_population(population_of(groups, 3), "exact", 2500, 0, NO_PROGRESS)
    assert nuts.sampled.engines_agree is True
    difference = nuts.difference(0, 1, new_group=False)
    draws = [np.subtract(*np.moveaxis(one.contrast()[..., :2], -1, 0)) for one in (nuts, exact)]
    for drawn in draws:
        assert abs((drawn < 0).mean() - difference.below(0.0)) < 0.03
        assert abs(drawn.mean() - difference.average()) < 0.1 * drawn.std()
    assert nuts.difference(0, 1, new_group=True).quantile(0.975) > difference.quantile(0.975)
    wrong = replace(nuts.quadrature, centre=nuts.quadrature.centre + 0.2)
    assert not _hierarchy_agrees(nuts.sampled.sites["between"], nuts.groups, nuts.basis, wrong)


@pytest.mark.long
def test_another_number_of_groups_is_not_compiled_anew():
    rng = np.random.default_rng(5)
    sizes = []
    for n_groups in (3, 5, 8):
        parts = groups_of(rng.gamma(1.0, size=(3, 240)), n_groups)
        sampled = sample_population(population_of(parts, 3), "nuts", 200, 0, NO_PROGRESS).sampled
        assert sampled.engines_agree
        sizes.append(_compiled.cache_info().misses)
    assert len(set(sizes)) == 1


def test_population_of_models_at_a_fixed_distance():
    rng = np.random.default_rng(6)
    row, other = rng.normal(size=(2, 60))
    population = sample_population(
        population_of(groups_of(np.stack([row, row + 0.5, row, other]), 4), 4), "exact", 50, 0, NO_PROGRESS
    )
    same = population.difference(0, 2, new_group=True)
    apart = population.difference(1, 0, new_group=False)
    assert (same.below(0.0), same.average()) == (0.5, 0.0)
    assert apart.quantile(0.975) == pytest.approx(0.5, rel=1e-12)
    assert np.array_equal(population.contrast()[..., 0], population.contrast()[..., 2])


def test_population_keeps_a_direction_in_which_nothing_varies():
    # model 2 is always .3 above the mean of models 0 and 1
    rng = np.random.default_rng(7)
    two = rng.normal(size=(2, 60))
    groups = groups_of(np.stack([*two, two.mean(0) + 0.3]), 4)
    population = sample_population(population_of(groups, 3), "exact", 400, 0, NO_PROGRESS)
    contrast = population.contrast()
    assert_allclose(contrast[..., 2] - contrast[..., :2].mean(-1), 0.3, rtol=1e-9)


def test_no_population_without_variance_within_groups():
    assert population_of(groups_of(np.ones((2, 8)), 2), 2) is None
