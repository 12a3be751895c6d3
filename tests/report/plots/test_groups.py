"""Figures by group: what is drawn, from the artists of the axes."""

import pytest

import probtruth as pt
from probtruth.errors import InputError


@pytest.fixture(scope="module")
def comparison():
    """Accuracies of three models in two groups: the first is right everywhere, the second on the group u only."""
    rows = {"item": [], "model": [], "score": [], "group": []}
    for place in range(40):
        group = "u" if place < 20 else "v"
        for model, right in (("a", 1.0), ("b", float(group == "u" or place % 3 == 0)), ("c", float(place % 2))):
            for key, value in (("item", place), ("model", model), ("score", right), ("group", group)):
                rows[key].append(value)
    return pt.compare(pt.Scores.from_frame(rows, group="group", higher_is_better=True), engine="exact")


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_each_group_has_its_interval_and_probability(comparison):
    ax = pt.figures.plot_groups(comparison)
    assert ax.get_xlabel().startswith("a − b: ")
    rows = [row for row in comparison.groups if (row["a"], row["b"]) == ("a", "b")]
    centres = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert centres == [pytest.approx(-row["difference"]) for row in rows]  # accuracies: a minus b is positive
    assert words(ax)[:3:2] == ["u", "v"]
    assert "P(first)" in words(ax)


def test_the_matrix_sets_every_model_against_the_leading_one(comparison):
    ax = pt.figures.plot_group_matrix(comparison)
    assert words(ax)[:2] == ["b", "c"]
    gap = next(
        row["difference"] for row in comparison.groups if (row["group"], row["b"]) == ("v", "c") and row["a"] == "a"
    )
    assert f"−{abs(gap):.2f}" in words(ax) or f"−{abs(gap):.1f}" in words(ax)


@pytest.mark.parametrize("draw", [pt.figures.plot_groups, pt.figures.plot_group_matrix])
def test_without_groups_it_says_so(draw, result):
    with pytest.raises(InputError, match="without groups"):
        draw(result.comparison)
