"""The sampler's tables and moves; that its sweeps keep the model's prior is shown in tests/slow/test_gibbs_prior.py."""

import numpy as np
from scipy.special import gammaln
from scipy.stats import kstest

from probtruth.truth import gibbs

ALPHA = np.array([[1.0, 0.2, 0.1], [0.3, 1.1, 0.05], [0.1, 0.1, 0.9]])


def seen(votes: np.ndarray) -> gibbs.Perceptions:
    item, label = np.nonzero(votes)
    return gibbs.Perceptions(item, label, votes[item, label], np.zeros((3, 3), int))


def test_rising_is_the_dirichlet_multinomial() -> None:
    votes = np.random.default_rng(0).integers(0, 9, (20, 3))
    found = gibbs.rising(ALPHA, seen(votes), 20)
    expected = (gammaln(ALPHA + votes[:, None]) - gammaln(ALPHA)).sum(2)
    np.testing.assert_allclose(found.T, expected, rtol=1e-12)


def test_exceeding_sums_to_differences_of_log_gamma() -> None:
    generator = np.random.default_rng(1)
    cell, count = generator.integers(0, 3, 200), generator.integers(0, 12, 200)
    place, number, above = gibbs.exceeding(cell, count)
    a = np.array([0.3, 2.0, 7.5])
    found = np.bincount(place, above * np.log(a[place] + number), 3)
    expected = np.bincount(cell, gammaln(a[cell] + count) - gammaln(a[cell]), 3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert all(part.size == 0 for part in gibbs.exceeding(cell, np.zeros(200, int)))


def test_log_dirichlet_has_beta_margins_however_small_the_counts() -> None:
    counts = np.repeat([[0.01], [0.5], [3.0]], 4000, axis=1)
    logs = gibbs.log_dirichlet(np.random.default_rng(2), counts)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs).sum(0), 1)
    assert kstest(np.exp(logs[1]), "beta", args=(0.5, 3.01)).pvalue > 0.001
    assert kstest(np.exp(logs[2]), "beta", args=(3.0, 0.51)).pvalue > 0.001


def test_categorical_draws_in_proportion_and_never_what_is_impossible() -> None:
    probs = np.repeat([[0.0], [2.0], [6.0], [0.0]], 8000, axis=1)
    drawn = gibbs.categorical(np.random.default_rng(3), probs)
    assert set(drawn) == {1, 2}
    five_errors = 5 * np.sqrt(0.25 * 0.75 / 8000)
    assert abs((drawn == 1).mean() - 0.25) < five_errors


def test_perceptions_are_counted_once_each() -> None:
    generator = np.random.default_rng(4)
    item = np.repeat(np.arange(40), 6)
    cell = generator.integers(0, 15, 240)
    data = gibbs.GibbsData(item, cell, np.zeros((3, 40)), np.zeros(3), np.full((3, 3), 0.5))
    phi = generator.dirichlet(np.ones(3), 40).T
    said = generator.random((3, 15))
    found = gibbs.perceive(generator, phi, said, data)
    np.testing.assert_array_equal(np.bincount(found.item, found.often), np.full(40, 6))
    np.testing.assert_array_equal(found.answers.sum(0), np.bincount(cell, minlength=15))
    np.testing.assert_array_equal(found.answers.sum(1), np.bincount(found.label, found.often, 3))


def test_swap_exchanges_two_labels_or_nothing() -> None:
    generator = np.random.default_rng(5)
    item = np.repeat(np.arange(60), 4)
    confusable = (1 - np.eye(3)) / 2
    data = gibbs.GibbsData(
        item, generator.integers(0, 15, 240), np.zeros((3, 60)), np.log(np.full(3, 1 / 3)), confusable
    )
    log_phi = gibbs.log_dirichlet(generator, np.full((3, 60), 0.7))
    ease, steps = np.array([0.0, -1.0]), np.zeros(3)
    state = gibbs.GibbsState(log_phi, generator.random((3, 15)), ease, np.zeros((3, 4)), np.zeros(()), steps)
    after = gibbs.swap(generator, state, data)
    np.testing.assert_array_equal(np.sort(after, 0), np.sort(log_phi, 0))
    moved = (after != log_phi).sum(0)
    assert set(moved) == {0, 2}
