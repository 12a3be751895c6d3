"""Ranks with their uncertainty, the set that holds the best, the other estimand."""

import numpy as np
import pytest
import xarray

from probtruth.report.tables.models import best_set, other_estimand, ranks


def said(sentence) -> str:
    return "".join(sentence)


@pytest.mark.parametrize(
    ("chances", "expected"),
    [
        ([0.0, 1.0, 0.0], "2"),
        ([0.02, 0.96, 0.02], "2"),
        ([0.03, 0.94, 0.03], "1 to 3"),
        ([0.5, 0.5, 0.0], "1 to 2"),
        ([0.025, 0.95, 0.025], "2"),
    ],
)
def test_interval_of_ranks_by_hand(make, chances, expected):
    result = make["bare"](3)
    models = [row["model"] for row in result.comparison.ranks]
    ranking = xarray.Dataset({"rank_probability": (("model", "rank"), np.array([chances] * 3))}, {"model": models})
    table = ranks(make["rewrite"](result, tree=lambda: xarray.DataTree(children={"ranking": xarray.DataTree(ranking)})))
    assert [said(row[2].text) for row in table.rows] == [expected] * 3


def test_ranks_are_in_the_order_of_p_best(result):
    table = ranks(result)
    assert table is not None
    chances = [row[1].sort for row in table.rows]
    assert chances == sorted(chances, reverse=True)
    assert said(table.rows[0][2].text) == "1"


def test_no_ranks_without_a_joint_posterior(result, make):
    assert ranks(make["rewrite"](result, tree=xarray.DataTree)) is None


def with_chances(make, chances):
    result = make["bare"](len(chances))
    rows = [{**row, "p_best": p} for row, p in zip(result.comparison.ranks, chances, strict=True)]
    return make["rewrite"](result, ranks=rows)


def test_the_smallest_set_that_holds_the_best(make):
    assert said(best_set(with_chances(make, [0.7, 0.26, 0.04]))).endswith("one of model-00 and model-01.")
    assert said(best_set(with_chances(make, [0.96, 0.03, 0.01]))).endswith("the best is model-00.")
    assert said(best_set(with_chances(make, [0.1] * 10))) == (
        "It takes 10 of the 10 models to hold the best with probability 0.95."
    )
    assert best_set(with_chances(make, [0.6, 0.4])) is None
    assert best_set(with_chances(make, [None, 0.4, 0.3])) is None


def test_the_other_estimand_is_named_with_its_method(result, make):
    table = other_estimand(result)
    assert table is not None
    assert [said(column.title) for column in table.columns][1::2] == ["Mean, distribution", "Mean, class"]
    assert "Class (other)" in said(table.note)
    assert other_estimand(make["relabel"](result, other=None)) is None
