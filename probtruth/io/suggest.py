"""Which columns of a table may be items, annotators and labels: a suggestion, made only where one reading fits."""

import re
from collections.abc import Sequence

from polars import DataFrame, Series, String

from probtruth.io.formats import LabelReading, Texts

PEOPLE = ("worker", "annotator", "rater", "user", "coder", "judge", "participant", "respondent", "reviewer")
# Words in the names of columns that say something of the annotator, or of when and how they answered.
TRAITS = (
    "age", "gender", "sex", "race", "ethnicity", "country", "region", "city", "education", "occupation", "income",
    "religion", "politic", "party", "language", "native", "ip", "channel", "trust", "experience",
    "time", "date", "created", "started", "submitted", "updated", "duration", "seconds", "minutes", "batch", "hit",
    "assignment", "session", "order", "index", "golden", "tainted", "missed", "status", "split",
)  # fmt: skip
ANSWERS = (
    "label", "answer", "rating", "judgment", "judgement", "vote", "choice", "response", "category", "class", "grade",
    "annotation", "stance", "score", "value",
)  # fmt: skip
DECIMAL = r"^\s*-?\d*[.,]\d*[1-9]\d*\s*$"  # 1.0 is an integer
TIME = r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|^\s*\d{1,2}:\d{2}"


def long_form_of(frame: DataFrame, how: LabelReading) -> Texts:
    """The options with which a table is in long form; none where no reading fits, or several do."""
    names = [column.name for column in frame if _may_be_meant(column)]
    people = [name for name in names if _has_word(name, PEOPLE) and not _has_word(name, TRAITS)]
    if how.column("annotator") in frame.columns:
        people = [how.column("annotator")]
    if len(people) != 1:
        return ()
    (annotator,) = people
    others = [name for name in names if name != annotator and not _has_word(name, (*TRAITS, *PEOPLE))]
    items = [name for name in others if not _has_word(name, ANSWERS) and _n(frame, name, annotator) == frame.height]
    if how.column("item") in items:
        items = [how.column("item")]
    labels = [name for name in others if name not in items and _varies(frame, name, (annotator, *items[:1]))]
    if how.column("label") in labels:
        labels = [how.column("label")]
    # several columns may name the items, if all of them put the rows into the same groups
    if len(labels) != 1 or not items or any(_n(frame, *items[:1], name) != _n(frame, name) for name in items):
        return ()
    if len({_n(frame, name) for name in items}) > 1:
        return ()
    words: list[str] = []
    for role, name in {"item": items[0], "annotator": annotator, "label": labels[0]}.items():
        if how.column(role) != name:
            words += [f"--{role}", name]
    return tuple(words)


def _may_be_meant(column: Series) -> bool:
    """Whether a column may hold names that stand in several rows; no decimals, and no times."""
    if not 1 < column.n_unique() < len(column) or not column.name.strip():
        return False
    if column.dtype == String:
        cells = column.alias("cells").str
        return not (cells.contains(DECIMAL).any() or cells.contains(TIME).any())
    return column.dtype.is_integer()


def _has_word(name: str, words: Sequence[str]) -> bool:
    parts = re.findall("[a-z]+", re.sub("([a-z])([A-Z])", r"\1 \2", name).lower())
    return any(part == word or part == word + "s" for part in parts for word in words)


def _n(frame: DataFrame, *names: str) -> int:
    """How many rows differ in these columns."""
    return frame[list(dict.fromkeys(names))].n_unique()


def _varies(frame: DataFrame, name: str, groups: Sequence[str]) -> bool:
    """Whether some of each group differ in a column: an annotator answers differently, an item gets other answers."""
    return all(_n(frame, name, group) > _n(frame, group) for group in groups)
