import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions import many_items
from probtruth.comparison.companions.many_items import KEPT, SizeCounts, many_companions
from probtruth.comparison.companions.paired_tests import EXACT, FLIPS, WEIGHTS, companions, signed_rank_p
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, moments
from probtruth.comparison.evidence.parts import held

MONTE_CARLO = 5.0
N = 4000
STRUCTURES = {
    "plain": {},
    "groups": {"groups": np.arange(N) % 3},
    "unequal groups": {"groups": (np.arange(N) % 20 == 0).astype(int)},
    "clusters": {"clusters": np.arange(N) // 4 % 700},
    "both": {"groups": np.arange(N) // 1000, "clusters": np.arange(N) // 8},
}


def of(values, groups=None, clusters=None):
    within = Structure.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    parts = moments(values, within)
    weights = np.full(within.n_groups, 1 / within.n_groups)
    place = combine(parts, parts.pairs, weights)
    return companions(values, within, weights, place), many_companions(
        held(values, within), np.arange(len(values)), weights, place
    )


def near(found, wanted, draws, error):
    return abs(found - wanted) <= MONTE_CARLO * np.sqrt(wanted * (1 - wanted) / draws) + 1 / draws + error


@pytest.mark.parametrize("structure", STRUCTURES)
def test_limits_are_what_resampling_finds(structure):
    rng = np.random.default_rng(0)
    values = rng.gamma(1.0, 1.0, (3, N)) + np.array([[0.0], [0.01], [0.04]])
    for one, many in zip(*of(values, **STRUCTURES[structure]), strict=True):
        assert (many.t, many.df, many.t_p) == (one.t, one.df, one.t_p)
        assert near(many.sign_flip_p, one.sign_flip_p, FLIPS, 0)
        assert near(many.bootstrap_p_a_better, one.bootstrap_p_a_better, WEIGHTS, 0)
        assert abs(many.wilcoxon_p - one.wilcoxon_p) <= many.wilcoxon_p_error
        assert 0 < many.sign_flip_p_error < 0.6
        assert 0 < many.bootstrap_p_a_better_error < 0.6
        assert one.wilcoxon_p_error is one.sign_flip_p_error is one.bootstrap_p_a_better_error is None


def test_the_error_covers_what_one_large_unit_does():
    values = np.stack([np.r_[np.full(1000, 1e-3), -np.full(999, 1e-3), 1.0], np.zeros(2000)])
    (one,), (many,) = of(values)
    for name in ("sign_flip_p", "bootstrap_p_a_better"):
        found, wanted = getattr(many, name), getattr(one, name)
        assert not near(found, wanted, FLIPS, 0)
        assert near(found, wanted, WEIGHTS, getattr(many, f"{name}_error"))


def test_units_of_one_size_are_mcnemars_exact_test():
    values = np.stack([np.r_[np.ones(40), np.zeros(60)], np.r_[np.zeros(40), np.ones(18), np.zeros(42)]])
    _, (row,) = of(values)
    assert row.sign_flip_p == pytest.approx(stats.binomtest(40, 58).pvalue, rel=1e-12)
    assert row.sign_flip_p_error == 0
    assert row.wilcoxon_p_error == 0


def test_the_far_tail_is_bounded_by_hoeffding():
    values = np.stack([np.random.default_rng(1).uniform(0, 1, N), np.zeros(N)])
    _, (row,) = of(values)
    assert row.sign_flip_p + row.sign_flip_p_error < 1e-300


def test_tests_that_do_not_exist_are_none():
    _, (same,) = of(np.zeros((2, 50)))
    assert set(vars(same).values()) == {None}
    _, (constant,) = of(np.stack([np.zeros(50), np.full(50, 0.1)]))
    assert (constant.t_p, constant.bootstrap_p_a_better, constant.bootstrap_p_a_better_error) == (None, None, None)
    assert constant.sign_flip_p == pytest.approx(2 / 2**50)


def test_order_and_sides_change_no_bit():
    rng = np.random.default_rng(2)
    values = np.round(rng.normal(size=(2, 500)), 2)
    _, (row,) = of(values)
    _, (shuffled,) = of(values[:, rng.permutation(500)])
    _, (other,) = of(values[::-1])
    assert row == shuffled
    assert other.sign_flip_p == row.sign_flip_p
    assert other.wilcoxon_p == row.wilcoxon_p
    assert other.t == -row.t
    assert other.bootstrap_p_a_better == pytest.approx(1 - row.bootstrap_p_a_better, rel=1e-12)


def test_many_items_are_compared_with_them(monkeypatch):
    from made_scores import make

    from probtruth.comparison.compare import compare

    scores = make(np.random.default_rng(3).gamma(1.0, 1.0, (3, 300)), "abc")
    few = compare(scores, engine="exact").companions
    monkeypatch.setattr(many_items, "MOST", 299)
    many = compare(scores, engine="exact").companions
    for one, other in zip(few, many, strict=True):
        assert one["wilcoxon_p_error"] is None
        assert abs(one["wilcoxon_p"] - other["wilcoxon_p"]) <= other["wilcoxon_p_error"]


def shown(counts):
    return [part.tolist() for part in (counts.bins, counts.positive, counts.negative, counts.tie)]


KINDS = {
    "skewed": lambda rng, n: rng.gamma(1, 1, n) - rng.gamma(1, 1.05, n),
    "near": lambda rng, n: 1 + rng.normal(0, 2.0**-KEPT, n),
    "ties": lambda rng, n: rng.integers(-6, 8, n) / 4,
    "wide": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-300, 90, n),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [60, 1000, 30_000])
def test_p_is_scipys_within_the_error_that_is_said(kind, n):
    values = KINDS[kind](np.random.default_rng(n), n)
    p, error = SizeCounts.of(values).signed_rank_p()
    reference = stats.wilcoxon(values, method="asymptotic").pvalue
    rounding = 1e-9 * reference  # scipy's sums in another order
    assert abs(p - reference) <= error + rounding
    assert kind != "ties" or error == 0


def test_the_error_is_small_where_sizes_fill_many_bins():
    values = KINDS["skewed"](np.random.default_rng(5), 200_000)
    assert SizeCounts.of(values).signed_rank_p()[1] < 0.02


def test_the_error_is_reached_where_bins_hide_an_order():
    rng = np.random.default_rng(1)
    sizes = np.sort(1 + rng.uniform(0, 2.0 ** -(KEPT + 1), 400))  # all of one bin
    for signs in (np.repeat([-1, 1], 200), np.repeat([1, -1], 200)):
        p, error = SizeCounts.of(sizes * signs).signed_rank_p()
        reference = stats.wilcoxon(sizes * signs, method="asymptotic").pvalue
        assert p == 1
        assert reference < 1e-6
        assert abs(p - reference) <= error


@pytest.mark.parametrize("n", [1, 7, EXACT])
def test_few_differences_of_separate_sizes_are_exact(n):
    values = np.r_[np.random.default_rng(n).normal(0.2, 1, n), np.zeros(9)]
    assert SizeCounts.of(values).signed_rank_p() == (signed_rank_p(values), 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_merge_to_the_whole_in_any_order(kind):
    rng = np.random.default_rng(3)
    values = np.r_[KINDS[kind](rng, 3000), np.zeros(40), -np.zeros(3)]
    whole = SizeCounts.of(values)
    for n_parts in (1, 2, 17):
        parts = [SizeCounts.of(part) for part in np.array_split(rng.permutation(values), n_parts)]
        assert shown(SizeCounts.joined(parts)) == shown(whole)
        some = [SizeCounts.joined(few) for few in (parts[::2], parts[1::2]) if few]
        assert shown(SizeCounts.joined(some[::-1])) == shown(whole)


def test_zeros_are_in_no_bin_and_sides_may_be_exchanged():
    values = KINDS["skewed"](np.random.default_rng(2), 500)
    one, other = SizeCounts.of(values), SizeCounts.of(np.r_[np.zeros(10), -values])
    assert shown(one)[1:3] == shown(other)[2:0:-1]
    assert one.signed_rank_p() == other.signed_rank_p()
    assert SizeCounts.of(np.zeros(4)).signed_rank_p() == (None, None)
    nothing = SizeCounts.of(np.zeros(0))
    assert shown(SizeCounts.joined([nothing, nothing])) == shown(nothing)
    assert shown(SizeCounts.joined([nothing, one])) == shown(SizeCounts.joined([one, nothing])) == shown(one)


def test_no_size_is_above_the_largest():
    for kind, make in KINDS.items():
        values = make(np.random.default_rng(4), 1000)
        largest = np.abs(values).max()
        found = SizeCounts.of(np.r_[values, values * (1 - 2.0**-40)]).largest  # the last bin is no tie
        assert largest <= found <= largest * (1 + 2.0 ** -(KEPT - 1)), kind
    assert SizeCounts.of(np.array([0.0, -3.0])).largest == 3
    assert SizeCounts.of(np.zeros(1)).largest == 0
