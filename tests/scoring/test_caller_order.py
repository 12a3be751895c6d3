"""An array without names follows the order in which the caller gave the other side, never a sorted order."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.errors import InputError

GENERATOR = np.random.default_rng(0)
N = 12
ITEMS = [f"img-{number}" for number in range(N)]  # sorted: img-0, img-1, img-10, img-11, img-2, ...
LABELS = ["positive", "negative", "neutral"]  # sorted: not the inverse of their own order
PROBS = GENERATOR.dirichlet(np.ones(3), N)
VOTES = GENERATOR.multinomial(20, PROBS)
TWO = {"a": PROBS, "b": np.full((N, 3), 1 / 3)}
HARD = VOTES.argmax(1)
EXPECTED = -(VOTES / 20 * np.log(PROBS)).sum(1).mean()  # The mean log loss row by row, by its formula


def mean_score(predictions: pt.Predictions, truth: pt.Truth) -> float:
    return float(pt.score(predictions, truth).values[0].mean())


def long_form() -> pt.Annotations:
    cells = [(i, k) for i in range(N) for k in range(3) for _ in range(VOTES[i, k])]
    rows = [(ITEMS[i], f"annotator {number}", LABELS[k]) for number, (i, k) in enumerate(cells)]
    return pt.Annotations.from_long(dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True)))


@pytest.mark.parametrize("names", [{"items": ITEMS}, {"labels": LABELS}, {"items": ITEMS, "labels": LABELS}])
def test_names_on_one_side(names):
    bare, named = pt.Predictions.from_probs({"a": PROBS}), pt.Predictions.from_probs({"a": PROBS}, **names)
    expected = -np.log(PROBS[np.arange(N), HARD]).mean()
    assert mean_score(named, pt.Truth.from_labels(HARD, 3)) == pytest.approx(expected)
    assert mean_score(named, pt.Truth.from_probs(np.eye(3)[HARD])) == pytest.approx(expected)
    assert mean_score(bare, pt.Truth.from_probs(np.eye(3)[HARD], **names)) == pytest.approx(expected)
    of_votes = pt.infer_truth(pt.Annotations.from_counts(VOTES, **names), "vote-share")
    assert mean_score(bare, of_votes) == pytest.approx(EXPECTED)


def test_groups_as_a_list_follow_the_caller():
    groups = ["even" if row % 2 == 0 else "odd" for row in range(N)]
    by_name = pt.evaluate(
        pt.Annotations.from_counts(VOTES, ITEMS),
        pt.Predictions.from_probs(TWO),
        groups=dict(zip(ITEMS, groups, strict=True)),
        engine="exact",
    )
    expected = by_name.comparison.group_results
    truth = pt.infer_truth(pt.Annotations.from_counts(VOTES, ITEMS), draws=0)
    bare = pt.infer_truth(pt.Annotations.from_counts(VOTES), draws=0)
    named = pt.Predictions.from_probs(TWO, ITEMS)
    assert len(expected) > 0
    for reference, predictions in ((truth, pt.Predictions.from_probs(TWO)), (bare, named), (truth, named)):
        line = pt.evaluate(reference, predictions, groups=groups, engine="exact").comparison
        alone = pt.compare(pt.score(predictions, reference), groups=groups, engine="exact")
        assert line.group_results == alone.group_results == expected


def test_groups_of_a_table_of_scores_follow_its_rows():
    losses = {"item": ITEMS * 2, "model": ["a"] * N + ["b"] * N, "score": [*GENERATOR.normal(size=N), *range(N)]}
    groups = ["first" if row < N // 2 else "last" for row in range(N)]
    scores = pt.Scores.from_frame(losses, higher_is_better=False)
    by_name = pt.compare(scores, groups=dict(zip(ITEMS, groups, strict=True)), engine="exact")
    assert pt.compare(scores, groups=groups, engine="exact").group_results == by_name.group_results
    other = pt.Scores.from_frame({**losses, "item": [*ITEMS, *reversed(ITEMS)]}, higher_is_better=False)
    with pytest.raises(InputError, match=r"groups as a list, for items in no order .* \{item: group\}"):
        pt.compare(other, groups=groups, engine="exact")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: pt.Predictions.from_probs(TWO), r"without names of items.*items=\[\.\.\.\]"),
        (lambda: pt.Predictions.from_probs(TWO, ITEMS), r"without names of labels.*labels=\[\.\.\.\]"),
        (lambda: pt.Predictions.from_probs(TWO, index=long_form().index), r"without names of items"),
    ],
)
def test_long_annotations_and_a_bare_array(call, match):
    with pytest.raises(InputError, match=match):
        pt.evaluate(long_form(), call())


def test_all_labels_of_long_annotations_are_an_order():
    rows = {"item": ["x", "x", "y"], "annotator": ["p", "q", "p"], "label": ["no", "no", "yes"]}
    truth = pt.infer_truth(pt.Annotations.from_long(rows, labels=["yes", "no"]), "vote-share")
    predictions = pt.Predictions.from_probs({"a": [[0.25, 0.75], [0.5, 0.5]]}, items=["x", "y"])
    assert pt.score(predictions, truth, rule="brier").values.tolist() == [[0.125, 0.5]]  # 2 (1 - p)^2


def test_numbers_of_rows_and_columns_are_names_that_an_array_has():
    rows = {"item": [1, 1, 0, 10, *range(2, 10)], "annotator": list("pqp" + "p" * 9), "label": [1] * 4 + [0] * 8}
    truth = pt.infer_truth(pt.Annotations.from_long(rows), "vote-share")
    sure = np.eye(2)[[1, 1, *[0] * 8, 1]]
    assert mean_score(pt.Predictions.from_probs({"a": sure}), truth) == 0.0


def test_files_in_one_order_are_an_order_and_in_two_are_none(tmp_path):
    lines = ["b,.9,.1", "a,.2,.8"]
    for name, order in (("one", 1), ("two", 1), ("turned", -1)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,cat,dog", *lines[::order]]) + "\n")
    truth = pt.Truth.from_labels([0, 1], 2)
    files = {name: tmp_path / f"{name}.csv" for name in ("one", "two")}
    assert mean_score(pt.read_predictions(files), truth) == pytest.approx(-np.log([0.9, 0.8]).mean())
    turned = pt.read_predictions({**files, "turned": tmp_path / "turned.csv"})
    with pytest.raises(InputError, match="the reference without names of items"):
        pt.score(turned, truth)


def test_items_without_votes_keep_the_order_of_the_others():
    votes = VOTES.copy()
    votes[[1, 3]] = 0
    kept = [row for row in range(N) if row not in (1, 3)]
    expected = -(votes[kept] / 20 * np.log(PROBS[kept])).sum(1).mean()
    result = pt.evaluate(
        pt.Annotations.from_counts(votes, ITEMS, LABELS), pt.Predictions.from_probs(TWO), engine="exact"
    )
    assert result.scores.values[0].mean() == pytest.approx(expected)
    alone = pt.infer_truth(pt.Annotations.from_counts(votes, ITEMS, LABELS).annotated()[0], "vote-share")
    assert mean_score(pt.Predictions.from_probs({"a": PROBS[kept]}), alone) == pytest.approx(expected)


LOW_TO_HIGH = ["low", "medium", "high"]  # sorted: high, low, medium
TRUTH = pt.Truth.from_probs([[1, 0, 0], [1, 0, 0]], items=["x", "y"], labels=LOW_TO_HIGH)
MODELS = pt.Predictions.from_probs(
    {"near": [[0, 1, 0], [0, 1, 0]], "far": [[0, 0, 1], [0, 0, 1]]}, items=["x", "y"], labels=LOW_TO_HIGH
)
BY_HAND = [[1.0, 1.0], [2.0, 2.0]]  # sum_{j<3} (P_j - [y <= j])^2 for y = low: one step above is 1, two steps are 2


def test_the_order_that_is_given():
    scores = pt.score(MODELS, TRUTH, rule="ranked-probability", order=LOW_TO_HIGH)
    assert scores.values.tolist() == BY_HAND
    assert scores.known.label_order == ("low", "medium", "high")
    rule = pt.rules.ranked_probability.in_order(LOW_TO_HIGH)
    assert pt.decompose(MODELS, TRUTH, rule=rule)["expected"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize("labels", [[1, 2, 10], ["-0.5", "2", "10"], None])
def test_numbers_are_ordered_by_value(labels):
    truth = pt.Truth.from_probs([[1, 0, 0], [1, 0, 0]], labels=labels)
    models = pt.Predictions.from_probs({"near": [[0, 1, 0], [0, 1, 0]], "far": [[0, 0, 1], [0, 0, 1]]}, labels=labels)
    assert pt.score(models, truth, rule="ranked-probability").values.tolist() == BY_HAND


def test_what_is_no_number_has_no_order():
    """Sorted beside NaN, 1 stays above 0 or comes below it, as the labels happen to stand."""
    labels = ["nan", "1", "0"]
    models = pt.Predictions.from_probs({"a": [[0.2, 0.3, 0.5]]}, labels=labels)
    with pytest.raises(InputError, match="each another one, or their order"):
        pt.score(models, pt.Truth.from_probs([[1, 0, 0]], labels=labels), rule="ranked-probability")


def test_two_labels_need_no_order():
    truth = pt.Truth.from_probs([[0.25, 0.75]], labels=["yes", "no"])
    models = pt.Predictions.from_probs({"a": [[0.5, 0.5]]}, labels=["yes", "no"])
    assert pt.score(models, truth, rule="ranked-probability").values.tolist() == [[0.25]]  # (1/2)^2 whatever comes


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (None, r"the labels 'high', 'low', 'medium', expected labels that are numbers.*--rule ranked-probability"),
        (["low", "high"], r"order lacks the label 'medium'"),
        (5, r"order as a int.*Give order="),
        (["low", "low", "high"], r"label 'low' more than once"),
        ("low,medium,high", r"order as a str.*Give order="),
    ],
)
def test_errors(order, message):
    with pytest.raises(InputError, match=message):
        pt.score(MODELS, TRUTH, rule="ranked-probability", order=order)
    with pytest.raises(InputError, match="an order of labels for the rule 'log'"):
        pt.score(MODELS, TRUTH, rule="log", order=LOW_TO_HIGH)


def test_the_order_stands_in_the_settings():
    votes = np.array([[3, 1, 0], [0, 2, 2], [1, 1, 2], [4, 0, 0]])
    models = {"a": (votes + 0.5) / (votes + 0.5).sum(1, keepdims=True), "b": np.full((4, 3), 1 / 3)}
    annotations = pt.Annotations.from_counts(votes, labels=LOW_TO_HIGH)
    options = {"rule": "ranked-probability", "order": LOW_TO_HIGH, "engine": "exact"}
    result = pt.evaluate(annotations, pt.Predictions.from_probs(models), **options)
    assert result.to_dict()["settings"]["label_order"] == LOW_TO_HIGH
    assert [row["model"] for row in result.to_dict()["models"]] == ["a", "b"]
