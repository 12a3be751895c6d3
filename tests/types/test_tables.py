"""What the constructors take: arrays of any library, dataframes by the names of their columns, xarray by its coords."""

import jax.numpy as jnp
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

import probtruth as pt
from probtruth.errors import InputError

PROBS = np.array([[0.75, 0.25], [0.5, 0.5]])


class Tensor:
    """Only DLPack, as a tensor of another library may have it."""

    def __init__(self, values: np.ndarray) -> None:
        self.values_ = values

    def __dlpack__(self, **options: object) -> object:
        return self.values_.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values_.__dlpack_device__()


class OnAnotherDevice:
    """As a tensor in the memory of a GPU, or one that records gradients, answers NumPy."""

    def __array__(self, *arguments: object, **options: object) -> np.ndarray:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def __dlpack__(self) -> object:
        raise BufferError("not here")


class HuggingFace:
    """The part of `datasets.Dataset` that is used."""

    def __init__(self, columns: dict[str, list[object]]) -> None:
        self.columns_ = columns
        self.column_names = list(columns)

    def to_polars(self) -> polars.DataFrame:
        return polars.DataFrame(self.columns_)


@pytest.mark.parametrize(
    "kind", [np.asarray, jnp.asarray, Tensor, np.ndarray.tolist, lambda a: polars.DataFrame(a), pandas.DataFrame]
)
def test_arrays_without_names(kind) -> None:
    predictions = pt.Predictions.from_probs({"m": kind(PROBS)})
    assert predictions.index.positional_items
    assert predictions.index.positional_labels
    np.testing.assert_array_equal(predictions.probs[0], PROBS)
    np.testing.assert_array_equal(pt.Truth.from_probs(kind(PROBS)).probs, PROBS)


NAMED = {"item": ["b", "a"], "dog": [0.75, 0.5], "cat": [0.25, 0.5]}


@pytest.mark.parametrize(
    "table",
    [
        polars.DataFrame(NAMED),
        polars.LazyFrame(NAMED),
        pandas.DataFrame(NAMED),
        pandas.DataFrame(NAMED).set_index("item"),
        pyarrow.table(NAMED),
        HuggingFace(NAMED),
        xarray.DataArray(PROBS, {"item": ["b", "a"], "label": ["dog", "cat"]}, ["item", "label"]),
        xarray.DataArray(PROBS.T, {"item": ["b", "a"], "label": ["dog", "cat"]}, ["label", "item"]),
    ],
    ids=["polars", "lazy", "pandas", "pandas index", "arrow", "datasets", "xarray", "xarray turned"],
)
def test_tables_by_name(table: object) -> None:
    for made in (pt.Predictions.from_probs({"m": table}).probs[0], pt.Truth.from_probs(table).probs):
        np.testing.assert_array_equal(made, [[0.5, 0.5], [0.25, 0.75]])
    index = pt.Truth.from_probs(table).index
    assert (index.items, index.labels) == (("a", "b"), ("cat", "dog"))


def test_models_are_put_in_one_order_by_name() -> None:
    """By position, the second model's columns would be exchanged."""
    other = polars.DataFrame({"cat": [0.9, 0.2], "item": ["a", "b"], "dog": [0.1, 0.8]})
    predictions = pt.Predictions.from_probs({"m": polars.DataFrame(NAMED), "n": other})
    np.testing.assert_array_equal(predictions.log_probs[1], np.log([[0.9, 0.1], [0.2, 0.8]]))
    third = polars.DataFrame({"item": ["a", "c"], "dog": [0.1, 0.8], "cat": [0.9, 0.2]})
    with pytest.raises(InputError, match=r"model 'n' with the items 'a', 'c' .others: 'b', 'c'., expected .* 'b', 'a'"):
        pt.Predictions.from_probs({"m": polars.DataFrame(NAMED), "n": third})


def test_counts_and_long_tables() -> None:
    counts = pt.Annotations.from_counts(pandas.DataFrame({"x": [1, 2], "y": [0, 4]}, index=["b", "a"]))
    assert (counts.index.items, counts.counts().tolist()) == (("a", "b"), [[2, 4], [1, 0]])
    long = HuggingFace({"item": ["a", "a"], "annotator": ["p", "q"], "label": ["x", "y"]})
    assert pt.Annotations.from_long(long).n_annotators == 2
    data = xarray.DataArray(
        [[1.0, 2.0], [3.0, 4.0]], {"model": ["m", "n"], "item": ["a", "b"]}, ["model", "item"], "score"
    )
    assert pt.Scores.from_frame(data, higher_is_better=False).values.tolist() == [[1, 2], [3, 4]]
    assert pt.Scores.from_frame(data.to_dataset(), higher_is_better=False).values.tolist() == [[1, 2], [3, 4]]
    columns = {"item": ["a", "b"], "model": ["m", "m"], "score": Tensor(np.array([1.0, 2.0]))}
    assert pt.Scores.from_frame(columns, higher_is_better=False).values.tolist() == [[1, 2]]


def test_tensors_that_numpy_cannot_read() -> None:
    with pytest.raises(InputError, match=r"requires grad.*tensor\.detach\(\)\.cpu\(\)"):
        pt.Predictions.from_probs({"m": OnAnotherDevice()})


def test_text_in_a_table() -> None:
    with pytest.raises(InputError, match="column 'cat': got 'x', expected a number"):
        pt.Truth.from_probs(polars.DataFrame({"item": ["a"], "cat": ["x"], "dog": [1.0]}))


@pytest.mark.parametrize(
    ("one", "other"),
    [("cat", "cat "), ("cat", "Cat"), ("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b")],
    ids=["spaces", "case", "accents", "no-break space"],
)
def test_labels_that_look_the_same_are_warned_of(one: str, other: str) -> None:
    labels = [one, other, "dog"]
    annotations = pt.Annotations.from_long({"item": list("abc"), "annotator": ["x"] * 3, "label": labels})
    models = {"m": [[0.5, 0.25, 0.25]] * 3, "n": [[0.25, 0.5, 0.25]] * 3}
    predictions = pt.Predictions.from_probs(models, ["a", "b", "c"], labels)
    result = pt.evaluate(annotations, predictions, engine="exact")
    (said,) = [warning for warning in result.warnings if "labels that differ only in" in warning]
    assert ascii(one) in said
    assert ascii(other) in said
