"""Truth that is given: soft or hard labels, checked once."""

import re

import numpy as np
import pytest

from probtruth.errors import InputError
from probtruth.types import Truth

PROBS = [[0.25, 0.75], [1.0, 0.0]]


def test_soft_labels() -> None:
    truth = Truth.from_probs(PROBS, items=["b", "a"], labels=["y", "x"])
    assert (truth.index.items, truth.index.labels) == (("a", "b"), ("x", "y"))
    assert truth.probs.tolist() == [[0, 1], [0.75, 0.25]]
    assert (truth.n_items, truth.estimand, truth.method) == (2, "distribution", "given")
    assert truth.shares is None


def test_hard_labels() -> None:
    truth = Truth.from_labels([2, 0], n_labels=3, items=np.array([10, 9]))
    assert truth.index.items == ("9", "10")
    assert truth.probs.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert truth.estimand == "class"


def test_by_item() -> None:
    """The entropy of .25 and .75 is log 4 - .75 log 3; of a certain label, 0."""
    table = Truth.from_probs(PROBS).by_item()
    assert table["item"].to_list() == ["0", "1"]
    assert table["entropy"].to_list() == [pytest.approx(np.log(4) - 0.75 * np.log(3), rel=1e-15), 0]


def test_given_labels_know_nothing_of_annotators() -> None:
    with pytest.raises(InputError, match="which knows nothing of annotators"):
        Truth.from_probs(PROBS).annotators()


@pytest.mark.parametrize(
    ("probs", "options", "message"),
    [
        ([[0.5, 0.6]], {}, "item 0: got soft labels that sum to 1.1"),
        ([[0.5, 0.5], [0.5, 0.6]], {"items": ["a", "b"]}, "item 'b': got soft labels that sum to 1.1"),
        ([[0.5, np.nan]], {}, "item 0: got soft labels nan for label '1'"),
        ([[1.5, -0.5]], {}, "got soft labels -0.5"),
        ([], {}, "soft labels with shape (0,)"),
        (PROBS, {"estimand": "classes"}, "estimand 'classes', expected one of 'distribution', 'class'"),
        (PROBS, {"items": ["a"]}, "2 items, expected 1"),
        (PROBS, {"labels": ["a", "a"]}, "label 'a' more than once"),
    ],
)
def test_errors(probs: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Truth.from_probs(probs, **options)


def test_labels_as_text_need_no_number():
    truth = Truth.from_labels(["dog", "cat", "dog"])
    assert truth.index.labels == ("cat", "dog")
    assert truth.probs.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert (truth.estimand, truth.index.positional_labels) == ("class", False)


def test_classes_name_all_labels_and_the_columns_of_arrays():
    truth = Truth.from_labels(["dog", "cat"], classes=["owl", "dog", "cat"])
    assert truth.index.labels == ("cat", "dog", "owl")
    assert truth.index.written("labels", "an array") == ("owl", "dog", "cat")
    by_position = Truth.from_labels([1, 2], classes=["owl", "dog", "cat"])
    np.testing.assert_array_equal(by_position.probs, truth.probs)


def test_integers_are_names_where_the_classes_are():
    truth = Truth.from_labels(np.array([3, 1]), classes=[1, 2, 3])
    assert truth.probs.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert Truth.from_labels([True, False], n_labels=2).probs.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([0, 1], {}, "integer labels alone"),
        ([[0]], {"n_labels": 3}, r"of type int64 and shape \(1, 1\)"),
        (["a", "b"], {"n_labels": 3}, "got 2 labels"),
        (["a", "emu"], {"classes": ["a", "b"]}, "label 'emu'"),
        (["a", None], {}, "blank name"),
        ([3, 4], {"classes": [1, 2, 3]}, "label '4'"),
        ([0.5, 1.5], {"classes": ["a", "b"]}, "one integer for each item"),
        ([[1], [1, 2]], {}, "labels in rows of several lengths"),
    ],
)
def test_labels_that_are_not_known(labels, options, message):
    with pytest.raises(InputError, match=message):
        Truth.from_labels(labels, **options)
