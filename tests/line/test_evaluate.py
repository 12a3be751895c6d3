"""The whole line in Python: alignment, estimands, and what the result says of itself."""

from dataclasses import replace

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.types import index

VOTES = np.array([[4, 1], [0, 5], [2, 3], [5, 0], [3, 2], [1, 4]])
A = np.array([[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
B = np.array([[0.6, 0.4], [0.4, 0.6], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.3, 0.7]])
ITEMS = list("uvwxyz")


def _evaluate(votes=VOTES, a=A, b=B, items=None, **options):
    annotations = pt.Annotations.from_counts(votes, items=items)
    predictions = pt.Predictions.from_probs({"a": a, "b": b}, items=items)
    return pt.evaluate(annotations, predictions, engine="exact", **options)


def test_the_distribution_methods_give_the_same_centre_and_class_methods_another():
    """Smoothing the labels would shift the centre (shrinkage), so every distribution method scores the raw shares."""
    pairs = {method: _evaluate(method=method).comparison.pairs for method in ("vote-share", "dirichlet", "majority")}
    assert pairs["vote-share"] == pairs["dirichlet"]
    assert pairs["majority"] != pairs["vote-share"]


def test_logits_that_are_plainly_probabilities_are_warned_of():
    result = pt.evaluate(
        pt.Annotations.from_counts(VOTES), pt.Predictions.from_logits({"a": A, "b": 4 * B}), engine="exact"
    )
    assert [warning for warning in result.warnings if "the logits of 'a' look like probabilities" in warning]


@pytest.mark.parametrize("models", [("a",), ("a", "b")])
@pytest.mark.parametrize("estimand", ["distribution", "class"])
def test_models_that_all_have_an_infinite_loss_are_told(models, estimand, tmp_path):
    """Where the annotators are named a ValueError came."""
    rows = [(item, who, "xy"[(place + len(who)) % 2]) for place, item in enumerate(ITEMS) for who in ("j", "kk", "l")]
    table = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    sure = pt.Predictions.from_probs(dict.fromkeys(models, [[1.0, 0.0]] * 6), items=ITEMS, labels=["x", "y"])
    result = pt.evaluate(pt.Annotations.from_long(table), sure, estimand=estimand, engine="exact")
    assert [rank.score for rank in result.comparison.ranks] == [np.inf] * len(models)
    assert any("infinite score" in warning for warning in result.warnings)
    pt.write_report(result, tmp_path / "report")
    if len(models) > 1:
        from_sums = pt.compare(pt.Moments.of(result.scores), engine="exact")
        assert from_sums.ranks == result.comparison.ranks


def test_many_items_whose_names_stay_in_one_column_have_the_same_result(monkeypatch):
    order = [3, 0, 5, 1, 4]  # one that was not predicted
    models = {
        name: polars.DataFrame({"item": [7 * row + 3 for row in order], "0": probs[order, 0], "1": probs[order, 1]})
        for name, probs in (("a", A), ("b", B))
    }
    votes = polars.DataFrame({"item": [7 * row + 3 for row in range(6)], "0": VOTES[:, 0], "1": VOTES[:, 1]})
    results = []
    for many in (100, 0):
        monkeypatch.setattr(index, "MANY", many)
        annotations = pt.read_annotations(votes, format="counts")
        results.append(pt.evaluate(annotations, models, groups=["p", "q"] * 3, engine="exact"))
    text, column = results
    assert not isinstance(column.truth.index.items, tuple)
    assert column.truth.index.items == text.truth.index.items
    assert list(column.scores.items) == list(text.scores.items)
    assert column.to_dict() == text.to_dict()


def test_items_on_one_side_only_are_dropped_and_counted():
    annotations = pt.Annotations.from_counts(VOTES, items=ITEMS)
    predictions = pt.Predictions.from_probs({"a": A, "b": B}, items=[*ITEMS[:4], "new", "newer"])
    result = pt.evaluate(annotations, predictions, engine="exact")
    assert result.to_dict()["audit"]["missing"] == 2
    assert result.to_dict()["audit"]["extra"] == 2
    assert result.to_dict()["audit"]["dropped"] == 4
    assert result.scores.items == tuple(ITEMS[:4])
    assert any("4 items dropped" in warning for warning in result.warnings)


@pytest.mark.parametrize("items", [None, ITEMS])
def test_an_item_without_votes_is_dropped_for_all(items):
    votes = VOTES.copy()
    votes[2] = 0
    result = _evaluate(votes=votes, items=items)
    keep = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(
        result.scores.values, _evaluate(votes=VOTES[keep], a=A[keep], b=B[keep]).scores.values
    )
    assert result.audit.extra == (("2",) if items is None else ("w",))


def test_an_infinite_loss_stays_infinite_and_is_counted():
    sure = A.copy()
    sure[1] = [1.0, 0.0]
    result = _evaluate(a=sure)
    rows = {row["model"]: row for row in result.comparison.ranks}
    assert rows["a"]["score"] == np.inf
    assert rows["a"]["p_best"] == 0
    assert rows["b"]["p_best"] == 1
    assert any("infinite score on 1 of 6 items ('1')" in warning for warning in result.warnings)
    floored = _evaluate(a=sure, floor=0.01)
    assert np.isfinite(floored.comparison.pairs[0]["difference"])
    assert any("not proper" in warning for warning in floored.warnings)


def test_given_soft_labels_are_scored_as_they_are():
    truth = pt.Truth.from_probs(VOTES / 5)
    predictions = pt.Predictions.from_probs({"a": A, "b": B})
    result = pt.evaluate(truth, predictions, engine="exact")
    np.testing.assert_allclose(result.scores.values, _evaluate().scores.values, rtol=1e-12)
    assert result.comparison.uncertainty["labels"] is None
    assert _evaluate().to_dict()["other_estimand"] is None, "counts without annotators have no classes to show"


def test_groups_follow_the_order_of_the_reference_even_where_items_are_dropped():
    annotations = pt.Annotations.from_counts(VOTES, items=ITEMS)
    predictions = pt.Predictions.from_probs({"a": A[1:], "b": B[1:]}, items=ITEMS[1:])
    as_list = pt.evaluate(annotations, predictions, engine="exact", groups=["p", "p", "p", "q", "q", "q"])
    as_dict = pt.evaluate(annotations, predictions, engine="exact", groups=dict(zip(ITEMS, "pppqqq", strict=True)))
    assert as_list.to_dict() == as_dict.to_dict()
    assert as_list.to_dict()["settings"]["groups"] == 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda ann, pred: pt.evaluate(None, pred), "got NoneType, expected Annotations or Truth"),
        (lambda ann, pred: pt.evaluate(ann, A), "expected a dict {model name: table or path}"),
        (lambda ann, pred: pt.evaluate(ann, pred, groups=["p"]), "got 1 items in groups, expected 6"),
        (lambda ann, pred: pt.evaluate(pt.Truth.from_probs(A), pred, method="dirichlet"), "truth that is given"),
    ],
)
def test_errors(build, message):
    annotations = pt.Annotations.from_counts(VOTES)
    predictions = pt.Predictions.from_probs({"a": A, "b": B})
    with pytest.raises(pt.InputError, match=message):
        build(annotations, predictions)


