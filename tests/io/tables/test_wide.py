from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import probtruth as pt
from probtruth.errors import InputError

SCORES = "item,task,ours,theirs\nq1,a,1,0.5\nq2,a,0,\nq3,b,2,1\n"
LABELS = "item,ann,bob,cid\na,x,x,y\nb,,y,\nc,y, ,y\n"


def votes(table: object, **options: object) -> pt.Annotations:
    return pt.read_annotations(table, format="wide", **options)


def written(folder: Path, text: str) -> Path:
    path = folder / "t.csv"
    path.write_text(text)
    return path


def test_scores(tmp_path: Path) -> None:
    scores = pt.read_scores(written(tmp_path, SCORES), models=[], group="task", higher_is_better=True, score="marks")
    assert (scores.models, scores.items, scores.rule) == (("ours", "theirs"), ("q1", "q2", "q3"), "marks")
    assert scores.common().values.tolist() == [[1, 2], [0.5, 1]]
    assert np.isnan(scores.values[1, 1])
    assert (scores.audit.missing, scores.audit.by_model) == ((), (("ours", 0, 0), ("theirs", 1, 0)))
    assert scores.groups.names == ("a", "b")


@pytest.mark.parametrize("frame", [polars.DataFrame, pandas.DataFrame, pyarrow.table, dict])
def test_frames_of_every_kind(frame: type) -> None:
    table = frame({"item": ["q1", "q2"], "ours": [1.0, 2.0], "other": [0, 1]})
    scores = pt.read_scores(table, models=["other", "ours"], higher_is_better=False)
    assert scores.models == ("other", "ours")
    assert scores.values.tolist() == [[0, 1], [1, 2]]
    annotations = votes(frame({"item": [1, 2], "ann": ["x", "y"], "bob": ["x", None]}))
    assert annotations.counts().tolist() == [[2, 0], [0, 1]]


def test_annotations(tmp_path: Path) -> None:
    annotations = votes(written(tmp_path, LABELS), labels=["x", "y", "z"])
    assert annotations.index.annotators == ("ann", "bob", "cid")
    assert annotations.counts().tolist() == [[2, 1, 0], [0, 1, 0], [0, 2, 0]]
    floats = pandas.DataFrame({"item": ["a", "b"], "ann": [1, 2], "bob": [1, None]})  # as pandas makes of integers
    assert votes(floats).index.labels == ("1", "2")


ERRORS = {
    "twice": ("item,a,b\nq,1,2\nq,1,2\n", {}, "line 3.*'q' a second time"),
    "text": ("item,a,b\nq,1,2\nr,one,2\n", {}, "line 3, column 'a': got 'one', expected a number"),
    "no column": ("item,a,b\nq,1,2\n", {"models": ["c"]}, "no column 'c'"),
    "misspelt": ("item,model_a,b\nq,1,2\n", {"models": ["modl_a"]}, "Did you mean 'model_a'"),
    "item as model": ("item,a\nq,1\n", {"models": ["item"]}, "no column of a model"),
    "none": ("item\nq\n", {}, "no column of a model"),
    "no item": ("name,a\nq,1\n", {}, "no column 'item'"),
    "blank": ("item,a,b\nq,,\nr,,\n", {}, "no rows"),
}


@pytest.mark.parametrize(("text", "options", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(tmp_path: Path, text: str, options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pt.read_scores(written(tmp_path, text), **{"models": [], **options}, higher_is_better=False)
    if "twice" in text or "name" in text:
        with pytest.raises(InputError, match=message):
            votes(written(tmp_path, text))


def test_labels_that_cannot_be_used() -> None:
    for label, message in ((["x"], "a column of type List"), (" ", "no rows")):
        with pytest.raises(InputError, match=message):
            votes(polars.DataFrame({"item": ["a"], "ann": [label]}))
