"""Quantiles of differences: they agree with the probabilities and intervals of the tables."""

import numpy as np
import pytest

import probtruth as pt

PROBABILITIES = np.array([0.025, 0.2, 0.5, 0.8, 0.975])


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
