"""Argilla: records as `dataset.records.to_json` writes them (version 2), or lists of records of version 1."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from probtruth import check
from probtruth.io.loaders import json_values, votes
from probtruth.io.loaders.votes import Vote
from probtruth.io.tables.read import read_bytes, shown, utf8
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath


@check.checks_itself
def read_argilla(path: StrPath, question: str | None = None, labels: Iterable[object] | None = None) -> Annotations:
    r"""Annotations from an export of Argilla (JSON).

    Responses are labels, but for drafts and discarded ones, where the export tells them apart (that of version 2 does
    not: filter the records by `response.status` before the export). Suggestions are not read.

    Arguments: `path` is the file; `question` the name of the question whose responses are the labels (needed where
    there are several); `labels` are all the labels an item can have, where some were never used.

    Errors: `InputError` names file and record of what cannot be used, such as several labels at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> said = [{"value": "good", "user_id": "ann"}, {"value": "bad", "user_id": "bob"}]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "records.json"
    >>> _ = path.write_text(json.dumps([{"id": "r1", "fields": {"text": "Fine."}, "responses": {"mood": said}}]))
    >>> pt.loaders.read_argilla(path).counts().tolist()
    [[1, 1]]
    """
    place = Path(str(path))
    name = shown(place)
    records = json_values.a_list(json_values.parse(utf8(read_bytes(place), name), name), name)
    found: list[Vote] = []
    for number, record in enumerate(records, 1):
        where = f"{name}, record {number}"
        found += _of_record(json_values.an_object(record, where), where)
    return votes.annotations(found, question, labels, "question", name)


def _of_record(record: json_values.Object, where: str) -> Iterator[Vote]:
    item = json_values.name(json_values.need(record, "id", where), where, "id")
    responses = json_values.need(record, "responses", where) or {}
    if isinstance(responses, list):
        pairs = [pair for one in responses for pair in _of_version_1(one, where)]
    else:
        pairs = [
            (question, json_values.an_object(one, where, question))
            for question, given in json_values.an_object(responses, where, "responses").items()
            for one in json_values.a_list(given or [], where, question)
        ]
    for question, response in pairs:
        if response.get("status") in ("draft", "discarded") or response.get("value") is None:
            continue
        who = json_values.name(json_values.need(response, "user_id", where), where, "user_id")
        yield Vote(item, who, response["value"], json_values.name(question, where, "question"), where)


def _of_version_1(given: object, where: str) -> Iterator[tuple[str, json_values.Object]]:
    response = json_values.an_object(given, where, "responses")
    for question, value in json_values.an_object(response.get("values") or {}, where, "values").items():
        inner = json_values.an_object(value, where, question)
        yield question, {**inner, "user_id": response.get("user_id"), "status": response.get("status")}
