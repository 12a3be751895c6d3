"""Annotations from files, in long form and as counts."""

import re
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.annotations import annotations_in, read_annotations
from probtruth.io.formats import LabelReading
from probtruth.io.kinds import Beside
from probtruth.io.table import opened
from probtruth.kernels.host import lies_on_disk

LONG = "item,annotator,label,note\n10,ann,cat,x\n9,ann,dog,\n10,bob,cat,y\n"
COUNTS = "item,dog,cat\n10,0,2\n9,1,0\n8,0,0\n"


def write(folder: Path, content: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(content, newline="")
    return path


class TestForms:
    def test_long(self, tmp_path: Path) -> None:
        ann = pt.read_annotations(write(tmp_path, LONG))
        assert ann.index.items == ("9", "10")
        assert ann.index.labels == ("cat", "dog")
        assert ann.index.annotators == ("ann", "bob")
        assert ann.counts().tolist() == [[0, 1], [2, 0]]

    def test_counts(self, tmp_path: Path) -> None:
        ann = pt.read_annotations(write(tmp_path, COUNTS), format="counts")
        assert ann.index.items == ("8", "9", "10")
        assert ann.counts().tolist() == [[0, 0], [0, 1], [2, 0]]
        assert ann.n_annotators is None

    def test_counts_on_disk_have_the_same_truth(self, tmp_path: Path) -> None:
        path = write(tmp_path, COUNTS.replace("8,0,0", "8,1,1"))
        votes, stored = (pt.read_annotations(path, format="counts", memory=limit) for limit in (None, 1.0))
        for method in ("dirichlet", "majority"):
            here, there = (pt.infer_truth(counts, method, draws=0) for counts in (votes, stored))
            assert lies_on_disk(there.probs)
            assert not lies_on_disk(here.probs)
            np.testing.assert_array_equal(there.probs, here.probs)

    def test_other_column_names(self, tmp_path: Path) -> None:
        text = LONG.replace("item,annotator,label", "question,worker,answer")
        ann = read_annotations(write(tmp_path, text), "question", "worker", "answer")
        assert ann.counts().tolist() == [[0, 1], [2, 0]]
        ann = read_annotations(write(tmp_path, COUNTS.replace("item", "question")), item="question", format="counts")
        assert ann.n_items == 3

    def test_labels_that_nobody_used(self, tmp_path: Path) -> None:
        for text in (LONG, COUNTS):
            ann = read_annotations(write(tmp_path, text), labels=["dog", "cat", "bee"])
            assert ann.index.labels == ("bee", "cat", "dog")
            assert ann.counts().sum(0).tolist() == [0, 2, 1]

    def test_replicates(self, tmp_path: Path) -> None:
        text = "item,annotator,label,time\na,x,1,1\na,x,1,2\n"
        assert read_annotations(write(tmp_path, text), replicate="time").counts().tolist() == [[2]]
        with pytest.raises(InputError, match=r"line 3: got item 'a', annotator 'x' twice.*--replicate"):
            read_annotations(write(tmp_path, text))

    def test_names_are_text_as_it_is_written(self, tmp_path: Path) -> None:
        index = read_annotations(write(tmp_path, "item,annotator,label\n007,a,1\n7,a,1\n7.0,a,01\n")).index
        assert (index.items, index.labels) == (("007", "7", "7.0"), ("01", "1"))
        typed = {"item": [1, 2], "annotator": [True, False], "label": [0.5, 1.0]}
        index = read_annotations(typed).index
        assert (index.items, index.annotators, index.labels) == (("1", "2"), ("false", "true"), ("0.5", "1"))

    def test_counts_are_told_from_totals(self, tmp_path: Path) -> None:
        path = write(tmp_path, "item,cat,dog,total\na,2,1,3\nb,0,3,3\n")
        for options in ({"format": "counts"}, {"labels": ["cat", "dog"]}):
            found = read_annotations(path, **options)
            assert found.counts().tolist() == [[2, 1], [0, 3]]
            assert "ignored 'total' (the sum of the " in found.notes[0]
            assert found.notes[1].endswith("read as counts of votes: 'cat', 'dog'")
        path = write(tmp_path, "item,e,n,c\na,2,1,3\nb,0,3,3\n")
        assert read_annotations(path, format="counts").index.labels == ("c", "e", "n")  # 3 = 2 + 1 by chance
        with pytest.raises(InputError, match=r"count votes or be the answers.*format='counts'.*format='wide'"):
            read_annotations(path)

    def test_items_by_their_values(self, tmp_path: Path) -> None:
        like = [polars.Series(["T1", "T2"])]
        path = write(tmp_path, "ticket,annotator,label\nT1,a,x\nT2,a,y\n")
        for table in (path, polars.read_csv(path)):
            found = annotations_in(opened(table), LabelReading(), Beside(like))
            assert found.index.items == ("T1", "T2")
            assert "took the column 'ticket' as the items" in found.notes[0]
            with pytest.raises(InputError, match=r"no column 'item' \(columns: 'ticket', 'annotator', 'label'\)"):
                read_annotations(table)

    def test_integers_of_the_long_form_under_other_names(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"item '1' has 7 for 'worker', 0 for 'answer'.*--label"):
            read_annotations(write(tmp_path, "item,worker,answer\n1,7,0\n2,8,1\n"))


def test_labels_are_in_the_callers_order_by_every_way_in(tmp_path: Path) -> None:
    """Arrays without names follow it: files had the sorted order, so that the verdict was the wrong way round."""
    rows = {"item": ["a", "b"], "annotator": ["x", "x"], "label": ["yes", "no"]}
    labels = ["yes", "no"]
    path = write(tmp_path, "item,annotator,label\na,x,yes\nb,x,no\n")
    ways = [pt.Annotations.from_long(rows, labels=labels)]
    ways += [read_annotations(table, labels=labels) for table in (path, rows)]
    ways.append(read_annotations({"item": ["a", "b"], "yes": [1, 0], "no": [0, 1]}, labels=labels))
    array = np.array([[0.75, 0.25], [0.5, 0.5]])  # yes, no
    for votes in ways:
        assert votes.counts().tolist() == [[0, 1], [1, 0]]
        predictions = pt.Predictions.from_probs({"m": array}, items=["a", "b"], index=votes.index)
        assert predictions.index.labels == ("no", "yes")
        np.testing.assert_allclose(predictions.probs[0], array[:, ::-1], rtol=EXP_ROUND_OFF)


EXP_ROUND_OFF = 1e-15  # An exp of a log in double precision
ERRORS = {
    "no column": ("thing,a,b\nx,1,2\n", {}, ["'thing', 'a', 'b'", "the long form", "the counts form", "--item"]),
    "items in several rows": (
        "q,annotator,label\nT,a,x\nT,b,y\nU,a,x\n",
        {},
        ["none that could name the rows", "--item"],
    ),
    "misspelt": ("itm,annotator,label\nx,1,2\n", {}, ["Did you mean 'itm'?"]),
    "long form by halves": ("item,worker,label\n1,0,1\n", {}, ["'item', 'worker', 'label'", "--annotator"]),
    "asked for a column": ("item,annotator,label\n1,0,1\n", {"annotator": "anotator"}, ["Did you mean 'annotator'?"]),
    "text in counts": ("item,a,b\nx,1,2\ny,1,two\n", {"format": "counts"}, ["'two'", "line 3, column 'b'"]),
    "negative": ("item,a,b\nx,1,-2\n", {"format": "counts"}, ["'-2", "line 2, column 'b'", "--label"]),
    "past 2^53": ("item,a,b\nx,1,9007199254740993\n", {"format": "counts"}, ["9007199254740993", "line 2, column 'b'"]),
    "blank count": ("item,a,b\nx,1,\ny,1,2\n", {"format": "counts"}, ["a blank cell", "line 2, column 'b'"]),
    "blank answer": ("item,a,b\nx,1,1\ny,1,\n", {}, ["item 'y' has a blank cell for 'b', 1 for 'a'", "--format wide"]),
    "answer of -1": ("item,a,b\nx,1,-1\ny,1,2\n", {}, ["item 'x' has -1 for 'b', 1 for 'a'", "--format wide"]),
    "item twice": (
        "item,a\nx,1\ny,2\nx,3\n",
        {"format": "counts"},
        ["line 4, column 'item': got item 'x' a second time"],
    ),
    "blank item": ("item,a\n ,1\n", {}, ["line 2, column 'item': got a blank cell"]),
    "pair twice": ("item,annotator,label\nx,a,1\nx,a,2\n", {}, ["line 3: got item 'x', annotator 'a' twice"]),
    "unknown label": ("item,annotator,label\nx,a,cta\n", {"labels": ["cat", "dog"]}, ["'cta'", "Did you mean 'cat'?"]),
    "unknown count": ("item,cta\nx,1\n", {"labels": ["cat", "dog"]}, ["'cta'", "that are named are 'cat', 'dog'"]),
    "labels twice": ("item,annotator,label\nx,a,cat\n", {"labels": ["cat", "cat"]}, ["label 'cat' more than once"]),
}


@pytest.mark.parametrize(("text", "options", "messages"), ERRORS.values(), ids=ERRORS)
def test_errors_name_the_place(tmp_path: Path, text: str, options: dict[str, object], messages: list[str]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_annotations(path, **options)  # type: ignore[arg-type]
    for message in messages:
        assert message in str(caught.value)


def test_nested_columns_are_no_names(tmp_path: Path) -> None:
    frame = polars.DataFrame({"item": [["a"], ["b"]], "annotator": ["x", "y"], "label": ["1", "2"]})
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=re.escape("column 'item': got a column of type List(String)")):
        read_annotations(tmp_path / "t.parquet")


class TestRealData:
    def test_anesthesia(self, data: Path) -> None:
        """45 patients, 5 anaesthetists of whom the first rated three times (Dawid & Skene 1979, table 1)."""
        ann = read_annotations(data / "anesthesia" / "annotations.csv")
        assert (ann.n_items, ann.n_annotators, ann.n_labels, len(ann.item)) == (45, 5, 4, 315)
        assert np.bincount(ann.annotator).tolist() == [135, 45, 45, 45, 45]
        assert ann.index.items == tuple(map(str, range(45)))
        bare = polars.read_csv(data / "anesthesia" / "annotations.csv", infer_schema=False).drop("replicate")
        with pytest.raises(InputError, match=r"row 2: got item '0', annotator '0' twice \(90 such rows\)"):
            read_annotations(bare)
