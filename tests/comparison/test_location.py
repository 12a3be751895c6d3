import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from probtruth.comparison.design import Structure
from probtruth.comparison.location import combine, pool
from probtruth.comparison.location import moments as structured_moments
from probtruth.comparison.pairs import all_pairs, contrasts, square

ROUND_OFF = 1e-12
"""Relative: a few hundred additions in float64."""


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(2).gamma(1.0, 1.0, (4, 60))


def moments(values, clusters=None, groups=None, reach=0.0):
    codes = np.zeros(values.shape[1], int) if groups is None else groups
    return structured_moments(values, Structure.of(codes, clusters), reach)


def one(values, clusters=None, groups=None, weights=None, reach=0.0):
    parts = moments(values, clusters, groups, reach)
    share = parts.n_items / values.shape[1] if weights is None else weights
    return combine(parts, parts.pairs, share)


def test_pairs_have_the_mean_and_error_of_the_paired_t(values):
    place = one(values)
    for row, (a, b) in enumerate(all_pairs(4)):
        difference = values[a] - values[b]
        assert_allclose(place.mean[row], difference.mean(), rtol=ROUND_OFF)
        assert_allclose(place.variance[row], stats.sem(difference) ** 2, rtol=ROUND_OFF)
        assert place.df[row] == pytest.approx(59, rel=ROUND_OFF)
        skewness = stats.skew(difference, bias=False) / np.sqrt(60)
        assert_allclose(place.third[row] / place.variance[row] ** 1.5, skewness, rtol=1e-9)


def test_own_means_are_those_of_each_model(values):
    levels = moments(values).levels
    assert_allclose(levels.mean[:, 0], values.mean(1), rtol=ROUND_OFF)
    assert_allclose(levels.variance[:, 0], stats.sem(values, axis=1) ** 2, rtol=ROUND_OFF)


def test_a_further_model_changes_no_bit_of_another_pair(values):
    few, many = moments(values[:2]), moments(values)
    assert few.pairs.variance[0, 0] == many.pairs.variance[0, 0]
    assert few.pairs.third[0, 0] == many.pairs.third[0, 0]


