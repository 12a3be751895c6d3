"""Votes in one cell. The keys and their order are those of ChaosNLI's `chaosNLI_snli.jsonl`; the votes are made up."""

import json
from pathlib import Path

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.loaders import read_chaosnli

ROW = {
    "uid": "4705552913.jpg#2r1n",
    "label_counter": {"n": 80, "e": 15, "c": 5},
    "majority_label": "n",
    "label_dist": [0.15, 0.8, 0.05],
    "label_count": [15, 80, 5],
    "entropy": 0.88,
    "example": {"uid": "4705552913.jpg#2r1n", "premise": "A man.", "hypothesis": "He.", "source": "snli"},
    "old_label": "n",
    "old_labels": ["n", "n", "n", "e", "n"],
}
OTHER = {**ROW, "uid": "b", "label_counter": {"e": 100}, "label_count": [100, 0, 0]}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def without(row: dict[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in keys}


def test_counts_by_label_by_position_and_one_by_one(tmp_path: Path) -> None:
    """c, e, n (sorted) of the two items, three times from the same numbers."""
    counts = [[5, 15, 80], [0, 100, 0]]
    path = write(tmp_path / "a.jsonl", [ROW, OTHER])
    by_label = read_chaosnli(path)
    assert (by_label.index.items, by_label.index.labels) == (("4705552913.jpg#2r1n", "b"), ("c", "e", "n"))
    assert by_label.counts().tolist() == counts
    assert read_chaosnli(path, labels=["e", "n", "c"], votes="label_count").counts().tolist() == counts
    lists = [{"pairID": n, "annotator_labels": labels} for n, labels in enumerate((["x", "y", "x"], ["y"]))]
    assert read_chaosnli(write(tmp_path / "b.jsonl", lists)).counts().tolist() == [[2, 1], [0, 1]]
    assert read_chaosnli(path, votes="old_labels").counts().tolist() == [[1, 4], [1, 4]]


ERRORS = {
    "positions without names": (without(ROW, "label_counter"), {}, "3 counts for labels without names.*labels="),
    "another number of labels": (without(ROW, "label_counter"), {"labels": ["e", "n"]}, "3 counts for 2 labels"),
    "another label": (ROW, {"labels": ["e", "n"]}, "label 'c'"),
    "negative": ({**ROW, "label_counter": {"e": -1}}, {}, "'label_counter': got the number -1, expected a count"),
    "text": ({**ROW, "label_counter": "e"}, {}, "'label_counter': got 'e', expected counts by label"),
    "half": ({**ROW, "label_counter": {"e": 0.5}}, {}, "got 0.5, expected a count of votes"),
    "nothing": ({"uid": "x"}, {}, "expected one of 'label_counter'"),
    "no item": (without(ROW, "uid"), {}, "expected one of 'uid'.*--item"),
}


@pytest.mark.parametrize(("row", "options", "message"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_used(tmp_path: Path, row: dict[str, object], options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_chaosnli(write(tmp_path / "a.jsonl", [row]), **options)
    assert "a.jsonl, line 1" in str(caught.value)
    with pytest.raises(InputError, match="again"):
        read_chaosnli(write(tmp_path / "a.jsonl", [ROW, ROW]))


def test_a_table_of_such_lines_says_who_reads_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pt\.loaders\.read_chaosnli .command line: --format chaosnli"):
        pt.read_annotations(write(tmp_path / "a.jsonl", [{"item": "x", "old_labels": ["n"]}]))
