"""Argilla: records as `dataset.records.to_json` writes them (version 2), or lists of records of version 1."""

from collections.abc import Iterable, Iterator

from probtruth import check
from probtruth.io.loaders.json_values import Record, as_name, as_object, read_objects
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
    votes = [vote for record in read_objects(path, "record") for vote in _of_record(record)]
    return annotations(votes, question, labels, "question", path)


def _of_record(record: Record) -> Iterator[Vote]:
    item, where = record.name_at("id"), record.where
    pairs = _of_version_1(record) if isinstance(record.need("responses"), list) else _of_version_2(record)
    for question, response in pairs:
        if response.get("status") in ("draft", "discarded") or response.get("value") is None:
            continue
        annotator = response.name_at("user_id")
        yield Vote(item, annotator, response["value"], as_name(question, where, "question"), where)


def _of_version_1(record: Record) -> Iterator[tuple[str, Record]]:
    for response in record.objects_at("responses"):
        whole = {"user_id": response.get("user_id"), "status": response.get("status")}
        for question, answer in response.object_at("values", {}).items():
            yield question, Record({**as_object(answer, record.where, question), **whole}, record.where)


def _of_version_2(record: Record) -> Iterator[tuple[str, Record]]:
    responses = record.object_at("responses", {})
    return ((question, answer) for question in responses for answer in responses.objects_at(question, []))
