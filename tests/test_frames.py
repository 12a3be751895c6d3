"""Any dataframe becomes the same columns; names become text by one rule."""

from datetime import datetime

import numpy as np
import pandas
import polars
import pytest

import probtruth as pt
from probtruth import frame_numbers, frames
from probtruth.check import Source

TABLE = {"item": [2, 1, 10], "annotator": ["u", "v", "u"], "label": ["no", "yes", "no"]}


def test_a_batch_of_arrow_is_a_frame():
    arrow = pytest.importorskip("pyarrow")
    assert frames.as_polars(arrow.RecordBatch.from_pydict(TABLE)).equals(polars.DataFrame(TABLE))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("007", "007"),
        (7, "7"),
        (np.int8(7), "7"),
        (7.0, "7"),
        (np.float32(0.1), "0.1"),
        (1e16, "10000000000000000"),
        (np.datetime64("2024-05-01T07:30:00.500"), "2024-05-01 07:30:00.5"),
        (datetime(2024, 5, 1), "2024-05-01"),
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


@pytest.mark.parametrize("kind", ["longdouble", "complex"])
def test_numbers_that_arrow_does_not_know_are_refused(kind):
    """Arrow's own error came through."""
    frame = pandas.DataFrame({"item": ["a", "b"], "x": np.array([0.5, 0.25]).astype(kind)})
    with pytest.raises(pt.InputError, match="got "):
        pt.read_scores(frame, models=["x"], higher_is_better=True)


def test_tables_by_models_name_are_no_columns():
    models = {"ours": polars.DataFrame({"item": ["q"], "yes": [0.5], "no": [0.5]})}
    with pytest.raises(pt.InputError, match="a table as the column 'ours'"):
        frames.as_polars(models)


@pytest.mark.parametrize("cells", [["0.5", " 1e3 ", "-2"], [0.5, 1000.0, -2.0]])
def test_numbers_from_text_or_numbers(cells):
    assert frame_numbers.numbers(polars.DataFrame({"score": cells}), "score", Source()).tolist() == [0.5, 1000.0, -2.0]


@pytest.mark.parametrize("cell", ["half", "", "1,5", None])
def test_what_is_no_number_is_an_error_with_its_row(cell):
    with pytest.raises(pt.InputError, match=r"s.csv, line 3, column 'score': got .*expected a number"):
        frame_numbers.numbers(polars.DataFrame({"score": ["1", cell]}), "score", Source("s.csv", np.array([2, 3])))


def test_rows_as_a_frame():
    assert frames.from_rows([{"a": 1, "b": None}, {"a": 2, "b": 0.5}]).rows() == [(1, None), (2, 0.5)]
    assert frames.from_rows([], ["a", "b"]).columns == ["a", "b"]


@pytest.mark.parametrize("column", [[["a"], ["b"]], [b"a", b"b"], [{"x": 1}, {"x": 2}]])
def test_cells_of_several_values_are_no_names_and_no_numbers(column):
    table = polars.DataFrame({"x": column})
    for read in (frames.encode, frame_numbers.numbers):
        with pytest.raises(
            pt.InputError, match=r"the table, column 'x': got a column of type .*expected text or numbers"
        ):
            read(table, "x", Source(), "item")


def test_categories_are_text():
    table = polars.DataFrame({"x": polars.Series(["b", "a", "b"], dtype=polars.Categorical)})
    codes, names = frames.encode(table, "x", Source(), "item")
    assert (codes.tolist(), names) == ([0, 1, 0], ["b", "a"])
    assert frame_numbers.numbers(
        table.select(x=polars.lit("1.5").cast(polars.Categorical)), "x", Source()
    ).tolist() == [1.5]


def test_a_nul_character_is_an_error_with_its_row():
    table = polars.DataFrame({"x": ["a", "b\0", "c"]})
    with pytest.raises(pt.InputError, match=r"row 2, column 'x': got a NUL character"):
        frames.encode(table, "x", Source(), "item")


