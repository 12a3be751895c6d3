"""Comparison by a metric: the tables of any comparison, unknown where undefined, the same whatever the order."""

import numpy as np
import pytest
from made_scores import make

import probtruth as pt
from probtruth.line.compare_metric import LABEL_DRAWS, label_draws
from probtruth.report.tables import models
from probtruth.scoring.align import align

N, RNG = 60, np.random.default_rng(4)
LABEL = RNG.integers(0, 2, N)
PROBS = {
    name: 1 / (1 + np.exp(-(skill * (2 * LABEL - 1) + RNG.normal(size=N))))
    for name, skill in (("a", 1.5), ("b", 0.4), ("c", 1.0))
}
MODELS = {name: np.stack([1 - p, p], 1) for name, p in PROBS.items()}


def metric(name="f1", models=MODELS, truth=LABEL, **options):
    return pt.compare_metric(models, truth, name, engine="exact", **options)


def test_the_tables_are_those_of_any_comparison():
    found = metric("roc-auc", rope=0.01)
    other = pt.compare(make([[0.1, 0.2], [0.5, 0.3]], "ab"), engine="exact")
    assert found.ranking().columns == other.ranking().columns
    assert found.pairwise().columns == other.pairwise().columns
    ranks = found.ranking()
    assert ranks["model"].to_list() == ["a", "c", "b"]
    assert ranks["p_best"].sum() == pytest.approx(1.0)
    row = found.pairwise().row(0, named=True)
    assert row["difference"] > 0
    assert row["favours"] == "a"
    assert row["low"] < row["difference"] < row["high"]
    assert found.higher_is_better
    assert found.rule == "roc-auc of '1'"
    assert (
        found.estimand == "difference (a minus b, positive favours a) of roc-auc of '1' over new items like these, "
        "against the one true class of each item"
    )
    assert found.uncertainty == {"items": 1.0, "annotators": None, "labels": 0.0}  # the labels are certain


def test_accuracy_is_what_compare_says_of_it():
    right = {name: ((p >= 0.5) == LABEL).astype(float) for name, p in PROBS.items()}
    wanted = pt.compare(make(list(right.values()), list(right), higher_is_better=True), engine="exact")
    found = metric("accuracy")
    assert found.ranking()["score"].to_list() == pytest.approx(wanted.ranking()["score"].to_list())
    assert found.model_free[0]["t"] == pytest.approx(wanted.model_free[0]["t"])
    for ours, theirs in zip(found.pairs, wanted.pairs, strict=True):
        assert ours["difference"] == pytest.approx(theirs["difference"])


def test_ece_is_lower_the_better():
    found = metric("ece")
    assert not found.higher_is_better
    assert found.settings["n_bins"] == 15
    errors = pt.calibration.calibration_error(
        pt.Predictions.from_probs(MODELS), pt.Truth.from_labels(LABEL, 2), n_resamples=0
    )
    wanted = dict(zip(errors["model"], errors["error"], strict=True))
    for row in found.ranks:
        assert row["score"] == pytest.approx(wanted[str(row["model"])])


def test_a_model_whose_metric_is_undefined_is_unknown_and_the_others_are_compared():
    found = metric("precision", {**MODELS, "never": np.tile([0.9, 0.1], (N, 1))})
    last = found.ranks[-1]
    assert (last["model"], last["score"], last["p_best"], last["tier"]) == ("never", None, None, None)
    assert sum(float(str(row["p_best"])) for row in found.ranks[:3]) == pytest.approx(1.0)
    for row in found.pairs:
        unknown = "never" in (row["a"], row["b"])
        assert (row["p_a_better"] is None) == unknown
        assert (row["reason"] is not None) == unknown
    reason = "precision of '1' of 'never' is undefined: no item is answered with the label"
    assert reason in found.warnings
    assert found.pairwise().height == 6


def test_a_metric_that_rests_on_one_item_has_a_score_and_no_spread():
    once = np.full(N, 0.1)
    once[np.flatnonzero(LABEL)[0]] = 0.9
    found = metric("precision", {**MODELS, "once": np.stack([1 - once, once], 1)})
    (row,) = (row for row in found.ranks if row["model"] == "once")
    assert (row["score"], row["low"], row["p_best"]) == (1.0, None, None)
    pair = next(row for row in found.pairs if row["b"] == "once")
    assert pair["difference"] is not None
    assert "based on 1 items of the rarer kind" in str(pair["reason"])
    assert pair["low"] is None


def test_a_metric_that_rests_on_one_cluster_is_unknown():
    once = np.full(N, 0.1)
    once[:8] = 0.9
    clusters = ["first"] * 8 + [str(item) for item in range(8, N)]
    models = {**MODELS, "once": np.stack([1 - once, once], 1)}
    assert metric("precision", models).pairs[2]["reason"] is None
    found = metric("precision", models, clusters=clusters)
    assert "undefined without one of the items" in str(found.pairs[2]["reason"])


@pytest.mark.parametrize(("n_items", "clusters"), [(1, None), (3, ["c"] * 3)])
def test_one_unit_has_no_spread(n_items, clusters):
    models = {"a": [[0.2, 0.8]] * n_items, "b": [[0.6, 0.4]] * n_items}
    with pytest.raises(pt.errors.PosteriorError, match="in all, expected at least two"):
        pt.compare_metric(models, [1] * n_items, metric="accuracy", clusters=clusters, engine="exact")


def test_undefined_for_every_model_is_an_error():
    with pytest.raises(pt.errors.PosteriorError, match="undefined: no item has the label"):
        metric("recall", truth=np.zeros(N, int))


