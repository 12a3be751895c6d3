"""Prodigy: the JSON lines of `prodigy db-out`."""

from collections.abc import Iterable
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders import json_values, votes
from probtruth.io.loaders.votes import Vote
from probtruth.io.tables.read import read_bytes, shown, utf8
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath


@check.checks_itself
def read_prodigy(path: StrPath, labels: Iterable[object] | None = None) -> Annotations:
    r"""Annotations from `prodigy db-out` (JSONL), of the interfaces `choice` and `classification`.

    With `choice` the label is the option that was accepted, and items are inputs (`_input_hash`). With one `label` to
    accept or reject, the labels are `accept` and `reject`, and items are tasks (`_task_hash`: an input with a label).
    Ignored answers count for nothing. Annotators are `_annotator_id`, or `_session_id` where there is none.

    Arguments: `path` is the file; `labels` are all the labels an item can have, where some were never used.

    Errors: `InputError` names file and line of what cannot be used, such as several options at once.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> task = {"text": "Fine.", "_input_hash": 5, "_task_hash": 9, "_annotator_id": "ann", "answer": "accept"}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mood.jsonl"
    >>> _ = path.write_text(json.dumps({**task, "options": [{"id": "good"}, {"id": "bad"}], "accept": ["good"]}))
    >>> pt.loaders.read_prodigy(path).index.labels
    ('bad', 'good')
    """
    place = Path(str(path))
    name = shown(place)
    found, options = [], set()
    for row, where in json_values.lines(utf8(read_bytes(place), name), name):
        answer = row.get("answer")
        if answer not in ("accept", "reject", "ignore"):
            raise InputError(
                json_values.described(answer),
                "an answer: accept, reject or ignore",
                "Export the data set with `prodigy db-out`.",
                f"{where}, 'answer'",
            )
        choice = "accept" in row or "options" in row
        if choice:
            options |= set(_options(row, where))
        if answer == "ignore" or (choice and answer == "reject"):
            continue
        if choice:
            said = votes.label(json_values.a_list(row.get("accept"), where, "accept"), where, "accept")
        else:
            json_values.need(row, "label", where, "Only the interfaces choice and classification have one label.")
            said = str(answer)
        key = "_input_hash" if choice else "_task_hash"
        item = json_values.name(json_values.need(row, key, where), where, key)
        found.append(Vote(item, _annotator(row, where), said, "choice" if choice else "classification", where))
    kinds = {vote.question for vote in found}
    if len(kinds) > 1:
        raise InputError("answers of two interfaces", "one", "Export the data sets one by one.", name)
    every = [*sorted(options | {vote.label for vote in found})] if kinds == {"choice"} else ["accept", "reject"]
    return votes.annotations(found, None, every if labels is None else labels, "interface", name)


def _options(row: json_values.Object, where: str) -> list[str]:
    listed = json_values.a_list(row.get("options") or [], where, "options")
    ids = [json_values.need(json_values.an_object(one, where, "options"), "id", where) for one in listed]
    return [votes.label(one, where, "options") for one in ids]


def _annotator(row: json_values.Object, where: str) -> str:
    given = row.get("_annotator_id") or row.get("_session_id")
    if given is None:
        raise InputError(
            f"no _annotator_id and no _session_id (keys: {', '.join(map(repr, list(row)[:12]))})",
            "to know who answered",
            "Give annotators sessions of their own: `?session=name` in Prodigy's address.",
            where,
        )
    return json_values.name(given, where, "_annotator_id")
