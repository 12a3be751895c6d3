"""Label Studio: the export formats JSON and JSON-MIN."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders import json_values, votes
from probtruth.io.loaders.votes import Vote
from probtruth.io.tables.read import read_bytes, shown, utf8
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath

VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}
"""The types of results that are one label, and the key under which each keeps it."""
OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
"""Keys of a JSON-MIN task that are neither data nor answers."""


@check.checks_itself
def read_label_studio(
    path: StrPath, question: str | None = None, item: str | None = None, labels: Iterable[object] | None = None
) -> Annotations:
    r"""Annotations from an export of Label Studio: JSON, or JSON-MIN.

    Choices, ratings, numbers and pairwise selections are labels. Cancelled (skipped) annotations count for nothing;
    predictions of models are not read.

    Arguments: `path` is the file; `question` the name of the tag (`from_name`) whose answers are the labels (needed
    where there are several, and for JSON-MIN); `item` a key of the tasks' `data` that names the items (left out: the
    task's id); `labels` are all the labels an item can have, where some were never used.

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
    place = Path(str(path))
    name = shown(place)
    tasks = json_values.a_list(json_values.parse(utf8(read_bytes(place), name), name), name)
    found: list[Vote] = []
    for number, task in enumerate(tasks, 1):
        where = f"{name}, task {number}"
        row = json_values.an_object(task, where)
        if "annotations" in row or "completions" in row:
            found += _of_task(row, item, where)
        else:
            found += _minimal(row, item, question, where)
    return votes.annotations(found, question, labels, "question", name)


def _of_task(task: json_values.Object, item: str | None, where: str) -> Iterator[Vote]:
    data = json_values.an_object(task.get("data") or {}, where, "data")
    key = "id" if item is None else item
    name = json_values.name(json_values.need(task if item is None else data, key, where), where, key)
    for given in json_values.a_list(task.get("annotations", task.get("completions")), where, "annotations"):
        annotation = json_values.an_object(given, where, "annotations")
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            continue
        who = _annotator(annotation.get("completed_by"), where)
        for one in json_values.a_list(annotation.get("result") or [], where, "result"):
            result = json_values.an_object(one, where, "result")
            kind = result.get("type")
            if not isinstance(kind, str) or kind not in VALUES:
                continue  # a region, a text: no label of the item
            question = json_values.name(json_values.need(result, "from_name", where), where, "from_name")
            value = json_values.an_object(json_values.need(result, "value", where), where, "value")
            name_of = json_values.name(question, where, "from_name")
            yield Vote(name, who, json_values.need(value, VALUES[kind], where), name_of, where)


def _annotator(given: Any, where: str) -> str:
    if isinstance(given, dict):
        given = given.get("email") or given.get("id")
    return json_values.name(given, where, "completed_by")


def _minimal(task: json_values.Object, item: str | None, question: str | None, where: str) -> Iterator[Vote]:
    """The vote of a JSON-MIN task, which is one annotation."""
    if "annotator" not in task:
        raise InputError(
            f"a task with the keys {check.shortlist(task)}",
            "annotations, or an annotator",
            "Export the project from Label Studio as JSON or JSON-MIN.",
            where,
        )
    if question is None:
        options = sorted(key for key in task if key not in OWN)
        raise InputError(
            f"a JSON-MIN export with the keys {check.shortlist(options)}",
            "to know which of them is the answer",
            check.choose("question", options[0], "--label") if options else "Export it as JSON.",
            where,
        )
    key = "id" if item is None else item
    name = json_values.name(json_values.need(task, key, where), where, key)
    who = _annotator(task["annotator"], where)
    if task.get(question) is not None:
        yield Vote(name, who, task[question], question, where)
