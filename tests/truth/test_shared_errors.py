"""The splits of votes within items say how many lures there may be, whatever the labels are called."""

from itertools import product

import numpy as np
import pytest

from probtruth.truth.shared_errors import SHARES, STRENGTHS, Lure


def votes(n, right, n_votes=5, n_labels=3, lured=0.0, pull=0.6, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(n_labels, size=n)
    wrong = (true + rng.integers(1, n_labels, n)) % n_labels
    drawn = rng.random(n) < lured
    counts = np.zeros((n, n_labels), np.int64)
    for _ in range(n_votes):
        other = (true + rng.integers(1, n_labels, n)) % n_labels
        vote = np.where(rng.random(n) < right, true, other)
        counts[np.arange(n), np.where(drawn & (rng.random(n) < pull), wrong, vote)] += 1
    return counts


def test_likelihoods_are_those_of_every_sequence_of_votes():
    """Three votes, three labels: the chance of each of 27 sequences under the definition, summed by hand."""
    counts = np.array([[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 0, 3]])
    lure = Lure.of(counts)
    a = lure.accuracy
    table = np.full((3, 3), (1 - a) / 2) + np.eye(3) * (a - (1 - a) / 2)
    for row, item in enumerate(counts):
        plain, lured = np.zeros(3), np.zeros(3)
        sequences = [s for s in product(range(3), repeat=3) if (np.bincount(s, minlength=3) == item).all()]
        for true in range(3):
            plain[true] = table[true, list(sequences[0])].prod()
            for wrong in {0, 1, 2} - {true}:
                for strength in STRENGTHS:
                    one = (1 - strength) * table[true] + strength * np.eye(3)[wrong]
                    lured[true] += one[list(sequences[0])].prod() / (2 * len(STRENGTHS))
        np.testing.assert_allclose(lure.log_ratio[row], np.log(lured.sum() / plain.sum()), rtol=1e-9)
        np.testing.assert_allclose(lure.classes[row], lured / lured.sum(), rtol=1e-9)


def test_the_share_follows_the_splits():
    """Annotators who are nearly always right leave no room; a lure on a quarter of the items is within the share."""
    assert Lure.of(votes(400, 0.97)).share < 0.06
    assert Lure.of(votes(400, 0.7, lured=0.25)).share > 0.25
    assert Lure.of(votes(4000, 0.8, lured=0.0)).share < Lure.of(votes(400, 0.8, lured=0.0)).share


def test_labels_have_no_names():
    counts = votes(200, 0.8)
    one, two = Lure.of(counts), Lure.of(counts[:, [2, 0, 1]])
    assert (one.share, one.accuracy) == (two.share, two.accuracy)
    np.testing.assert_allclose(one.classes[:, [2, 0, 1]], two.classes, rtol=1e-12)
    np.testing.assert_allclose(one.log_ratio, two.log_ratio, rtol=1e-12)


def test_more_lures_make_each_item_more_probably_lured():
    lure = Lure.of(votes(50, 0.8))
    rows = np.stack([lure.p_lured(share) for share in SHARES])
    assert (rows[0] == 0).all()
    assert (np.diff(rows, axis=0) >= 0).all()
    assert ((rows >= 0) & (rows <= 1)).all()


@pytest.mark.parametrize("counts", [[[1, 0], [0, 1]], [[0, 0], [1, 0]]])
def test_one_vote_an_item_tells_nothing(counts):
    assert Lure.of(np.array(counts)) is None


def test_many_votes_do_not_underflow():
    lure = Lure.of(np.array([[600, 0], [0, 600], [590, 10]] * 10))
    assert np.isfinite(lure.log_ratio).all()
    np.testing.assert_allclose(lure.classes.sum(1), 1)
