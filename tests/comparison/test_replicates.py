"""Replicates of items: asked again, and folds that share training data."""

import numpy as np
import polars
import pytest
from made_scores import make, rows_by_name
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.errors import InputError
from probtruth.types import Scores

PRINTED = 5e-4
"""Numbers printed to three decimals."""


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
    row = compare(scores, population="these-items", engine="exact").pairs[0]
    table = scores.replicates.values
    variance = (table.var(axis=2, ddof=1) / 4).sum() / 30**2
    half = (row["high"] - row["low"]) / 2
    assert half == pytest.approx(1.96 * variance**0.5, rel=0.03)  # many degrees of freedom


def test_the_share_of_the_replicates_is_told():
    rng = np.random.default_rng(2)
    table = frame(400, 4)
    table["score"] = [score + 5 * rng.normal() for score in table["score"]]
    found = compare(Scores.from_frame(table, replicate="replicate", higher_is_better=False), engine="exact")
    assert found.uncertainty["replicates"] > 0.8
    assert found.uncertainty["items"] == pytest.approx(1 - found.uncertainty["replicates"], abs=1e-12)


def test_replicates_named_apart_on_every_item_are_counted_within_it():
    rows = frame(50, 3)
    rows["replicate"] = [f"{item}/{one}" for item, one in zip(rows["item"], rows["replicate"], strict=True)]
    scores = Scores.from_frame(rows, replicate="replicate", higher_is_better=False)
    assert scores.replicates.values.shape == (2, 50, 3)
    assert scores.replicates.names == ()
    with pytest.raises(InputError, match="same names on every item"):
        compare(scores, replicates="crossed")


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
