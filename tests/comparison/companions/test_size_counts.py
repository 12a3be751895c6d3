import numpy as np
import pytest
from scipy import stats

from probtruth.comparison.companions.signed_rank import EXACT, signed_rank_p
from probtruth.comparison.companions.size_counts import KEPT, SizeCounts


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
