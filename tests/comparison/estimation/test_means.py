from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_scores import estimated, located, make, rows_of
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.design import Design, pairs_of
from probtruth.types import Partition

ROUND_OFF = 1e-12  # Relative: a few hundred additions in float64


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(2).gamma(1.0, 1.0, (4, 60))


def pairs(values, clusters=None, groups=None):
    """The means of the pairs by group, with the degrees of freedom of the design."""
    plan = Design.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    found = estimated(values, plan)
    of_pairs = slice(len(values), None)
    items = found.items.of(of_pairs)
    return SimpleNamespace(mean=found.mean[of_pairs], variance=items.variance, third=items.third, plan=plan)


def test_pairs_have_the_mean_and_error_of_the_paired_t(values):
    levels = rows_of(estimated(values, Design.of(np.zeros(60, int))))
    assert_allclose(levels.mean[:4], values.mean(1), rtol=ROUND_OFF)
    assert_allclose(levels.variance[:4], stats.sem(values, axis=1) ** 2, rtol=ROUND_OFF)
    place = located(values)
    for row, (a, b) in enumerate(pairs_of(np.arange(4))):
        difference = values[a] - values[b]
        assert_allclose(place.mean[row], difference.mean(), rtol=0, atol=ROUND_OFF * difference.std())
        assert_allclose(place.variance[row], stats.sem(difference) ** 2, rtol=ROUND_OFF)
        assert place.df[row] == pytest.approx(59, rel=ROUND_OFF)
        skewness = stats.skew(difference, bias=False) / np.sqrt(60)
        assert_allclose(place.third[row] / place.variance[row] ** 1.5, skewness, rtol=0, atol=1e-9)


