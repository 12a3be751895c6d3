"""Exports of annotation tools: Argilla, Label Studio and Prodigy."""

from collections.abc import Iterator
from typing import Any

from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import (
    as_it_is,
    as_list,
    as_name,
    as_object,
    as_objects,
    described,
    read_objects,
    read_rows,
)
from probtruth.io.loaders.votes import Vote, annotations_of, label_text
from probtruth.types import Annotations
from probtruth.types.arguments import GivenNames, StrPath


def read_argilla(path: StrPath, question: MaybeText = None, labels: GivenNames = None) -> Annotations:
    r"""Annotations from an export of Argilla (JSON), by `dataset.records.to_json` of version 2.

    Responses are labels, but for those that the export marks as drafts or discarded; most exports do not: filter the
    records by `response.status` before. Suggestions are not read.

    Arguments:
        path: the file.
        question: the name of the question whose responses are the labels (needed if there are several).
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and record of what cannot be used, such as several labels at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> responses = [{"value": "good", "user_id": "ann"}, {"value": "bad", "user_id": "bob"}]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "records.json"
    >>> _ = path.write_text(json.dumps([{"id": "r1", "fields": {"text": "Fine."}, "responses": {"mood": responses}}]))
    >>> pt.loaders.read_argilla(path).counts().tolist()
    [[1, 1]]
    """
    return annotations_of(_of_argilla(path), question, labels, "question", path)


def _of_argilla(path: StrPath) -> Iterator[Vote]:
    for record in read_objects(path, "record"):
        item = record.at(as_name, "id")
        responses = record.at(as_object, "responses")
        for question in responses:
            for one in responses.at(as_objects, question, []):
                sent = one.get("status") not in ("draft", "discarded")
                label = one.get("value") if sent else None
                yield Vote(item, one.at(as_name, "user_id"), label, question, record.where)


# The types of results that are one label, and the key under which each has it.
VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}
EXPORT = "Export the project from Label Studio as JSON (not as JSON-MIN)."
DB_OUT = "Export the data set with `prodigy db-out`."
SESSIONS = "Give annotators sessions of their own: `?session=name` in Prodigy's address."


def read_label_studio(
    path: StrPath,
    question: MaybeText = None,
    item: MaybeText = None,
    labels: GivenNames = None,
) -> Annotations:
    r"""Annotations from an export of Label Studio (JSON).

    Choices, ratings, numbers and pairwise selections are labels. Cancelled (skipped) annotations do not count;
    predictions of models are not read.

    Arguments:
        path: the file.
        question: the name of the tag (`from_name`) whose answers are the labels (needed if there are several).
        item: a key of the tasks' `data` that names the items (by default the task's id).
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and task of what cannot be used, such as several choices at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> result = {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["good"]}}
    >>> task = {"id": 7, "data": {"text": "Fine."}, "annotations": [{"completed_by": 1, "result": [result]}]}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "export.json"
    >>> _ = path.write_text(json.dumps([task]))
    >>> annotations = pt.loaders.read_label_studio(path)
    >>> annotations.index.items, annotations.index.labels, annotations.index.annotators
    (('7',), ('good',), ('1',))
    """
    return annotations_of(_of_label_studio(path, item), question, labels, "question", path)


def _of_label_studio(path: StrPath, item: MaybeText) -> Iterator[Vote]:
    for task in read_objects(path, "task"):
        name = task.at(as_name, "id") if item is None else task.at(as_object, "data", {}).at(as_name, item)
        for annotation in task.at(as_objects, "annotations", hint=EXPORT):
            if annotation.get("was_cancelled"):
                yield Vote(name, "", None, "", task.where)
                continue
            annotator = annotation.get("completed_by")
            if isinstance(annotator, dict):
                annotator = annotator.get("email") or annotator.get("id")
            annotator = as_name(annotator, f"{annotation.where}, 'completed_by'")
            for result in annotation.at(as_objects, "result", []):
                kind = VALUES.get(str(result.get("type")))
                if kind is not None:  # else a region, a text: no label of the item
                    label = result.at(as_object, "value").at(as_it_is, kind)
                    yield Vote(name, annotator, label, result.at(as_name, "from_name"), task.where)


def read_prodigy(path: StrPath, labels: GivenNames = None) -> Annotations:
    r"""Annotations from `prodigy db-out` (JSONL), of the interfaces `choice` and `classification`.

    With `choice` the label is the option that was accepted, and items are inputs (`_input_hash`). With one `label` to
    accept or reject, the labels are `accept` and `reject`, and items are tasks (`_task_hash`: an input with a label).
    Ignored answers do not count. Annotators are `_annotator_id`, or `_session_id` without one.

    Arguments:
        path: the file.
        labels: all the labels an item can have, if some were never used.

    Errors: `InputError` names file and line of what cannot be used, such as several options at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> task = {"text": "Fine.", "_input_hash": 5, "_task_hash": 9, "_annotator_id": "ann", "answer": "accept"}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mood.jsonl"
    >>> _ = path.write_text(json.dumps({**task, "options": [{"id": "good"}, {"id": "bad"}], "accept": ["good"]}))
    >>> pt.loaders.read_prodigy(path).index.labels
    ('bad', 'good')
    """
    votes = []
    options = set()
    for row in read_rows(path, "task"):
        answer = row.get("answer")
        if answer not in ("accept", "reject", "ignore"):
            raise InputError(
                described(answer),
                "an answer: accept, reject or ignore",
                DB_OUT,
                f"{row.where}, 'answer'",
            )
        chosen: Any = answer
        question, item = "classification", "_task_hash"
        if "accept" in row or "options" in row:
            question, item = "choice", "_input_hash"
            options |= {label_text(one.get("id"), row.where, "options") for one in row.at(as_objects, "options", [])}
            chosen = row.at(as_list, "accept", []) if answer == "accept" else None
        else:
            row.at(as_name, "label", hint="Only the interfaces choice and classification have one label.")
        if answer == "ignore" or chosen is None:
            votes.append(Vote("", "", None, question, row.where))
            continue
        annotator = row.at(as_name, "_annotator_id" if row.get("_annotator_id") else "_session_id", hint=SESSIONS)
        label = label_text(chosen, row.where, "accept")
        votes.append(Vote(row.at(as_name, item), annotator, label, question, row.where))
    answers = [vote for vote in votes if vote.label is not None]
    interfaces = {vote.question for vote in answers}
    if len(interfaces) > 1:
        raise InputError(
            "answers of two interfaces",
            "one",
            "Export the data sets one by one.",
            shown(path),
        )
    if interfaces == {"classification"}:
        options = {"accept", "reject"}
    if labels is None:
        labels = sorted(options.union(vote.label for vote in answers))
    return annotations_of(votes, None, labels, "interface", path)
