"""Argilla: records as `dataset.records.to_json` writes them (version 2), or lists of records of version 1."""

from collections.abc import Iterable, Iterator
from typing import Any

from probtruth import check
from probtruth.io.loaders.json_values import JsonObject, as_list, as_name, as_object, need, need_name, read_objects
from probtruth.io.loaders.votes import Vote, annotations
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath


@check.checks_itself
def read_argilla(path: StrPath, question: str | None = None, labels: Iterable[str | int] | None = None) -> Annotations:
    r"""Annotations from an export of Argilla (JSON).

    Responses are labels, but for drafts and discarded ones, where the export tells them apart (that of version 2 does
    not: filter the records by `response.status` before the export). Suggestions are not read.

    Arguments: `path` is the file; `question` the name of the question whose responses are the labels (needed if
    there are several); `labels` are all the labels an item can have, if some were never used.

    Errors: `InputError` names file and record of what cannot be used, such as several labels at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> responses = [{"value": "good", "user_id": "ann"}, {"value": "bad", "user_id": "bob"}]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "records.json"
    >>> _ = path.write_text(json.dumps([{"id": "r1", "fields": {"text": "Fine."}, "responses": {"mood": responses}}]))
    >>> pt.loaders.read_argilla(path).counts().tolist()
    [[1, 1]]
    """
    votes = [vote for record, where in read_objects(path, "record") for vote in _of_record(record, where)]
    return annotations(votes, question, labels, "question", path)


def _of_record(record: JsonObject, where: str) -> Iterator[Vote]:
    item = need_name(record, "id", where)
    responses = need(record, "responses", where) or {}
    pairs = _of_version_1(responses, where) if isinstance(responses, list) else _of_version_2(responses, where)
    for question, response in pairs:
        if response.get("status") in ("draft", "discarded") or response.get("value") is None:
            continue
        annotator = need_name(response, "user_id", where)
        yield Vote(item, annotator, response["value"], as_name(question, where, "question"), where)


def _of_version_1(responses: list[Any], where: str) -> Iterator[tuple[str, JsonObject]]:
    for one in responses:
        response = as_object(one, where, "responses")
        for question, answer in as_object(response.get("values") or {}, where, "values").items():
            whole = {"user_id": response.get("user_id"), "status": response.get("status")}
            yield question, {**as_object(answer, where, question), **whole}


def _of_version_2(responses: Any, where: str) -> Iterator[tuple[str, JsonObject]]:
    for question, answers in as_object(responses, where, "responses").items():
        for answer in as_list(answers or [], where, question):
            yield question, as_object(answer, where, question)