def test_identical_models_do_not_differ():
    found = metric("kappa", {"a": MODELS["a"], "b": MODELS["a"]})
    row = found.pairs[0]
    assert (row["difference"], row["p_a_better"], row["low"], row["high"]) == (0.0, 0.5, 0.0, 0.0)
    assert [row["p_best"] for row in found.ranks] == [0.5, 0.5]


def test_a_further_model_and_other_names_change_no_pair():
    few = metric("f1", {name: MODELS[name] for name in "ab"})
    many = metric("f1")
    for column in ("difference", "low", "high", "p_a_better"):
        assert few.pairs[0][column] == pytest.approx(many.pairs[0][column], rel=1e-9)
    turned = metric("f1", {"z": MODELS["a"], "b": MODELS["b"]}).pairs[0]
    assert turned["p_b_better"] == pytest.approx(few.pairs[0]["p_a_better"], rel=1e-9)


def test_clusters_widen_and_groups_are_strata():
    doubled = {name: np.repeat(table, 2, axis=0) for name, table in MODELS.items()}
    twice = np.repeat(np.arange(N), 2).astype(str)
    plain, clustered = metric("f1"), metric("f1", doubled, np.repeat(LABEL, 2), clusters=list(twice))
    for column in ("difference", "low", "high"):
        assert clustered.pairs[0][column] == pytest.approx(plain.pairs[0][column], rel=1e-9)
    assert clustered.settings["clusters"] == N
    strata = metric("f1", groups=["pos" if one else "neg" for one in LABEL])
    assert strata.settings["groups"] == 2
    assert "these 2 groups" in strata.estimand
    assert strata.pairs[0]["difference"] == pytest.approx(plain.pairs[0]["difference"])


def test_annotations_become_a_truth_as_in_evaluate():
    votes = np.stack([3 - LABEL * 2, LABEL * 2 + 1], 1)
    found = pt.compare_metric(MODELS, pt.Annotations.from_counts(votes), "f1", engine="exact")
    assert found.settings["estimand"] == "distribution"
    assert found.uncertainty["labels"] is not None
    assert 0 < float(found.uncertainty["labels"]) < 1


def test_label_draws_have_the_variance_of_what_they_stand_for():
    models = pt.Predictions.from_probs({"a": np.full((1, 2), 0.5)})
    classes = align(models, pt.Truth.from_probs([[0.3, 0.7]], estimand="class")).on_host()
    drawn = np.array(list(label_draws(classes, 0)))
    assert drawn.shape == (LABEL_DRAWS, 1, 2)
    assert set(drawn.ravel().tolist()) == {0.0, 1.0}
    assert drawn[:, 0, 1].mean() == pytest.approx(0.7, abs=5 * (0.21 / LABEL_DRAWS) ** 0.5)
    shares = pt.infer_truth(pt.Annotations.from_counts([[1, 3]]), "vote-share")
    again = np.array(list(label_draws(align(models, shares).on_host(), 0)))[:, 0, 1]
    # the unbiased variance of a share of 3/4 from four votes: (3/4 * 1/4) / (4 - 1); 100 draws
    assert again.var() == pytest.approx(0.0625, rel=5 * (2 / LABEL_DRAWS) ** 0.5)
    assert list(label_draws(align(models, pt.Truth.from_probs([[0.3, 0.7]])).on_host(), 0)) == []
    one = pt.infer_truth(pt.Annotations.from_counts([[0, 1]]), "vote-share")
    assert list(label_draws(align(models, one).on_host(), 0)) == []


def test_few_items_that_carry_a_difference_are_said():
    rare = np.zeros(N, int)
    rare[:6] = 1
    assert any("few items carry the difference" in line for line in metric("recall", truth=rare).warnings)


@pytest.mark.parametrize("name", ["recall", "roc-auc", "kappa", "macro-f1"])
def test_fewer_than_five_items_on_the_rarer_side_are_too_few(name):
    rare = np.zeros(N, int)
    rare[:4] = 1
    for truth in (rare, 1 - rare):
        with pytest.raises(pt.errors.PosteriorError, match="based on 4 items"):
            metric(name, truth=truth)
    assert metric("accuracy", truth=rare).pairs[0]["p_a_better"] is not None


def test_the_report_and_its_words():
    result = pt.Result.of(metric("f1"))
    content = result.to_dict()
    assert content["settings"]["metric"] == "f1"
    assert content["models"][0]["model"] == "a"
    assert "The score is the metric;" in models(result).note
    shown = repr(result)
    assert "f1 of '1'" in shown
    assert "mean f1" not in shown


def test_errors():
    with pytest.raises(pt.InputError, match="one model only"):
        metric("f1", {"a": MODELS["a"]})
    with pytest.raises(pt.InputError, match="evidence"):
        metric("f1", evidence="nobody")


def test_the_result_counts_the_items_that_some_model_lacks_and_accuracy_is_shown():
    items = [f"q{place}" for place in range(N)]
    tables = {name: {"item": items, "no": row[:, 0], "yes": row[:, 1]} for name, row in MODELS.items()}
    tables["b"] = {name: column[2:] for name, column in tables["b"].items()}
    truth = {"item": items, "no": 1.0 - LABEL, "yes": 1.0 * LABEL}
    found = pt.compare_metric(tables, truth, "accuracy", engine="exact")
    result = pt.Result.of(found)
    assert result.to_dict()["audit"]["missing"] == 2
    rows = models(result).rows
    assert [float(row[1]) for row in rows] == pytest.approx([rank.score for rank in found.ranked], abs=5e-4)
