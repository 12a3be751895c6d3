"""Sums of parts, merged, are those of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import assert_same, without_annotators

import probtruth as pt
from probtruth.errors import InputError

N = 96
KINDS = ("plain", "groups", "clusters", "both", "ties", "rare", "rounding", "infinite", "large level")


def table(kind: str) -> tuple[dict[str, list], dict[str, object]]:
    """A table of scores of four models, and its groups and clusters by item."""
    rng = np.random.default_rng(KINDS.index(kind))
    values = rng.gamma(1.0, size=(4, N)) * np.array([[1.0], [2.0], [1.0], [30.0]])
    structure: dict[str, object] = {}
    if kind in ("groups", "both"):
        values += rng.normal(size=(4, 5))[:, np.arange(N) % 5]
        structure["groups"] = {str(item): f"g{item % 5}" for item in range(N)}
    if kind in ("clusters", "both"):
        values += rng.normal(size=(4, 30))[:, (np.arange(N) * 7) % 30]
        structure["clusters"] = {str(item): f"c{(item * 7) % 30}" for item in range(N)}
    if kind == "both":  # clusters lie inside groups: 30 is a multiple of 5, but 7 is not 1 modulo 5
        structure["clusters"] = {str(item): f"c{item % 30}" for item in range(N)}
    if kind == "ties":
        values = (values < 1).astype(float)
    if kind == "rare":
        values = np.zeros((4, N))
        values[0, :3], values[1, 50], values[2, :3] = 1.0, 1.0, 1.0
    if kind == "rounding":
        values[2] = -np.log(np.exp(-values[0]))
    if kind == "infinite":
        values[2, [5, 80]] = np.inf
    if kind == "large level":
        values += 1e6
    names = np.array([["a", "d", "b", "c"]]).T.repeat(N, 1)
    items = np.arange(N)[None].repeat(4, 0)
    columns = {"item": items.ravel().tolist(), "model": names.ravel().tolist(), "score": values.ravel().tolist()}
    return columns, structure


def part_of(columns: dict[str, list], chosen: np.ndarray) -> pt.Scores:
    keep = np.isin(columns["item"], chosen)
    rows = {name: np.array(values)[keep].tolist() for name, values in columns.items()}
    return pt.Scores.from_frame(rows, higher_is_better=False)


@settings(max_examples=6, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 100), n_parts=st.integers(1, 5))
def test_parts_merged_in_any_way_are_the_whole(kind, seed, n_parts):
    columns, structure = table(kind)
    rng = np.random.default_rng(seed)
    place = rng.integers(0, n_parts, N)
    parts = [pt.Moments.of(part_of(columns, np.flatnonzero(place == at)), **structure) for at in set(place.tolist())]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    whole = pt.Scores.from_frame(columns, higher_is_better=False)
    of_sums = pt.compare(merged, engine="exact")
    assert_same(pt.compare(pt.Moments.of(whole, **structure), engine="exact"), of_sums)
    # outcomes and tests of single items are not in the sums; all else is what the scores themselves say
    assert_same(pt.compare(whole, engine="exact", **structure), of_sums)
    assert any("computed from sums" in said for said in of_sums.warnings)
    assert all(row["wilcoxon_p"] is None for row in of_sums.model_free)


def test_a_part_of_one_item_a_group_keeps_its_groups():
    columns, structure = table("groups")
    whole = pt.Scores.from_frame(columns, higher_is_better=False)
    parts = [pt.Moments.of(part_of(columns, np.arange(start, N, N // 4)), **structure) for start in range(N // 4)]
    assert_same(pt.compare(whole, engine="exact", **structure), pt.compare(sum(parts[1:], parts[0]), engine="exact"))


def test_groups_of_merged_parts_come_in_the_order_of_the_whole():
    """Groups 0 to 11: sums put 10 before 2."""

    def scores(items):
        columns = {"item": [*items] * 2, "model": ["a"] * len(items) + ["b"] * len(items)}
        columns |= {"score": [item**0.5 for item in range(2 * len(items))], "group": [item % 12 for item in items] * 2}
        return pt.Scores.from_frame(columns, group="group", higher_is_better=True)

    merged = pt.Moments.of(scores(range(24, 48))) + pt.Moments.of(scores(range(24)))
    for one in (scores(range(48)), merged):
        assert pt.compare(one, engine="exact").by_group()["group"].to_list() == [str(group) for group in range(12)]


@pytest.mark.parametrize("size", [None, 5])
def test_annotators_that_items_share_merge_by_name(size):
    rng = np.random.default_rng(2)
    n_items, n_annotators, bias = 60, 12, rng.normal(0, 1.5, 12)
    rows = [(item, who) for item in range(n_items) for who in rng.choice(n_annotators, 5, replace=False)]
    quality = rng.normal(size=n_items)
    votes = {
        "item": [str(item) for item, _ in rows],
        "annotator": [f"who{who}" for _, who in rows],
        "label": [int(quality[item] + bias[who] + rng.normal() > 0) for item, who in rows],
    }
    p = {name: 1 / (1 + np.exp(-quality * size)) for name, size in (("b", 1.0), ("a", 0.5))}

    def made(items):
        keep = [at for at, item in enumerate(votes["item"]) if int(item) in items]
        annotations = pt.Annotations.from_long({name: [column[at] for at in keep] for name, column in votes.items()})
        order = [int(item) for item in annotations.index.items]
        probs = {name: np.stack([1 - one[order], one[order]], 1) for name, one in p.items()}
        predictions = pt.Predictions.from_probs(probs, items=annotations.index.items, labels=["0", "1"])
        truth = pt.infer_truth(annotations, "vote-share")
        return pt.score(predictions, truth, rule="brier"), annotations

    def clusters(scores):
        return size and {item: int(item) // size for item in scores.items}

    def summed(items):
        scores, annotations = made(items)
        return pt.Moments.of(scores, annotations=annotations, clusters=clusters(scores))

    scores, annotations = made(range(n_items))
    merged = pt.compare(summed(range(25, n_items)) + summed(range(25)))
    whole = pt.compare(scores, annotations=annotations, clusters=clusters(scores))
    if size:  # what an annotator has in common over a cluster cannot be put together again
        with pytest.raises(InputError, match="cluster '4' in two parts, with annotators"):
            summed(range(23)) + summed(range(23, n_items))
    unseen = ("unseen_rate", "unseen_difference", "unseen_p_a_better")
    assert_same(whole, merged, but=unseen)
    assert merged.settings["crossed"] == "annotator"
    assert merged.pairs[0]["high"] - merged.pairs[0]["low"] > 1.05 * np.ptp(
        [
            pt.compare(pt.Moments.of(without_annotators(scores), clusters=clusters(scores))).pairs[0][end]
            for end in ("low", "high")
        ]
    )


def test_what_cannot_be_merged_or_compared():
    columns, structure = table("groups")
    scores = pt.Scores.from_frame(columns, higher_is_better=False)
    one = pt.Moments.of(scores)
    turned = pt.Moments.of(pt.Scores.from_frame(columns, higher_is_better=True))
    with pytest.raises(InputError, match="higher_is_better"):
        one + turned
    with pytest.raises(InputError, match="sums with groups"):
        pt.compare(one, **structure)
    with pytest.raises(InputError, match="these-items"):
        pt.compare(one, population="these-items")
    moved = pt.Moments.of(scores, groups=["x", "y"] * 48, clusters=np.arange(N).tolist())
    with pytest.raises(InputError, match="different groups"):
        moved + pt.Moments.of(scores, groups=["y", "x"] * 48, clusters=np.arange(N).tolist())


def by_annotator(n_items, groups=False, seed=0):
    """Three models' scores by five annotators of unlike taste, three on an item, in long form."""
    rng = np.random.default_rng(seed)
    rows = []
    taste = rng.normal(size=(3, 5))
    for item in range(n_items):
        for annotator in rng.choice(5, 3, replace=False).tolist():
            for model in range(3):
                score = float(taste[model, annotator] + rng.normal())
                rows.append((f"i{item:02d}", f"g{item % 2}", f"u{annotator}", f"m{model}", score))
    names = ("item", "group", "annotator", "model", "score")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    if not groups:
        del columns["group"]
    return columns


