"""Files that the fuzzer (`tests/slow/fuzz.py`) found to break a reader; each stays here."""

import runpy
from pathlib import Path

import numpy as np
import polars
import pytest
from oracles import read_soft

import probtruth as pt
from probtruth.io.groups import read_groups


@pytest.fixture
def written(tmp_path):
    def write(text, name="t.csv"):
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return write


class TestNamesThatArePatterns:
    """`read_annotations` once ended in polars' DuplicateError on `item,0,*`, and a label `*` read all columns."""

    @pytest.mark.parametrize("label", ["*", "^x.*$", "^.*$", "a.b", "x "])
    def test_counts(self, written, label):
        annotations = pt.read_annotations(written(f"item,x0,{label},x1\n3,2,1,5\n4,7,0,5\n"), format="counts")
        assert annotations.index.labels == tuple(sorted(["x0", label, "x1"]))
        assert annotations.counts()[:, annotations.index.labels.index(label)].tolist() == [1, 0]

    def test_a_table_of_neither_form(self, written):
        with pytest.raises(pt.InputError, match="the long form"):
            pt.read_annotations(written("item,*,label\na,1,x\na,2,y\nb,2,x\n"))
        for name in ("^a.*$", "^a{}*$"):  # matches another column, or is no pattern at all
            with pytest.raises(pt.InputError, match="the long form"):
                pt.read_annotations(written(f"{name},x,label\nb,1,x\nb,2,x\n007,2,x\nb,1,y\n"))

    @pytest.mark.parametrize("name", ["^a.*$", "^.*$", "*"])
    def test_a_column_of_items_that_its_values_name(self, written, name):
        """`IndexError`, or "none that could name the rows"."""
        votes = written(f"{name},annotator,label\np,a,x\np,b,y\nq,a,x\nq,b,x\n")
        models = {"m": {"item": ["p", "q"], "x": [0.5, 0.4], "y": [0.5, 0.6]}}
        assert pt.evaluate(votes, models).truth.index.items == ("p", "q")
        with pytest.raises(pt.InputError, match="no column 'item'"):
            pt.read_annotations(votes)
        with pytest.raises(pt.InputError, match="may count votes or be the answers"):
            pt.read_annotations({"item": ["p", "q"], name: [1, 2], "b": [1, None]})

    def test_predictions(self, tmp_path):
        frame = polars.DataFrame({"item": ["a", "b"], "*": [0.5, 0.25], "^x.*$": [0.25, 0.5], "x1": [0.25, 0.25]})
        frame.write_csv(tmp_path / "t.csv")
        frame.write_parquet(tmp_path / "t.parquet")
        for name in ("t.csv", "t.parquet"):
            found = pt.read_predictions({"m": tmp_path / name})
            assert found.index.labels == ("*", "^x.*$", "x1")
            np.testing.assert_allclose(np.exp(found.log_probs[0]), [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], rtol=1e-12)

    def test_models_annotators_and_items(self, written):
        path = written("item,*,^.*$\nq1,0.5,1\nq2,0.25,0\n")
        scores = pt.read_scores(path, models=[], higher_is_better=False)
        assert (scores.models, scores.values.tolist()) == (("*", "^.*$"), [[0.5, 0.25], [1, 0]])
        assert pt.read_annotations(path, format="wide").index.annotators == ("*", "^.*$")
        items = written("*,x,y\na,1,0\nb,0,2\n")
        assert pt.read_annotations(items, item="*", format="counts").counts().tolist() == [[1, 0], [0, 2]]


class TestPatternsThatDoNotMatchThemselves:
    """A column `^aa.*$` is none of those that start with `aa`: text in it once ended in an IndexError of polars."""

    def test_wide_tables(self, written):
        with pytest.raises(pt.InputError, match=r"ignored '\^aa\.\*\$'"):
            pt.read_predictions({"m": written("item,x,^aa.*$\na,0.5,high\n")})
        votes = pt.read_annotations(written("item,^aa.*$,b\nq1, ,1\nq2,0.25,0\n"), format="wide")
        assert votes.counts().tolist() == [[0, 0, 1], [1, 1, 0]]

    def test_the_columns_of_long_tables(self):
        rows = {"^it.*m$": ["a", " b "], "^an.*r$": ["u", "v"], "^la.*l$": ["x", "y"]}
        annotations = pt.Annotations.from_long(rows, "^it.*m$", "^an.*r$", "^la.*l$")
        assert (annotations.index.items, annotations.index.labels) == ((" b ", "a"), ("x", "y"))
        scores = {"item": ["a", "a"], "model": ["m", "n"], "^sc.*e$": ["1", " 2"]}
        assert pt.Scores.from_frame(scores, score="^sc.*e$", higher_is_better=False).values.tolist() == [[1.0], [2.0]]


