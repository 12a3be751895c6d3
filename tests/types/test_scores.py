"""Scores from any table: averaged within the item, aligned over models, lower is better."""

import re

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.errors import InputError
from probtruth.types import Scores
from probtruth.types.scores import MOST_CELLS, MOST_ITEMS, sampled_items

FRAME = {
    "item": ["x", "x", "y", "y", "z"],
    "model": ["b", "a", "a", "b", "a"],
    "score": [1.0, 2.0, 3.0, 4.0, 5.0],
    "group": ["g2", "g2", "g1", "g1", "g0"],
}


def test_items_that_some_model_lacks_stay_and_are_counted() -> None:
    scores = Scores.from_frame(FRAME, higher_is_better=False)
    assert (scores.models, scores.items) == (("b", "a"), ("x", "y", "z"))
    np.testing.assert_array_equal(scores.values, [[1, 4, np.nan], [2, 3, 5]])
    assert (scores.audit.missing, scores.audit.by_model) == ((), (("b", 1, 0), ("a", 0, 0)))
    common = scores.common()
    assert common.items == ("x", "y")
    assert common.values.tolist() == [[1, 4], [2, 3]]
    assert (scores.rule, scores.higher_is_better, scores.n_replicates) == ("score", False, 1)


def test_scores_stay_as_given_and_losses_are_their_negatives() -> None:
    scores = Scores.from_frame(FRAME, higher_is_better=True).common()
    assert scores.values.tolist() == [[1, 4], [2, 3]]
    assert scores.losses.tolist() == [[-1, -4], [-2, -3]]
    assert scores.higher_is_better


def test_differences_have_the_units_and_the_sign_of_the_scores() -> None:
    scores = Scores.from_frame(FRAME, group="group", higher_is_better=True)
    table = scores.differences("a", "b")
    assert table.rows(named=True) == [
        {"item": "x", "difference": 1.0, "group": "g2"},
        {"item": "y", "difference": -1.0, "group": "g1"},
    ]
    assert scores.differences("b", "a")["difference"].to_list() == [-1.0, 1.0]
    with pytest.raises(InputError, match="got model 'c'"):
        scores.differences("a", "c")


def test_replicates_are_averaged_within_the_item() -> None:
    table = {"item": [1, 1, 1, 2], "model": ["m"] * 4, "score": [1, 2, 6, 4], "seed": [0, 1, 2, 0]}
    scores = Scores.from_frame(table, replicate="seed", higher_is_better=False)
    assert (scores.values.tolist(), scores.n_replicates) == ([[3, 4]], 3)


def test_a_part_has_the_replicates_of_its_models_and_items() -> None:
    rows = [(item, model, seed) for item in "abcd" for model in "xyz" for seed in (1, 2) if (item, seed) != ("b", 2)]
    table = dict(zip(("item", "model", "seed"), map(list, zip(*rows, strict=True)), strict=True))
    table["score"] = np.random.default_rng(0).normal(size=len(rows)).tolist()
    scores = Scores.from_frame(table, replicate="seed", higher_is_better=True)
    part = scores.part(np.array([2, 0]), np.array([1, 3]))
    kept = [row for row, (item, model, _) in enumerate(rows) if item in "bd" and model in "xz"]
    alone = Scores.from_frame(
        {name: [column[row] for row in kept] for name, column in table.items()}, replicate="seed", higher_is_better=True
    )
    assert part.models == ("z", "x")
    np.testing.assert_array_equal(part.values[::-1], alone.values)
    np.testing.assert_array_equal(part.replicates.values[::-1], alone.replicates.values)
    np.testing.assert_array_equal(part.replicates.item, alone.replicates.item)
    np.testing.assert_array_equal(part.replicates.replicate, alone.replicates.replicate)


def test_groups_of_items_that_were_dropped_are_not_groups() -> None:
    scores = Scores.from_frame(FRAME, group="group", cluster="item", higher_is_better=False).common()
    assert (scores.groups.codes.tolist(), scores.groups.names) == ([1, 0], ("g1", "g2"))
    assert (scores.clusters.codes.tolist(), scores.clusters.names) == ([0, 1], ("x", "y"))


def test_infinite_losses_stay_and_are_counted() -> None:
    table = {"item": [1, 2], "model": ["m", "m"], "score": [np.inf, 0.5]}
    scores = Scores.from_frame(table, higher_is_better=False)
    assert scores.values.tolist() == [[np.inf, 0.5]]
    assert scores.n_infinite.tolist() == [1]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(order=st.permutations(range(12)), seed=st.integers(0, 9))
def test_the_order_of_rows_changes_nothing_but_the_order_of_models(order: list[int], seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=12)
    frame = polars.DataFrame({"item": [str(i % 6) for i in range(12)], "model": list("mmmmmmnnnnnn"), "score": values})
    one, other = (Scores.from_frame(rows, higher_is_better=False) for rows in (frame, frame[order]))
    assert one.items == other.items
    assert (one.values == other.values[[other.models.index(model) for model in one.models]]).all()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({name: [] for name in FRAME}, {}, "the table: got no rows"),
        (FRAME, {"score": "loss"}, "no column 'loss'"),
        (FRAME, {"group": "topic"}, "a column of groups"),
        ({**FRAME, "score": ["1", "2", "c", "4", "5"]}, {}, "row 3, column 'score': got 'c', expected a number"),
        ({**FRAME, "item": ["x", "y", "y", "x", "z"]}, {}, "row 3: got item 'y', model 'a' twice (2 such rows)"),
        (
            {**FRAME, "group": ["g", "h", "g", "g", "g"]},
            {"group": "group"},
            "row 2, column 'group': got item 'x' in two",
        ),
        (
            {"item": [1, 1], "model": ["m", "m"], "score": [np.inf, -np.inf], "k": [0, 1]},
            {"replicate": "k"},
            "the table, item '1': got replicates of inf and of -inf",
        ),
    ],
)
def test_errors(table: dict[str, list[object]], options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Scores.from_frame(table, **options, higher_is_better=False)


def test_items_that_stand_for_all_are_drawn_by_the_seed():
    few = sampled_items(50, 3, seed=0)
    assert few.tolist() == list(range(50))
    drawn = [sampled_items(20_000, 3, seed=seed) for seed in (0, 0, 1)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    for items in drawn:
        assert len(np.unique(items)) == MOST_ITEMS
        assert (np.diff(items) > 0).all()
    assert len(sampled_items(20_000, 1000, seed=0)) == MOST_CELLS // 1000
