"""Any dataframe becomes the same columns; names become text by one rule."""

import numpy as np
import pandas
import polars
import pytest

import probtruth as pt
from probtruth import frames
from probtruth.check import Source

TABLE = {"item": [2, 1, 10], "annotator": ["u", "v", "u"], "label": ["no", "yes", "no"]}


@pytest.mark.parametrize("frame", [TABLE, polars.DataFrame(TABLE), polars.LazyFrame(TABLE), pandas.DataFrame(TABLE)])
def test_every_kind_of_frame_gives_the_same_annotations(frame):
    made = pt.Annotations.from_long(frame)
    assert made.index.items == ("1", "2", "10")
    assert made.index.labels == ("no", "yes")
    assert made.item.tolist() == [1, 0, 2]
    assert made.label.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("007", "007"),
        (7, "7"),
        (np.int8(7), "7"),
        (7.0, "7.0"),
        (np.float32(0.1), "0.10000000149011612"),
        (True, "true"),
        (np.bool_(False), "false"),
        (" a ", " a "),
    ],
)
def test_names_as_text(value, text):
    assert frames.name_text(value) == text


def test_columns_of_several_types_become_text():
    mixed = {"item": ["a", 7, 2.5], "annotator": [1, "x", True], "label": ["p", "q", "p"]}
    for frame in (mixed, pandas.DataFrame(mixed)):
        made = pt.Annotations.from_long(frame)
        assert made.index.items == ("2.5", "7", "a")
        assert made.index.annotators == ("1", "true", "x")


@pytest.mark.parametrize("blank", [None, float("nan"), "", "  "])
def test_a_blank_name_is_an_error_with_its_row(blank):
    frame = pandas.DataFrame({**TABLE, "item": ["a", blank, "c"]})
    with pytest.raises(pt.InputError, match=r"the table, row 2, column 'item': got a blank cell"):
        pt.Annotations.from_long(frame)


@pytest.mark.parametrize("frame", [3, "labels.csv", [1, 2], np.eye(2)])
def test_what_is_no_frame_is_an_error(frame):
    with pytest.raises(pt.InputError, match="expected a dataframe"):
        frames.as_polars(frame)


def test_columns_of_different_length_are_an_error():
    with pytest.raises(pt.InputError, match="expected a dataframe"):
        frames.as_polars({**TABLE, "label": ["no"]})


@pytest.mark.parametrize("cells", [["0.5", " 1e3 ", "-2"], [0.5, 1000.0, -2.0]])
def test_numbers_from_text_or_numbers(cells):
    assert frames.numbers(polars.DataFrame({"score": cells}), "score", Source()).tolist() == [0.5, 1000.0, -2.0]


@pytest.mark.parametrize("cell", ["half", "", "1,5", None])
def test_what_is_no_number_is_an_error_with_its_row(cell):
    with pytest.raises(pt.InputError, match=r"s.csv, line 3, column 'score': got .*expected a number"):
        frames.numbers(polars.DataFrame({"score": ["1", cell]}), "score", Source("s.csv", 2))


def test_rows_as_a_frame():
    assert frames.from_rows([{"a": 1, "b": None}, {"a": 2, "b": 0.5}]).rows() == [(1, None), (2, 0.5)]
    assert frames.from_rows([], ["a", "b"]).columns == ["a", "b"]
