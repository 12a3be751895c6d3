"""A comparison from sums that were merged is the comparison of the scores themselves."""

import json
from functools import reduce

import numpy as np
import pytest

import probtruth as pt
from probtruth import InputError
from probtruth.streaming import ComparisonState, comparison_state

ROUND_OFF = 1e-12
COLUMNS = ("difference", "low", "high", "p_a_better", "p_equivalent")


def scores(n=300, groups=None, seed=0, models="abc", shift=0.0):
    rng = np.random.default_rng(seed)
    base = rng.gamma(2.0, size=n)
    table = {
        "item": [f"i{k}" for k in range(n)] * len(models),
        "model": np.repeat(list(models), n),
        "loss": np.concatenate([shift + base + 0.05 * k + rng.normal(0, 0.3, n) for k in range(len(models))]),
    }
    if groups is not None:
        table["group"] = np.tile(groups, len(models))
    return pt.Scores.from_frame(table, score="loss", group=None if groups is None else "group", higher_is_better=False)


def batches(whole, cuts):
    """Batches of some of the items of scores."""
    for items in cuts:
        rows = {
            "item": np.tile(np.array(whole.items)[items], len(whole.models)),
            "model": np.repeat(whole.models, len(items)),
            "loss": whole.values[:, items].ravel(),
        }
        if whole.groups is not None:
            rows["group"] = np.tile(np.array(whole.groups.names)[whole.groups.codes[items]], len(whole.models))
        own = None if whole.groups is None else "group"
        yield pt.Scores.from_frame(rows, score="loss", group=own, higher_is_better=False)


def merged(whole, cuts):
    return reduce(ComparisonState.merge, map(comparison_state, batches(whole, cuts)))


