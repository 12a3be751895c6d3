"""Which figures a result gets, and the words that stand for them."""

import pytest
from probtruth.report.plots.pictures import pictures

import probtruth as pt


def test_figures_of_a_result_with_labels(drawn):
    of_models = [f"{kind}-{number}" for number in range(1, 5) for kind in ("reliability", "source")]
    assert list(drawn) == ["behind-leader", "differences", "ranks", *of_models, "annotators", "item-differences"]
    assert "nearest-neighbours >0.999" in drawn["behind-leader"].description
    assert all(made.title and made.description for made in drawn.values())


def test_a_metric_may_have_braces_in_its_name(make):
    """A template of the axis' title took them for places to fill, and the report was not written."""
    made = pictures(make["rewrite"](make["bare"](2), rule="cost {EUR}"))
    assert "mean cost {EUR}: how much higher than the leader's" in made["behind-leader"].inline


def test_many_models_are_cut_to_the_best_and_say_so(make):
    made = pictures(make["bare"](22))
    assert made["behind-leader"].note == "The 15 best of 22 models."
    assert made["differences"].note == "The 8 best of 22 models."
    assert made["ranks"].note == "The 20 best of 22 models."


def test_two_models_need_one_figure_of_differences(make):
    assert {"ranks", "differences"}.isdisjoint(pictures(make["bare"](2)))
    assert {"ranks", "differences"} <= set(pictures(make["bare"](3)))


def test_without_a_ranking_there_is_no_rank_plot(make):
    assert "ranks" not in pictures(make["rewrite"](make["bare"](3), decisions={}))


def test_infinite_scores_are_drawn(make):
    inf = float("inf")
    result = make["bare"](3)
    pairs = [
        {**row, "difference": -inf, "low": -inf, "high": -inf} if "model-02" in (row["a"], row["b"]) else row
        for row in result.comparison.pairs
    ]
    made = pictures(make["rewrite"](result, pairs=pairs))
    assert "−∞" in made["differences"].inline
    assert "∞" in made["behind-leader"].inline


@pytest.mark.parametrize("higher", [True, False])
def test_groups_have_a_figure(higher):
    rows = {"item": [*range(8)] * 2, "model": ["a"] * 8 + ["b"] * 8, "score": [*range(8), 2, 4, 3, 5, 7, 6, 9, 8]}
    scores = pt.Scores.from_frame(rows | {"g": [*"uuuuvvvv"] * 2}, group="g", higher_is_better=higher)
    made = pictures(pt.Result.of(pt.compare(scores, engine="exact")))
    assert made["by-group"].title == f"{'b minus a' if higher else 'a minus b'} in every group"
