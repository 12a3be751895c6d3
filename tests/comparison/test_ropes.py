"""How large a difference does not matter, in three units."""

import numpy as np
import pytest
from made_scores import make

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.options import Rope, parse
from probtruth.errors import InputError


def test_what_is_written():
    assert parse("0.02") == Rope(0.02, "units") == parse(0.02)
    assert parse("2%") == Rope(0.02, "score")
    assert parse(" 5% of range") == Rope(0.05, "range")
    assert parse(None) is None


@pytest.mark.parametrize("given", ["two", "-2%", "%", "1..2", "nan", -1, True, np.inf, [1]])
def test_errors(given):
    with pytest.raises(InputError, match="got rope"):
        parse(given)


def test_a_share_of_the_best_score():
    scores = make(np.random.default_rng(0).gamma(2, 1, (3, 50)), "abc")
    best = scores.values.mean(1).min()
    one, other = compare(scores, rope="10%", engine="exact"), compare(scores, rope=0.1 * best, engine="exact")
    assert one.rope == pytest.approx(0.1 * best, rel=1e-12)
    for row, wanted in zip(one.pairs, other.pairs, strict=True):
        assert row["p_equivalent"] == pytest.approx(wanted["p_equivalent"], rel=1e-9)


def test_a_share_of_the_range_from_entropy_to_baseline():
    counts = np.random.default_rng(1).multinomial(5, [0.5, 0.3, 0.2], 40)
    truth = pt.infer_truth(pt.Annotations.from_counts(counts), method="vote-share")
    probs = np.random.default_rng(2).dirichlet(np.ones(3), (2, 40))
    scores = pt.score(pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}), truth)
    shares = truth.shares.mean(0)
    baseline = -(shares * np.log(shares)).sum()  # the entropy of the mean label, by hand
    assert scores.known.baseline == pytest.approx(baseline, rel=1e-9)
    found = compare(scores, rope="20% of range", engine="exact").rope
    assert found == pytest.approx(0.2 * (baseline - scores.known.entropy), rel=1e-9)
    with pytest.raises(InputError, match="do not have"):
        compare(make(probs[:, :, 0]), rope="20% of range")
    with pytest.raises(InputError, match="best mean score of 0"):
        compare(make([[1.0, -1.0], [2.0, 3.0]]), rope="20%")