# Cells that have no text: polars refuses to write durations, panics beyond the year 9999, or Python refuses the date.
DAYS = polars.Series([0, 5_000_000], dtype=polars.Int32).cast(polars.Date)
CELLS = {
    "duration": (polars.Series([1, 2], dtype=polars.Duration), "Duration"),
    "date": (DAYS, "outside the years 2 to 9998"),
    "no date": (polars.Series([0, 2**31 - 1], dtype=polars.Int32).cast(polars.Date), "outside the years 2 to 9998"),
    "microseconds": (DAYS.cast(polars.Datetime("us")), "outside the years 2 to 9998"),
    "milliseconds": (DAYS.cast(polars.Datetime("ms")), "outside the years 2 to 9998"),
}


@pytest.mark.parametrize("column", ["item", "y"])
@pytest.mark.parametrize(("cells", "message"), CELLS.values(), ids=CELLS)
def test_cells_that_have_no_text(tmp_path, cells, message, column):
    frame = polars.DataFrame({"item": ["a", "b"], "x": [1, 0], "y": [0, 1]}).with_columns(cells.alias(column))
    frame.write_parquet(tmp_path / "t.parquet")
    for read in (pt.read_annotations, read_soft, lambda path: pt.read_predictions({"m": path})):
        if column == "item":
            with pytest.raises(pt.InputError, match=message):
                read(tmp_path / "t.parquet")
    other = frame.rename({"x": "item", "item": "x"}) if column == "item" else frame
    with pytest.raises(pt.InputError, match=message):
        pt.read_annotations(other, format="wide")
    scores = polars.DataFrame({"item": ["a", "b"], "model": ["m", "m"], "score": cells})
    with pytest.raises(pt.InputError, match=message):
        pt.Scores.from_frame(scores, higher_is_better=False)


def test_the_first_and_last_dates_are_names():
    edges = polars.Series(["0002-01-03", "9998-12-29"]).str.to_date()
    made = pt.Annotations.from_long({"item": edges, "annotator": ["u", "v"], "label": ["x", "y"]})
    assert made.index.items == ("0002-01-03", "9998-12-29")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "item,x,y\n\ufeff1,0,5\n2,3,2\n"),
        ("t.csv", "\ufeff\ufeffitem,x,y\n1,0,5\n"),
        ("t.jsonl", '{"item": "1", "x": 0, "y": 5}\n\ufeff{"item": "2", "x": 3, "y": 2}\n'),
    ],
)
def test_a_second_byte_order_mark_is_refused(written, name, content):
    """Where files were joined: polars dropped the mark below a CSV header, Python's json that of any line."""
    with pytest.raises(pt.InputError, match=r"line [12]: got a second byte-order mark"):
        pt.read_annotations(written(content, name), format="counts")


def test_a_byte_order_mark_at_the_start_or_inside_a_line_is_read(written):
    path = written("\ufeffitem,x,y\na\ufeff,0,5\n")
    assert pt.read_annotations(path, format="counts").index.items == ("a\ufeff",)


def test_a_parquet_file_of_fewer_rows_than_it_says(tmp_path):
    """One without row groups whose footer promised two rows once ended in an IndexError."""
    path = tmp_path / "t.parquet"
    polars.DataFrame({"item": ["a", "b"], "group": ["g", "h"]}).write_parquet(path)
    data, rows = path.read_bytes(), b"\x16\x04\x19\x1c"  # of the footer: 2 rows in 1 row group
    assert data.count(rows) == 1
    path.write_bytes(data.replace(rows, b"\x16\x08\x19\x1c"))
    with pytest.raises(pt.InputError, match="fewer rows than"):
        read_groups(f"{path}:group", ["a", "b"])


@pytest.mark.parametrize("read", [pt.read_annotations, read_soft, lambda path: pt.read_predictions({"m": path})])
def test_a_column_without_a_name(tmp_path, read):
    """Of a Parquet file, polars called it `column_1` in the whole and otherwise in a part: a ColumnNotFoundError."""
    polars.DataFrame({"item": ["a", "b"], "": [1, 0], "x": [0, 1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(pt.InputError, match="a column without a name"):
        read(tmp_path / "t.parquet")


@pytest.mark.long
def test_the_fuzzer_starts_from_files_that_are_read(capsys):
    runpy.run_path(str(Path(__file__).parents[1] / "slow" / "fuzz_seeds.py"), run_name="__main__")
    assert capsys.readouterr().err == ""
