"""Items with all their votes in one cell of JSON lines, as ChaosNLI and SNLI publish them."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from probtruth.check import one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText, Texts
from probtruth.io.json_values import Record, as_it_is, as_name, described, read_rows, split, wrong
from probtruth.types import Annotations
from probtruth.types.arguments import GivenNames, StrPath

# Keys that hold votes, the first that a file has; of `label_count` the labels must be known.
VOTES = ("label_counter", "annotator_labels", "label_count")
ITEMS = ("uid", "pairID", "item", "id")  # Keys that name the item
LARGEST = 2**31  # More votes than an item can have


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
        name = row.at(as_name, item or _first(row, ITEMS, "item", "--item"))
        if name in counts:
            raise InputError(
                f"item {quote(name)} again",
                "every item once",
                "Remove the repetition.",
                row.where,
            )
        counts[name] = _counts(row, votes or _first(row, VOTES, "votes", "--label"), known)
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


def _counts(row: Record, key: str, labels: list[str] | None) -> Mapping[str, int]:
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
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < LARGEST:
            raise wrong(described(count), "a count of votes", where)
    return cell
