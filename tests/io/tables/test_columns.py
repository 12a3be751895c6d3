"""Tables as people have them: what is guessed about their columns is right where it is sure, and said.

Items that several columns name together, in every kind of table.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.types import Index

INDEX = Index(("T1", "T2", "T3"), ("cat", "dog"))
BINARY = Index(("T1", "T2", "T3"), ("0", "1"))
NOTES = {
    "other name": ("ticket,cat,dog\nT1,.5,.5\nT2,1,0\nT3,0,1\n", INDEX, ["took the column 'ticket' as the items"]),
    "more columns": (
        "item,cat,dog,pred,text,time\nT1,.5,.5,cat,a b,12.5\nT2,1,0,cat,c,3\nT3,0,1,dog,7,1\n",
        INDEX,
        ["ignored 'pred', 'text', 'time'"],
    ),
    "a prefix": (
        "id,p_cat,p_dog,pred,n\nT1,.5,.5,cat,1\nT2,1,0,cat,2\nT3,0,1,dog,3\n",
        INDEX,
        ["took the column 'id'", "took 'p_' off", "ignored 'pred', 'n'"],
    ),
    "the event by its name": ("item,dog\nT1,.5\nT2,0\nT3,1\n", INDEX, ["took 'dog' as the probability of 'dog'"]),
    "the event is 1": ("item,p\nT1,.5\nT2,0\nT3,1\n", BINARY, ["took 'p' as the probability of '1'"]),
    "per cent": ("item;dog\nT1;50\nT2;0\nT3;100\n", INDEX, ["separated by semicolons", "took 'dog'"]),
}


@pytest.mark.parametrize("memory", [None, 1.0])
@pytest.mark.parametrize(("text", "index", "notes"), NOTES.values(), ids=NOTES)
def test_read_and_said(text: str, index: Index, notes: list[str], memory: float | None, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    kind = "percent" if ";" in text else "probs"
    found = pt.read_predictions({"m": path}, index, kind=kind, memory=memory)
    assert found.index.labels == index.labels
    assert np.exp(found.log_probs[0]).round(12).tolist() == [[0.5, 0.5], [1, 0], [0, 1]]
    assert len(found.notes) == len(notes)
    assert all(words in note for words, note in zip(notes, found.notes, strict=True)), found.notes


def test_positions_of_the_argmax_are_no_label(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("item,cat,dog,pred\nT1,.4,.6,1\nT2,1,0,0\nT3,0,1,1\n")
    found = pt.read_predictions({"m": path})
    assert found.index.labels == ("cat", "dog")
    assert "ignored 'pred'" in found.notes[0]


def test_labels_that_nobody_used_stay_and_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("item,cat,dog,owl\nT1,.4,.5,.1\nT2,1,0,0\nT3,0,1,0\n")
    found = pt.read_predictions({"m": path}, INDEX)
    assert (found.index.labels, found.notes) == (("cat", "dog", "owl"), ())


ERRORS = {
    "two columns of items": ("a,b,cat,dog\nT1,T2,.5,.5\nT2,T1,1,0\n", INDEX, "items in each of 'a', 'b'"),
    "no column of items": ("a,cat,dog\nU1,.5,.5\n", INDEX, "no column 'item' .columns: 'a', 'cat', 'dog'."),
    "which event": ("item,p\nT1,.5\n", INDEX, "one column of probabilities, 'p'.*Rename it, for instance to 'dog'"),
    "above 1": ("item,p\nT1,1.5\n", BINARY, "line 2, column 'p': got 1.5, expected a probability from 0 to 1"),
    "sum": ("item,cat,dog,text\nT1,.5,.6,x\n", INDEX, "sum to 1.1.*ignored 'text'"),
}


@pytest.mark.parametrize(("text", "index", "message"), ERRORS.values(), ids=ERRORS)
def test_what_is_not_sure_is_an_error(text: str, index: Index, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        pt.read_predictions({"m": path}, index)


PAIRS = {"doc": ["d1", "d1", "d2"], "sent": [1, 2, 1]}
ITEMS = ("d1/1", "d1/2", "d2/1")


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    pl.DataFrame(columns).write_csv(path)
    return path


def test_labels_predictions_and_groups(tmp_path: Path) -> None:
    doubled = {name: [*cells, *cells] for name, cells in PAIRS.items()}
    votes = {**doubled, "annotator": ["a"] * 3 + ["b"] * 3, "label": ["no", "yes", "no", "no", "yes", "yes"]}
    labels = write(tmp_path / "labels.csv", votes)
    annotations = pt.read_annotations(labels, item="doc,sent")
    assert annotations.index.items == ITEMS
    assert annotations.counts().tolist() == [[2, 0], [0, 2], [1, 1]]
    model = write(tmp_path / "m.csv", {**PAIRS, "no": [0.5, 0.25, 0.75], "yes": [0.5, 0.75, 0.25]})
    read = pt.read_predictions({"m": model}, item="doc,sent")
    assert (tuple(read.index.items), read.index.labels) == (ITEMS, ("no", "yes"))
    result = pt.evaluate(labels, {"m": model, "n": model}, item="doc,sent", engine="exact")
    assert tuple(result.scores.items) == ITEMS


def test_counts_and_scores_with_a_part_as_the_cluster() -> None:
    counts = pt.read_annotations({**PAIRS, "no": [1, 2, 0], "yes": [2, 1, 3]}, item="doc,sent", format="counts")
    assert (tuple(counts.index.items), counts.index.labels) == (ITEMS, ("no", "yes"))
    doubled = {name: [*cells, *cells] for name, cells in PAIRS.items()}
    table = {**doubled, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.2, 0.3, 0.3, 0.2, 0.2]}
    scores = pt.read_scores(table, item="doc,sent", cluster="doc", higher_is_better=True)
    assert tuple(scores.items) == ITEMS
    assert scores.clusters is not None
    assert scores.clusters.names == ("d1", "d2")


def test_no_two_items_get_one_name() -> None:
    table = {"a": ["x/y", "x"], "b": ["z", "y/z"], "annotator": ["r", "r"], "label": ["no", "yes"]}
    assert pt.read_annotations(table, item="a,b").n_items == 2


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no column 'doc,page'"):
        pt.read_annotations({**PAIRS, "annotator": ["r"] * 3, "label": ["no"] * 3}, item="doc,page")
