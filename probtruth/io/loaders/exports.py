"""Exports of annotation tools that write a file for each annotator, or all answers to an item in one object.

These are doccano, Potato, Labelbox and the data sets of the shared tasks Learning with Disagreements (LeWiDi).
"""

from collections.abc import Iterator

from probtruth.check import quote
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import (
    Record,
    as_list,
    as_name,
    as_object,
    as_objects,
    read_json,
    read_rows,
    split,
)
from probtruth.io.loaders.collect import log_files
from probtruth.io.loaders.votes import Vote, annotations_of
from probtruth.types import Annotations
from probtruth.types.arguments import Files, GivenNames, StrPath

DOCCANO = ("*.jsonl",)
POTATO = ("annotated_instances.jsonl",)
SPANS = "Spans are no labels of an item: export a project of text classification."


def read_doccano(files: Files, labels: GivenNames = None) -> Annotations:
    r"""Annotations from exports of doccano (JSONL), a file for each user, whose name is that of the file.

    Texts without a label were not annotated. Spans, and texts with several labels, are not read.

    Arguments:
        files: a folder, a file, a list of them, or {user: file}.
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "ann.jsonl").write_text('{"id": 1, "text": "Fine.", "label": ["good"]}')
    >>> _ = (folder / "bob.jsonl").write_text('{"id": 1, "text": "Fine.", "label": ["bad"]}')
    >>> pt.loaders.read_doccano(folder).counts().tolist()
    [[1, 1]]
    """
    votes = []
    listed = log_files(files, DOCCANO)
    for user, path in listed:
        for row in read_rows(path, "text"):
            chosen = row.at(as_list, "label", hint=SPANS)
            if any(not isinstance(label, str) for label in chosen):
                raise InputError(
                    "spans",
                    "labels of the text",
                    SPANS,
                    row.where,
                )
            if chosen:
                votes.append(Vote(row.at(as_name, "id"), user or path.stem, chosen, "label", row.where))
    return annotations_of(votes, None, labels, "question", listed[0][1])


def read_potato(files: Files, question: MaybeText = None, labels: GivenNames = None) -> Annotations:
    r"""Annotations from Potato: `USER/annotated_instances.jsonl` in its folder of output.

    Single choices and Likert scales are labels. Spans and text fields are not read, nor are several choices at once.

    Arguments:
        files: the folder, a file, a list of them, or {user: file}.
        question: the name of the scheme whose answers are the labels (needed if there are several).
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "ann"
    >>> folder.mkdir()
    >>> answer = '{"id": "t1", "label_annotations": {"mood": {"good": "true"}}, "span_annotations": {}}'
    >>> _ = (folder / "annotated_instances.jsonl").write_text(answer)
    >>> annotations = pt.loaders.read_potato(folder.parent)
    >>> annotations.index.annotators, annotations.index.labels
    (('ann',), ('good',))
    """
    votes = []
    listed = log_files(files, POTATO)
    for user, path in listed:
        annotator = user or path.resolve().parent.name
        for row in read_rows(path, "instance"):
            schemes = row.at(as_object, "label_annotations")
            for scheme in schemes:
                chosen = []
                for label, value in schemes.at(as_object, scheme).items():
                    if label != "text_box" and value not in (None, "", False, "false"):
                        chosen.append(value if label.startswith("scale_") else label)  # the value of a Likert scale
                if chosen:
                    votes.append(Vote(row.at(as_name, "id"), annotator, chosen, scheme, row.where))
    return annotations_of(votes, question, labels, "question", listed[0][1])


