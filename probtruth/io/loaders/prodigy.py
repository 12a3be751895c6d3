"""Prodigy: the JSON lines of `prodigy db-out`."""

from collections.abc import Iterable

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.json_values import Record, as_list, as_name, described, read_lines
from probtruth.io.loaders.votes import Vote, annotations, label_text
from probtruth.io.tables.read import shown
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath


@check.checks_itself
def read_prodigy(path: StrPath, labels: Iterable[str | int] | None = None) -> Annotations:
    r"""Annotations from `prodigy db-out` (JSONL), of the interfaces `choice` and `classification`.

    With `choice` the label is the option that was accepted, and items are inputs (`_input_hash`). With one `label` to
    accept or reject, the labels are `accept` and `reject`, and items are tasks (`_task_hash`: an input with a label).
    Ignored answers do not count. Annotators are `_annotator_id`, or `_session_id` without one.

    Arguments: `path` is the file; `labels` are all the labels an item can have, if some were never used.

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
    for row in read_lines(path):
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
            options |= {label_text(one.need("id"), where, "options") for one in row.objects_at("options", [])}
        if answer == "ignore" or (choice and answer == "reject"):
            continue
        if choice:
            label = label_text(as_list(row.get("accept"), where, "accept"), where, "accept")
        else:
            row.need("label", "Only the interfaces choice and classification have one label.")
            label = str(answer)
        item = row.name_at("_input_hash" if choice else "_task_hash")
        votes.append(Vote(item, _annotator(row), label, "choice" if choice else "classification", where))
    interfaces = {vote.question for vote in votes}
    if len(interfaces) > 1:
        raise InputError("answers of two interfaces", "one", "Export the data sets one by one.", shown(path))
    if labels is None:
        chosen = sorted(options | {vote.label for vote in votes})
        labels = chosen if interfaces == {"choice"} else ["accept", "reject"]
    return annotations(votes, None, labels, "interface", path)


def _annotator(row: Record) -> str:
    annotator = row.get("_annotator_id") or row.get("_session_id")
    if annotator is None:
        raise InputError(
            f"no _annotator_id and no _session_id (keys: {', '.join(map(repr, list(row)[:12]))})",
            "to know who answered",
            "Give annotators sessions of their own: `?session=name` in Prodigy's address.",
            row.where,
        )
    return as_name(annotator, row.where, "_annotator_id")
