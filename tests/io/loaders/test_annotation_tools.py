"""Exports of annotation tools.

`argilla.json` was written by argilla 2.8.0 (`Record`, `Response`, `JsonIO.to_json`; no server). The files of Label
Studio and Prodigy were written by hand from their documented schemas: both need a server or a licence to run.

Exports of doccano, Potato, Labelbox and LeWiDi: small examples, made by hand in the form that each tool documents.

doccano: its tutorial, "Export Dataset" (JSONL, a file for each user). Potato: `annotation_output/USER/
annotated_instances.jsonl` as `flask_server.py` writes it. Labelbox: "Export v2 format" (one data row a line). LeWiDi:
the readme of the third edition, "Common JSON Format".

Votes in one cell. The keys and their order are those of ChaosNLI's `chaosNLI_snli.jsonl`; the votes are made up.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.annotations import annotations_in
from probtruth.io.formats import LabelReading
from probtruth.io.loaders import (
    read_argilla,
    read_chaosnli,
    read_doccano,
    read_label_studio,
    read_labelbox,
    read_lewidi,
    read_potato,
    read_prodigy,
)
from probtruth.io.table import opened
from probtruth.io.tools import tool_of

BOB = "bob@example.org"


def rows_of(annotations: pt.Annotations) -> set[tuple[str, str, str]]:
    """What was said, as (item, annotator, label)."""
    assert annotations.annotator is not None
    index, rows = annotations.index, zip(annotations.item, annotations.annotator, annotations.label, strict=True)
    return {(index.items[item], index.annotators[who], index.labels[label]) for item, who, label in rows}


def test_label_studio(files):
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


def test_argilla(files):
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


def test_prodigy(files):
    annotations = read_prodigy(files / "annotations" / "prodigy.jsonl")
    assert rows_of(annotations) == {("-11", "mood-ann", "good"), ("-11", "bob", "bad"), ("22", "mood-ann", "bad")}
    assert annotations.index.labels == ("bad", "good", "none")


def test_prodigy_classification(tmp_path):
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
    "not tasks": (STUDIO, {"a": 1}, "an object with the keys 'a', expected a key 'id'"),
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
def test_errors(tmp_path, read, content, message):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        read(path)


def test_prodigy_of_two_interfaces(tmp_path):
    path = tmp_path / "t.jsonl"
    other = {key: value for key, value in prodigy(label="x").items() if key != "accept"}
    path.write_text(json.dumps(prodigy()) + "\n" + json.dumps(other))
    with pytest.raises(InputError, match="two interfaces"):
        read_prodigy(path)


def lines(path: Path, rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


class TestDoccano:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        lines(
            tmp_path / "out" / "ann.jsonl",
            [
                {"id": 1, "text": "Fine.", "label": ["good"], "Comments": []},
                {"id": 2, "text": "Not so.", "label": ["bad"], "Comments": []},
            ],
        )
        lines(
            tmp_path / "out" / "bob.jsonl",
            [
                {"id": 1, "text": "Fine.", "label": ["bad"], "Comments": []},
                {"id": 2, "text": "Not so.", "label": [], "Comments": []},
            ],
        )
        return tmp_path / "out"

    def test_a_file_for_each_user(self, folder):
        assert tool_of(folder) == tool_of(folder / "ann.jsonl") == "doccano"
        read = annotations_in(opened(folder), LabelReading())
        assert rows_of(read) == {("1", "ann", "good"), ("1", "bob", "bad"), ("2", "ann", "bad")}
        assert rows_of(read_doccano({"A": folder / "ann.jsonl"})) == {("1", "A", "good"), ("2", "A", "bad")}

    @pytest.mark.parametrize(
        ("label", "message"),
        [([[0, 4, "PER"]], "line 1: got spans"), (["good", "bad"], "2 labels at once"), ("good", "expected a list")],
    )
    def test_what_is_not_read(self, tmp_path, label, message):
        path = lines(tmp_path / "ann.jsonl", [{"id": 1, "text": "x", "label": label}])
        with pytest.raises(InputError, match=message):
            read_doccano(path)


class TestPotato:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for user, mood, scale in (("u1", "good", "4"), ("u2", "bad", "2")):
            answers = {"mood": {mood: "true"}, "pleasant": {f"scale_{scale}": scale}, "why": {"text_box": "because"}}
            row = {"id": "t1", "displayed_text": "Fine.", "label_annotations": answers, "span_annotations": {}}
            lines(tmp_path / "annotation_output" / user / "annotated_instances.jsonl", [{**row, "behavioral_data": {}}])
        return tmp_path / "annotation_output"

    def test_a_folder_for_each_user(self, folder):
        assert tool_of(folder) == "potato"
        assert rows_of(read_potato(folder, "mood")) == {("t1", "u1", "good"), ("t1", "u2", "bad")}
        read = annotations_in(opened(folder), LabelReading(label="pleasant"))
        assert rows_of(read) == {("t1", "u1", "4"), ("t1", "u2", "2")}

    def test_the_question_must_be_named(self, folder):
        with pytest.raises(InputError, match="several questions: 'mood', 'pleasant'"):
            read_potato(folder)

    def test_several_choices_at_once(self, tmp_path):
        row = {"id": "t1", "label_annotations": {"mood": {"good": "true", "bad": "true"}}}
        path = lines(tmp_path / "u1" / "annotated_instances.jsonl", [row])
        with pytest.raises(InputError, match="2 labels at once"):
            read_potato(path)


def classification(name: str, answer: str) -> dict[str, object]:
    return {"feature_id": "f", "name": name, "value": name, "radio_answer": {"name": answer, "value": answer}}


def labelled(by: str, answers: list[object], **more: object) -> dict[str, object]:
    annotations = {"objects": [], "classifications": answers, "relationships": []}
    return {"label_kind": "Default", "label_details": {"created_by": by}, "annotations": annotations, **more}


class TestLabelbox:
    @pytest.fixture
    def export(self, tmp_path: Path) -> Path:
        text = {"name": "why", "text_answer": {"content": "because"}}
        many = {"name": "tone", "checklist_answers": [{"name": "calm", "value": "calm"}]}
        labels = [
            labelled("ann@example.org", [classification("mood", "good"), text, many]),
            labelled("bob@example.org", [classification("mood", "bad")]),
            labelled("cy@example.org", [classification("mood", "bad")], performance_details={"skipped": True}),
        ]
        rows = [
            {"data_row": {"id": "c1", "global_key": "t1"}, "projects": {"p1": {"name": "P", "labels": labels}}},
            {"data_row": {"id": "c2", "external_id": "t2"}, "projects": {"p1": {"name": "P", "labels": labels[:1]}}},
            {"data_row": {"id": "c3"}, "projects": {"p1": {"name": "P", "labels": []}}},
        ]
        return lines(tmp_path / "export.ndjson", rows)

    def test_classifications_of_every_label(self, export):
        assert tool_of(export) == "labelbox"
        ann, bob = "ann@example.org", "bob@example.org"
        expected = {("t1", ann, "good"), ("t1", bob, "bad"), ("t2", ann, "good")}
        assert rows_of(read_labelbox(export, "mood")) == expected
        tones = annotations_in(opened(export), LabelReading(label="tone"))
        assert rows_of(tones) == {("t1", ann, "calm"), ("t2", ann, "calm")}
        assert read_labelbox(export, "mood", item="id").index.items == ("c1", "c2")

    def test_objects_alone_are_no_labels(self, tmp_path):
        label = labelled("ann@example.org", [])
        path = lines(tmp_path / "e.ndjson", [{"data_row": {"id": "c"}, "projects": {"p": {"labels": [label]}}}])
        with pytest.raises(InputError, match="got no label"):
            read_labelbox(path)

    def test_two_answers_of_a_checklist(self, tmp_path):
        many = {"name": "tone", "checklist_answers": [{"name": "calm"}, {"name": "loud"}]}
        label = labelled("ann@example.org", [many])
        path = lines(tmp_path / "e.ndjson", [{"data_row": {"id": "c"}, "projects": {"p": {"labels": [label]}}}])
        with pytest.raises(InputError, match="2 labels at once"):
            read_labelbox(path)


ITEM = {"annotation task": "irony detection", "text": {"post": "a", "reply": "b"}, "lang": "en", "split": "train"}
EXPECTED = {("7", "Ann1", "0"), ("7", "Ann2", "1"), ("8", "Ann1", "1")}


class TestLeWiDi:
    def items(self, first: object, second: object) -> dict[str, object]:
        one = {**ITEM, "number of annotations": 2, "annotators": "Ann1,Ann2", "annotations": first}
        two = {**ITEM, "number of annotations": 1, "annotators": "Ann1", "annotations": second}
        return {"7": {**one, "soft_label": {"0": 0.5, "1": 0.5}}, "8": two}

    @pytest.mark.parametrize(
        ("first", "second"),
        [({"Ann1": "0", "Ann2": "1"}, {"Ann1": "1"}), ("0,1", "1"), ({"Ann1": 0, "Ann2": 1}, {"Ann1": 1})],
        ids=["third edition", "second edition", "numbers"],
    )
    def test_items_in_one_object(self, tmp_path, first, second):
        path = tmp_path / "MP_train.json"
        path.write_text(json.dumps(self.items(first, second)))
        assert tool_of(path) == "lewidi"
        assert rows_of(annotations_in(opened(path), LabelReading())) == EXPECTED

    def test_an_object_of_annotators_in_lines_is_no_counts_of_labels(self, tmp_path):
        rows = [{"uid": key, **value} for key, value in self.items({"Ann1": 0, "Ann2": 1}, {"Ann1": 1}).items()]
        path = lines(tmp_path / "votes.jsonl", rows)
        assert rows_of(read_lewidi(path)) == EXPECTED
        assert tool_of(path) == "lewidi"
        with pytest.raises(InputError, match="'annotators' has the same names"):
            annotations_in(opened(path), LabelReading(label="annotations", format="chaosnli"))

    @pytest.mark.parametrize(
        ("answers", "message"),
        [
            ({"Ann1": "a,b", "Ann2": "a"}, "2 labels at once"),
            ("0", "1 annotations of 2 annotators"),
            (3, "expected a list"),
        ],
    )
    def test_what_is_not_read(self, tmp_path, answers, message):
        path = tmp_path / "x.json"
        path.write_text(json.dumps(self.items(answers, {"Ann1": "1"})))
        with pytest.raises(InputError, match=message):
            read_lewidi(path)


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


def without(row: dict[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in keys}


def test_counts_by_label_by_position_and_one_by_one(tmp_path):
    """c, e, n (sorted) of the two items, three times from the same numbers."""
    counts = [[5, 15, 80], [0, 100, 0]]
    path = lines(tmp_path / "a.jsonl", [ROW, OTHER])
    by_label = read_chaosnli(path)
    assert (by_label.index.items, by_label.index.labels) == (("4705552913.jpg#2r1n", "b"), ("c", "e", "n"))
    assert by_label.counts().tolist() == counts
    assert read_chaosnli(path, labels=["e", "n", "c"], votes="label_count").counts().tolist() == counts
    lists = [{"pairID": n, "annotator_labels": labels} for n, labels in enumerate((["x", "y", "x"], ["y"]))]
    assert read_chaosnli(lines(tmp_path / "b.jsonl", lists)).counts().tolist() == [[2, 1], [0, 1]]
    assert read_chaosnli(path, votes="old_labels").counts().tolist() == [[1, 4], [1, 4]]


ERRORS_CHAOSNLI = {
    "positions without names": (without(ROW, "label_counter"), {}, "3 counts for labels without names.*labels="),
    "another number of labels": (without(ROW, "label_counter"), {"labels": ["e", "n"]}, "3 counts for 2 labels"),
    "another label": (ROW, {"labels": ["e", "n"]}, "label 'c'"),
    "negative": ({**ROW, "label_counter": {"e": -1}}, {}, "'label_counter': got the number -1, expected a count"),
    "text": ({**ROW, "label_counter": "e"}, {}, "'label_counter': got 'e', expected counts by label"),
    "half": ({**ROW, "label_counter": {"e": 0.5}}, {}, "got 0.5, expected a count of votes"),
    "nothing": ({"uid": "x"}, {}, "expected one of 'label_counter'"),
    "no item": (without(ROW, "uid"), {}, "expected one of 'uid'.*--item"),
}


@pytest.mark.parametrize(("row", "options", "message"), ERRORS_CHAOSNLI.values(), ids=ERRORS_CHAOSNLI)
def test_what_cannot_be_used(tmp_path, row, options, message):
    with pytest.raises(InputError, match=message) as caught:
        read_chaosnli(lines(tmp_path / "a.jsonl", [row]), **options)
    assert "a.jsonl, line 1" in str(caught.value)
    with pytest.raises(InputError, match="again"):
        read_chaosnli(lines(tmp_path / "a.jsonl", [ROW, ROW]))


def test_a_table_of_such_lines_says_who_reads_them(tmp_path):
    with pytest.raises(InputError, match=r"pt\.loaders\.read_chaosnli .command line: --format chaosnli"):
        pt.read_annotations(lines(tmp_path / "a.jsonl", [{"item": "x", "old_labels": ["n"]}]))
