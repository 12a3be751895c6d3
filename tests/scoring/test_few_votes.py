from itertools import product
from math import comb

import numpy as np
import pytest
from compiled_once import x64

import probtruth as pt
from probtruth.scoring.calibration.decompositions import corrected_entropy

ROUNDING = 1e-10


def over_all_votes(rule, truth, n_votes):
    """Exact mean of the corrected and the plain entropy over all votes of two labels."""
    ones = np.arange(n_votes + 1)
    chance = np.array([comb(n_votes, k) for k in ones]) * truth**ones * (1 - truth) ** (n_votes - ones)
    shares = np.stack([1 - ones / n_votes, ones / n_votes], 1)
    corrected = corrected_entropy(rule, shares, np.full(n_votes + 1, n_votes))
    return chance @ corrected, chance @ x64(rule.entropy, shares)


@pytest.mark.parametrize(("truth", "n_votes"), list(product([0.1, 0.3, 0.5], [2, 3, 5, 20])))
def test_brier_and_ranked_probability_entropies_are_unbiased(truth, n_votes):
    for rule, exact in ((pt.rules.brier, 2 * truth * (1 - truth)), (pt.rules.ranked_probability, truth * (1 - truth))):
        corrected, plain = over_all_votes(rule, truth, n_votes)
        np.testing.assert_allclose(corrected, exact, rtol=ROUNDING)
        assert plain < exact


@pytest.mark.parametrize(("truth", "n_votes"), list(product([0.1, 0.3, 0.5], [3, 5, 10])))
@pytest.mark.parametrize("rule", ["log", "spherical"])
def test_bias_is_much_smaller_than_without_correction(rule, truth, n_votes):
    rule = pt.rules.get_rule(rule)
    corrected, plain = over_all_votes(rule, truth, n_votes)
    exact = float(x64(rule.entropy, np.array([1 - truth, truth])))
    assert abs(corrected - exact) < 0.4 * abs(plain - exact)


def test_a_single_vote_says_nothing_about_spread():
    assert np.isnan(corrected_entropy(pt.rules.log, np.array([[1.0, 0.0]]), np.array([1])))[0]
