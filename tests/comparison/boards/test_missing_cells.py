"""Cells taken out of a full board one by one: no end of an interval jumps, whatever is known beside the scores."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest

import probtruth as pt
from probtruth.types import Comparison

MISSING = (0, 1, 2, 5, 20)
# An item moves a mean by 1/n of how far it is off. Scores of sd s and an interval some 4 s/sqrt(n) wide: k items at
# random move an end by sqrt(k/n)/4 of the width; three times as much, and what it is to lack them in all models.
MOVES = 0.75
SAME = 1e-9  # Rounding
STRUCTURES = ("plain", "groups", "clusters")


Ends = dict[object, tuple[float, float]]


def ends(comparison: Comparison) -> Ends:
    of_pairs = {row.models: (row.low, row.high) for row in comparison.pairs}
    return of_pairs | {row.model: (row.low, row.high) for row in comparison.ranks}


def moved(one: Ends, other: Ends, of: object) -> float:
    """How far an end is from where it was, in widths."""
    low, high = one[of]
    return float(np.abs(np.subtract(other[of], (low, high))).max() / (high - low))


def walk(n_items: int, compared: Callable[[set[int], bool], Comparison]) -> None:
    """Ends when one model lacks more and more items, beside ends when all models do."""
    order = np.random.default_rng(5).permutation(n_items).tolist()
    full = ends(compared(set(), False))
    for n_missing in MISSING[1:]:
        missing = set(order[:n_missing])
        less = ends(compared(missing, False))
        fewer = ends(compared(missing, True))
        most = MOVES * np.sqrt(n_missing / n_items)
        for of in full:
            end = moved(full, less, of)
            assert end < moved(full, fewer, of) + most, (n_missing, of)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("kind", ["scores", "annotator", "replicate", "crossed"])
@pytest.mark.parametrize("n_items", [60, pytest.param(300, marks=pytest.mark.long)])
def test_cells_of_scores(n_items: int, kind: str, structure: str) -> None:
    """Three biased units of each item: with one item fewer, the units of two models were not paired any more."""
    rng = np.random.default_rng([n_items, 3])
    item, person = (axis.ravel() for axis in np.indices((n_items, 3)))
    bias = 0.3 * rng.standard_normal((3, 3))
    off = rng.standard_normal((3, n_items))
    tables = []
    for model in range(3):
        score = 0.2 * model + off[model, item] + bias[model, person] + rng.standard_normal(len(item))
        columns = {"item": item, "unit": person, "model": [f"m{model}"] * len(item), "score": score}
        tables.append(polars.DataFrame(columns))
    table = polars.concat(tables).with_columns(group=polars.col("item") % 3, cluster=polars.col("item") // 5)
    if kind == "scores":
        table = table.filter(polars.col("item").is_first_distinct().over("model"))
    named = {"annotator": {"annotator": "unit"}, "scores": {}}.get(kind, {"replicate": "unit"})
    if structure != "plain":
        named = {**named, structure[:-1]: structure[:-1]}

    def compared(missing: set[int], in_all: bool) -> Comparison:
        hole = polars.col("item").is_in(missing) & (in_all | (polars.col("model") == "m1"))
        scores = pt.read_scores(table.filter(~hole), higher_is_better=False, **named)
        return pt.compare(scores, engine="exact", replicates="crossed" if kind == "crossed" else None)

    walk(n_items, compared)


@pytest.mark.long
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("estimand", ["distribution", "class"])
@pytest.mark.parametrize("n_items", [60, 300])
def test_predictions_that_lack_items(n_items: int, estimand: str, structure: str) -> None:
    """Twelve biased annotators, three an item; of the class, its fit by annotators is part of the answer."""
    rng = np.random.default_rng(n_items)
    names = [f"i{item:03d}" for item in range(n_items)]
    base = rng.dirichlet(np.full(3, 2.0), n_items)
    bias = np.exp(0.3 * rng.standard_normal((12, 3)))
    rows = []
    for item, name in enumerate(names):
        for person in rng.choice(12, 3, replace=False).tolist():
            share = base[item] * bias[person]
            rows.append((name, f"p{person}", f"c{rng.choice(3, p=share / share.sum())}"))
    annotations = polars.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")
    frames: dict[str, polars.DataFrame] = {}
    for model in ("m0", "m1", "m2"):
        probs = base * np.exp(0.4 * rng.standard_normal(base.shape))
        columns = {f"c{label}": column for label, column in enumerate((probs / probs.sum(1, keepdims=True)).T)}
        frames[model] = polars.DataFrame({"item": names, **columns})
    how: dict[str, Mapping[str, str]] = {
        "groups": {name: f"g{item % 3}" for item, name in enumerate(names)},
        "clusters": {name: f"c{item // 5}" for item, name in enumerate(names)},
    }
    chosen = {structure: how[structure]} if structure in how else {}

    def compared(missing: set[int], in_all: bool) -> Comparison:
        there = ~polars.col("item").is_in([names[item] for item in missing])
        predictions = {name: frame.filter(there) if in_all or name == "m1" else frame for name, frame in frames.items()}
        result = pt.evaluate(annotations, predictions, estimand=estimand, rule="brier", engine="exact", **chosen)
        return result.comparison

    walk(n_items, compared)
    in_order = ends(compared({0, 1, 2}, False))
    frames = dict(reversed(frames.items()))
    reverse = ends(compared({0, 1, 2}, False))
    for of in in_order:
        assert reverse[of] == pytest.approx(in_order[of], rel=SAME, abs=SAME)


def test_models_that_are_equal_in_expectation_only() -> None:
    """Under zero-one half of the votes are against either label, and who votes how differs: the order tells nothing."""
    items = [f"i{item:02d}" for item in range(12)]
    rows = [(name, person, "yes" if at < 5 or place else "no") for at, name in enumerate(items)
            for place, person in enumerate(["p", "q"])]  # fmt: skip
    annotations = polars.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")
    frames = {}
    for model, says in (("a", "yyynyyyyyyyy"), ("b", "nyyyyynnynyy"), ("c", "yyynynnynyny")):
        yes = [0.8 if letter == "y" else 0.3 for letter in says]
        frames[model] = polars.DataFrame({"item": items, "no": [1 - p for p in yes], "yes": yes})
    frames["b"] = frames["b"].filter(~polars.col("item").is_in(items[4:7]))
    answers = [
        pt.evaluate(annotations, models, rule="zero-one", engine="exact").comparison
        for models in (frames, dict(reversed(frames.items())))
    ]
    first, second = ([(row.models, row.high) for row in one.pairs] for one in answers)
    assert dict(first) == pytest.approx(dict(second), rel=SAME)


@pytest.mark.parametrize("weights", [None, "equal"])
def test_a_group_of_one_cluster(weights: Any) -> None:
    """It has the variance of the others: with one cell missing in these, every interval ended at infinity."""
    rng = np.random.default_rng(3)
    item = np.tile(np.arange(40), 3)
    group = np.where(item < 3, "a", np.where(item < 20, "b", "c"))
    cluster = np.where(item < 3, 0, item // 3)
    score = rng.standard_normal(120) + np.repeat([0.0, 0.3, 0.6], 40)
    table = pd.DataFrame({"item": item, "model": np.repeat(["m0", "m1", "m2"], 40), "score": score})
    table = table.assign(group=group, cluster=[*map("{}{}".format, group, cluster)])
    found = []
    for missing in ([], [30]):
        scores = pt.read_scores(table.drop(missing), group="group", cluster="cluster", higher_is_better=False)
        found.append(pt.compare(scores, engine="exact", weights=weights))
    full, holed = map(ends, found)
    for of in full:
        assert moved(full, holed, of) < 0.1
    assert not any("nothing tells" in warning for warning in found[1].warnings)


@pytest.mark.parametrize("weights", [None, "equal"])
def test_a_group_in_which_two_models_share_ever_fewer_items(weights: Any) -> None:
    """With one item in the group it has the spread of the others; the whole was not known although 60 items were."""
    rng = np.random.default_rng(4)
    item = np.tile(np.arange(65), 3)
    score = rng.standard_normal(195) + np.repeat([0.0, 0.3, 0.6], 65)
    table = pd.DataFrame({"item": item, "model": np.repeat(["m0", "m1", "m2"], 65), "score": score})
    table = table.assign(group=np.where(item < 5, "a", "b"))
    widths = []
    for missing in range(5):
        holed = table[(table["model"] != "m1") | (table["item"] >= missing)]
        scores = pt.read_scores(holed, group="group", higher_is_better=False)
        found = ends(pt.compare(scores, engine="exact", weights=weights))
        widths.append([high - low for low, high in found.values()])
    steps = np.abs(np.diff(np.log(widths), axis=0))
    assert steps.max() < (0.2 if weights is None else 1.0)  # of two items a t has one degree of freedom


def test_what_is_not_known_of_a_pair_is_not_known_of_these_annotators_and_new_ones():
    """Their intervals went from minus infinity to minus infinity, and P(a better) was NaN."""
    marks = np.array([-1, -1, 2, -1, 0, 0, -2, -1, 0, 2, 1, 2, 0, -1, -1, 0, 1, 2, -1, 0, 1, 0, 2]) / 3
    items = list("00234477011245701234456")
    models = ["A"] * 8 + ["B"] * 7 + ["C"] * 8
    table = {"item": items, "model": models, "seed": list("01000101001001110100110"), "score": marks}
    groups = dict(zip("01234567", "01110111", strict=True))
    clusters = dict(zip("01234567", "acbcabcb", strict=True))
    scores = pt.Scores.from_frame(table, replicate="seed", higher_is_better=True)
    found = pt.compare(scores, groups=groups, clusters=clusters, replicates="crossed", engine="exact")
    pair = found.pair("A", "B")
    assert pair.low is None
    assert set(found.group_results) == {"these replicates", "new replicates"}
    for rows in found.group_results.values():
        row = rows[0]
        assert (row.low, row.high, row.p_a_better, row.reason) == (None, None, None, pair.reason)
