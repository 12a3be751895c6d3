import itertools

import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions.paired_tests import (
    ENUMERATED,
    EXPLICIT,
    FLIPS,
    WEIGHTS,
    bootstrap_p_below,
    sign_flip_p,
)

MONTE_CARLO = 5.0


def test_few_units_are_flipped_in_every_way():
    values = np.array([0.3, 0.1, -0.2, 0.5, 0.0, 0.4])
    total = abs(values.sum())
    patterns = [abs(np.dot(signs, values)) for signs in itertools.product([-1, 1], repeat=6)]
    wanted = np.mean([pattern >= total - 1e-12 for pattern in patterns])
    assert sign_flip_p(values[None]) == [pytest.approx(wanted, rel=1e-12)]


def test_units_of_one_size_are_mcnemars_exact_test():
    values = np.r_[np.ones(14), -np.ones(4), np.zeros(30)]
    assert sign_flip_p(values[None]) == [pytest.approx(stats.binomtest(14, 18).pvalue, rel=1e-12)]


def test_no_difference_has_no_test():
    assert sign_flip_p(np.zeros((1, 5))) == [None]
    assert bootstrap_p_below(np.zeros((1, 5)), np.zeros(1)) == [None]


def test_many_units_agree_with_scipys_permutation_test():
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, 30)
    reference = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    (p,) = sign_flip_p(values[None])
    assert p == pytest.approx(
        reference, abs=MONTE_CARLO * np.sqrt(reference * (1 - reference) * (1 / FLIPS + 1 / 20_000))
    )


def test_what_no_flip_reaches_has_the_least_p_there_is():
    """(0 + 1) / (FLIPS + 1), never 0: Phipson and Smyth 2010, doi:10.2202/1544-6115.1585."""
    values = np.linspace(1, 2, 60)
    assert sign_flip_p(values[None]) == [1 / (FLIPS + 1)]


def test_units_beyond_those_flipped_one_by_one_enter_as_a_normal():
    rng = np.random.default_rng(2)
    values = rng.normal(0.03, 1, 5 * EXPLICIT)
    p = stats.ttest_1samp(values, 0).pvalue
    assert sign_flip_p(values[None]) == [pytest.approx(p, abs=MONTE_CARLO * np.sqrt(p * (1 - p) / FLIPS))]
    one_large = np.r_[np.full(3 * EXPLICIT, 1e-3), -np.full(3 * EXPLICIT, 1e-3), 1.0]
    # the sign of one unit decides, and the others add as much as they take: no evidence
    assert sign_flip_p(one_large[None]) == [pytest.approx(0.5, abs=MONTE_CARLO * 0.5 / np.sqrt(FLIPS))]


def test_sign_and_order_change_no_bit():
    rng = np.random.default_rng(3)
    for n in (ENUMERATED, 30, 3 * EXPLICIT):
        values = np.round(rng.normal(0.1, 1, n), 1)
        order = rng.permutation(n)
        assert sign_flip_p(values[None]) == sign_flip_p(-values[None]) == sign_flip_p(values[None, order])
        residuals = (values - values.mean()) / n
        centre = np.array([values.mean()])
        assert bootstrap_p_below(residuals[None], centre) == bootstrap_p_below(residuals[None, order], centre)


def test_another_pair_beside_it_changes_nothing():
    values = np.random.default_rng(4).normal(0.1, 1, (3, 40))
    assert sign_flip_p(values)[:1] == sign_flip_p(values[:1])
    centres = values.mean(1)
    together, alone = (bootstrap_p_below((values[:n] - centres[:n, None]) / 40, centres[:n]) for n in (3, 1))
    assert together[:1] == alone


@pytest.mark.parametrize("n", [30, 3 * EXPLICIT])
def test_bayesian_bootstrap_is_rubins(n):
    rng = np.random.default_rng(5)
    values = rng.exponential(size=n) - 1 + 0.7 / np.sqrt(n)
    weights = rng.dirichlet(np.ones(n), 4000)
    p = (weights @ values < 0).mean()
    (found,) = bootstrap_p_below((values - values.mean())[None] / n, np.array([values.mean()]))
    assert found == pytest.approx(p, abs=MONTE_CARLO * np.sqrt(p * (1 - p) * (1 / WEIGHTS + 1 / 4000)))


def test_bayesian_bootstrap_of_two_values_by_hand():
    # weight w of -1 is uniform: P(1 - 2w < 0) = 1/2; of values -1 and 3: P(w > 3/4) = 1/4
    for low, high, wanted in ((-1.0, 1.0, 0.5), (-1.0, 3.0, 0.25)):
        mean = (low + high) / 2
        (p,) = bootstrap_p_below(np.array([[low - mean, high - mean]]) / 2, np.array([mean]))
        assert p == pytest.approx(wanted, abs=MONTE_CARLO * np.sqrt(wanted * (1 - wanted) / WEIGHTS))
