"""Exports of annotation tools: Argilla, Label Studio and Prodigy."""

from collections.abc import Iterable, Iterator

from probtruth import check
from probtruth.check import quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.loaders.json_values import (
    Record,
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
from probtruth.types.arguments import StrPath


def read_argilla(path: StrPath, question: MaybeText = None, labels: Iterable[str | int] | None = None) -> Annotations:
    r"""Annotations from an export of Argilla (JSON), by `dataset.records.to_json` (version 2) or of version 1.

    Responses are labels, but for drafts and discarded ones, where the export tells them apart (that of version 2 does
    not: filter the records by `response.status` before the export). Suggestions are not read.

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
    votes = [vote for record in read_objects(path, "record") for vote in _of_record(record)]
    return annotations_of(votes, question, labels, "question", path)


def _of_record(record: Record) -> Iterator[Vote]:
    item = record.at(as_name, "id")
    for question, response in _responses(record):
        label = response.get("value")
        if response.get("status") not in ("draft", "discarded") and label is not None:
            annotator = response.at(as_name, "user_id")
            yield Vote(item, annotator, label, as_name(question, record.where), record.where)


def _responses(record: Record) -> Iterator[tuple[str, Record]]:
    if isinstance(record.get("responses"), list):  # version 1
        for response in record.at(as_objects, "responses"):
            about = {"user_id": response.get("user_id"), "status": response.get("status")}
            values = response.at(as_object, "values", {})
            for name in values:
                yield name, Record({**values.at(as_object, name), **about}, record.where)
    elif "responses" not in record or record["responses"] is not None:
        responses = record.at(as_object, "responses")
        for question in responses:
            for one in responses.at(as_objects, question, []):
                yield question, one


# The types of results that are one label, and the key under which each has it.
VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}
# Keys of a JSON-MIN task that are neither data nor answers.
OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
SESSIONS = "Give annotators sessions of their own: `?session=name` in Prodigy's address."


def read_label_studio(
    path: StrPath,
    question: MaybeText = None,
    item: MaybeText = None,
    labels: Iterable[str | int] | None = None,
) -> Annotations:
    r"""Annotations from an export of Label Studio: JSON, or JSON-MIN.

    Choices, ratings, numbers and pairwise selections are labels. Cancelled (skipped) annotations do not count;
    predictions of models are not read.

    Arguments:
        path: the file.
        question: the name of the tag (`from_name`) whose answers are the labels (needed if there are several, and for
            JSON-MIN).
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
    votes: list[Vote] = []
    for task in read_objects(path, "task"):
        whole = "annotations" in task or "completions" in task
        votes += _of_task(task, item) if whole else _of_minimal_task(task, item, question)
    return annotations_of(votes, question, labels, "question", path)


def _of_task(task: Record, item: MaybeText) -> Iterator[Vote]:
    name = task.at(as_name, "id") if item is None else task.at(as_object, "data", {}).at(as_name, item)
    for annotation in task.at(as_objects, "annotations" if "annotations" in task else "completions"):
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            continue
        annotator = _annotator(annotation, "completed_by")
        for result in annotation.at(as_objects, "result", []):
            kind = result.get("type")
            if isinstance(kind, str) and kind in VALUES:  # else a region, a text: no label of the item
                label = result.at(as_object, "value").at(lambda value, where: value, VALUES[kind])
                yield Vote(name, annotator, label, result.at(as_name, "from_name"), task.where)


def _annotator(answer: Record, key: str) -> str:
    value = answer.get(key)
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return as_name(value, f"{answer.where}, {quote(key)}")


def _of_minimal_task(task: Record, item: MaybeText, question: MaybeText) -> Iterator[Vote]:
    if "annotator" not in task:
        raise InputError(
            f"a task with the keys {shortlist(task)}",
            "annotations, or an annotator",
            "Export the project from Label Studio as JSON or JSON-MIN.",
            task.where,
        )
    if question is None:
        options = sorted(key for key in task if key not in OWN)
        raise InputError(
            f"a JSON-MIN export with the keys {shortlist(options)}",
            "to know which of them is the answer",
            check.choose("question", options[0], "--label") if options else "Export it as JSON.",
            task.where,
        )
    name = task.at(as_name, "id" if item is None else item)
    if task.get(question) is not None:
        yield Vote(name, _annotator(task, "annotator"), task[question], question, task.where)


def read_prodigy(path: StrPath, labels: Iterable[str | int] | None = None) -> Annotations:
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
    votes: list[Vote] = []
    options: set[str] = set()
    for row in read_rows(path, "task"):
        answer, where = row.get("answer"), row.where
        if answer not in ("accept", "reject", "ignore"):
            raise InputError(
                described(answer),
                "an answer: accept, reject or ignore",
                "Export the data set with `prodigy db-out`.",
                f"{where}, 'answer'",
            )
        choice = "accept" in row or "options" in row
        if choice:
            options |= {label_text(one.get("id"), where, "options") for one in row.at(as_objects, "options", [])}
        if answer == "ignore" or (choice and answer == "reject"):
            continue
        if not choice:
            row.at(as_name, "label", hint="Only the interfaces choice and classification have one label.")
        label = label_text(row.at(as_list, "accept"), where, "accept") if choice else str(answer)
        item = row.at(as_name, "_input_hash" if choice else "_task_hash")
        annotator = row.at(as_name, "_annotator_id" if row.get("_annotator_id") else "_session_id", hint=SESSIONS)
        votes.append(Vote(item, annotator, label, "choice" if choice else "classification", where))
    interfaces = {vote.question for vote in votes}
    if len(interfaces) > 1:
        raise InputError("answers of two interfaces", "one", "Export the data sets one by one.", shown(path))
    if labels is None:
        chosen = sorted(options | {vote.label for vote in votes})
        labels = chosen if interfaces == {"choice"} else ["accept", "reject"]
    return annotations_of(votes, None, labels, "interface", path)