@pytest.mark.parametrize("groups", [False, True])
def test_scores_by_annotator_have_their_part_in_sums(groups):
    """Left out without a word: an interval of -0.01 to 0.01 where two annotators disagree by 2."""
    columns = by_annotator(40, groups)
    role = {"group": "group"} if groups else {}

    def scores(low, high):
        rows = [row for row, item in enumerate(columns["item"]) if low <= item < high]
        part = {name: [values[row] for row in rows] for name, values in columns.items()}
        return pt.Scores.from_frame(part, annotator="annotator", higher_is_better=True, **role)

    whole = scores("i00", "i99")
    merged = pt.Moments.of(scores("i00", "i17")) + pt.Moments.of(scores("i17", "i99"))
    wanted = pt.compare(whole, engine="exact")
    assert wanted.uncertainty["annotators"] > 0.3
    for sums in (pt.Moments.of(whole), merged):
        found = pt.compare(sums, engine="exact")
        assert found.estimand == wanted.estimand
        for one, other in zip(found.pairs, wanted.pairs, strict=True):
            assert [one.difference, one.low, one.high] == pytest.approx([other.difference, other.low, other.high])


def test_sums_of_annotators_who_judged_some_models_alone_are_refused():
    columns = by_annotator(20)
    part = {name: list(values[1:]) for name, values in columns.items()}
    scores = pt.Scores.from_frame(part, annotator="annotator", higher_is_better=True)
    assert pt.compare(scores, engine="exact").uncertainty["annotators"] > 0
    with pytest.raises(InputError, match="sums of scores with annotators that some models lack"):
        pt.Moments.of(scores)


def test_sums_say_that_what_replicates_share_is_not_in_them():
    columns = by_annotator(20)
    columns["seed"] = columns.pop("annotator")
    scores = pt.Scores.from_frame(columns, replicate="seed", higher_is_better=True)
    warnings = pt.compare(pt.Moments.of(scores), engine="exact").warnings
    assert any("what replicates have in common over items is not in sums" in warning for warning in warnings)
