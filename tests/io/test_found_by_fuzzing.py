"""Files that the fuzzer (`tests/slow/fuzz.py`) found to break a reader; each stays here."""

import runpy
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.io import loaders
from probtruth.io.truth import read_soft

STRANGE = ("*", "^x.*$", "^.*$", "", "a.b", "x ")
"""As column names these stand for others, or for all, in polars' expressions."""


class TestNamesThatArePatterns:
    """`read_annotations` once ended in polars' DuplicateError on `item,0,*`, and a label `*` read all columns."""

    @pytest.mark.parametrize("label", [name for name in STRANGE if name.strip()])
    def test_counts(self, tmp_path, label):
        path = tmp_path / "t.csv"
        path.write_text(f"item,x0,{label},x1\n3,2,1,5\n4,7,0,5\n")
        annotations = pt.read_annotations(path, format="counts")
        assert annotations.index.labels == tuple(sorted(["x0", label, "x1"]))
        column = annotations.index.labels.index(label)
        assert annotations.counts()[:, column].tolist() == [1, 0]

    def test_a_table_of_neither_form(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("item,*,label\na,1,x\na,2,y\nb,2,x\n")
        with pytest.raises(pt.InputError, match="the long form"):
            pt.read_annotations(path)

    @pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
    def test_predictions(self, tmp_path, form):
        path = tmp_path / f"t.{form}"
        frame = polars.DataFrame({"item": ["a", "b"], "*": [0.5, 0.25], "^x.*$": [0.25, 0.5], "x1": [0.25, 0.25]})
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[form](path)
        found = pt.read_predictions({"m": path})
        assert found.index.labels == ("*", "^x.*$", "x1")
        np.testing.assert_allclose(np.exp(found.log_probs[0]), [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], rtol=1e-12)

    def test_models_and_annotators_of_wide_tables(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("item,*,^.*$\nq1,0.5,1\nq2,0.25,0\n")
        scores = loaders.read_wide_scores(path, higher_is_better=False)
        assert (scores.models, scores.values.tolist()) == (("*", "^.*$"), [[0.5, 0.25], [1, 0]])
        assert loaders.read_wide_annotations(path).index.annotators == ("*", "^.*$")

    def test_the_item_column(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("*,x,y\na,1,0\nb,0,2\n")
        assert pt.read_annotations(path, item="*", format="counts").counts().tolist() == [[1, 0], [0, 2]]


class TestPatternsThatDoNotMatchThemselves:
    """A column `^aa.*$` is none of those that start with `aa`: text in it once ended in an IndexError of polars."""

    def test_predictions(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("item,x,^aa.*$\na,0.5,high\n")
        with pytest.raises(pt.InputError, match=r"left aside '\^aa\.\*\$'"):
            pt.read_predictions({"m": path})

    def test_the_columns_of_long_tables(self):
        rows = {"^it.*m$": ["a", " b "], "^an.*r$": ["u", "v"], "^la.*l$": ["x", "y"]}
        annotations = pt.Annotations.from_long(rows, "^it.*m$", "^an.*r$", "^la.*l$")
        assert (annotations.index.items, annotations.index.labels) == ((" b ", "a"), ("x", "y"))
        scores = {"item": ["a", "a"], "model": ["m", "n"], "^sc.*e$": ["1", " 2"]}
        assert pt.Scores.from_frame(scores, score="^sc.*e$", higher_is_better=False).values.tolist() == [[1.0], [2.0]]

    def test_wide_tables(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("item,^aa.*$,b\nq1, ,1\nq2,0.25,0\n")
        assert loaders.read_wide_annotations(path).counts().tolist() == [[0, 0, 1], [1, 1, 0]]
        with pytest.raises(pt.InputError):
            loaders.read_wide_scores(path, models=["item"], higher_is_better=False)


class TestDurations:
    """Cells that have no text: polars refuses to write durations, and its error once left four readers."""

    FRAME = polars.DataFrame({"item": ["a", "b"], "x": [1, 2], "y": polars.Series([1, 2], dtype=polars.Duration)})

    @pytest.mark.parametrize("form", ["parquet", "arrow"])
    @pytest.mark.parametrize("read", [pt.read_annotations, read_soft, lambda path: pt.read_predictions({"m": path})])
    def test_as_numbers(self, tmp_path, form, read):
        path = tmp_path / f"t.{form}"
        {"parquet": self.FRAME.write_parquet, "arrow": self.FRAME.write_ipc}[form](path)
        with pytest.raises(pt.InputError, match="Duration"):
            read(path)

    @pytest.mark.parametrize("column", ["item", "model", "score"])
    def test_of_long_scores(self, column):
        rows = polars.DataFrame({"item": ["a", "b"], "model": ["m", "m"], "score": [1.0, 2.0]})
        frame = rows.with_columns(self.FRAME["y"].alias(column))
        with pytest.raises(pt.InputError, match=r"Duration.*Convert it"):
            pt.Scores.from_frame(frame, higher_is_better=False)

    def test_as_labels_of_a_wide_table(self):
        with pytest.raises(pt.InputError, match=r"Duration.*Convert it"):
            loaders.read_wide_annotations(self.FRAME)


class TestDatesThatNoCalendarHas:
    """Beyond the year 9999 polars panics, or Python refuses the date: neither was an InputError."""

    DAYS = polars.Series([0, 5_000_000], dtype=polars.Int32).cast(polars.Date)
    TIMES = (DAYS, DAYS.cast(polars.Datetime("us")), DAYS.cast(polars.Datetime("ms")))
    EDGES = polars.Series(["0002-01-03", "9998-12-29"]).str.to_date()

    @pytest.mark.parametrize("column", TIMES, ids=["date", "us", "ms"])
    @pytest.mark.parametrize("form", ["parquet", "arrow"])
    @pytest.mark.parametrize("read", [pt.read_annotations, read_soft])
    @pytest.mark.parametrize("name", ["item", "y"])
    def test_in_files(self, tmp_path, column, form, read, name):
        path = tmp_path / f"t.{form}"
        frame = polars.DataFrame({"item": ["a", "b"], "x": [1, 0], "y": [0, 1]}).with_columns(column.alias(name))
        {"parquet": frame.write_parquet, "arrow": frame.write_ipc}[form](path)
        with pytest.raises(pt.InputError, match="outside the years 2 to 9998"):
            read(path)

    def test_first_and_last_ones_are_names(self):
        made = pt.Annotations.from_long({"item": self.EDGES, "annotator": ["u", "v"], "label": ["x", "y"]})
        assert made.index.items == ("0002-01-03", "9998-12-29")

    def test_as_labels_of_a_wide_table(self):
        with pytest.raises(pt.InputError, match="outside the years 2 to 9998"):
            loaders.read_wide_annotations(polars.DataFrame({"item": ["a", "b"], "ann": self.DAYS}))


class TestMarksOfByteOrder:
    """Where files were joined: polars dropped the mark below a CSV header, Python's json that of any line."""

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("t.csv", b"item,x,y\n\xef\xbb\xbf1,0,5\n2,3,2\n"),
            ("t.csv", b"\xef\xbb\xbf\xef\xbb\xbfitem,x,y\n1,0,5\n"),
            ("t.jsonl", b'{"item": "1", "x": 0, "y": 5}\n\xef\xbb\xbf{"item": "2", "x": 3, "y": 2}\n'),
        ],
    )
    def test_a_second_one_is_refused(self, tmp_path, name, content):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(pt.InputError, match=r"line [12]: got a second byte-order mark"):
            pt.read_annotations(path, format="counts")

    def test_one_at_the_start_or_inside_a_line_is_read(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes("\ufeffitem,x,y\na\ufeff,0,5\n".encode())
        assert pt.read_annotations(path, format="counts").index.items == ("a\ufeff",)


@pytest.mark.long
def test_the_fuzzer_starts_from_files_that_are_read(capsys):
    runpy.run_path(str(Path(__file__).parents[1] / "slow" / "fuzz_seeds.py"), run_name="__main__")
    assert capsys.readouterr().err == ""