def test_clusters_give_the_linearised_variance_of_a_ratio():
    # Cochran 1977 by hand: residual totals (1, -1), two clusters of two items, mean difference 1
    values = np.array([[2.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    part = moments(values, np.array([5, 5, 9, 9]))
    assert (part.n_items, part.n_units, part.df) == ([4], [2], [1])
    assert part.pairs.mean.tolist() == [[1.0]]
    assert part.pairs.variance.tolist() == [[2 / 1 * (1 + 1) / 16]]


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
    part = moments(np.stack([d, np.zeros(n)]), cluster)
    assert_allclose(part.pairs.variance, variance, rtol=ROUND_OFF)
    assert_allclose(part.df, np.trace(inner) ** 2 / np.trace(inner @ inner), rtol=ROUND_OFF)
    assert part.df < 3  # sizes differ: fewer than C - 1


def test_clusters_of_one_item_are_no_clusters(values):
    plain, clustered = moments(values), moments(values, np.random.default_rng(0).permutation(60))
    assert_allclose(clustered.pairs.variance, plain.pairs.variance, rtol=ROUND_OFF)
    assert_allclose(clustered.pairs.third, plain.pairs.third, rtol=1e-9)


def test_order_of_items_does_not_matter(values):
    order = np.random.default_rng(3).permutation(60)
    clusters = np.arange(60) // 4
    for structure in (
        {},
        {"clusters": clusters},
        {"groups": clusters % 3},
        {"groups": clusters // 5, "clusters": clusters},
    ):
        one_way = moments(values, **structure)
        other = moments(values[:, order], **{name: codes[order] for name, codes in structure.items()})
        for field in ("mean", "variance", "third"):
            for kind in ("pairs", "levels"):
                first, second = (getattr(getattr(one, kind), field) for one in (one_way, other))
                assert_allclose(first, second, rtol=1e-10, atol=1e-14)


def test_identical_models_and_constant_differences_have_no_variance():
    row = np.random.default_rng(4).normal(3, 1, 50)
    pairs = one(np.stack([row, row, row + 0.1, row * 1.0000001]))
    assert pairs.variance[:2].tolist() == [0.0, 0.0]
    assert pairs.mean[0] == 0.0
    assert (pairs.variance[[2, 4, 5]] > 0).all()


def test_one_item_has_no_variance_to_estimate():
    part = moments(np.array([[1.0], [2.0]]))
    assert part.df == 0
    assert np.isnan(part.pairs.variance).all()
    assert part.pairs.mean.tolist() == [[-1.0]]


def test_one_model_has_no_pairs():
    assert moments(np.ones((1, 3))).pairs.mean.shape == (0, 1)


def test_stratified_mean_is_welchs_for_two_groups():
    # difference of two group means with weights +1/2, +1/2 of d and -d is half of Welch's two-sample statistic
    rng = np.random.default_rng(6)
    first, second = rng.normal(0, 1, 12), rng.normal(1, 4, 7)
    values = np.stack([np.r_[first, -second], np.zeros(19)])
    place = one(values, groups=np.r_[np.zeros(12, int), np.ones(7, int)], weights=np.array([0.5, 0.5]))
    welch = stats.ttest_ind(first, second, equal_var=False)
    assert_allclose(place.mean[0] / np.sqrt(place.variance[0]), welch.statistic, rtol=ROUND_OFF)
    assert_allclose(place.df[0], welch.df, rtol=ROUND_OFF)


def test_groups_of_one_item_take_the_pooled_variance_together():
    values = np.stack([np.array([1.0, 3.0, 5.0, 0.0, 7.0]), np.zeros(5)])
    place = one(values, groups=np.array([0, 0, 0, 1, 2]))
    # group 0: variance 4 on 2 df; weights .6, .2, .2
    own, rest = 0.6**2 * 4 / 3, 2 * 0.2**2 * 4
    assert_allclose(place.variance, [own + rest], rtol=ROUND_OFF)
    assert_allclose(place.df, [(own + rest) ** 2 / (own**2 / 2 + rest**2 / 2)], rtol=ROUND_OFF)


def test_groups_own_variances_where_the_pooled_one_misleads():
    # sizes 10, 10, 10, 10, 200 and sds 3, 3, 3, 3, 1: the pooled variance is far from what the weights ask for
    rng = np.random.default_rng(7)
    sizes, sds = [10, 10, 10, 10, 200], [3, 3, 3, 3, 1]
    groups = np.repeat(np.arange(5), sizes)
    values = np.stack([rng.normal(0, np.repeat(sds, sizes)), np.zeros(240)])
    own = one(values, groups=groups).variance[0]
    parts = moments(values, groups=groups)
    pooled, _ = pool(parts, parts.pairs)
    wanted = sum((n / 240) ** 2 * sd**2 / n for n, sd in zip(sizes, sds, strict=True))
    assert abs(own / wanted - 1) < 0.35  # sampling error of four variances on 9 df each
    assert abs(own / wanted - 1) < abs(pooled[0] / 240 / wanted - 1)


def test_pooled_variance_within_groups(values):
    groups = np.arange(60) % 3
    parts = moments(values, groups=groups)
    pooled, df = pool(parts, parts.pairs)
    assert df == 57
    difference = (values[0] - values[1])[None]
    residual = np.concatenate([row - row.mean() for row in (difference[0, groups == group] for group in range(3))])
    assert_allclose(pooled[0], (residual**2).sum() / 57, rtol=ROUND_OFF)


def test_contrasts_from_pairs(values):
    centred = values - values.mean(0)
    pairs = one(values)
    assert_allclose(contrasts(pairs.mean, 4), centred.mean(1), atol=ROUND_OFF)
    assert square(np.array([1.0, 2.0, 3.0]), 3, -1.0).tolist() == [[0, 1, 2], [-1, 0, 3], [-2, -3, 0]]


def test_groups_at_once_are_the_groups_one_by_one(values):
    clusters = np.arange(60) // 3
    groups = clusters % 4
    parts = moments(values, clusters, groups)
    for group in range(4):
        alone = moments(values[:, groups == group], clusters[groups == group])
        assert (parts.n_items[group], parts.n_units[group]) == (15, 5)
        for name in ("mean", "variance", "third"):
            assert_allclose(getattr(parts.pairs, name)[:, group], getattr(alone.pairs, name)[:, 0], rtol=1e-9)


def test_rare_differences_get_half_an_item_at_either_end():
    # 20 items, one difference of 1: by hand, 21 items whose total is 1, with half a square of 1 +- the mean each
    difference = np.r_[1.0, np.zeros(19)]
    place = one(np.stack([difference, np.zeros(20)]))
    centre = 1 / 21
    square = (1 - centre) ** 2 + 19 * centre**2 + ((1 - centre) ** 2 + (1 + centre) ** 2) / 2
    assert place.mean[0] == 1 / 20
    assert_allclose(place.centre, [centre], rtol=ROUND_OFF)
    assert_allclose(place.variance, [square / 20 / 21], rtol=ROUND_OFF)
    assert_allclose(place.plain_variance, [difference.var(ddof=1) / 20], rtol=ROUND_OFF)
    cube = (1 - centre) ** 3 - 19 * centre**3 + ((1 - centre) ** 3 - (1 + centre) ** 3) / 2
    assert_allclose(place.third, [21**2 / (20 * 19) / 21**3 * cube], rtol=1e-9)


def test_all_ties_are_as_unsure_as_the_scores_can_differ():
    zero = np.zeros((2, 20))
    assert one(zero).variance.tolist() == [0.0]
    assert_allclose(one(zero, reach=1.0).variance, [1 / 20 / 21], rtol=ROUND_OFF)
    assert one(zero, reach=1.0).centre.tolist() == [0.0]


@pytest.mark.parametrize("differ", ["many", "of all sizes", "no ties"])
def test_other_differences_get_none(differ):
    difference = {
        "many": np.r_[np.ones(40), np.zeros(60)],
        "of all sizes": np.r_[0.1, 0.9, -0.2, np.zeros(20)],
        "no ties": np.r_[np.ones(9), -np.ones(9), 0.0],
    }[differ]
    place = one(np.stack([difference, np.zeros(len(difference))]), reach=1.0)
    assert place.centre.tolist() == place.mean.tolist()
    assert place.variance.tolist() == place.plain_variance.tolist()


def test_rare_differences_of_clusters():
    # clusters of two items that differ in both or none: the same as one item each, at half the weight of the items
    few = np.r_[1.0, np.zeros(19)]
    plain = one(np.stack([few, np.zeros(20)]))
    doubled = one(np.stack([np.repeat(few, 2), np.zeros(40)]), clusters=np.arange(40) // 2)
    for name in ("centre", "variance", "third"):
        assert_allclose(getattr(doubled, name), getattr(plain, name), rtol=1e-9)


def test_groups_get_no_pseudo_items():
    groups = np.arange(20) % 2
    place = one(np.stack([np.r_[1.0, np.zeros(19)], np.zeros(20)]), groups=groups, reach=1.0)
    assert_allclose(place.centre, place.mean, rtol=ROUND_OFF)
