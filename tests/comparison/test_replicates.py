"""Replicates of items: asked again, and folds that share training data."""

import numpy as np
import polars
import pytest
from made_scores import make, rows_by_name
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.errors import InputError
from probtruth.types import Scores

PRINTED = 5e-4  # Numbers printed to three decimals


def test_folds_of_scikit_learns_grid(data):
    # data/README: corrected t .750, P(rbf better) .773, P(within .01) .432, 95 per cent interval [-.0164, .0364]
    grid = polars.read_csv(data / "sklearn_grid" / "scores_100x4.csv")
    scores = make([grid["linear"], grid["rbf"]], ["linear", "rbf"])
    naive = compare(scores, rope=0.01, engine="exact").model_free[0]
    assert naive["t_p"] / 2 == pytest.approx(0.005, abs=PRINTED)
    found = compare(scores, None, None, "folds", fold_correlation=0.1, rope=0.01, engine="exact")
    row = rows_by_name(found)[0]["linear", "rbf"]
    assert row["p_a_better"] == pytest.approx(0.773, abs=PRINTED)
    assert row["p_equivalent"] == pytest.approx(0.432, abs=PRINTED)
    assert (-row["high"], -row["low"]) == pytest.approx((-0.0164, 0.0364), abs=5.1e-5)
    assert found.model_free[0]["t_p"] / 2 == pytest.approx(0.227, abs=PRINTED)
    assert not any("otherwise" in said for said in found.warnings)


def test_folds_of_several_data_sets_are_groups_of_folds():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 40))
    groups = np.repeat(["p", "q"], 20)
    found = compare(make(values, "ab"), groups, replicates="folds", fold_correlation=0.1, engine="exact")
    row = found.pairs[0]
    d = values[0] - values[1]
    variance = sum((d[part].var(ddof=1)) * (1 / 20 + 0.1 / 0.9) / 4 for part in (slice(0, 20), slice(20, 40)))
    half = (row["high"] - row["low"]) / 2
    df = variance**2 / sum(
        (d[part].var(ddof=1) * (1 / 20 + 0.1 / 0.9) / 4) ** 2 / 19 for part in (slice(0, 20), slice(20, 40))
    )
    assert half == pytest.approx(stats.t(df).ppf(0.975) * variance**0.5, rel=1e-9)
    population = found.group_results["population of groups"][0]
    assert population["high"] - population["low"] > row["high"] - row["low"]


def frame(n_items=30, replicates=4, seed=1):
    rng = np.random.default_rng(seed)
    rows = []
    for model in "ab":
        for item in range(n_items):
            for replicate in range(replicates):
                rows.append((item, model, replicate, rng.normal(item / 10, 1.0)))
    return dict(zip(("item", "model", "replicate", "score"), zip(*rows, strict=True), strict=True))


def test_these_items_answered_again():
    scores = Scores.from_frame(frame(), replicate="replicate", higher_is_better=False)
    row = compare(scores, replicates="independent", population="these-items", engine="exact").pairs[0]
    variance = 0.0
    for values in scores.replicates.values.reshape(2, 30, 4):  # all items have all four replicates
        variance += (values.var(axis=1, ddof=1) / 4).sum() / 30**2
    half = (row["high"] - row["low"]) / 2
    assert half == pytest.approx(1.96 * variance**0.5, rel=0.03)  # many degrees of freedom


def test_the_share_of_the_replicates_is_told():
    rng = np.random.default_rng(2)
    table = frame(400, 4)
    table["score"] = [score + 5 * rng.normal() for score in table["score"]]
    found = compare(Scores.from_frame(table, replicate="replicate", higher_is_better=False), engine="exact")
    assert found.uncertainty["replicates"] > 0.8
    assert found.uncertainty["items"] == pytest.approx(1 - found.uncertainty["replicates"], abs=1e-12)


def test_replicates_named_apart_on_every_item_are_answers_asked_again():
    rows = frame(50, 3)
    plain = Scores.from_frame(rows, replicate="replicate", higher_is_better=False)
    rows["replicate"] = [f"{item}/{one}" for item, one in zip(rows["item"], rows["replicate"], strict=True)]
    scores = Scores.from_frame(rows, replicate="replicate", higher_is_better=False)
    assert scores.replicates.values.shape == (2, 150)
    found = compare(scores, engine="exact")
    independent = compare(plain, replicates="independent", engine="exact")
    assert found.pairs == independent.pairs
    assert found.uncertainty == independent.uncertainty
    with pytest.raises(InputError, match="of which each has one item"):
        compare(scores, replicates="crossed")