def read_labelbox(
    path: StrPath, question: MaybeText = None, item: MaybeText = None, labels: GivenNames = None
) -> Annotations:
    r"""Annotations from an export of Labelbox (NDJSON): its classifications with a radio answer or a checklist.

    Items have the global key of their data row or, without one, its external id or id. Skipped labels do not count.
    Objects, texts, nested classifications and those of frames are not read, nor are several answers at once.

    Arguments:
        path: the file.
        question: the name of the classification whose answers are the labels (needed if there are several).
        item: the key of the data row that names the items.
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> mood = {"name": "mood", "radio_answer": {"name": "good"}}
    >>> label = {"label_details": {"created_by": "ann@example.org"}, "annotations": {"classifications": [mood]}}
    >>> row = {"data_row": {"id": "c1", "global_key": "t1"}, "projects": {"p": {"labels": [label]}}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "export.ndjson"
    >>> _ = path.write_text(json.dumps(row))
    >>> annotations = pt.loaders.read_labelbox(path)
    >>> annotations.index.items, annotations.index.labels
    (('t1',), ('good',))
    """
    return annotations_of(_of_labelbox(path, item), question, labels, "question", path)


def _of_labelbox(path: StrPath, item: MaybeText) -> Iterator[Vote]:
    for row in read_rows(path, "data row"):
        named = row.at(as_object, "data_row")
        key = item or next((name for name in ("global_key", "external_id") if named.get(name)), "id")
        name = named.at(as_name, key)
        projects = row.at(as_object, "projects")
        for project in projects:
            for label in projects.at(as_object, project).at(as_objects, "labels", []):
                if label.at(as_object, "performance_details", {}).get("skipped") is True:
                    yield Vote(name, "", None, "", label.where)
                    continue
                annotator = label.at(as_object, "label_details").at(as_name, "created_by")
                for one in label.at(as_object, "annotations").at(as_objects, "classifications", []):
                    answers = one.at(as_objects, "checklist_answers", [])
                    if one.get("radio_answer") is not None:
                        answers = [one.at(as_object, "radio_answer")]
                    chosen = [answer.at(as_name, "name" if "name" in answer else "value") for answer in answers]
                    if chosen:
                        yield Vote(name, annotator, chosen, one.at(as_name, "name"), label.where)


def read_lewidi(path: StrPath, labels: GivenNames = None, votes: MaybeText = None) -> Annotations:
    r"""Annotations from a data set of Learning with Disagreements (LeWiDi): JSON, an object of items.

    `annotations` is an object of labels by annotator, or a list (in one text, with commas) beside `annotators`. The
    same objects as JSON lines are read too, each with its name under `uid` or `id`. Soft and hard labels in the file
    are not read, nor are several labels from one annotator.

    Arguments:
        path: the file.
        labels: all the labels an item can have, if some were never used.
        votes: the key of the annotations, if it is another.

    Errors: `InputError` names file and item of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "MP_train.json"
    >>> _ = path.write_text('{"7": {"annotators": "Ann1,Ann2", "annotations": {"Ann1": "0", "Ann2": "1"}}}')
    >>> annotations = pt.loaders.read_lewidi(path)
    >>> annotations.index.annotators, annotations.index.labels
    (('Ann1', 'Ann2'), ('0', '1'))
    """
    return annotations_of(_of_lewidi(path, votes or "annotations"), None, labels, "question", path)


def _of_lewidi(path: StrPath, votes: str) -> Iterator[Vote]:
    for item, row in _lewidi_items(path):
        answers = row.get(votes)
        if not isinstance(answers, dict):
            annotators = row.at(split, "annotators")
            listed = row.at(split, votes)
            if len(listed) != len(annotators):
                raise InputError(
                    f"{len(listed)} annotations of {len(annotators)} annotators",
                    "one of each",
                    "Check that item.",
                    row.where,
                )
            answers = dict(zip(annotators, listed, strict=True))
        for annotator, label in answers.items():
            if label not in (None, ""):
                several = split(label, row.where) if isinstance(label, str) else [label]
                yield Vote(item, as_name(annotator, row.where), several, votes, row.where)


def _lewidi_items(path: StrPath) -> Iterator[tuple[str, Record]]:
    if not shown(path).lower().endswith(".json"):
        for row in read_rows(path, "item"):
            yield row.at(as_name, "uid" if "uid" in row else "id"), row
        return
    items = as_object(*read_json(path))
    for item in items:
        yield as_name(item, items.where), as_object(items[item], f"{items.where}, item {quote(item)}")
