"""Exports of annotation tools, and data sets with all votes on an item in one object or cell.

These are Argilla, Label Studio, Prodigy, doccano, Potato, Labelbox, the shared tasks Learning with Disagreements
(LeWiDi), ChaosNLI and SNLI.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from probtruth.check import one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.json_values import (
    Record,
    as_it_is,
    as_list,
    as_name,
    as_object,
    as_objects,
    described,
    read_object,
    read_rows,
    split,
    wrong,
)
from probtruth.io.loaders.collect import Vote, annotations_of, label_text, log_files
from probtruth.types import Annotations
from probtruth.types.arguments import Files, GivenNames, StrPath


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
    return annotations_of(_of_argilla(path), question, labels, path)


def _of_argilla(path: StrPath) -> Iterator[Vote]:
    for record in read_rows(path, "record"):
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
    return annotations_of(_of_label_studio(path, item), question, labels, path)


def _of_label_studio(path: StrPath, item: MaybeText) -> Iterator[Vote]:
    for task in read_rows(path, "task"):
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
    return annotations_of(votes, None, labels, path)


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
    return annotations_of(votes, None, labels, listed[0][1])


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
    return annotations_of(votes, question, labels, listed[0][1])


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
    return annotations_of(_of_labelbox(path, item), question, labels, path)


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
    return annotations_of(_of_lewidi(path, votes or "annotations"), None, labels, path)


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
    items = read_object(path)
    for item in items:
        yield as_name(item, items.where), as_object(items[item], f"{items.where}, item {quote(item)}")


# Keys that hold votes, the first that a file has; of `label_count` the labels must be known.
KEYS_OF_VOTES = ("label_counter", "annotator_labels", "label_count")
KEYS_OF_ITEMS = ("uid", "pairID", "item", "id")  # Keys that name the item
MOST_VOTES = 2**31  # More votes than an item can have


def read_chaosnli(
    path: StrPath, labels: GivenNames = None, item: MaybeText = None, votes: MaybeText = None
) -> Annotations:
    r"""Annotations from JSON lines in which one cell holds all votes on an item.

    The cell is an object of counts (`label_counter` of ChaosNLI: {"e": 70, "n": 30}), a list of labels
    (`annotator_labels` of SNLI), or a list of counts (`label_count`), one for each of `labels` in their order. The
    annotators are not known.

    Arguments:
        path: the file.
        labels: all the labels an item can have.
        item: the key of the item's name (`uid` unless you say), `votes` that of the votes.
        votes: the key that holds the votes.

    Errors: `InputError` names file and line of what cannot be used; a list of counts without `labels` is an error.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chaosNLI_snli.jsonl"
    >>> _ = path.write_text('{"uid": "x1", "label_counter": {"e": 70, "n": 30}, "label_count": [70, 30, 0]}\n')
    >>> votes = pt.loaders.read_chaosnli(path, labels=["e", "n", "c"])
    >>> votes.index.labels, votes.counts().tolist()
    (('c', 'e', 'n'), [[0, 70, 30]])
    """
    known = None if labels is None else [as_name(label, "labels") for label in labels]
    counts = {}
    for row in read_rows(path, "item"):
        name = row.at(as_name, item or _first(row, KEYS_OF_ITEMS, "item", "--item"))
        if name in counts:
            raise InputError(
                f"item {quote(name)} again",
                "every item once",
                "Remove the repetition.",
                row.where,
            )
        counts[name] = _votes_of(row, votes or _first(row, KEYS_OF_VOTES, "votes", "--label"), known)
    if not counts:
        raise InputError(
            "an empty file",
            "one object an item",
            "Check the file.",
            shown(path),
        )
    known = known or sorted(set().union(*counts.values()))
    table = [[own.get(label, 0) for label in known] for own in counts.values()]
    return Annotations.from_counts(np.array(table), list(counts), known)


def _first(row: Record, keys: Texts, option: str, flag: str) -> str:
    for key in keys:
        if key in row:
            return key
    raise InputError(
        f"an object with the keys {shortlist(row)}",
        f"one of {shortlist(keys)}",
        f"Name the key: {option}=... (command line: {flag}).",
        row.where,
    )


def _votes_of(row: Record, key: str, labels: list[str] | None) -> Mapping[str, int]:
    """The votes on an item by label: from an object of counts, a list of labels, or a list of counts."""
    where = f"{row.where}, {quote(key)}"
    cell = row.at(as_it_is, key)
    if isinstance(cell, list) and cell and all(isinstance(one, str) for one in cell):
        cell = Counter(cell)
    elif isinstance(cell, list) and cell:
        known = labels or []
        if len(known) != len(cell):
            named = f"{len(known)} labels" if known else "labels without names"
            raise InputError(
                f"{len(cell)} counts for {named}",
                "one count for each label",
                "Name them in the order of the counts: pt.loaders.read_chaosnli(path, labels=['e', 'n', 'c']).",
                where,
            )
        cell = dict(zip(known, cell, strict=True))
    if not isinstance(cell, dict):
        raise wrong(described(cell), "counts by label, or a list", where)
    listed = row.get("annotators")
    annotators = row.at(split, "annotators") if isinstance(listed, (str, list)) else []
    if not cell.keys().isdisjoint(map(str, annotators)):
        raise InputError(
            f"an object of annotators, since 'annotators' has the same names ({shortlist(cell, 3)})",
            "an object of counts by label",
            "Read it as LeWiDi's: pt.loaders.read_lewidi(path) (command line: --format lewidi).",
            where,
        )
    for label, count in cell.items():
        one_of(as_name(label, where), labels or list(cell), f"{where}: label")
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < MOST_VOTES:
            raise wrong(described(count), "a count of votes", where)
    return cell
