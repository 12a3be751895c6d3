"""Quantiles of differences: they agree with the probabilities and intervals of the tables."""

import numpy as np
import pytest
from scipy.special import ndtr

import probtruth as pt
from probtruth.line.analysis.curves import chance_below, curves_of

PROBABILITIES = np.array([0.025, 0.2, 0.5, 0.8, 0.975])
OFF = 5e-4
"""What 201 points and straight lines between them may be off by."""


@pytest.fixture(scope="module")
def grouped():
    """Three models in five groups of 12 skewed losses; the names are not in the order of the content."""
    random = np.random.default_rng(7)
    rows = {"item": [], "model": [], "score": [], "group": []}
    for place in range(60):
        for model, shift in (("b", 0.0), ("c", 0.1), ("a", 0.25)):
            rows["item"].append(place)
            rows["model"].append(model)
            rows["group"].append(f"g{place % 5}")
            rows["score"].append(random.gamma(2, 0.2) + shift * (1 + place % 5 / 4))
    return pt.compare(pt.Scores.from_frame(rows, group="group", higher_is_better=False), engine="exact")


def test_intervals_are_those_of_the_tables(grouped):
    pairs = {("a", "b"), ("b", "c")}
    rows = grouped.quantiles(PROBABILITIES, pairs)
    found = {(row["where"], row["group"], row["a"], row["b"]): row["values"] for row in rows}
    assert len(found) == 2 * (1 + 2 + 5)
    for row in grouped.pairs:
        if (row["a"], row["b"]) in pairs:
            assert found["", None, row["a"], row["b"]][[0, -1]] == pytest.approx([row["low"], row["high"]], rel=1e-9)
    for where, rows in grouped.group_results.items():
        for row in rows:
            if (row["a"], row["b"]) in pairs:
                ends = found[where, None, row["a"], row["b"]][[0, -1]]
                assert ends == pytest.approx([row["low"], row["high"]], rel=1e-6)
    for row in grouped.groups:
        if (row["a"], row["b"]) in pairs:
            ends = found["group", row["group"], row["a"], row["b"]][[0, -1]]
            assert ends == pytest.approx([row["low"], row["high"]], rel=1e-6)


def test_probabilities_read_off_the_curves_are_close_and_the_error_is_known(grouped):
    curves = curves_of(grouped)
    assert set(curves.models) == {"a", "b", "c"}
    assert len(curves.curves) == 3 * (1 + 2 + 5)
    assert 0 < curves.error < OFF
    for curve in curves.curves:
        assert np.all(np.diff(curve.values) >= 0)


def test_a_normal_difference_is_read_off_at_any_margin():
    """Against the normal distribution itself, of which the points are the quantiles."""
    z = np.linspace(-3.5, 3.5, 201)
    curve = type("Curve", (), {"values": 0.3 + 0.1 * z})
    for value in np.linspace(-0.2, 0.8, 57):
        exact = ndtr((value - 0.3) / 0.1)
        assert chance_below(curve, ndtr(z), float(value)) == pytest.approx(exact, abs=OFF)


def test_a_difference_without_spread_counts_half_at_its_value():
    rows = {"item": [1, 1, 2, 2], "model": ["a", "b"] * 2, "score": [0.1, 0.1, 0.4, 0.4]}
    curves = curves_of(pt.compare(pt.Scores.from_frame(rows, higher_is_better=False), engine="exact"))
    if curves is not None:
        assert chance_below(curves.curves[0], curves.probabilities, 0.0) == 0.5
