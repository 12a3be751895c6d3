"""Boards with missing scores against full boards, complete cases, least squares by scipy, and simulation."""

from itertools import combinations

import numpy as np
import polars
import pytest
from made_scores import assert_same, make
from scipy import sparse
from scipy.sparse.linalg import lsqr

import probtruth as pt
from probtruth.comparison.boards.boards import filled
from probtruth.comparison.boards.columns import Columns
from probtruth.comparison.boards.fit import Fit, connected
from probtruth.comparison.estimation.design import Design
from probtruth.errors import PosteriorError

ROUNDING = 1e-9  # relative, of sums of some hundred numbers


def board(rng: np.random.Generator, n_models: int, n_items: int, fill: float, step: float = 0.3) -> np.ndarray:
    """Scores of models that differ by steps, on items of different worth, with holes at random."""
    worth = 2 * rng.standard_normal(n_items)
    values = worth + step * np.arange(n_models)[:, None] + rng.standard_normal((n_models, n_items))
    holes = rng.random(values.shape) >= fill
    holes[:, : n_models + 1] = False
    values[holes] = np.nan
    return values


def with_hole_in_full(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.nanmean(values), values)


def test_a_full_board_is_left_as_it_is():
    values = with_hole_in_full(board(np.random.default_rng(0), 4, 50, 0.7))
    groups = np.arange(50) % 3
    for plan in (
        Design.of(np.zeros(50, int)),
        Design.of(groups, group_names=("x", "y", "z")),
        Design.of(groups, groups + 3 * (np.arange(50) // 10), group_names=("x", "y", "z")),
    ):
        made = filled(values, plan, list("abcd"))[0]
        np.testing.assert_allclose(made, values, rtol=0, atol=ROUNDING)
        fit = Fit.of(Columns.of_items(values, plan.of_cell()))
        np.testing.assert_allclose(fit.effective(plan.unit is not None), 1.0, rtol=ROUNDING)


def test_means_are_those_of_least_squares_with_an_effect_for_each_item():
    values = board(np.random.default_rng(1), 6, 40, 0.4)
    model, item = np.nonzero(~np.isnan(values))
    rows = np.arange(len(model))
    columns = sparse.csr_matrix((np.ones(len(model)), (rows, model)), (len(model), 6))
    effects = sparse.csr_matrix((np.ones(len(model)), (rows, item)), (len(model), 40))
    found = lsqr(sparse.hstack([columns, effects]), values[model, item], atol=1e-14, btol=1e-14)[0]
    fit = Fit.of(Columns.of_items(values, np.zeros(40, int)))
    np.testing.assert_allclose(fit.mean - fit.mean[0], found[:6] - found[0], atol=1e-8)


def test_two_models_rest_on_the_items_they_share():
    values = board(np.random.default_rng(3), 2, 60, 0.6)
    both = ~np.isnan(values).any(0)
    one, complete = pt.compare(make(values)), pt.compare(make(values[:, both]))
    for name in ("difference", "low", "high", "p_a_better"):
        assert one.pairs[0][name] == pytest.approx(complete.pairs[0][name], rel=1e-6)
    assert one.pairs[0].shared_items == both.sum()
    assert pt.compare(make(values).common()).pairs[0].low == complete.pairs[0].low


def test_a_third_model_on_few_items_hardly_touches_the_other_two():
    rng = np.random.default_rng(4)
    values = with_hole_in_full(board(rng, 3, 500, 1.0))
    values[2, 320:] = np.nan
    two, three = pt.compare(make(values[:2])), pt.compare(make(values))
    width = two.pairs[0].high - two.pairs[0].low
    assert abs(two.pairs[0].difference - three.pairs[0].difference) < 0.02 * width
    assert three.pairs[0].high - three.pairs[0].low < 1.02 * width


def test_equal_models_with_holes_are_told_apart_by_nothing():
    values = board(np.random.default_rng(5), 4, 60, 0.5)
    values[2] = values[0]
    comparison = pt.compare(make(values))
    pair = comparison.pair("000", "002")
    assert pair.difference == 0
    assert pair.p_a_better == 0.5
    best = {row.model: row.p_best for row in comparison.ranks}
    assert best["000"] == best["002"]


def test_holes_by_difficulty_do_not_bias():
    """Model 1 lacks the hard items: its plain mean would be better by far."""
    rng = np.random.default_rng(6)
    worth = 3 * rng.standard_normal(2000)
    values = worth + rng.standard_normal((3, 2000)) + np.array([[0.0], [0.2], [0.4]])
    values[1, (worth > 0) & (rng.random(2000) < 0.9)] = np.nan
    assert np.nanmean(values[1]) < np.nanmean(values[0]) - 1
    pair = pt.compare(make(values)).pairs[0]
    assert pair.low < -0.2 < pair.high
    assert pair.high - pair.low < 0.25


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_order_of_models_and_items_and_the_sign_change_nothing_else(higher_is_better):
    rng = np.random.default_rng(7)
    values = board(rng, 5, 80, 0.5)
    names = [f"m{place}" for place in range(5)]
    models, items = rng.permutation(5), rng.permutation(80)
    one = pt.compare(make(values, names, higher_is_better=higher_is_better))
    other = pt.compare(make(values[models][:, items], [names[at] for at in models], higher_is_better=higher_is_better))
    for first, second in zip(one.pairs, other.pairs, strict=True):
        assert first.models == second.models
        assert first.low == pytest.approx(second.low, rel=ROUNDING)
        assert first.shared_items == second.shared_items


@pytest.mark.parametrize("clustered", [False, True])
def test_order_of_items_changes_nothing_where_some_sets_of_models_stand_for_all(clustered, monkeypatch):
    """Of many models all sets of models differ, and effective units are counted over some of them."""
    monkeypatch.setattr("probtruth.comparison.boards.fit.MOST_WEIGHTS", 0)
    monkeypatch.setattr("probtruth.comparison.boards.fit.LEAST_SETS", 20)
    rng = np.random.default_rng(19)
    values = board(rng, 8, 300, 0.5)
    order = rng.permutation(300)
    clusters = [f"c{item // 3}" for item in range(300)]
    found = []
    for items in (np.arange(300), order):
        structure = {"clusters": [clusters[item] for item in items]} if clustered else {}
        found.append(pt.compare(make(values[:, items]), engine="exact", **structure))
    for one, other in zip(found[0].pairs, found[1].pairs, strict=True):
        assert one.low == pytest.approx(other.low, rel=ROUNDING)


def test_groups_and_clusters_follow():
    values = board(np.random.default_rng(8), 3, 120, 0.7)
    groups = [f"g{place % 3}" for place in range(120)]
    clusters = [f"c{place % 3}-{place // 12}" for place in range(120)]
    grouped = pt.compare(make(values), groups=groups, engine="exact")
    assert {row.group for row in grouped.groups} == {"g0", "g1", "g2"}
    alone = pt.compare(make(values[:, ::3]), engine="exact")
    mean = sum(pt.compare(make(values[:, start::3]), engine="exact").pairs[0].difference for start in range(3))
    assert grouped.pairs[0].difference == pytest.approx(mean / 3, rel=1e-9)
    assert alone.pairs[0].shared_items is not None
    clustered = pt.compare(make(values), clusters=clusters, engine="exact")
    assert clustered.pairs[0].difference == pytest.approx(pt.compare(make(values)).pairs[0].difference, rel=1e-9)


def test_a_difference_that_is_the_same_in_a_group_is_not_told_apart_by_rounding():
    """Of z, y, x the upper end was 0.100, of a, b, c 0.123: means of the second group differed by 1e-16."""
    nan = np.nan
    values = [
        [nan, 0, nan, nan, 0, 1, 0, 0, nan, nan, 0],
        [0, 0, 0, 0, 1, 0, nan, 0, nan, nan, 0],
        [0, 1, 1, 1, 1, 1, nan, 1, 1, 1, 1],
    ]
    groups = ["few"] * 8 + ["alike"] * 3
    ends = []
    for names in ("abc", "zyx"):
        scores = make(values, names, higher_is_better=True)
        pair = pt.compare(scores, groups=groups, engine="exact").pair(names[2], names[0])
        ends.append(sorted([abs(pair.low), abs(pair.high)]))
    assert ends[0] == pytest.approx(ends[1], rel=ROUNDING)


def test_sets_that_nothing_connects_are_compared_each_by_itself():
    values = np.random.default_rng(9).standard_normal((5, 60))
    values[:3, 30:] = np.nan
    values[3:, :30] = np.nan
    assert [one.tolist() for one in connected(values)] == [[0, 1, 2], [3, 4]]
    comparison = pt.compare(make(values))
    within = pt.compare(make(values[:3, :30]))
    assert comparison.pair("000", "001").low == within.pairs[0].low
    apart = comparison.pair("000", "003")
    assert (apart.difference, apart.p_a_better) == (None, None)
    assert "connects" in apart.reason
    assert all(row.p_best is None for row in comparison.ranks)
    assert comparison.decisions["chosen"] is None
    assert "nothing connects" in comparison.warnings[0]
    for n_items in (0, 1, 2):  # of the second set
        less = values.copy()
        less[3:, 30 + n_items :] = np.nan
        less[4, 59] = 1.0 if n_items == 0 else np.nan
        less[3, 58] = 1.0 if n_items == 0 else np.nan
        row = pt.compare(make(less)).pair
        assert row("000", "001").low == within.pairs[0].low
        assert (row("003", "004").low is None) == (n_items < 2)
        assert (row("003", "004").reason is None) == (n_items == 2)
    with pytest.raises(PosteriorError, match="no two share two items"):
        pt.compare(make(np.where(np.eye(3, 5) > 0, 1.0, np.nan)))


def test_a_group_in_which_nothing_connects_is_named():
    values = np.random.default_rng(10).standard_normal((3, 40))
    values[2, :20] = np.nan
    with pytest.raises(PosteriorError, match=r"in group 'x'.*Hint: leave the groups out.*or the models that it lacks"):
        pt.compare(make(values), groups=["x"] * 20 + ["y"] * 20, engine="exact")
    assert len(pt.compare(make(values)).pairs) == 3
    assert len(pt.compare(make(values[:2]), groups=["x"] * 20 + ["y"] * 20, engine="exact").groups) == 2


def test_many_missing_scores_of_one_model_ask_whether_it_failed():
    values = board(np.random.default_rng(11), 3, 100, 1.0)
    values[2, 50:] = np.nan
    values[0, 60] = np.nan
    warnings = " ".join(pt.compare(make(values)).warnings)
    assert "'002' lacks 50, '000' lacks 1" in warnings
    assert "if it failed" in warnings
    values = board(np.random.default_rng(11), 3, 100, 0.7)
    assert "if it failed" not in " ".join(pt.compare(make(values)).warnings)


def test_a_difference_that_depends_on_the_items_is_said():
    """Where worth widens the difference of models, holes by worth make direct and indirect differences disagree."""
    rng = np.random.default_rng(12)
    worth = rng.standard_normal(600)
    values = rng.standard_normal((3, 600)) * 0.3 + worth * np.array([[0.0], [1.0], [2.0]])
    values[0, worth > 0.5] = np.nan
    values[2, worth < -0.5] = np.nan
    assert "depends on the items" in " ".join(pt.compare(make(values)).warnings)
    said = 0
    for seed in range(40):
        plain = board(np.random.default_rng(100 + seed), 3, 100, 0.6)
        said += "depends on the items" in " ".join(pt.compare(make(plain)).warnings)
    assert said <= 2


def test_infinite_scores_stay_infinite_beside_holes():
    values = board(np.random.default_rng(13), 4, 60, 0.6)
    values[1, 0] = np.inf
    comparison = pt.compare(make(values))
    assert next(row for row in comparison.ranks if row.model == "001").score == np.inf
    others = pt.compare(make(values[[0, 2, 3]], ["000", "002", "003"]))
    for a, b in combinations(("000", "002", "003"), 2):
        assert comparison.pair(a, b).low == pytest.approx(others.pair(a, b).low, rel=ROUNDING)


def test_of_infinite_means_alone_nothing_is_compared() -> None:
    """Without any finite mean there is nothing to fit; this was a division by zero."""
    values = board(np.random.default_rng(20), 3, 60, 0.6)
    values[:, 0] = np.inf
    for one in (make(values), pt.Moments.of(make(values))):
        comparison = pt.compare(one)
        assert [row.score for row in comparison.ranks] == [np.inf] * 3
        assert all(row.p_a_better is None for row in comparison.pairs)


def zero_one(n_items: int) -> np.ndarray:
    """Two models that differ on two items, and a third one."""
    rng = np.random.default_rng(14)
    one = (rng.random(n_items) < 0.7).astype(float)
    other = np.where(np.arange(n_items) < 2, 1 - one, one)
    return np.stack([one, other, (rng.random(n_items) < 0.5).astype(float)])


@pytest.mark.parametrize("size", [None, 1, 5])
def test_ties_count_on_a_board_as_they_do_on_full_scores(size):
    """Clusters of one item are items; of more, a hole elsewhere changes little."""
    values = zero_one(200)
    clusters = None if size is None else [str(item // size) for item in range(200)]
    first_half = None if clusters is None else clusters[:100]
    full = pt.compare(make(values), clusters=clusters).pairs[0]
    less = values.copy()
    less[2, 50] = np.nan
    with_hole = pt.compare(make(less), clusters=clusters).pairs[0]
    for name in ("low", "high"):
        assert with_hole[name] == pytest.approx(full[name], abs=0.01 * (full.high - full.low))
    half = values[:2].copy()
    half[1, 100:] = np.nan
    for one, other in ((half, values[:2, :100]), (half[[0, 0]] + 0 * half, values[[0, 0], :100])):
        board = pt.compare(make(one), clusters=clusters)
        pair, alone = board.pairs[0], pt.compare(make(other), clusters=first_half).pairs[0]
        assert pair.high - pair.low == pytest.approx(alone.high - alone.low, rel=0.03)  # of one degree of freedom
        assert board.unseen["reason"] is None


def test_a_mean_beyond_the_range_of_the_scores_is_said():
    """Model 0 is right on the items where model 1 is wrong, and lacks those where model 1 is right."""
    values = np.array([[1.0] * 12 + [np.nan] * 27, [0.0] * 9 + [1.0] * 30])
    higher = pt.compare(make(values, higher_is_better=True))
    assert higher.ranking()["score"].max() > 1
    assert "the mean of '000' would be 1.52, beyond the scores' range (0 to 1)" in " ".join(higher.warnings)
    assert "beyond" not in " ".join(pt.compare(make(values[:, :12])).warnings)


@pytest.mark.long
def test_intervals_cover_and_are_narrower_than_those_of_shared_items():
    covered, narrower = 0, 0
    for seed in range(200):
        values = board(np.random.default_rng(1000 + seed), 5, 80, 0.5)
        row = pt.compare(make(values)).pairs[0]
        shared = pt.compare(make(values[:2, ~np.isnan(values[:2]).any(0)])).pairs[0]
        covered += row.low <= -0.3 <= row.high
        narrower += row.high - row.low < shared.high - shared.low
    assert covered >= 181  # binomial of 200 and 0.95: below with probability 0.005
    assert narrower >= 195


def test_a_model_without_any_score_is_an_error():
    with pytest.raises(pt.InputError, match="no score of model 'c'"):
        pt.compare(make([[1.0, 2.0], [2.0, 2.5], [np.nan, np.nan]], "abc"))


def test_models_that_share_no_item_are_compared_by_way_of_another():
    """Of a chain the difference is the sum of its links', which rest on different items: variances add up."""
    rng = np.random.default_rng(15)
    values = 2 * rng.standard_normal(400) + rng.standard_normal((3, 400)) + np.array([[0.0], [0.1], [0.4]])
    values[2, :200] = np.nan
    values[0, 200:] = np.nan
    far = pt.compare(make(values, higher_is_better=False)).pair("000", "002")
    one, two = values[0, :200] - values[1, :200], values[1, 200:] - values[2, 200:]
    assert far.difference == pytest.approx(one.mean() + two.mean(), rel=ROUNDING)
    error = np.sqrt(one.var(ddof=1) / 200 + two.var(ddof=1) / 200)
    assert far.high - far.low == pytest.approx(2 * 1.966 * error, rel=0.01)  # t of some 400 degrees of freedom
    assert far.shared_items == 0


def test_of_a_model_that_shares_one_item_nothing_is_sure_and_the_others_have_what_they_have_without_it():
    values = board(np.random.default_rng(16), 3, 50, 1.0)
    values[2, 1:] = np.nan
    comparison = pt.compare(make(values))
    unsure = comparison.pair("000", "002")
    assert unsure.difference is not None
    assert (unsure.low, unsure.p_a_better) == (None, None)
    without = pt.compare(make(values[:2])).pairs[0]
    assert comparison.pair("000", "001").low == pytest.approx(without.low, rel=0.05)
    assert "'000' and '002' (and 1 more of the pairs) are connected by one item" in " ".join(comparison.warnings)


@pytest.mark.parametrize("engine", ["exact", pytest.param("nuts", marks=pytest.mark.long)])
@pytest.mark.parametrize("n_models", [2, 3, 4])
def test_one_item_between_two_parts_of_a_board_leaves_the_rest_answered(n_models, engine):
    """Of models 1 and 2 one item tells their difference, and nothing how far it varies; this was an error."""
    values = board(np.random.default_rng(18), 4, 60, 1.0)
    values[:2, 31:] = np.nan
    values[0, 30] = np.nan
    values[2:, :30] = np.nan
    values[3, 30] = np.nan
    values = values[{2: [1, 2], 3: [0, 1, 2], 4: [0, 1, 2, 3]}[n_models]]
    comparison = pt.compare(make(values, [f"m{at}" for at in range(n_models)]), engine=engine)
    one, two = ("m0", "m1") if n_models == 2 else ("m1", "m2")
    bridge = comparison.pair(one, two)
    item = values[int(one[1])] - values[int(two[1])]
    assert bridge.difference == pytest.approx(np.nanmean(item), rel=1e-9)
    assert bridge.shared_items == 1
    assert "one item connects the two models" in bridge.reason
    assert (bridge.low, bridge.high, bridge.p_a_better) == (None, None, None)
    assert all(row.p_best is None for row in comparison.ranks)
    sums = pt.compare(pt.Moments.of(make(values, [f"m{at}" for at in range(n_models)])), engine=engine)
    assert [row.reason for row in sums.pairs] == [row.reason for row in comparison.pairs]
    assert "No verdict: " in str(pt.Result.of(comparison))
    if n_models == 2:
        return
    alone = pt.compare(make(values[:2]), engine="exact").pairs[0]
    assert comparison.pair("m0", "m1").low == pytest.approx(alone.low, abs=0.05 * (alone.high - alone.low))


@pytest.mark.parametrize("unit", ["annotator", "replicate"])
def test_cells_with_a_hole_say_the_same_by_every_way_in_and_what_they_say_without_it(unit, tmp_path):
    """Three of twelve annotators (or replicates) an item; one model lacks all cells of one item."""
    rng = np.random.default_rng(17)
    item, who, model = (axis.ravel() for axis in np.meshgrid(np.arange(90), np.arange(3), np.arange(3), indexing="ij"))
    person = (item + 5 * who) % 12
    score = rng.standard_normal(90)[item] + 0.3 * model + rng.standard_normal(len(item))
    score += 0.4 * rng.standard_normal((12, 3))[person, model]
    columns = {"item": item.astype(str), unit: person.astype(str), "model": [f"m{at}" for at in model], "score": score}
    full = polars.DataFrame(columns)
    less = full.filter((polars.col("item") != "10") | (polars.col("model") != "m1"))
    less.write_csv(tmp_path / "cells.csv")
    named = {unit: unit, "higher_is_better": False}
    ways = [
        pt.read_scores(tmp_path / "cells.csv", **named),
        pt.read_scores(less, **named),
        pt.read_scores(less.to_dict(as_series=False), **named),
        pt.Scores.from_frame(less, **named),
    ]
    found = [pt.compare(one, engine="exact") for one in ways]
    for other in found[1:]:
        assert_same(found[0], other)
    without = pt.compare(pt.read_scores(full, **named), engine="exact")
    for source, share in without.uncertainty.items():
        assert found[0].uncertainty[source] == (None if share is None else pytest.approx(share, abs=0.05))
    for one, other in zip(found[0].pairs, without.pairs, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=0.05 * (other.high - other.low))
        assert one.shared_items == (89 if "m1" in one.models else 90)
