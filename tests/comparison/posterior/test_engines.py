import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, contrast_covariance, contrasts, moments
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.posterior import engines
from probtruth.comparison.posterior.engines import collapse, draw_location, factor, location_agrees, sample_location
from probtruth.comparison.posterior.margins import margins

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
    assert (nuts.divergences, nuts.sampler) == (None, "independent draws")
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
    assert location_agrees(sites, mean, root, 79.0)
    assert not location_agrees({**sites, "scale": sites["scale"] * 0.8}, mean + root[:, 0], root, 79.0)
    moved = {**sites, "contrast": sites["contrast"] + np.linspace(0, 0.5, 5)}
    assert not location_agrees(moved, mean, root, 79.0)


def test_of_many_pairs_some_are_checked_from_the_first_to_the_last(monkeypatch):
    """Two effective sample sizes for each of 4,950 pairs took more than all else."""
    checked = []
    monkeypatch.setattr(engines, "CHECKED_PAIRS", 4)
    monkeypatch.setattr(engines, "close", lambda draws, wanted, *_: checked.append(wanted) or True)
    mean = np.arange(5.0)
    sites = {"scale": np.ones((2, 3)), "contrast": np.zeros((2, 3, 5))}
    assert location_agrees(sites, mean, np.eye(5), 9.0)
    assert checked[1::2] == [-1.0, -4.0, -3.0, -1.0], "every third of the ten pairs, the last among them"


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


def test_draws_of_the_location_are_multivariate_t():
    root = np.array([[1.0, 0.0], [-0.5, 0.5], [-0.5, -0.5]])
    draws = draw_location(np.array([0.1, 0.2, -0.3]), root, 6.0, (2, 10_000), 3)["contrast"]
    assert_allclose(draws.sum(-1), 0, atol=1e-12)
    difference = (draws[..., 1] - draws[..., 0]).ravel()
    scale = np.linalg.norm(root[1] - root[0])
    assert stats.kstest(difference, stats.t(6, 0.1, scale).cdf).pvalue > 1e-4


def test_models_at_a_fixed_distance_share_one_draw():
    # 0 and 2 are identical, 3 is 1 below 1
    pairs = all_pairs(4)
    difference = np.array([{(0, 2): 0.0, (1, 3): 1.0}.get(pair, 9.0) for pair in pairs])
    constant = np.array([pair in {(0, 2), (1, 3)} for pair in pairs])
    alone = collapse(constant, difference, 4)
    assert alone.distinct.tolist() == [0, 1]
    assert alone.home.tolist() == [0, 1, 0, 1]
    drawn = alone.expand(np.array([[0.3, -0.3], [0.1, 0.2]]))
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    np.testing.assert_allclose(drawn[:, 1] - drawn[:, 3], 1.0, rtol=1e-14)
    np.testing.assert_allclose(drawn.sum(1), 0.0, atol=1e-14)


def test_nothing_collapses_where_all_vary():
    alone = collapse(np.zeros(3, bool), np.arange(3.0), 3)
    assert alone.distinct.tolist() == [0, 1, 2]
