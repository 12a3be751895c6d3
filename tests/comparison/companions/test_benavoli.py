"""The published numbers of Benavoli et al. 2017 on 5 classifiers x 54 data sets x 10 runs of 10 folds."""

import numpy as np
import polars
import pytest
from scipy import stats

from probtruth.comparison.companions.benavoli import (
    correlated_t,
    correlated_t_test,
    hierarchical_test,
    signed_rank_test,
)
from probtruth.errors import InputError

PRINTED = 5.1e-8
"""Numbers printed to seven decimals."""
DIRICHLET = 0.005
"""Absolute: Monte Carlo error of both sides at 50,000 draws, as the golden numbers allow."""


@pytest.fixture(scope="module")
def uci(data):
    """Accuracies as fractions [classifier, data set, fold], and the names of both (one data set's stands twice)."""
    table = np.load(data / "uci_54x100" / "uci_54x100.npz", allow_pickle=False)
    return table["tutorial"] / 100, table["classifiers"].tolist(), table["datasets"].tolist()


def differences(uci, first, second):
    accuracy, classifiers, _ = uci
    return accuracy[classifiers.index(first)] - accuracy[classifiers.index(second)]


@pytest.mark.parametrize(
    ("data_set", "mean", "scale"),
    # data/README: notebooks 2 and 3 of the tutorial, nbc minus aode, 99 degrees of freedom
    [("ecoli", -0.0726876, 0.0208299), ("iris", -0.0324166, 0.0043623), ("squash-unstored", -0.0560000, 0.0542322)],
)
def test_correlated_t(uci, data_set, mean, scale):
    margin = correlated_t(differences(uci, "nbc", "aode")[uci[2].index(data_set)], 0.1)
    assert (margin.centre, margin.scale) == pytest.approx((mean, scale), abs=PRINTED)
    assert margin.df == 99


def test_correlated_t_on_the_grid_of_scikit_learn(data):
    # data/README: rbf against linear, corrected t .750, p .227; P(rbf better) .773; P(within .01) .432;
    # 95 per cent interval [-.0164, .0364]; a tenth of the data is tested on in each of 100 splits
    grid = polars.read_csv(data / "sklearn_grid" / "scores_100x4.csv")
    difference = (grid["rbf"] - grid["linear"]).to_numpy()
    margin = correlated_t(difference, 0.1)
    assert margin.centre / margin.scale == pytest.approx(0.750, abs=5e-4)
    assert stats.t.sf(margin.centre / margin.scale, 99) == pytest.approx(0.227, abs=5e-4)
    regions = correlated_t_test(difference, 0.1, rope=0.01)
    assert correlated_t_test(difference, 0.1).right == pytest.approx(0.773, abs=5e-4)
    assert regions.rope == pytest.approx(0.432, abs=5e-4)
    assert margin.interval() == pytest.approx((-0.0164, 0.0364), abs=5e-5)
    naive = stats.ttest_1samp(difference, 0, alternative="greater").pvalue
    assert naive == pytest.approx(0.005, abs=5e-4)  # folds taken as independent


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    # data/README: notebook 6, P(first better), P(rope), P(second better)
    [
        ("nbc", "aode", (0, 0.123, 0.877)),
        ("nbc", "j48", (0.228, 0.006, 0.766)),
        ("aode", "hnb", (0.001, 0.965, 0.034)),
        ("aode", "j48", (0.904, 0.034, 0.062)),
        ("j48", "j48gr", (0, 1, 0)),
    ],
)
def test_signed_rank(uci, first, second, wanted):
    found = signed_rank_test(differences(uci, first, second).mean(1), rope=0.01)
    assert (found.right, found.rope, found.left) == pytest.approx(wanted, abs=DIRICHLET)


@pytest.mark.long
def test_hierarchical(uci):
    # data/README: nbc against hnb, P(hnb better) .998, P(rope) .002; to .02 at an effective size of 1,000
    found = hierarchical_test(differences(uci, "nbc", "hnb"), 0.1, rope=0.01)
    assert found.min_ess > 1000
    assert found.max_rhat < 1.02
    assert (found.left, found.rope) == pytest.approx((0.998, 0.002), abs=0.02)


@pytest.mark.long
def test_a_difference_of_many_fold_spreads_is_not_cut_off():
    folds = 0.2 + np.random.default_rng(1).normal(0, 0.02, (6, 10))  # ten times the spread between folds
    found = hierarchical_test(folds, 0.1, rope=0.15, draws=500)
    assert found.right > 0.95


def test_the_program_is_told_the_squares_of_all_folds(monkeypatch):
    # of data sets whose folds vary a little and a lot; the program's unit is the mean of their standard deviations
    folds = np.random.default_rng(3).normal(0.1, [[0.01], [0.1], [3.0]], (3, 12))
    told = {}

    def look(program, data, seed, **_):
        told.update(data)
        raise InterruptedError

    monkeypatch.setattr("probtruth.comparison.companions.benavoli.nuts.sample", look)
    with pytest.raises(InterruptedError):
        hierarchical_test(folds, 0.1)
    unit = folds.std(axis=1, ddof=1).mean()
    by_hand = [sum((value - row.mean()) ** 2 for value in row) / unit**2 for row in folds]
    np.testing.assert_allclose(told["square"], by_hand, rtol=1e-12)


def test_signed_rank_by_hand():
    # one difference: weights (w, 1-w) ~ Beta(1, 1) on it and on the pseudo-observation at 0; with no rope only the
    # pseudo-pair lies inside: right has 1 - (1-w)^2, most where w > 1 - root 1/2
    found = signed_rank_test([0.3], prior_strength=1.0)
    assert found.right == pytest.approx(np.sqrt(0.5), abs=DIRICHLET * 2)
    assert found.left == 0
    ties = signed_rank_test([0.2, -0.2])
    assert ties.left == pytest.approx(ties.right, abs=2 * DIRICHLET)


def test_regions_turn_with_the_sign():
    values = np.random.default_rng(0).normal(0.01, 0.02, 30)
    one, other = correlated_t_test(values, 0.1, 0.005), correlated_t_test(-values, 0.1, 0.005)
    assert (one.left, one.rope, one.right) == (other.right, other.rope, other.left)
    assert correlated_t(values, 0.0).scale == pytest.approx(stats.sem(values), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlated_t_test([0.1], 0.1), "got one fold"),
        (lambda: correlated_t_test([0.1, np.nan], 0.1), "not finite"),
        (lambda: correlated_t_test([0.1, 0.2], 1.0), "got correlation 1.0"),
        (lambda: correlated_t_test([0.1, 0.2], "0.1"), "got correlation '0.1'"),
        (lambda: signed_rank_test([]), "no differences"),
        (lambda: signed_rank_test([0.1], draws=0), "got draws 0"),
        (lambda: correlated_t_test([0.1, 0.2], 0.1, rope=-1), "got rope -1"),
        (lambda: signed_rank_test([0.1], prior_strength=0), "got prior_strength 0"),
        (lambda: hierarchical_test([[0.1, 0.2]], 0.1), "shape (1, 2)"),
        (lambda: hierarchical_test(np.ones((3, 4)), 0.1), "never vary"),
    ],
)
def test_errors(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