@pytest.mark.long
def test_the_other_estimand_is_shown_and_a_reversal_is_a_warning():
    """The demo's labels: under shares the logistic model leads the network, under one true class it trails it."""
    from probtruth.demo import load

    annotations, predictions = load()
    result = pt.evaluate(annotations, predictions, engine="exact")
    other = result.to_dict()["other_estimand"]
    assert other["estimand"] == "class"
    assert [(row["a"], row["b"]) for row in other["changes"]] == [("logistic", "neural-network")]
    assert any("the choice of estimand matters" in warning for warning in result.warnings)
    asked = pt.evaluate(annotations, predictions, method="ability", engine="exact").to_dict()
    assert asked["other_estimand"]["estimand"] == "distribution"
    assert {row["model"]: row["score"] for row in asked["models"]} == {
        row["model"]: row["score"] for row in other["models"]
    }


def test_classes_under_other_names_are_warned_of():
    """Given truth whose method says that its classes were switched, or that it did not converge."""
    given = pt.Truth.from_probs(VOTES / 5)
    trouble = replace(given, diagnostics={"label_switching": True, "converged": False, "n_iterations": 7})
    result = pt.evaluate(trouble, pt.Predictions.from_probs({"a": A, "b": B}), engine="exact")
    assert any("under other names" in words for words in result.warnings)
    assert any("did not converge in 7" in words for words in result.warnings)


def test_a_sampled_truth_that_did_not_converge_says_by_how_much_and_what_to_do():
    trouble = {"converged": False, "n_iterations": 800, "max_rhat": 1.2795}
    truth = replace(pt.Truth.from_probs(VOTES / 5), method="hierarchical-dawid-skene", diagnostics=trouble)
    result = pt.evaluate(truth, pt.Predictions.from_probs({"a": A, "b": B}), engine="exact")
    wanted = "hierarchical-dawid-skene did not converge in 800 iterations (R-hat 1.28): do not rely on its classes"
    assert any(words.startswith(wanted) for words in result.warnings)


def by_people() -> pt.Annotations:
    """Six items by three people and a bot, who says 1 on every item and alone answered the last."""
    rows = [(item, who, int(VOTES[at, 1] > 2)) for at, item in enumerate(ITEMS[:5]) for who in ("ann", "bo", "cy")]
    rows += [(item, "bot", 1) for item in ITEMS]
    return pt.Annotations.from_long(dict(zip(["item", "annotator", "label"], zip(*rows, strict=True), strict=True)))


def test_annotators_that_are_left_out_stand_in_the_audit():
    predictions = pt.Predictions.from_probs({"a": A, "b": B}, items=ITEMS, labels=[0, 1])
    result = pt.evaluate(by_people().without_annotators(["bot"]), predictions, engine="exact").to_dict()
    assert result["audit"]["excluded_annotators"] == ["bot"]
    assert result["audit"]["extra"] == 1
    assert result["truth"]["n_annotators"] == 3
    assert "1 annotator left out as asked ('bot')" in result["warnings"]
    rest = by_people().without_annotators(["bot"]).annotated()[0]
    again = pt.evaluate(rest, predictions, engine="exact").to_dict()
    assert [row["score"] for row in again["models"]] == [row["score"] for row in result["models"]]


def test_counts_alone_say_when_classes_could_reverse_the_order():
    """Calibrated forecasts win by opinions, sharpened ones by the label that most votes name (trap 11)."""
    random = np.random.default_rng(0)
    p = np.where(np.arange(60) % 2, 0.3, 0.7) + random.uniform(-0.08, 0.08, 60)
    calibrated = np.stack([p, 1 - p], 1)
    sharpened = calibrated**4 / (calibrated**4).sum(1, keepdims=True)
    votes = np.stack([yes := random.binomial(20, p), 20 - yes], 1)
    result = _evaluate(votes, calibrated, sharpened)
    assert result.to_dict()["models"][0]["model"] == "a"
    assert sum("cannot be excluded: counts without annotators" in words for words in result.warnings) == 1
    assert not any("cannot be excluded: counts" in words for words in _evaluate().warnings)
