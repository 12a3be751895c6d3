"""Labels that differ in what nobody sees, and labels whose names a dataset keeps beside the numbers."""

import polars
import pytest

import probtruth as pt


class ClassLabel:
    """As Hugging Face's `datasets.ClassLabel`: names of the integers 0, 1, ..."""

    names = ("negative", "positive")


class Value:
    """As `datasets.Value`: a feature without names."""


class Dataset:
    """As `datasets.Dataset`: columns, and features that say what they are."""

    def __init__(self, labels: list[int | None]) -> None:
        self.features = {"item": Value(), "annotator": Value(), "label": ClassLabel()}
        self.labels = labels

    def to_polars(self) -> polars.DataFrame:
        n = len(self.labels)
        return polars.DataFrame({"item": ["a", "b", "c"][:n], "annotator": ["x"] * n, "label": self.labels})


def test_names_of_a_dataset_are_its_labels() -> None:
    annotations = pt.Annotations.from_long(Dataset([1, 0, 1]))
    assert annotations.index.labels == ("negative", "positive")
    assert annotations.counts().tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("missing", [-1, None])
def test_a_missing_label_of_a_dataset_is_blank(missing: int | None) -> None:
    """`datasets` writes -1 where a test set hides its labels."""
    with pytest.raises(pt.InputError, match="row 2, column 'label': got a blank cell"):
        pt.Annotations.from_long(Dataset([1, missing]))


def test_a_number_without_a_name() -> None:
    with pytest.raises(pt.InputError, match=r"2 in the column 'label', expected one of 0 to 1"):
        pt.Annotations.from_long(Dataset([1, 2]))


@pytest.mark.parametrize(
    ("one", "other"),
    [("cat", "cat "), ("cat", "Cat"), ("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b")],
    ids=["spaces", "case", "accents", "no-break space"],
)
def test_labels_that_look_the_same_are_warned_of(one: str, other: str) -> None:
    rows = {"item": list("abc"), "annotator": ["x"] * 3, "label": [one, other, "dog"]}
    annotations = pt.Annotations.from_long(rows)
    assert len(annotations.index.labels) == 3
    labels = [one, other, "dog"]
    models = {"m": [[0.5, 0.25, 0.25]] * 3, "n": [[0.25, 0.5, 0.25]] * 3}
    predictions = pt.Predictions.from_probs(models, ["a", "b", "c"], labels)
    result = pt.evaluate(annotations, predictions, engine="exact")
    said = [warning for warning in result.warnings if "labels that differ only in" in warning]
    assert len(said) == 1
    assert ascii(one) in said[0]
    assert ascii(other) in said[0]
