"""An estimate made elsewhere: the helpers for it, and that nothing else is needed for a comparison."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.compare import compare, conclude
from probtruth.comparison.estimation.estimate import About, Estimate, power_sums, rows_from_models
from probtruth.comparison.options import checked_options

ROUND_OFF = 1e-9
NUMBERS = ("difference", "low", "high", "p_a_better", "p_equivalent", "p_b_better")


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(1).gamma(1.0, size=(3, 30)) + np.array([[0.0], [0.1], [0.4]])


def influenced(values, annotator=None, **fields):
    """The estimate that each model's mean over the items is, from what each item does to it."""
    n = values.shape[1]
    influence = (values - values.mean(1, keepdims=True)) / n
    about = About(rule="score", higher_is_better=False, **fields)
    items = np.arange(n), np.full(6, n - 1.0)
    annotators = None if annotator is None else (annotator, np.full(6, annotator.max() + 0.0))
    return Estimate.of_influence("abc", values.mean(1), influence, about, items, annotators)


def test_an_estimate_from_influences_is_that_of_the_scores(values):
    found = conclude(influenced(values), checked_options("exact", rope=0.1))
    wanted = compare(make(values, "abc", higher_is_better=False), engine="exact", rope=0.1)
    for one, other in zip(found.pairs, wanted.pairs, strict=True):
        assert (one.favours, one.reason) == (other.favours, other.reason)
        for name in NUMBERS:
            assert one[name] == pytest.approx(other[name], rel=ROUND_OFF)
    for one, other in zip(found.ranks, wanted.ranks, strict=True):
        assert one.p_best == pytest.approx(other.p_best, rel=ROUND_OFF)
        assert one.low == pytest.approx(other.low, rel=ROUND_OFF)
    assert found.uncertainty == {"items": 1.0, "annotators": None, "labels": None}


def test_effective_numbers_are_the_callers(values):
    n = values.shape[1]
    influence = (values - values.mean(1, keepdims=True)) / n
    about = About(rule="score", higher_is_better=False)
    few = np.full(6, 4.0)
    found = Estimate.of_influence("abc", values.mean(1), influence, about, (np.arange(n), few)).total()
    square = np.square(rows_from_models(influence)).sum(1)
    assert found.variance[:, 0] == pytest.approx(5 / 4 * square, rel=ROUND_OFF)
    assert found.df[:, 0].tolist() == few.tolist()


def test_annotators_count_by_what_they_share_over_items():
    """Two annotators, each on half of the items: by hand, what their totals add beyond their own cells."""
    values = np.stack([np.r_[1.0, 2.0, 3.0, 6.0], np.r_[0.0, 1.0, 0.0, 1.0], np.r_[1.0, 3.0, 3.0, 1.0]])
    found = influenced(values, np.array([0, 0, 1, 1]))
    influence = (values[0] - 3) / 4  # -1/2, -1/4, 0, 3/4
    wanted = 2 / 1 * ((influence[0] + influence[1]) ** 2 + influence[3] ** 2 - (influence**2).sum())
    part = found.parts["annotators"]
    assert part.variance[0, 0] == pytest.approx(wanted)
    assert part.raw[0, 0] == pytest.approx(2 * 2 * 0.75**2)
    assert part.df[0, 0] == 1.0
    assert part.variance[1, 0] == part.variance[2, 0] == 0.0
    shares = conclude(found, checked_options("exact")).uncertainty
    assert shares["annotators"] + shares["items"] == pytest.approx(1.0)


def test_a_pair_that_nothing_connects_is_null_with_its_reason_and_the_others_stand(values):
    estimate = influenced(values, notes=("a note",), over="new prompts like these")
    mean = estimate.mean.copy()
    mean[5] = np.nan  # b and c
    found = conclude(replace(estimate, mean=mean), checked_options("exact"))
    first, second, third = found.pairs
    assert third.difference is None
    assert third.reason == "nothing in the data connects the two models"
    whole = conclude(estimate, checked_options("exact"))
    assert (first, second) == (whole.pairs[0], whole.pairs[1])
    assert [row.p_best for row in found.ranks] == [None] * 3
    assert "over new prompts like these" in found.estimand
    assert "a note" in found.warnings


@pytest.mark.parametrize("apart", [1.0, 1e-1, 1e-3, 1e-9, 0.0])
def test_sums_of_powers_of_differences_are_those_of_the_differences(apart: float) -> None:
    """From products of models' numbers, but where rounding would tell models that are alike apart."""
    rng = np.random.default_rng(0)
    base = rng.gamma(1.0, size=400)
    rows = base + apart * rng.gamma(1.0, size=(4, 400))
    squares, cubes = power_sums(rows)
    wanted = rows_from_models(rows)
    size = np.square(wanted).sum(1)
    assert squares[:, 0] == pytest.approx(size, rel=1e-9)
    scale = size.clip(1e-100) ** 1.5
    np.testing.assert_allclose(cubes[:, 0] / scale, (wanted**3).sum(1) / scale, atol=1e-9)