def close(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert (one["a"], one["b"]) == (other["a"], other["b"])
        for column in COLUMNS:
            expected = other[column]
            same = one[column] is None if expected is None else one[column] == pytest.approx(expected, ROUND_OFF, 1e-14)
            assert same, (column, one[column], expected)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_comparison_is_that_of_the_scores(shift):
    whole = scores(shift=shift)
    cuts = np.array_split(np.random.default_rng(1).permutation(300), 7)
    ours, theirs = merged(whole, cuts).finalize(rope=0.02), pt.compare(whole, rope=0.02, engine="exact")
    close(ours.pairs, theirs.pairs)
    for one, other in zip(ours.ranks, theirs.ranks, strict=True):
        assert one["model"] == other["model"]
        assert one["p_best"] == pytest.approx(other["p_best"], abs=1e-9)
        assert one["score"] == pytest.approx(other["score"], rel=ROUND_OFF)


def test_groups_have_their_own_answers():
    names = np.random.default_rng(2).choice(["x", "y", "z"], 300, p=[0.6, 0.3, 0.1])
    whole = scores(groups=names)
    by_group = [np.nonzero(names == name)[0] for name in "zyx"]  # no batch has all groups
    ours, theirs = merged(whole, by_group).finalize(), pt.compare(whole, engine="exact")
    close(ours.pairs, theirs.pairs)
    for one, other in zip(ours.groups, theirs.groups, strict=True):
        assert one["group"] == other["group"]
        assert one["difference"] == pytest.approx(other["difference"], rel=1e-9)
    close(
        merged(whole, by_group).finalize(weights={"x": 0.2, "y": 0.3, "z": 0.5}).pairs,
        pt.compare(whole, engine="exact", weights={"x": 0.2, "y": 0.3, "z": 0.5}).pairs,
    )


def test_groups_of_one_item_each_are_answered_without_groups():
    whole = scores(5, groups=list("vwxyz"))
    ours, theirs = merged(whole, [np.array([3, 1]), np.array([0, 2, 4])]).finalize(), pt.compare(whole, engine="exact")
    close(ours.pairs, theirs.pairs)
    assert "all 5 groups hold one item each: answered without groups" in ours.warnings
    assert ours.settings["groups"] is theirs.settings["groups"] is None


def test_order_and_cuts_change_no_bit():
    whole = scores(models="ab", shift=1e3)
    some = merged(whole, np.array_split(np.arange(300), 3)).to_bytes()
    assert merged(whole, np.array_split(np.random.default_rng(3).permutation(300), 60)).to_bytes() == some
    assert merged(whole, [np.arange(300)]).to_bytes() == some


def test_rare_differences_get_their_pseudo_item():
    table = {"item": list(range(60)) * 2, "model": ["a"] * 60 + ["b"] * 60, "accuracy": [1.0] * 118 + [0.0] * 2}
    whole = pt.Scores.from_frame(table, score="accuracy", higher_is_better=True)
    close(comparison_state(whole).finalize().pairs, pt.compare(whole, engine="exact").pairs)


def test_models_that_are_right_equally_often():
    rng = np.random.default_rng(2)
    right = np.stack([rng.permutation([1.0] * 30 + [0.0] * 30) for _ in range(3)])
    table = {"item": list(range(60)) * 3, "model": np.repeat(list("abc"), 60), "loss": right.ravel()}
    whole = pt.Scores.from_frame(table, score="loss", higher_is_better=False)
    close(comparison_state(whole).finalize().pairs, pt.compare(whole, engine="exact").pairs)


@pytest.mark.parametrize("lowest", [0.0, -1.0])
def test_batches_of_ties_know_how_far_apart_scores_can_be(lowest):
    values = np.tile([1.0] * 30 + [lowest] * 30, 2)
    table = {"item": list(range(60)) * 2, "model": ["a"] * 60 + ["b"] * 60, "loss": values}
    whole = pt.Scores.from_frame(table, score="loss", higher_is_better=False)
    state = merged(whole, [np.arange(30), np.arange(30, 60)])  # of one value each
    close(ComparisonState.from_bytes(state.to_bytes()).finalize().pairs, pt.compare(whole, engine="exact").pairs)


def test_infinite_scores_stay_infinite():
    whole = scores(models="ab")
    table = {"item": ["x", "y"] * 2, "model": ["a", "a", "b", "b"], "loss": [np.inf, 0.1, 0.2, 0.3]}
    state = comparison_state(whole).merge(
        comparison_state(pt.Scores.from_frame(table, score="loss", higher_is_better=False))
    )
    result = ComparisonState.from_bytes(state.to_bytes()).finalize()
    assert {row["model"]: row["score"] for row in result.ranks}["a"] == np.inf
    assert any("infinite score on 1 of 302 items" in warning and "x" in warning for warning in result.warnings)


def test_bytes_are_read_back():
    state = merged(scores(groups=["x", "y"] * 150), np.array_split(np.arange(300), 4))
    again = ComparisonState.from_bytes(state.to_bytes())
    assert again.to_bytes() == state.to_bytes()
    assert repr(again) == "ComparisonState: 'loss', 3 models on 300 items, 2 groups"
    assert again.finalize().pairs == state.finalize().pairs


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"is": "probtruth comparison state 1"}', b"\xff"])
def test_other_bytes_are_an_error(data):
    with pytest.raises(InputError, match="no comparison state"):
        ComparisonState.from_bytes(data)


def test_damaged_sums_are_an_error():
    known = json.loads(comparison_state(scores()).to_bytes())
    known["sums"] = known["sums"][1:]
    with pytest.raises(InputError, match="no comparison state"):
        ComparisonState.from_bytes(json.dumps(known).encode())


def test_states_that_do_not_belong_together():
    one = comparison_state(scores(models="ab"))
    for other, message in (
        (scores(models="ac"), "states with models"),
        (scores(models="ab", groups=["x", "y"] * 150), "with groups and one without"),
    ):
        with pytest.raises(InputError, match=message):
            one.merge(comparison_state(other))


def test_what_sums_cannot_tell_is_refused():
    rows = {"item": [1, 2, 1, 2], "model": ["a", "a", "b", "b"], "loss": [0.1, 0.2, 0.3, 0.4], "c": ["p", "q"] * 2}
    with pytest.raises(InputError, match="clusters"):
        comparison_state(pt.Scores.from_frame(rows, score="loss", cluster="c", higher_is_better=False))
    state = comparison_state(scores(models="a"))
    with pytest.raises(InputError, match="at least two models"):
        state.finalize()
    with pytest.raises(InputError, match="weights without groups"):
        comparison_state(scores()).finalize(weights={"x": 1.0})
