"""Whatever a file holds, only an `InputError` leaves a reader, and soon.

Files that the fuzzer (`tests/slow/fuzz.py`) found to break a reader; each stays here.
"""

import random
import runpy
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import disagreement, read_soft, unfit

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.annotations import read_annotations
from probtruth.io.item_columns import read_groups
from probtruth.io.predictions import read_predictions
from probtruth.io.scores import read_scores

READERS: dict[str, Callable[[Path], object]] = {
    "annotations": read_annotations,
    "counts": lambda path: read_annotations(path, item="name"),
    "predictions": lambda path: read_predictions({"m": path, "n": path}),
    "logits": lambda path: read_predictions({"m": path}, kind="logits"),
    "soft": read_soft,
    "scores": lambda path: read_scores(path, group="label", replicate="p", higher_is_better=False),
    "groups": lambda path: read_groups(f"{path}:label", ["a"]),
}

TABLES = {
    "long": polars.DataFrame(
        {"item": ["a", "b", "007"], "annotator": [1, 2, 2], "label": ["x", 'é,"\n', "x"], "p": [0.25, 0.5, 1e-3]}
    ),
    "wide": polars.DataFrame({"item": ["a", "b", "7"], "x": [0.25, 1.0, 0.5], "y": [0.75, 0.0, 0.5]}),
    "counts": polars.DataFrame({"name": [1, 2, 3], "x": [0, 3, 2], "y": [5, 2, 1]}),
    "scores": polars.DataFrame(
        {"item": ["a", "a", "b", "b"], "model": ["m", "n"] * 2, "score": [0.5, -1.0, 2.0, 0.0], "p": [1, 1, 1, 2]}
    ),
}


def encoded(frame: polars.DataFrame, form: str) -> bytes:
    stream = BytesIO()
    if form in ("csv", "tsv"):
        frame.write_csv(stream, separator="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.write_ndjson(stream)
    elif form == "parquet":
        frame.write_parquet(stream, metadata={"probtruth": '{"estimand": "class", "method": "m"}'})
    elif form == "arrow":
        frame.write_ipc(stream)
    else:
        frame.write_ipc_stream(stream)
    return stream.getvalue()


FORMS = ("csv", "tsv", "jsonl", "parquet", "arrow", "feather")
VALID = {(name, form): encoded(frame, form) for name, frame in TABLES.items() for form in FORMS}
TOKENS = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b",", b"\t", b"nan", b"-inf", b"1e999", b"-", b"9" * 30, b"{}",
    b"[", b"\\ud800", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"PAR1", b"item", b"null", b"\\u0000",
)  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """The bytes after one to eight edits; most hit the structures at the ends."""
    draw = random.Random(seed)
    edited = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not edited:
            break
        low, high = draw.choice(
            ((0, len(edited)), (max(0, len(edited) - 300), len(edited)), (0, min(100, len(edited))))
        )
        at, size = draw.randrange(low, high), draw.choice((1, 2, 4, 16))
        edit = draw.randrange(6)
        if edit == 5:
            del edited[at:]
        elif edit == 0:
            edited[at] = draw.randrange(256)
        elif edit == 1:
            edited[at] ^= 1 << draw.randrange(8)
        elif edit == 2:
            del edited[at : at + size]
        elif edit == 3:
            edited[at:at] = draw.choice(TOKENS)
        else:
            edited[at:at] = edited[at : at + 8 * size]
    return bytes(edited)


def attempt(reader: str, path: Path) -> None:
    try:
        READERS[reader](path)
    except InputError as error:
        wrong = unfit(str(error))
    else:
        wrong = disagreement(path)
    assert wrong is None


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(table=st.sampled_from(list(TABLES)), reader=st.sampled_from(list(READERS)), seed=st.integers(0, 2**32))
def test_mutated_files(tmp_path_factory: pytest.TempPathFactory, form: str, table: str, reader: str, seed: int) -> None:
    path = tmp_path_factory.getbasetemp() / f"mutated.{form}"
    path.write_bytes(mutated(VALID[table, form], seed))
    attempt(reader, path)


SECONDS = 100  # Each takes a few on a slow, busy machine under run-time type checks; what is quadratic, hours
LARGE = {
    "label": ("csv", "item,annotator,label,p\na,CELL,x,1\na,CELL,x,1\n"),
    "header": ("csv", "item,CELL\na,x\n"),
    "number": ("csv", "item,x,y\nCELL,1,CELL\n"),
    "open quote": ("csv", 'item,x\n"CELL,1\n'),
    "one line": ("csv", "CELL"),
    "commas": ("csv", "COMMAS"),
    "quotes": ("csv", "QUOTES"),
    "lines": ("csv", "LINES"),
    "cell": ("jsonl", '{"item": "CELL", "annotator": 1, "label": "CELL"}\n{"item": 1, "annotator": 1, "label": 1}'),
    "key": ("jsonl", '{"CELL": 1}\n{"item": 2}'),
    "nested": ("jsonl", "NESTED"),
}


@pytest.mark.long
@pytest.mark.parametrize(("form", "template"), LARGE.values(), ids=LARGE)
def test_ten_megabytes_in_a_cell(tmp_path: Path, form: str, template: str) -> None:
    """They take seconds, and the error shows little of them."""
    size = 10_000_000
    parts = {"CELL": "x" * size, "COMMAS": "," * (size // 10), "QUOTES": '"' * (size - 1), "LINES": "\n" * size}
    content = template.replace("NESTED", '{"item":' * (size // 8))
    for word, part in parts.items():
        content = content.replace(word, part)
    path = tmp_path / f"t.{form}"
    path.write_text(content)
    for reader in ("annotations", "predictions", "scores"):
        start = time.process_time()
        attempt(reader, path)
        assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(("form", "n_columns"), [pytest.param("csv", 30_000, marks=pytest.mark.long), ("jsonl", 5_000)])
def test_many_columns(tmp_path: Path, form: str, n_columns: int) -> None:
    frame = polars.DataFrame({"item": ["a"], "c0": [1]} | {f"c{number}": [0] for number in range(1, n_columns)})
    path = tmp_path / f"t.{form}"
    path.write_bytes(encoded(frame, form))
    start = time.process_time()
    assert read_annotations(path, format="counts").n_labels == n_columns
    assert read_predictions({"m": path}).index.labels[0] == "c0"
    attempt("scores", path)
    assert time.process_time() - start < SECONDS


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
