"""Items with all their votes in one cell of JSON lines, as ChaosNLI and SNLI publish them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.collect import once
from probtruth.io.loaders.json_values import Record, as_name, described, read_lines
from probtruth.io.tables.read import shown
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath

# Keys that hold votes, the first that a file has; of `label_count` the labels must be known.
VOTES = ("label_counter", "annotator_labels", "label_count")
ITEMS = ("uid", "pairID", "item", "id")  # Keys that name the item
LARGEST = 2**31  # More votes than an item can have


def read_chaosnli(
    path: StrPath, labels: Iterable[str | int] | None = None, item: str | None = None, votes: str | None = None
) -> Annotations:
    r"""Annotations from JSON lines in which one cell holds all votes on an item.

    The cell is an object of counts (`label_counter` of ChaosNLI: {"e": 70, "n": 30}), a list of labels
    (`annotator_labels` of SNLI), or a list of counts (`label_count`), one for each of `labels` in their order. The
    annotators are not known.

    Arguments: `labels` are all the labels an item can have; `item` is the key of the item's name (`uid` unless you
    say), `votes` that of the votes.

    Errors: `InputError` names file and line of what cannot be used; a list of counts without `labels` is an error.

    >>> import probtruth as pt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chaosNLI_snli.jsonl"
    >>> _ = path.write_text('{"uid": "x1", "label_counter": {"e": 70, "n": 30}, "label_count": [70, 30, 0]}\n')
    >>> votes = pt.loaders.read_chaosnli(path, labels=["e", "n", "c"])
    >>> votes.index.labels, votes.counts().tolist()
    (('c', 'e', 'n'), [[0, 70, 30]])
    """
    named = None if labels is None else [as_name(label, "labels", "labels") for label in labels]
    rows: list[tuple[str, Mapping[str, int], str]] = []
    for row in read_lines(path):
        key = votes or _first(row, VOTES, "votes")
        name = row.name_at(item or _first(row, ITEMS, "item"))
        rows.append((name, _counts(row.need(key), named, f"{row.where}, {check.quote(key)}"), row.where))
    if not rows:
        raise InputError("an empty file", "one object an item", "Check the file.", shown(path))
    once(
        (((name,), where) for name, _, where in rows),
        lambda key: f"item {check.quote(key[0])} again",
        "every item once",
        "Remove the repetition.",
    )
    known = named or sorted({label for _, counted, _ in rows for label in counted})
    for _, counted, where in rows:
        for label in counted:
            check.one_of(label, known, f"{where}: label")
    counts = np.array([[counted.get(label, 0) for label in known] for _, counted, _ in rows], np.int64)
    return Annotations.from_counts(counts, [name for name, _, _ in rows], known)


def _first(row: Record, keys: tuple[str, ...], option: str) -> str:
    name = next((key for key in keys if key in row), None)
    if name is None:
        raise InputError(
            f"an object with the keys {check.shortlist(row)}",
            f"one of {check.shortlist(keys)}",
            f"Name the key: {option}=... (command line: --{'item' if option == 'item' else 'label'}).",
            row.where,
        )
    return name


def _counts(cell: Any, labels: list[str] | None, where: str) -> Mapping[str, int]:
    if isinstance(cell, dict):
        return {as_name(label, where, "label"): _whole(count, where) for label, count in cell.items()}
    if not isinstance(cell, list) or not cell:
        raise InputError(described(cell), "counts by label, or a list", "Check that value.", where)
    if all(isinstance(one, str) for one in cell):
        return Counter(as_name(one, where, "label") for one in cell)
    counts = [_whole(one, where) for one in cell]
    if labels is None or len(labels) != len(counts):
        raise InputError(
            f"{len(counts)} counts for {'labels without names' if labels is None else f'{len(labels)} labels'}",
            "one count for each label",
            "Name them in the order of the counts: pt.loaders.read_chaosnli(path, labels=['e', 'n', 'c']).",
            where,
        )
    return dict(zip(labels, counts, strict=True))


def _whole(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise InputError(described(value), "a count of votes", "Check that value.", where)
    return value