MIXED = polars.DataFrame(
    {
        "text": [" 1 ", "-inf", "nan"],
        "whole": [1, 2, 3],
        "small": polars.Series([0.5, 0.25, 1.0], dtype=polars.Float32),
        "yes": [True, False, True],
        "category": polars.Series(["1", "2", "2"], dtype=polars.Categorical),
        "words": ["1", "two", None],
        "lists": [[1], [2], [3]],
    }
)


def test_many_columns_at_once_are_as_each_of_them():
    columns = ["yes", "text", "category", "small", "whole"]
    values = frame_numbers.as_matrix(frame_numbers.float_columns(MIXED, columns, Source()))
    one_by_one = [frame_numbers.numbers(MIXED, column, Source()) for column in columns]
    np.testing.assert_array_equal(values, np.stack(one_by_one, 1))


def test_columns_keep_their_type():
    floats = frame_numbers.float_columns(MIXED, ["small", "whole", "yes"])
    assert floats.dtypes == [polars.Float32, polars.Float64, polars.Float64]
    assert frame_numbers.as_matrix(floats[:, :1]).dtype == np.float64


@pytest.mark.parametrize("columns", [["text", "words", "lists"], ["lists", "words"], ["whole", "lists"]])
def test_the_first_column_that_is_refused(columns):
    refused = next(column for column in columns if column in ("words", "lists"))
    assert frame_numbers.float_columns(MIXED, columns) is None
    with pytest.raises(pt.InputError, match=refused):
        frame_numbers.float_columns(MIXED, columns, Source())


def a_column(values, dtype=None):
    return frames.keys(polars.DataFrame({"x": polars.Series(values, dtype=dtype)}), "x", Source(), "item")


KEYS = {
    "text": (["3", "12", "-7"], None, polars.String),
    "whole": ([3, 12, -7], None, polars.Int64),
    "small": ([3, 12, -7], polars.Int8, polars.Int8),
    "unsigned": ([3, 12], polars.UInt64, polars.String),
    "real": ([3.0, 12.5], None, polars.String),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_the_names_as_text_or_as_integers(kind):
    values, given, wanted = KEYS[kind]
    found = a_column(values, given)
    assert found.dtype == wanted
    assert frames.text(found).to_list() == list(map(frames.name_text, values))


@pytest.mark.parametrize("one", ["text", "whole", "small"])
@pytest.mark.parametrize("other", ["text", "whole", "small"])
def test_names_are_found_whatever_their_type(one, other):
    found, known = a_column([*KEYS[one][0], KEYS[one][0][0]], KEYS[one][1]), a_column(*KEYS[other][:2])
    assert frames.positions(found, known).tolist() == [0, 1, 2, 0]
    assert frames.positions(found[:2], known[1:]).tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("kind", "named"), [(polars.Datetime("ns"), "1970-01-01 00:00:00.000001"), (polars.Time, "00:00:00.000001")]
)
def test_times_that_differ_by_nanoseconds_are_two_names(kind: polars.DataType, named: str) -> None:
    """Python's text has microseconds: two items would have the same name, and all votes would go to one of them."""
    _, found = frames.encode(polars.DataFrame({"x": polars.Series([1_000, 1_001]).cast(kind)}), "x", Source(), "item")
    assert found[0] != found[1]
    assert found[0].startswith(named)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        *[(name, True) for name in ("0", "7", "-7", "10", "-10", "9223372036854775807", "-9223372036854775808")],
        *[
            (name, False)
            for name in ("007", "+7", "-0", "00", " 7", "7 ", "7.0", "1e3", "", "-", "9223372036854775808")
        ],
        ("\u0661", False),  # a digit, but not a decimal text
    ],
)
def test_names_are_compact_where_they_are_the_text_of_an_integer(name: str, whole: bool) -> None:
    found = frames.compact(polars.Series("item", ["1", name, "-25"]))
    assert (found.dtype == polars.Int64) is whole
    assert frames.text(found).to_list() == ["1", name, "-25"]
