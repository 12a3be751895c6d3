"""Axes that are given are used, what is drawn was computed."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import probtruth as pt
from probtruth.errors import InputError
from probtruth.report.contents import contents
from probtruth.report.plots import axes as style
from probtruth.report.plots import comparison
from probtruth.types.pairs import Pair

FIGURES = (pt.figures.plot_forest, pt.figures.plot_ranks)
PAIR = {"a": "a", "b": "b", "difference": -0.2, "low": -0.3, "high": -0.1}


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def drawn(*rows, rope=None):
    ax = Figure().add_subplot()
    pairs = [Pair(**row) for row in rows]
    return comparison.intervals(ax, pairs, [("l", "r")] * len(rows), ("", ""), "nats", rope, (style.BLUE, style.RED))


@pytest.mark.parametrize("plot", FIGURES)
def test_axes_that_are_given_are_used(result, plot):
    ax = Figure().add_subplot()
    assert plot(result.comparison, ax=ax) is ax


@pytest.mark.parametrize("plot", FIGURES)
def test_a_whole_result_is_as_good_and_anything_else_is_an_error(result, plot):
    assert words(plot(result)) == words(plot(result.comparison))
    with pytest.raises(InputError, match="a Comparison"):
        plot([1, 2])


@pytest.mark.parametrize("plot", FIGURES)
def test_names_are_never_mathematics(odd, plot):
    ax = plot(odd.comparison)
    assert any("$y$" in text for text in words(ax))
    assert not any(text.get_parse_math() for text in ax.texts)


def test_each_interval_is_drawn_in_its_row_and_one_that_holds_0_is_hollow():
    ax = drawn(PAIR, {**PAIR, "difference": 0.05, "low": -0.1, "high": 0.2}, rope=0.01)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] != 0]
    assert [tuple(line.get_xdata()) for line in lines] == [(-0.3, -0.1), (-0.1, 0.2)]
    assert [line.get_ydata()[0] for line in lines] == [0, 1]
    assert [line.get_color() for line in lines] == [style.BLUE, style.INK]
    assert [line.get_fillstyle() for line in ax.lines if line.get_marker() == "o"] == ["full", "none"]
    assert ax.get_xlabel() == "nats"
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(("difference", "text"), [(float("inf"), "∞"), (-float("inf"), "−∞"), (None, "not known")])
def test_what_cannot_be_placed_is_written(difference, text):
    assert text in words(drawn({**PAIR, "difference": difference, "low": None, "high": None}))


def test_many_models_keep_to_the_best(make):
    many = make["bare"](25).comparison
    assert len(words(pt.figures.plot_forest(many))) <= 2 * comparison.MOST_PAIRS + 2
    assert len([text for text in words(pt.figures.plot_ranks(many)) if text.startswith("model-")]) == 20


def test_rank_bars_have_the_height_of_their_probability(make):
    table = np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
    ax = pt.figures.plot_ranks(with_ranks(make, table.tolist()))
    heights = np.array([-bar.get_height() for bar in ax.patches])
    assert sorted(heights / max(heights)) == pytest.approx(sorted(table[table > 0] / 0.75))
    assert words(ax).count("0.25") == 4


def with_ranks(make, chances):
    bare = make["bare"](len(chances))
    rows = [{"model": row["model"], "probability": p} for row, p in zip(bare.comparison.ranks, chances, strict=True)]
    return make["rewrite"](bare, decisions={"rank_probability": rows}).comparison


def test_of_many_ranks_those_that_no_drawn_model_may_have_are_left_out(make):
    chance = np.zeros((30, 30))
    chance[:20, 0] = chance[20:, 11] = 1.0
    assert pt.figures.plot_ranks(with_ranks(make, chance.tolist())).get_xlim()[1] <= 12.5


@pytest.fixture(scope="module")
def grouped():
    """Accuracies of three models in two groups: the first is right everywhere, the second on the group u only."""
    rows = {"item": [], "model": [], "score": [], "group": []}
    for place in range(40):
        group = "u" if place < 20 else "v"
        for model, right in (("a", 1.0), ("b", float(group == "u" or place % 3 == 0)), ("c", float(place % 2))):
            for key, value in (("item", place), ("model", model), ("score", right), ("group", group)):
                rows[key].append(value)
    return pt.compare(pt.Scores.from_frame(rows, group="group", higher_is_better=True), engine="exact")


def test_each_group_has_its_interval_and_probability(grouped):
    ax = pt.figures.plot_groups(grouped)
    assert ax.get_xlabel() == "a − b, mean score"
    rows = [row for row in grouped.groups if (row["a"], row["b"]) == ("a", "b")]
    centres = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert centres == [pytest.approx(row["difference"]) for row in rows]  # accuracies: a minus b is positive
    assert {"u", "v", "P(first)"} <= set(words(ax))
    by_group = next(made for made in contents(pt.Result.of(grouped)).figures if made.name == "by-group")
    assert by_group.caption.startswith("The two leading models in every group")


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (lambda result: pt.figures.plot_groups(result.comparison), "without groups"),
        (lambda result: pt.figures.plot_ranks(replace(result.comparison, decisions={})), "without ranks"),
    ],
)
def test_errors(result, plot, message):
    with pytest.raises(InputError, match=message):
        plot(result)


def test_figures_of_a_report(content, make):
    made = {figure.name: figure for figure in content.figures}
    of_models = [f"{kind}-{number}" for kind in ("reliability", "source") for number in range(1, 5)]
    assert list(made) == ["behind-leader", "ranks", "differences", *of_models]
    assert all(figure.caption for figure in made.values())
    many = {figure.name: figure.caption for figure in contents(make["bare"](22)).figures}
    for name, most in (("behind-leader", 15), ("differences", 8), ("ranks", 20)):
        assert many[name].endswith(f"The {most} best of 22 models.")
    assert {"ranks", "differences"}.isdisjoint(figure.name for figure in contents(make["bare"](2)).figures)
    unranked = contents(make["rewrite"](make["bare"](3), decisions={})).figures
    assert "ranks" not in [figure.name for figure in unranked]


def test_a_metric_may_have_braces_in_its_name(make):
    """A template of the axis' title took them for places to fill, and the report was not written."""
    made = contents(make["rewrite"](make["bare"](2), rule="cost {EUR}"))
    assert "model-00 − model, mean cost {EUR}" in made.figure.svg


def test_axes_are_shown_by_a_notebook_and_own_ones_are_not():
    ax = pt.figures.plot_rules("log")
    assert ax._repr_png_().startswith(b"\x89PNG")
    own = Figure().add_subplot()
    pt.figures.plot_rules("log", ax=own)
    assert not hasattr(own, "_repr_png_")
