"""Exports of annotation tools.

`argilla.json` was written by argilla 2.8.0 (`Record`, `Response`, `JsonIO.to_json`; no server). The files of Label
Studio and Prodigy were written by hand from their documented schemas: both need a server or a licence to run.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.loaders import read_argilla, read_label_studio, read_prodigy

BOB = "bob@example.org"


def rows_of(annotations: pt.Annotations) -> set[tuple[str, str, str]]:
    """What was said, as (item, annotator, label)."""
    assert annotations.annotator is not None
    index, rows = annotations.index, zip(annotations.item, annotations.annotator, annotations.label, strict=True)
    return {(index.items[item], index.annotators[who], index.labels[label]) for item, who, label in rows}


def test_label_studio(files: Path) -> None:
    path = files / "annotations" / "label_studio.json"
    mood = read_label_studio(path, "mood", labels=["good", "bad", "neutral"])
    assert rows_of(mood) == {("101", "1", "good"), ("101", BOB, "bad"), ("102", "1", "bad")}
    assert mood.index.labels == ("bad", "good", "neutral")
    assert mood.notes == (f"{path}: 1 answer left out: skipped, ignored, cancelled, discarded or a draft",)
    stars = read_label_studio(path, "stars", item="key")
    assert rows_of(stars) == {("first", "1", "4"), ("second", "1", "1")}
    with pytest.raises(InputError, match=r"several questions: 'mood', 'stars'.*question='mood'"):
        read_label_studio(path)
    with pytest.raises(InputError, match="Did you mean 'mood'"):
        read_label_studio(path, "moood")


def test_argilla(files: Path) -> None:
    """Record r1 has two positive and one negative; the export does not tell that one response of r3 was discarded."""
    path = files / "annotations" / "argilla.json"
    annotations = read_argilla(path, "sentiment")
    assert (annotations.index.items, annotations.index.labels) == (("r1", "r2", "r3"), ("negative", "positive"))
    assert annotations.counts().tolist() == [[1, 2], [2, 0], [1, 1]]
    assert annotations.n_annotators == 3
    with pytest.raises(InputError, match="several questions: 'sentiment', 'topics'"):
        read_argilla(path)
    with pytest.raises(InputError, match="record 1, 'topics': got 2 labels at once"):
        read_argilla(path, "topics")


def test_prodigy(files: Path) -> None:
    annotations = read_prodigy(files / "annotations" / "prodigy.jsonl")
    assert rows_of(annotations) == {("-11", "mood-ann", "good"), ("-11", "bob", "bad"), ("22", "mood-ann", "bad")}
    assert annotations.index.labels == ("bad", "good", "none")


def test_prodigy_classification(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    task = {"text": "x", "label": "SPAM", "_input_hash": 1, "_annotator_id": "ann"}
    lines = [{**task, "_task_hash": n, "answer": answer} for n, answer in enumerate(("accept", "reject", "ignore"))]
    path.write_text("\n".join(map(json.dumps, lines)))
    annotations = read_prodigy(path)
    assert rows_of(annotations) == {("0", "ann", "accept"), ("1", "ann", "reject")}
    assert annotations.index.labels == ("accept", "reject")
    assert annotations.notes == (f"{path}: 1 answer left out: skipped, ignored, cancelled, discarded or a draft",)


def studio(**changes: object) -> list[dict[str, Any]]:
    result = {"from_name": "m", "type": "choices", "value": {"choices": ["good"]}} | changes
    return [{"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": [result]}]}]


def argilla(**changes: object) -> list[dict[str, Any]]:
    return [{"id": "a", "responses": {"m": [{"value": "good", "user_id": "u"} | changes]}}]


def prodigy(**changes: object) -> dict[str, Any]:
    return {"_input_hash": 1, "_task_hash": 1, "_session_id": "s", "accept": ["x"], "answer": "accept"} | changes


STUDIO, ARGILLA, PRODIGY = read_label_studio, read_argilla, read_prodigy
ERRORS: dict[str, tuple[Callable[[Path], object], object, str]] = {
    "several choices": (STUDIO, studio(value={"choices": ["a", "b"]}), "task 1, 'm': got 2 labels at once"),
    "no choice": (STUDIO, studio(value={"choices": []}), "an empty list of labels"),
    "no value": (STUDIO, studio(value={}), "a key 'choices'"),
    "only spans": (STUDIO, studio(type="labels"), "no label"),
    "nobody": (STUDIO, [{"id": 1, "annotations": [{"result": []}]}], "'completed_by': got null"),
    "no annotations": (STUDIO, [{"id": 1, "data": {}}], "Export the project from Label Studio"),
    "not tasks": (STUDIO, {"a": 1}, "an object of 1, expected a list"),
    "twice": (STUDIO, studio() * 2, "item '1' labelled again by '1' .first: .*task 1"),
    "no user": (ARGILLA, argilla(user_id=None), "'user_id': got null"),
    "nested": (ARGILLA, argilla(value={"start": 1}), "'m': got an object of 1"),
    "no responses": (ARGILLA, [{"id": "a"}], "a key 'responses'"),
    "no answer": (PRODIGY, prodigy(answer=None), "line 1, 'answer': got null"),
    "two options": (PRODIGY, prodigy(accept=["a", "b"]), "2 labels at once"),
    "no session": (PRODIGY, prodigy(_session_id=None), "'_session_id': got null"),
    "spans": (PRODIGY, {"answer": "accept", "spans": []}, "a key 'label'"),
}


@pytest.mark.parametrize(("read", "content", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(tmp_path: Path, read: Callable[[Path], object], content: object, message: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        read(path)


def test_prodigy_of_two_interfaces(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    other = {key: value for key, value in prodigy(label="x").items() if key != "accept"}
    path.write_text(json.dumps(prodigy()) + "\n" + json.dumps(other))
    with pytest.raises(InputError, match="two interfaces"):
        read_prodigy(path)
