"""Rules that depend on the order of the labels: text needs an order, numbers have one."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.errors import InputError

LOW_TO_HIGH = ["low", "medium", "high"]  # sorted: high, low, medium
TRUTH = pt.Truth.from_probs([[1, 0, 0], [1, 0, 0]], items=["x", "y"], labels=LOW_TO_HIGH)
MODELS = pt.Predictions.from_probs(
    {"near": [[0, 1, 0], [0, 1, 0]], "far": [[0, 0, 1], [0, 0, 1]]}, items=["x", "y"], labels=LOW_TO_HIGH
)
BY_HAND = [[1.0, 1.0], [2.0, 2.0]]
"""sum_{j<3} (P_j - [y <= j])^2 for y = low: one step above is 1, two steps are 2."""


def test_the_order_that_is_given() -> None:
    scores = pt.score(MODELS, TRUTH, rule="ranked-probability", order=LOW_TO_HIGH)
    assert scores.values.tolist() == BY_HAND
    assert scores.known.label_order == ("low", "medium", "high")
    rule = pt.rules.ranked_probability.in_order(LOW_TO_HIGH)
    assert pt.decompose(MODELS, TRUTH, rule=rule)["expected"].to_list() == [1.0, 2.0]


def test_text_without_an_order() -> None:
    hint = r"the labels 'high', 'low', 'medium', expected labels that are numbers.*--rule ranked-probability"
    with pytest.raises(InputError, match=hint):
        pt.score(MODELS, TRUTH, rule="ranked-probability")


@pytest.mark.parametrize("labels", [[1, 2, 10], ["-0.5", "2", "10"], None])
def test_numbers_are_ordered_by_value(labels: list[object] | None) -> None:
    truth = pt.Truth.from_probs([[1, 0, 0], [1, 0, 0]], labels=labels)
    models = pt.Predictions.from_probs({"near": [[0, 1, 0], [0, 1, 0]], "far": [[0, 0, 1], [0, 0, 1]]}, labels=labels)
    assert pt.score(models, truth, rule="ranked-probability").values.tolist() == BY_HAND


@pytest.mark.parametrize("labels", [["nan", "1", "0"], ["1", "1.0", "0"]])
def test_what_is_no_number_or_the_same_one_has_no_order(labels: list[str]) -> None:
    """Sorted beside NaN, 1 stays above 0 or comes below it, as the labels happen to stand."""
    models = pt.Predictions.from_probs({"a": [[0.2, 0.3, 0.5]]}, labels=labels)
    with pytest.raises(InputError, match="each another one, or their order"):
        pt.score(models, pt.Truth.from_probs([[1, 0, 0]], labels=labels), rule="ranked-probability")


def test_two_labels_need_no_order() -> None:
    truth = pt.Truth.from_probs([[0.25, 0.75]], labels=["yes", "no"])
    models = pt.Predictions.from_probs({"a": [[0.5, 0.5]]}, labels=["yes", "no"])
    assert pt.score(models, truth, rule="ranked-probability").values.tolist() == [[0.25]]  # (1/2)^2 whatever comes


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["low", "high"], r"order lacks the label 'medium'"),
        (5, "the order 5, expected a list of labels"),
        (["low", "low", "high"], r"label 'low' more than once"),
        ("low,medium,high", r"a list of labels"),
    ],
)
def test_errors(order: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pt.score(MODELS, TRUTH, rule="ranked-probability", order=order)  # type: ignore[arg-type]


def test_an_order_that_nothing_needs() -> None:
    with pytest.raises(InputError, match="an order of labels for the rule 'log'"):
        pt.score(MODELS, TRUTH, rule="log", order=LOW_TO_HIGH)


def test_the_order_stands_in_the_settings() -> None:
    votes = np.array([[3, 1, 0], [0, 2, 2], [1, 1, 2], [4, 0, 0]])
    models = {"a": (votes + 0.5) / (votes + 0.5).sum(1, keepdims=True), "b": np.full((4, 3), 1 / 3)}
    annotations = pt.Annotations.from_counts(votes, labels=LOW_TO_HIGH)
    options = {"rule": "ranked-probability", "order": LOW_TO_HIGH, "engine": "exact"}
    result = pt.evaluate(annotations, pt.Predictions.from_probs(models), **options)  # type: ignore[arg-type]
    assert result.to_dict()["settings"]["label_order"] == LOW_TO_HIGH
    assert [row["model"] for row in result.to_dict()["models"]] == ["a", "b"]
