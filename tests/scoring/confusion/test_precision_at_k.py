import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import probtruth as pt

ROUND_OFF = 1e-12
"""Cumulative sums of a dozen numbers near 1 in float64."""


def two(y):
    return np.stack([1 - np.asarray(y, float), np.asarray(y, float)], -1)


def both(p, y):
    return pt.Predictions.from_probs({"a": two(p)}), pt.Truth.from_probs(two(y))


values = hnp.arrays(np.float64, 12, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))


def test_a_textbooks_ranking():
    """Manning, Raghavan and Schuetze (2008), Section 8.4: relevant at ranks 1, 3 and 4 gives 1, 1/2, 2/3, 3/4."""
    found = pt.precision_at_k(*both([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 1]), [1, 2, 3, 4])
    assert found["precision"].to_list() == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4], rel=ROUND_OFF)
    assert found["best"].to_list() == pytest.approx([1, 1, 1, 3 / 4], rel=ROUND_OFF)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(values, values, st.integers(1, 12))
def test_tied_items_count_with_their_mean(p, y, k):
    sure, tied = p > np.sort(p)[-k], p == np.sort(p)[-k]
    found = pt.precision_at_k(*both(p, y), k).row(0, named=True)
    expected = (y[sure].sum() + (k - sure.sum()) * y[tied].mean()) / k
    assert found["precision"] == pytest.approx(expected, abs=ROUND_OFF)
    assert found["precision"] <= found["best"] + ROUND_OFF
    assert found["implied_precision"] == pytest.approx(np.sort(p)[-k:].mean(), abs=ROUND_OFF)


def test_reports_that_round_to_one_are_told_apart():
    logs = np.log(np.array([[1e-20, 1.0], [1e-30, 1.0], [0.5, 0.5]]))
    pred = pt.Predictions.from_log_probs({"a": logs})
    found = pt.precision_at_k(pred, pt.Truth.from_probs([[1, 0], [0, 1], [1, 0]]), 1)
    assert found["precision"].item() == 1


@pytest.mark.parametrize("k", [0, 4, 1.5, [], [[1]], True, "2"])
def test_errors(k):
    with pytest.raises(pt.InputError, match="expected whole numbers from 1 to 3"):
        pt.precision_at_k(*both([0.1, 0.2, 0.3], [0, 1, 1]), k)
