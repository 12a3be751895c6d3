"""Which figures a result gets, and the words that stand for them."""

import numpy as np
import xarray

from probtruth.report.plots.pictures import pictures
from probtruth.report.tables.models import rank_table


def test_figures_of_a_result_with_labels(drawn):
    made = drawn
    of_models = [f"{kind}-{number}" for number in range(1, 5) for kind in ("reliability", "source")]
    last = ["annotators", "item-differences", "loss-curve"]
    assert list(made) == ["behind-leader", "differences", "ranks", *of_models, *last]
    assert "nearest-neighbours leads with P(best) >0.999" in made["behind-leader"].description
    assert "shaded as equivalent" in made["differences"].description
    assert "on 899 items" in made["item-differences"].description
    assert "ada 0.9" in made["annotators"].description
    assert all(drawn.title and drawn.description for drawn in made.values())


def test_bare_scores_have_no_loss_curve(make):
    assert "loss-curve" not in pictures(make["bare"](2))


def test_a_metric_may_have_braces_in_its_name(make):
    """A template of the axis' title took them for places to fill, and the report was not written."""
    made = pictures(make["rewrite"](make["bare"](2), rule="cost {EUR}"))
    assert "mean cost {EUR}: how much higher than the leader's" in made["behind-leader"].inline


def test_many_models_are_cut_to_the_best_and_say_so(make):
    made = pictures(make["bare"](20))
    assert made["behind-leader"].note == "The 15 best of 20 models."
    assert made["differences"].note == "The 8 best of 20 models."
    assert made["ranks"].note == "The 15 best of 20 models."


def test_rank_table_follows_the_names(result):
    order, table = rank_table(result.comparison)
    rows = {row["model"]: row for row in result.comparison.ranks}
    assert [rows[name]["p_best"] for name in order] == table[:, 0].tolist()
    assert np.allclose(table.sum(1), 1, rtol=0, atol=1e-12)  # shares of draws: round-off only


def test_ranks_of_two_models_would_only_repeat_which_is_better(make):
    assert "ranks" not in pictures(make["bare"](2))
    assert "ranks" in pictures(make["bare"](3))


def test_without_a_ranking_there_is_no_rank_plot(make):
    bare = make["rewrite"](make["bare"](3), tree=xarray.DataTree)
    assert "ranks" not in pictures(bare)


def test_infinite_scores_are_drawn_and_said(make):
    inf = float("inf")
    result = make["bare"](3)
    pairs = [
        {**row, "difference": -inf, "low": -inf, "high": -inf} if "model-02" in (row["a"], row["b"]) else row
        for row in result.comparison.pairs
    ]
    made = pictures(make["rewrite"](result, pairs=pairs))
    assert "−∞ (−∞)" in made["differences"].description
    assert "∞" in made["behind-leader"].inline
