"""Labels that stand one by one in the exports of annotation tools, put together as annotations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.loaders import json_values
from probtruth.types import Annotations


@dataclass(frozen=True, slots=True)
class Vote:
    """What one annotator answered to one question on one item; `label` as it stands in the file."""

    item: str
    annotator: str
    label: Any
    question: str
    where: str


def annotations(
    votes: Sequence[Vote], question: str | None, labels: Iterable[object] | None, option: str, what: str
) -> Annotations:
    """The votes on one question as annotations; `option` names the argument that chooses the question.

    Errors: `InputError` for several questions without a choice, no vote, or an annotator who labels an item twice.
    """
    found = sorted({vote.question for vote in votes})
    if not found:
        raise InputError("no label", "at least one", "Check that the export has annotations.", what)
    if question is not None:
        check.one_of(question, found, option)
    elif len(found) > 1:
        raise InputError(
            f"several questions: {check.shortlist(found, 20)}", "one", check.choose(option, found[0], "--label"), what
        )
    kept = [vote for vote in votes if vote.question == (question or found[0])]
    seen: dict[tuple[str, str], str] = {}
    for vote in kept:
        key = (vote.item, vote.annotator)
        if key in seen:
            raise InputError(
                f"item {check.quote(vote.item)} labelled again by {check.quote(vote.annotator)} (first: {seen[key]})",
                "one label from each annotator",
                "Remove all but the last of them in the tool, and export again.",
                vote.where,
            )
        seen[key] = vote.where
    columns = {
        "item": [vote.item for vote in kept],
        "annotator": [vote.annotator for vote in kept],
        "label": [label(vote.label, vote.where, vote.question) for vote in kept],
    }
    return Annotations.from_long(columns, labels=labels, source=Source(what))


def label(value: Any, where: str, question: str) -> str:
    """A label as a name: text, a number, or a list of one."""
    if isinstance(value, list):
        if len(value) != 1:
            raise InputError(
                f"{len(value)} labels at once" if value else "an empty list of labels",
                "one label for each annotation",
                "Questions with several answers are several questions of yes or no: export them so.",
                f"{where}, {check.quote(question)}",
            )
        (value,) = value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        number = json_values.number(value, where, question)
        return str(int(number)) if number.is_integer() else repr(number)
    return json_values.name(value, where, question)
