import numpy as np
import polars as pl
import pytest
from made_scores import make

import probtruth as pt
from probtruth.comparison.results.rows import NO_SPREAD, TWINS

ROUNDING = 1e-12
NUMBERS = ("difference", "low", "high", "p_a_better", "n_items")
SIZES = {"one": 1, "small": 10, "large": 400}


def compared(between, n_models=2, within=(1.0, 1.0, 1.0)):
    rng = np.random.default_rng(4)
    values, groups = [], []
    for at, sd, (group, size) in zip((-1.0, 0.0, 1.0), within, SIZES.items(), strict=True):
        values.append(between * at + sd * rng.normal(size=(n_models, size)))
        groups += [group] * size
    sizes = np.array([[1.0], [0.3], [0.2], [0.1]])[:n_models]
    scores = make(np.concatenate(values, axis=1) * sizes, "abcd"[:n_models])
    return pt.compare(scores, groups=groups, engine="exact")


def test_by_group_has_every_group_and_pair_by_name():
    found = compared(0.3, 3)
    table = found.by_group()
    columns = ["group", "a", "b", "difference", "low", "high", "p_a_better", "n_items"]
    assert table.columns == columns
    assert table["group"].to_list() == np.repeat(sorted(SIZES), 3).tolist()
    assert list(zip(table["a"], table["b"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")] * 3
    assert table["n_items"].to_list() == np.repeat([SIZES[name] for name in sorted(SIZES)], 3).tolist()


def test_small_groups_are_pulled_to_the_others_and_large_ones_stay():
    found = compared(0.3)
    own = {row["group"]: row for row in found.groups}
    centre = found.group_results["population of groups"][0]["difference"]
    scores = found.by_group()
    assert scores.height == 3
    width = {name: own[name]["high"] - own[name]["low"] for name in SIZES}
    assert width["large"] < width["small"] < width["one"]
    # 400 items of sd (1 + .3^2)^.5: the plain interval is 3.92 times their standard error wide
    assert width["large"] == pytest.approx(3.92 * (1.09 / 400) ** 0.5, rel=0.15)
    means = found.scored.differences("a", "b").group_by("group").agg(pl.col("difference").mean())
    pull = {name: (own[name]["difference"] - mean) * np.sign(centre - mean) for name, mean in means.iter_rows()}
    assert pull["one"] > 10 * pull["small"] > 100 * pull["large"] > 0
    for row in found.groups:
        assert row["low"] < row["difference"] < row["high"]


def test_a_large_group_with_a_spread_of_its_own_has_an_interval_of_its_own():
    found = compared(0.0, within=(1.0, 1.0, 10.0))
    row = next(row for row in found.groups if row["group"] == "large")
    quiet = next(row for row in compared(0.0).groups if row["group"] == "large")
    assert row["high"] - row["low"] > 5 * (quiet["high"] - quiet["low"])


@pytest.mark.parametrize(("apart", "reason"), [(0.5, NO_SPREAD), (0.0, TWINS)])
def test_groups_are_not_certain_without_a_spread(apart, reason):
    """The same difference on every item of every group: pairwise says so, and so do the tables of groups."""
    base = np.random.default_rng(0).normal(size=30)
    other = np.random.default_rng(1).normal(size=30)
    found = pt.compare(make([base, base + apart, other], "abc"), groups=np.arange(30) % 3, engine="exact")
    rows = [found.pairs[0], *(rows[0] for rows in found.group_results.values()), *found.groups[::3]]
    for row in rows:
        assert (row.a, row.b, row.reason) == ("a", "b", reason)
        assert row.p_a_better == (0.5 if apart == 0 else None)
        assert row.difference == pytest.approx(-apart)


@pytest.mark.parametrize("seed", [2, 3])
def test_the_population_does_not_hang_on_the_names_of_groups(seed):
    """Of groups whose scores vary alike, as those of 0 and 1 often do, their order moved intervals by 0.0008."""
    rng = np.random.default_rng(seed)
    item = np.arange(60)
    values = rng.normal(size=60) + 0.7 * rng.normal(size=(3, 60)) + np.array([[0.0], [0.2], [0.3]])
    scores = make((values > 0).astype(float), "abc")
    found = []
    for names in ("vwxyz", "zyxwv"):
        groups = [names[at] for at in item % 5]
        rows = pt.compare(scores, groups=groups, engine="exact").group_results["population of groups"]
        found.append([[row[name] for name in NUMBERS[:4]] for row in rows])
    np.testing.assert_allclose(*found, rtol=0, atol=1e-9)


def test_each_probability_has_the_name_of_its_estimand():
    rng = np.random.default_rng(1)
    effect = np.repeat(rng.normal(-0.1, 0.2, 12), 50)
    values = np.stack([effect + rng.normal(0, 0.3, 600), rng.normal(0, 0.3, 600)])
    found = pt.compare(make(values, "ab"), groups=np.repeat(np.arange(12), 50), engine="exact")
    said = [found.pairs[0]["p_a_better"], *(rows[0]["p_a_better"] for rows in found.group_results.values())]
    assert list(found.group_results) == ["population of groups", "one new group"]
    assert said[0] > said[1] > said[2] > 0.5, "three questions, three answers from one table"
    assert "these 12 groups" in found.estimand


@pytest.mark.parametrize("sums", [False, True])
def test_annotators_of_one_group_make_that_group_unsure(sums):
    """Ten groups have two annotators each, who lie 2 apart; items differ by 0.1 and the groups by nothing else.

    The variance of the mean of two is (2^2/2)/2 = 1: a group is as unsure as that, and its interval is that of t with
    ten degrees of freedom or wider than the middle of it. It was that of annotators whom all groups share.
    """
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(10), 20)
    item = np.arange(200)
    middle = rng.normal(size=10)  # of a group's two annotators
    score = middle[group] + np.array([[-1.0], [1.0]]) + 0.1 * rng.normal(size=200)
    first = {"item": np.tile(item, 2), "group": np.tile(group, 2), "annotator": np.append(2 * group, 2 * group + 1)}
    table = {name: np.tile(column, 2) for name, column in first.items()}
    table["model"] = np.repeat(["a", "b"], 400)
    table["score"] = np.append(score.ravel(), np.zeros(400))
    scores = pt.Scores.from_frame(table, group="group", annotator="annotator", higher_is_better=True)
    found = pt.compare(pt.Moments.of(scores) if sums else scores, engine="exact")
    assert found.pairs[0]["high"] - found.pairs[0]["low"] == pytest.approx(2 * 2.228 * 0.1**0.5, rel=0.02)
    widths = np.array([row["high"] - row["low"] for row in found.groups])
    assert (widths > 1.9).all()  # 1.44 before
    assert (widths < 2 * 2.228 * 1.1).all()
    assert np.mean([max(row["p_a_better"], row["p_b_better"]) > 0.975 for row in found.groups]) == 0


@pytest.mark.parametrize("sums", [False, True])
def test_one_annotator_in_each_group_says_nothing_of_others(sums):
    """The annotators' part was 0, and the answer was said to be about new ones."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 25)
    table = {"item": np.tile(np.arange(100), 2), "group": np.tile(group, 2), "annotator": np.tile(group, 2)}
    table["model"] = np.repeat(["a", "b"], 100)
    table["score"] = rng.normal(size=200)
    scores = pt.Scores.from_frame(table, group="group", annotator="annotator", higher_is_better=True)
    found = pt.compare(pt.Moments.of(scores) if sums else scores, engine="exact")
    assert found.uncertainty["annotators"] is None
    assert "annotators" not in found.estimand
    assert any("each group has one annotator" in warning for warning in found.warnings)
    plain = pt.compare(make(np.asarray(table["score"]).reshape(2, 100), "ab"), groups=group.tolist(), engine="exact")
    assert found.pairs[0]["high"] - found.pairs[0]["low"] == pytest.approx(
        plain.pairs[0]["high"] - plain.pairs[0]["low"], rel=1e-9
    )