def judged(rng, n_judges, share, spread, apart=False):
    """Two models by judges of whom each sees so much of 150 items, two at least an item; no true difference.

    `apart`: other judges for each model.
    """
    rows = {"item": [], "model": [], "replicate": [], "score": []}
    lean = spread * rng.normal(size=(2, n_judges))
    seen = rng.random((2, 150, n_judges)) < share
    first, second = rng.integers(0, n_judges, (2, 2, 150))
    for model in range(2):
        seen[model, np.arange(150), first[model]] = True
        seen[model, np.arange(150), second[model]] = True
    if not apart:
        seen[1] = seen[0]
    for model, name in enumerate("ab"):
        item, judge = np.nonzero(seen[model])
        rows["item"] += item.tolist()
        rows["model"] += [name] * len(item)
        rows["replicate"] += judge.tolist()
        rows["score"] += (lean[model, judge] + rng.normal(size=len(item))).tolist()
    return Scores.from_frame(rows, replicate="replicate", higher_is_better=False)


@pytest.mark.long
@pytest.mark.parametrize("apart", [False, True], ids=["the same judges", "other judges for each model"])
@pytest.mark.parametrize(("n_judges", "share"), [(60, 0.02), (60, 0.12), (30, 0.2), (12, 1.0)])
def test_judges_of_any_share_of_the_items_are_part_of_the_answer(n_judges, share, apart):
    """Under a quarter of the table the names were lost: the default covered 0.55 to 0.87."""
    rng = np.random.default_rng([n_judges, apart])
    covered = {None: [], "crossed": [], "independent": []}
    for _ in range(60):
        scores = judged(rng, n_judges, share, 0.6, apart)
        for kind, held in covered.items():
            row = compare(scores, replicates=kind, engine="exact").pairs[0]
            held.append(row["low"] <= 0 <= row["high"])
    assert np.mean(covered[None]) > 0.86
    assert np.mean(covered["crossed"]) > 0.86
    assert np.mean(covered["independent"]) < 0.85


@pytest.mark.parametrize("n_judges", [2, *(pytest.param(n, marks=pytest.mark.long) for n in (3, 20))])
def test_replicates_that_do_not_lean_cost_little(n_judges):
    """Where nobody says what they are; said to be crossed, two cost 2.2 times the width in every data set."""
    rng = np.random.default_rng(n_judges)
    wider = []
    for _ in range(60):
        scores = judged(rng, n_judges, 1.0, 0.0)
        rows = [compare(scores, replicates=kind, engine="exact").pairs[0] for kind in (None, "independent")]
        one, other = (row["high"] - row["low"] for row in rows)
        wider.append(one / other)
    assert np.median(wider) < 1.04
    assert np.quantile(wider, 0.9) < 1.25


GOOD = make(np.random.default_rng(3).normal(size=(2, 12)), "ab")
ONCE = {key: value[:-1] for key, value in frame(4, 2).items()}
APART = frame(4, 2) | {"replicate": [place % 2 + 2 * (place >= 8) for place in range(16)]}


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (GOOD, {"replicates": "seeds"}, "got replicates 'seeds'"),
        (GOOD, {"replicates": "folds"}, "got fold_correlation None"),
        (GOOD, {"fold_correlation": 0.1}, "fold_correlation without replicates='folds'"),
        (GOOD, {"replicates": "crossed"}, "replicates='crossed' without replicates"),
        (GOOD, {"replicates": "independent"}, "replicates='independent' without replicates"),
        (
            GOOD,
            {"replicates": "folds", "fold_correlation": 0.1, "clusters": np.arange(12) // 3},
            "replicates='folds' with clusters",
        ),
        (
            Scores.from_frame(ONCE, replicate="replicate", higher_is_better=False),
            {"population": "these-items"},
            "model 'b', item '3': got one replicate",
        ),
        (GOOD, {"population": "these-items"}, "scores without"),
        (GOOD, {"replicates": "crossed", "annotations": 3}, "annotations with replicates='crossed'"),
        (GOOD, {"annotations": 3}, "annotations of type int"),
        (
            Scores.from_frame(APART, replicate="replicate", higher_is_better=False),
            {"population": "these-items", "replicates": "folds", "fold_correlation": 0.1},
            "folds that the two models do not share",
        ),
    ],
)
def test_errors(scores, options, message):
    with pytest.raises(InputError) as caught:
        compare(scores, **options)
    assert message in str(caught.value)


def test_annotators_of_one_item_each_add_nothing():
    rows = frame(30, 1)
    plain = compare(Scores.from_frame(rows, replicate="replicate", higher_is_better=False), engine="exact").pairs[0]
    named = Scores.from_frame(rows | {"who": rows["item"]}, annotator="who", higher_is_better=False)
    assert compare(named, engine="exact").pairs[0] == plain
