"""Items with all their votes in one cell of JSON lines, as ChaosNLI and SNLI publish them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from probtruth.check import one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.loaders.json_values import Record, as_name, described, read_rows
from probtruth.types import Annotations
from probtruth.types.arguments import StrPath

# Keys that hold votes, the first that a file has; of `label_count` the labels must be known.
VOTES = ("label_counter", "annotator_labels", "label_count")
ITEMS = ("uid", "pairID", "item", "id")  # Keys that name the item
LARGEST = 2**31  # More votes than an item can have


def read_chaosnli(
    path: StrPath, labels: Iterable[str | int] | None = None, item: MaybeText = None, votes: MaybeText = None
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
    named = None
    if labels is not None:
        named = [as_name(label, "labels") for label in labels]
    counts: dict[str, Mapping[str, int]] = {}
    for row in read_rows(path, "item"):
        key = votes or _first(row, VOTES, "votes")
        name = row.at(as_name, item or _first(row, ITEMS, "item"))
        if name in counts:
            raise InputError(f"item {quote(name)} again", "every item once", "Remove the repetition.", row.where)
        counts[name] = _counts(row, key, named)
    if not counts:
        raise InputError("an empty file", "one object an item", "Check the file.", shown(path))
    known = named
    if known is None:
        known = sorted(set().union(*counts.values()))
    table = np.zeros((len(counts), len(known)), np.int64)
    for position, own in enumerate(counts.values()):
        table[position] = [own.get(label, 0) for label in known]
    return Annotations.from_counts(table, list(counts), known)


def _annotators(listed: Any) -> set[str]:
    """The names of annotators in a list, or in a text with commas."""
    names = listed.split(",") if isinstance(listed, str) else listed if isinstance(listed, list) else ()
    return {str(name).strip() for name in names}


def _first(row: Record, keys: Texts, option: str) -> str:
    for key in keys:
        if key in row:
            return key
    flag = "--item" if option == "item" else "--label"
    hint = f"Name the key: {option}=... (command line: {flag})."
    wanted = f"one of {shortlist(keys)}"
    raise InputError(f"an object with the keys {shortlist(row)}", wanted, hint, row.where)


def _counts(row: Record, key: str, labels: list[str] | None) -> Mapping[str, int]:
    """The votes on an item by label: from an object of counts, a list of labels, or a list of counts."""
    where = f"{row.where}, {quote(key)}"
    cell = row.at(lambda value, where: value, key)
    if isinstance(cell, dict):
        if _annotators(row.get("annotators")) & cell.keys():
            problem = f"an object of annotators, since 'annotators' has the same names ({shortlist(cell, 3)})"
            hint = "Read it as LeWiDi's: pt.loaders.read_lewidi(path) (command line: --format lewidi)."
            raise InputError(problem, "an object of counts by label", hint, where)
        counts = {as_name(label, where): _votes(count, where) for label, count in cell.items()}
    elif not isinstance(cell, list) or not cell:
        raise InputError(described(cell), "counts by label, or a list", "Check that value.", where)
    elif all(isinstance(one, str) for one in cell):
        counts = Counter(as_name(one, where) for one in cell)
    else:
        counts = _by_position(cell, labels, where)
    for label in counts:
        one_of(label, labels or list(counts), f"{where}: label")
    return counts


def _by_position(cell: list[Any], labels: list[str] | None, where: str) -> dict[str, int]:
    known = labels or []
    if len(known) != len(cell):
        named = f"{len(known)} labels" if known else "labels without names"
        hint = "Name them in the order of the counts: pt.loaders.read_chaosnli(path, labels=['e', 'n', 'c'])."
        raise InputError(f"{len(cell)} counts for {named}", "one count for each label", hint, where)
    return {label: _votes(count, where) for label, count in zip(known, cell, strict=True)}


def _votes(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise InputError(described(value), "a count of votes", "Check that value.", where)
    return value
