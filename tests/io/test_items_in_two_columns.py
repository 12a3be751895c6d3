"""Items that several columns name together, in every kind of table."""

from pathlib import Path

import polars as pl
import pytest

import probtruth as pt
from probtruth.errors import InputError

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