def test_clusters_of_unequal_sizes_have_the_variance_and_degrees_of_freedom_of_bell_and_mccaffrey():
    # by their definition with matrices: V = sum_c (1' A_c e_c)^2 / n^2, A_c = (I - H_cc)^(-1/2) by eigenvalues, and
    # df = tr(G'G)^2 / tr((G'G)^2), column c of G being (I - H)' [A_c 1] / n for independent items
    cluster, rng = np.repeat([0, 1, 2, 3], [1, 7, 3, 2]), np.random.default_rng(3)
    n, d = len(cluster), rng.normal(size=len(cluster))
    hat, columns, variance = np.full((n, n), 1 / n), [], 0.0
    for c in range(4):
        own = cluster == c
        values, vectors = np.linalg.eigh(np.eye(own.sum()) - hat[np.ix_(own, own)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        variance += (root @ (d - d.mean())[own]).sum() ** 2 / n**2
        columns.append((np.eye(n) - hat)[:, own] @ root.sum(0) / n)
    inner = np.array(columns) @ np.array(columns).T
    part = pairs(np.stack([d, np.zeros(n)]), cluster)
    assert_allclose(part.variance, variance, rtol=ROUND_OFF)
    assert_allclose(part.plan.df, np.trace(inner) ** 2 / np.trace(inner @ inner), rtol=ROUND_OFF)
    assert part.plan.df < 3  # sizes differ: fewer than C - 1


def test_identical_models_and_constant_differences_have_no_variance():
    row = np.random.default_rng(4).normal(3, 1, 50)
    place = located(np.stack([row, row, row + 0.1, row * 1.0000001]))
    assert place.variance[:2].tolist() == [0.0, 0.0]
    assert place.mean[0] == 0.0
    assert (place.variance[[2, 4, 5]] > 0).all()


def test_one_item_has_no_variance_to_estimate():
    part = pairs(np.array([[1.0], [2.0]]))
    assert part.plan.df == 0
    assert np.isnan(part.variance).all()
    assert part.mean.tolist() == [[-1.0]]


def test_stratified_mean_is_welchs_for_two_groups():
    # difference of two group means with weights +1/2, +1/2 of d and -d is half of Welch's two-sample statistic
    rng = np.random.default_rng(6)
    first, second = rng.normal(0, 1, 12), rng.normal(1, 4, 7)
    values = np.stack([np.r_[first, -second], np.zeros(19)])
    plan = replace(Design.of(np.r_[np.zeros(12, int), np.ones(7, int)]), weights=np.array([0.5, 0.5]))
    place = rows_of(estimated(values, plan), slice(2, None))
    welch = stats.ttest_ind(first, second, equal_var=False)
    assert_allclose(place.mean[0] / np.sqrt(place.variance[0]), welch.statistic, rtol=ROUND_OFF)
    assert_allclose(place.df[0], welch.df, rtol=ROUND_OFF)


def test_groups_of_one_item_take_the_pooled_variance_together():
    values = np.stack([np.array([1.0, 3.0, 5.0, 0.0, 7.0]), np.zeros(5)])
    place = located(values, groups=np.array([0, 0, 0, 1, 2]))
    # group 0: variance 4 on 2 df; weights .6, .2, .2
    own, rest = 0.6**2 * 4 / 3, 2 * 0.2**2 * 4
    assert_allclose(place.variance, [own + rest], rtol=ROUND_OFF)
    assert_allclose(place.df, [(own + rest) ** 2 / (own**2 / 2 + rest**2 / 2)], rtol=ROUND_OFF)


def test_pooled_variance_within_groups(values):
    groups = np.arange(60) % 3
    estimate = estimated(values, Design.of(groups))
    pooled, df = estimate.pooled(estimate.group_items)
    assert (df == 57).all()
    difference = (values[0] - values[1])[None]
    residual = np.concatenate([row - row.mean() for row in (difference[0, groups == group] for group in range(3))])
    assert_allclose(pooled[4], (residual**2).sum() / 57, rtol=ROUND_OFF)


def test_groups_at_once_are_the_groups_one_by_located(values):
    clusters = np.arange(60) // 3
    groups = clusters % 4
    parts = pairs(values, clusters, groups)
    for group in range(4):
        alone = pairs(values[:, groups == group], clusters[groups == group])
        assert (parts.plan.group_sizes[group], parts.plan.group_units[group]) == (15, 5)
        for name in ("mean", "variance", "third"):
            assert_allclose(getattr(parts, name)[:, group], getattr(alone, name)[:, 0], rtol=1e-9)


def test_rare_differences_get_half_an_item_at_either_end():
    # 20 items, one difference of 1: 0.95 of an item more, by the share of ties, half of it at +1 and half at -1
    difference = np.r_[1.0, np.zeros(19)]
    place = located(np.stack([difference, np.zeros(20)]))
    n = 20.95
    centre = 1 / n
    more = 0.95 / 2 * ((1 - centre) ** 2 + (1 + centre) ** 2)
    square = (1 - centre) ** 2 + 19 * centre**2 + more
    assert place.mean[0] == 1 / 20
    assert_allclose(place.centre, [centre], rtol=ROUND_OFF)
    assert_allclose(place.variance, [square / (n - 1) / n], rtol=ROUND_OFF)
    assert_allclose(place.plain_variance, [difference.var(ddof=1) / 20], rtol=ROUND_OFF)
    cube = (1 - centre) ** 3 - 19 * centre**3 + 0.95 / 2 * ((1 - centre) ** 3 - (1 + centre) ** 3)
    assert_allclose(place.third, [cube / ((n - 1) * (n - 2) * n)], rtol=1e-9)


def test_all_ties_are_as_unsure_as_the_scores_can_differ():
    zero = np.zeros((2, 20))
    assert located(zero).variance.tolist() == [0.0]
    assert_allclose(located(zero, pseudo=1.0).variance, [1 / 20 / 21], rtol=ROUND_OFF)
    assert located(zero, pseudo=1.0).centre.tolist() == [0.0]


def test_without_ties_nothing_is_added():
    difference = np.r_[np.ones(9), -np.ones(10)]
    place = located(np.stack([difference, np.zeros(19)]), pseudo=1.0)
    assert place.centre.tolist() == place.mean.tolist()
    assert place.variance.tolist() == place.plain_variance.tolist()


def ends_of(difference, groups):
    return np.array(located(np.stack([difference, np.zeros(len(difference))]), groups).margins[0].interval())


@pytest.mark.parametrize("n_groups", [1, 4])
@pytest.mark.parametrize("sizes", ["equal", "normal"])
def test_a_walk_over_the_number_of_ties_does_not_jump(n_groups, sizes):
    # at every number of ties: a tie, and a difference that is nearly one, have the same interval within a tenth of it
    n = 40
    groups = np.arange(n) % n_groups
    rng = np.random.default_rng(5)
    difference = rng.choice([-1.0, 1.0], n, p=[0.4, 0.6])
    if sizes == "normal":
        difference = difference * np.abs(rng.normal(size=n))
    order = rng.permutation(n)
    for ties in range(1, n):
        tied = difference.copy()
        tied[order[:ties]] = 0.0
        nearly = tied.copy()
        nearly[order[ties - 1]] = 1e-6
        exact = ends_of(tied, groups)
        assert np.abs(ends_of(nearly, groups) - exact).max() < 0.1 * np.ptp(exact)


@pytest.mark.parametrize("size", [0.25, 1.0])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_the_first_tie_moves_the_interval_no_more_than_the_next(size, n_groups):
    # one difference on all items, of scores that can differ by 1: with a first tie, the low end rose by two widths
    ends = []
    for ties in range(3):
        difference = np.where(np.arange(40) < ties, 0.0, size)
        place = located(np.stack([difference, np.zeros(40)]), np.arange(40) % n_groups, pseudo=1.0)
        ends.append(place.margins[0].interval())
    first, second = np.abs(np.diff(ends, axis=0)).max(1)
    assert first < 1.1 * second


def test_rare_differences_of_clusters():
    # clusters of two items that differ in both or none: the same as one item each, at half the weight of the items
    few = np.r_[1.0, np.zeros(19)]
    plain = located(np.stack([few, np.zeros(20)]))
    doubled = located(np.stack([np.repeat(few, 2), np.zeros(40)]), clusters=np.arange(40) // 2)
    for name in ("centre", "variance", "third"):
        assert_allclose(getattr(doubled, name), getattr(plain, name), rtol=1e-9)


@pytest.mark.parametrize("n_differ", [0, 1, 2, 10])
def test_ties_in_groups_count_as_without_groups(n_differ):
    difference = np.r_[np.ones(n_differ), np.zeros(80 - n_differ)]
    values = np.stack([difference, np.zeros(80)])
    plain = located(values, pseudo=1.0)
    grouped = located(values, groups=np.arange(80) % 4, pseudo=1.0)
    assert_allclose(grouped.centre, plain.centre, rtol=0.05)
    assert_allclose(grouped.variance, plain.variance, rtol=0.1)  # by group one degree of freedom less each


def test_tied_items_in_groups_have_an_interval():
    scores = make(np.zeros((2, 40)), groups=Partition(np.arange(40) % 4, ("a", "b", "c", "d")), higher_is_better=True)
    (pair,) = compare(scores, engine="exact").pairs
    assert pair["low"] < 0 < pair["high"]
    assert pair["p_a_better"] == 0.5


@pytest.mark.parametrize("kind", ["normal", "ties"])
def test_a_group_of_no_weight_changes_nothing(kind):
    """Its items counted among those by which ties were weighed: P was 0.0076 for 0.0090."""
    values = np.random.default_rng(1).standard_normal((3, 40))
    if kind == "ties":
        values = (values > 0) * 1.0
    groups = Partition((np.arange(40) >= 25) * 1, ("u", "v"))
    both = compare(make(values, groups=groups, higher_is_better=True), weights={"u": 1, "v": 0}, engine="exact")
    alone = compare(make(values[:, :25], higher_is_better=True), engine="exact")
    for one, other in zip(both.pairs, alone.pairs, strict=True):
        for name in ("difference", "low", "high", "p_a_better"):
            assert one[name] == pytest.approx(other[name], abs=1e-9)
    for one, other in zip(both.ranks, alone.ranks, strict=True):
        assert one["p_best"] == pytest.approx(other["p_best"], abs=1e-9)


def test_small_groups_in_which_most_items_tie_know_little():
    """Their variances were of a part of an item: the population of thirty groups was held in 0.02 of data sets, and a
    group's difference in 0.06."""
    groups = Partition(np.arange(300) % 30, tuple(f"{group:02d}" for group in range(30)))
    held = []
    for seed in range(8):
        differences = np.random.default_rng(seed).choice([1.0, -1.0, 0.0], 300, p=[0.08, 0.02, 0.9])
        scores = make(np.stack([differences, np.zeros(300)]), "ab", groups=groups, higher_is_better=False)
        found = compare(scores, engine="exact")
        rows = (*found.groups, *found.group_results["population of groups"])
        held.append([row["low"] <= 0.06 <= row["high"] for row in rows])
    assert np.mean(held, axis=0).min() >= 0.75


def test_where_a_small_group_counts_for_much_its_ties_do():
    """With equal weights, of 10 items and 1,000, they were weighed by size: 0.63 of intervals held the truth."""
    groups = Partition((np.arange(1010) >= 10) * 1, ("few", "many"))
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        differences = rng.choice([1.0, -1.0, 0.0], 1010, p=[0.01, 0.01, 0.98])
        differences[:10] = rng.choice([1.0, -1.0, 0.0], 10, p=[0.08, 0.02, 0.9])
        scores = make(np.stack([differences, np.zeros(1010)]), "ab", groups=groups, higher_is_better=False)
        (pair,) = compare(scores, weights="equal", engine="exact").pairs
        held.append(pair["low"] <= 0.03 <= pair["high"])
    assert np.mean(held) >= 0.9


def test_the_population_of_small_groups_of_skewed_items_is_held():
    """Groups that lacked large items had small means and small variances, and counted most: 1 of 12 was held."""
    groups = Partition(np.arange(300) % 30, tuple(f"{group:02d}" for group in range(30)))
    held = []
    for seed in range(12):
        differences = np.random.default_rng(seed).lognormal(size=300)
        scores = make(np.stack([differences, np.zeros(300)]), "ab", groups=groups, higher_is_better=False)
        (row,) = compare(scores, engine="exact").group_results["population of groups"]
        held.append(row["low"] <= np.exp(0.5) <= row["high"])
    assert sum(held) >= 9


@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_groups_of_huge_and_tiny_skewed_scores_are_those_of_others(size):
    """The third moment of variances overflowed: an error of NumPy."""
    values = np.random.default_rng(0).lognormal(size=(2, 120))
    groups = Partition(np.arange(120) % 12, tuple(f"{group:02d}" for group in range(12)))
    ends = []
    for scale in (1.0, size):
        found = compare(make(scale * values, "ab", groups=groups, higher_is_better=False), engine="exact")
        (row,) = found.group_results["population of groups"]
        ends.append([row["low"] / scale, row["high"] / scale])
    assert_allclose(ends[1], ends[0], rtol=1e-6)
