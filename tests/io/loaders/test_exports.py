"""Exports of doccano, Potato, Labelbox and LeWiDi: small examples, made by hand in the form that each tool documents.

doccano: its tutorial, "Export Dataset" (JSONL, a file for each user). Potato: `annotation_output/USER/
annotated_instances.jsonl` as `flask_server.py` writes it. Labelbox: "Export v2 format" (one data row a line). LeWiDi:
the readme of the third edition, "Common JSON Format".
"""

import json
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.annotations import annotations_in
from probtruth.io.formats import LabelReading
from probtruth.io.loaders import read_doccano, read_labelbox, read_lewidi, read_potato
from probtruth.io.table import opened
from probtruth.io.tools import tool_of
from probtruth.types import Annotations


def lines(path: Path, rows: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def votes(annotations: Annotations) -> set[tuple[str, str, str]]:
    """(item, annotator, label)"""
    index = annotations.index
    columns = (annotations.item, annotations.annotator, annotations.label)
    names = (index.items, index.annotators, index.labels)
    rows = [[axis[code] for code in column.tolist()] for axis, column in zip(names, columns, strict=True)]
    return set(zip(*rows, strict=True))


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

    def test_a_file_for_each_user(self, folder: Path) -> None:
        assert tool_of(folder) == tool_of(folder / "ann.jsonl") == "doccano"
        read = annotations_in(opened(folder), LabelReading())
        assert votes(read) == {("1", "ann", "good"), ("1", "bob", "bad"), ("2", "ann", "bad")}
        assert votes(read_doccano({"A": folder / "ann.jsonl"})) == {("1", "A", "good"), ("2", "A", "bad")}

    @pytest.mark.parametrize(
        ("label", "message"),
        [([[0, 4, "PER"]], "line 1: got spans"), (["good", "bad"], "2 labels at once"), ("good", "expected a list")],
    )
    def test_what_is_not_read(self, tmp_path: Path, label: object, message: str) -> None:
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

    def test_a_folder_for_each_user(self, folder: Path) -> None:
        assert tool_of(folder) == "potato"
        assert votes(read_potato(folder, "mood")) == {("t1", "u1", "good"), ("t1", "u2", "bad")}
        read = annotations_in(opened(folder), LabelReading(label="pleasant"))
        assert votes(read) == {("t1", "u1", "4"), ("t1", "u2", "2")}

    def test_the_question_must_be_named(self, folder: Path) -> None:
        with pytest.raises(InputError, match="several questions: 'mood', 'pleasant'"):
            read_potato(folder)

    def test_several_choices_at_once(self, tmp_path: Path) -> None:
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

    def test_classifications_of_every_label(self, export: Path) -> None:
        assert tool_of(export) == "labelbox"
        ann, bob = "ann@example.org", "bob@example.org"
        expected = {("t1", ann, "good"), ("t1", bob, "bad"), ("t2", ann, "good")}
        assert votes(read_labelbox(export, "mood")) == expected
        tones = annotations_in(opened(export), LabelReading(label="tone"))
        assert votes(tones) == {("t1", ann, "calm"), ("t2", ann, "calm")}
        assert read_labelbox(export, "mood", item="id").index.items == ("c1", "c2")

    def test_objects_alone_are_no_labels(self, tmp_path: Path) -> None:
        label = labelled("ann@example.org", [])
        path = lines(tmp_path / "e.ndjson", [{"data_row": {"id": "c"}, "projects": {"p": {"labels": [label]}}}])
        with pytest.raises(InputError, match="got no label"):
            read_labelbox(path)

    def test_two_answers_of_a_checklist(self, tmp_path: Path) -> None:
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
    def test_items_in_one_object(self, tmp_path: Path, first: object, second: object) -> None:
        path = tmp_path / "MP_train.json"
        path.write_text(json.dumps(self.items(first, second)))
        assert tool_of(path) == "lewidi"
        assert votes(annotations_in(opened(path), LabelReading())) == EXPECTED

    def test_an_object_of_annotators_in_lines_is_no_counts_of_labels(self, tmp_path: Path) -> None:
        rows = [{"uid": key, **value} for key, value in self.items({"Ann1": 0, "Ann2": 1}, {"Ann1": 1}).items()]
        path = lines(tmp_path / "votes.jsonl", rows)
        assert votes(read_lewidi(path)) == EXPECTED
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
    def test_what_is_not_read(self, tmp_path: Path, answers: object, message: str) -> None:
        path = tmp_path / "x.json"
        path.write_text(json.dumps(self.items(answers, {"Ann1": "1"})))
        with pytest.raises(InputError, match=message):
            read_lewidi(path)
