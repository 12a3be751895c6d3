"""What annotators answered in the export of a tool, as annotations."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from probtruth.check import Source, count, quote
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import as_name, as_number
from probtruth.io.loaders.collect import choose, once
from probtruth.types import Annotations
from probtruth.types.arguments import GivenNames, StrPath


class Vote(NamedTuple):
    """What one annotator answered to one question on one item; `label` as it stands in the file, None if skipped."""

    item: str
    annotator: str
    label: Any
    question: str
    where: str


def annotations_of(
    votes: Iterable[Vote], question: MaybeText, labels: GivenNames, option: str, path: StrPath
) -> Annotations:
    """The votes on one question as annotations; `option` names the argument that chooses the question."""
    name = shown(path)
    everything = list(votes)
    votes = [vote for vote in everything if vote.label is not None]
    if not votes:
        raise InputError(
            "no label",
            "at least one",
            "Check that the export has annotations.",
            name,
        )
    question = choose({vote.question for vote in votes}, question, option, "--label", name)
    chosen = [vote for vote in votes if vote.question == question]
    once(
        (((vote.item, vote.annotator), vote.where) for vote in chosen),
        "item {} labelled again by {}",
        "one label from each annotator",
        "Remove all but the last of them in the tool, and export again.",
    )
    columns = {
        "item": [vote.item for vote in chosen],
        "annotator": [vote.annotator for vote in chosen],
        "label": [label_text(vote.label, vote.where, vote.question) for vote in chosen],
    }
    made = Annotations.from_long(columns, labels=labels, source=Source(name))
    n_skipped = len(everything) - len(votes)
    if n_skipped:
        note = f"{name}: {count(n_skipped, 'answer')} left out: skipped, ignored, cancelled, discarded or a draft"
        made = replace(made, notes=(note,))
    return made


def label_text(value: Any, where: str, question: str) -> str:
    """A label as a name: text, a number, or a list of one."""
    where = f"{where}, {quote(question)}"
    if isinstance(value, list):
        if len(value) != 1:
            raise InputError(
                f"{len(value)} labels at once" if value else "an empty list of labels",
                "one label for each annotation",
                "Questions with several answers are several questions of yes or no: export them so.",
                where,
            )
        (value,) = value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        number = as_number(value, where)
        return str(int(number)) if number.is_integer() else repr(number)
    return as_name(value, where)
