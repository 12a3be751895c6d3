"""Comparison by a metric: the tables of any comparison, unknown where undefined, the same whatever the order."""

import numpy as np
import pytest
from made_scores import make
from scipy.special import ndtr
from simulated_annotations import answered

import probtruth as pt
from probtruth.report.tables import models

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


VOTES = {
    "item": np.repeat([f"q{at:02d}" for at in range(N)], 4),
    "annotator": np.tile(list("uvwx"), N),
    "label": np.where(RNG.random(4 * N) < 0.7, np.repeat(LABEL, 4), 1 - np.repeat(LABEL, 4)),
}
TABLES = {name: {"item": VOTES["item"][::4], "0": 1 - p, "1": p} for name, p in PROBS.items()}
OPTIONS = {
    "items": {},
    "board": {"n_lacking": 7},
    "board of classes": {"n_lacking": 7, "estimand": "class"},
    "class": {"estimand": "class"},
    "groups": {"groups": {item: "xyz"[at % 3] for at, item in enumerate(VOTES["item"][::4])}},
    "clusters": {"clusters": {item: str(at // 3) for at, item in enumerate(VOTES["item"][::4])}, "rope": "2%"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_accuracy_is_what_evaluate_says_of_it(options):
    """It left out what annotators share, had no answer by group, and was about the items that all models have."""
    given = {"engine": "exact", **options}
    n_lacking = given.pop("n_lacking", 0)
    first = next(iter(TABLES))
    tables = {**TABLES, first: {name: column[n_lacking:] for name, column in TABLES[first].items()}}
    found = pt.compare_metric(tables, VOTES, "accuracy", **given)
    wanted = pt.evaluate(VOTES, tables, rule="zero-one", **given).comparison
    for source, share in wanted.uncertainty.items():
        assert found.uncertainty[source] == (None if share is None else pytest.approx(share, rel=1e-9))
    for ours, theirs in zip([*found.pairs, *found.groups], [*wanted.pairs, *wanted.groups], strict=True):
        assert ours.models == theirs.models
        assert (ours.difference, ours.low, ours.high) == pytest.approx(
            (-theirs.difference, -theirs.high, -theirs.low), rel=1e-9
        )
        assert ours.p_a_better == pytest.approx(theirs.p_a_better, rel=1e-9)
    for ours, theirs in zip(found.ranks, wanted.ranks, strict=True):
        assert (ours.model, ours.score) == (theirs.model, pytest.approx(1 - theirs.score))
        assert ours.p_best == pytest.approx(theirs.p_best)
    if not n_lacking:
        widths = [[row["width"] for row in pt.plan(one, "a", "b").designs] for one in (found, wanted)]
        assert widths[0] == pytest.approx(widths[1], rel=1e-9)


@pytest.mark.parametrize("name", ["f1", "average-precision"])
def test_of_many_items_neither_the_seed_nor_their_names_matter(name):
    """Above 500 items they were dealt at random into bundles, so that intervals varied by a tenth."""
    rng = np.random.default_rng(6)
    label = (rng.random(900) < 0.3).astype(int)
    logits = 1.5 * label + rng.normal(size=(2, 900)) - 0.8
    second = 1 / (1 + np.exp(-logits))
    items = np.array([f"q{at:03d}" for at in range(900)])
    widths = []
    for seed, names in ((0, items), (1, items), (0, items[::-1])):
        models = {one: {"item": names, "0": 1 - p, "1": p} for one, p in zip("ab", second, strict=True)}
        reference = {"item": names, "label": label}
        row = pt.compare_metric(models, reference, name, engine="exact", seed=seed).pairs[0]
        widths.append(row.high - row.low)
    assert widths == pytest.approx([widths[0]] * 3, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", ["f1", "kappa", "ece"])
def test_new_annotators_are_covered(name):
    """Eight annotators with thresholds of their own; their part was left out, and coverage was 0.84, 0.75 and 0.47."""
    runs = 60

    def asked(rng, n_items):
        middle = rng.normal(size=n_items)
        tables = {}
        for model, shift in (("a", 0.6), ("b", -0.6)):
            p = 1 / (1 + np.exp(-2 * (middle + shift + 0.5 * rng.normal(size=n_items))))
            tables[model] = np.stack([1 - p, p], 1)
        return middle, tables

    middle, tables = asked(np.random.default_rng(0), 100_000)
    share = ndtr(middle / np.sqrt(1.25))
    truth = pt.Truth.from_probs(np.stack([1 - share, share], 1))
    true = pt.compare_metric(tables, truth, name, engine="exact").pairs[0].difference
    covered = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, 8])
        middle, tables = asked(rng, 300)
        votes = middle[:, None] + 0.5 * rng.normal(size=8) + rng.normal(size=(300, 8)) > 0
        row = pt.compare_metric(tables, answered(votes * 1), name, engine="exact").pairs[0]
        covered += row.low <= true <= row.high
    assert covered >= 0.9 * runs


def test_one_vote_an_item_is_said():
    single = {name: column[::4] for name, column in VOTES.items()}
    one, other = [pt.compare_metric(TABLES, single, name, engine="exact").warnings for name in ("accuracy", "kappa")]
    assert any("one vote an item" in said for said in one)
    assert any("one vote an item" in said for said in other)


def test_the_labels_part_is_that_of_labels_drawn_again():
    probs = np.clip(PROBS["a"] + 0.2 * RNG.normal(size=N), 0.05, 0.95)
    truth = np.stack([1 - probs, probs], 1)
    known = pt.Truth.from_probs(truth, estimand="class")
    found = metric("f1", {name: MODELS[name] for name in "ab"}, known)
    answers = [PROBS[name] >= 0.5 for name in "ab"]
    rng = np.random.default_rng(3)
    again = []
    for _ in range(2000):
        label = rng.random(N) < probs
        scores = [2 * (answer & label).sum() / (answer.sum() + label.sum()) for answer in answers]
        again.append(scores[0] - scores[1])
    row = found.pairs[0]
    variance = ((row.high - row.low) / 2 / 2.0) ** 2
    assert found.uncertainty["labels"] == pytest.approx(np.var(again) / variance, rel=0.25)


def test_ece_is_lower_the_better():
    found = metric("ece")
    assert not found.higher_is_better
    assert found.settings["n_bins"] == 15
    scores = [row["score"] for row in found.ranks]
    assert 0 < scores[0] < scores[1] < scores[2]


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
    assert (row["difference"], row["p_a_better"]) == (0.0, 0.5)
    assert row["low"] == -row["high"] < 0
    assert [row["p_best"] for row in found.ranks] == [0.5, 0.5]


@pytest.mark.parametrize(("name", "largest"), [("precision", 10 / 12 / 12), ("recall", 1 / 10)])
@pytest.mark.parametrize("design", [{}, {"groups": ["g", "h"] * 30}, {"clusters": [str(at // 2) for at in range(N)]}])
def test_answers_that_are_equally_right_do_not_say_that_the_models_are_equal(name, largest, design):
    """Both models answer twelve items with the label, all ten that have it among them.

    One item that told them apart would move precision by 10/12 in 12 and recall by 1 in 10 at most, twice that where
    items come in twos. Student's t with two degrees of freedom: 4.302653 (SciPy's `t.ppf`).
    """
    truth = np.arange(N) < 10
    answer = np.arange(N) < 12
    models = {}
    for model, p in (("a", 0.8), ("b", 0.7)):
        models[model] = np.stack([1 - answer * p, answer * p], 1)
    row = metric(name, models, truth.astype(int), **design).pairs[0]
    size = 2 if "clusters" in design else 1
    assert row["difference"] == 0.0
    assert row["high"] == pytest.approx(4.302653 * size * largest, rel=1e-6)
    assert row["low"] == -row["high"]


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


def test_bins_of_a_metric_that_has_none_are_refused():
    """They were ignored, as a label or a threshold is not."""
    with pytest.raises(pt.InputError, match="n_bins=5 with metric 'f1'"):
        metric("f1", n_bins=5)


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
    common = pt.compare_metric(tables, truth, "kappa", engine="exact")
    assert pt.Result.of(common).to_dict()["audit"]["missing"] == 2
    found = pt.compare_metric(tables, truth, "accuracy", engine="exact")
    result = pt.Result.of(found)
    assert {row["model"]: row["missing"] for row in result.to_dict()["audit"]["by_model"]}["b"] == 2
    rows = models(result).rows
    assert [float(row[1]) for row in rows] == pytest.approx([rank.score for rank in found.ranked], abs=5e-4)
