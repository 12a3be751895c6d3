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
    answers = [name for name in others if _has_word(name, ANSWERS)]
    items = [name for name in others if name not in answers and _tells_apart(frame, (name, annotator))]
    if how.column("item") in items:
        items = [how.column("item")]
    labels = [name for name in others if name not in items and _varies(frame, name, annotator, items)]
    if how.column("label") in labels:
        labels = [how.column("label")]
    if len(labels) != 1 or not items or not all(_same_groups(frame, items[0], name) for name in items):
        return ()
    found = {"--item": ("item", items[0]), "--annotator": ("annotator", annotator), "--label": ("label", labels[0])}
    words: list[str] = []
    for option, (role, name) in found.items():
        if how.column(role) != name:
            words += [option, name]
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


def _pairs(frame: DataFrame, names: Sequence[str]) -> int:
    """How many rows differ in these columns."""
    return DataFrame([frame.get_column(name) for name in dict.fromkeys(names)]).n_unique()


def _tells_apart(frame: DataFrame, names: Sequence[str]) -> bool:
    return _pairs(frame, names) == frame.height


def _varies(frame: DataFrame, name: str, annotator: str, items: Sequence[str]) -> bool:
    """Whether some annotator answers differently, and some item gets different answers."""
    groups = [annotator, *items[:1]]
    return all(_pairs(frame, (name, group)) > frame.get_column(group).n_unique() for group in groups)


def _same_groups(frame: DataFrame, one: str, other: str) -> bool:
    """Whether two columns put the rows into the same groups, under other names."""
    sizes = {frame.get_column(one).n_unique(), frame.get_column(other).n_unique(), _pairs(frame, (one, other))}
    return len(sizes) == 1
