"""Label Studio: the export formats JSON and JSON-MIN."""

from collections.abc import Iterable, Iterator
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.json_values import Record, as_list, as_name, as_object, read_objects
from probtruth.io.loaders.votes import Vote, annotations
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath

VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}
"""The types of results that are one label, and the key under which each has it."""
OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
"""Keys of a JSON-MIN task that are neither data nor answers."""


@check.checks_itself
def read_label_studio(
    path: StrPath,
    question: str | None = None,
    item: str | None = None,
    labels: Iterable[str | int] | None = None,
) -> Annotations:
    r"""Annotations from an export of Label Studio: JSON, or JSON-MIN.

    Choices, ratings, numbers and pairwise selections are labels. Cancelled (skipped) annotations do not count;
    predictions of models are not read.

    Arguments: `path` is the file; `question` the name of the tag (`from_name`) whose answers are the labels (needed
    if there are several, and for JSON-MIN); `item` a key of the tasks' `data` that names the items (by default the
    task's id); `labels` are all the labels an item can have, if some were never used.

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
    return annotations(votes, question, labels, "question", path)


def _of_task(task: Record, item: str | None) -> Iterator[Vote]:
    data, where = task.object_at("data", {}), task.where
    name = task.name_at("id") if item is None else data.name_at(item)
    for one in as_list(task.get("annotations", task.get("completions")), where, "annotations"):
        annotation = as_object(one, where, "annotations")
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            continue
        annotator = _annotator(annotation.get("completed_by"), where)
        for result in annotation.objects_at("result", []):
            kind = result.get("type")
            if not isinstance(kind, str) or kind not in VALUES:
                continue  # a region, a text: no label of the item
            question = result.name_at("from_name")
            yield Vote(name, annotator, result.object_at("value").need(VALUES[kind]), question, where)


def _annotator(value: Any, where: str) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return as_name(value, where, "completed_by")


def _of_minimal_task(task: Record, item: str | None, question: str | None) -> Iterator[Vote]:
    """The vote of a JSON-MIN task, which is one annotation."""
    if "annotator" not in task:
        raise InputError(
            f"a task with the keys {check.shortlist(task)}",
            "annotations, or an annotator",
            "Export the project from Label Studio as JSON or JSON-MIN.",
            task.where,
        )
    if question is None:
        options = sorted(key for key in task if key not in OWN)
        raise InputError(
            f"a JSON-MIN export with the keys {check.shortlist(options)}",
            "to know which of them is the answer",
            check.choose("question", options[0], "--label") if options else "Export it as JSON.",
            task.where,
        )
    name = task.name_at("id" if item is None else item)
    annotator = _annotator(task["annotator"], task.where)
    if task.get(question) is not None:
        yield Vote(name, annotator, task[question], question, task.where)
