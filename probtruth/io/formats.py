"""The formats of files by name; light, so that a shell can complete them without loading what reads them.

What people have that is none of them, and which tool serves it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from probtruth.errors import InputError

SCORE_TOOLS = ("lm-eval", "inspect", "helm")  # The tools whose files hold scores
ANNOTATION_TOOLS = ("label-studio", "argilla", "prodigy", "chaosnli")  # The tools whose files hold annotations
SCORE_FORMATS = ("auto", "table", "wide", *SCORE_TOOLS)  # What --format takes where scores are read
# What --format takes where annotations are read.
ANNOTATION_FORMATS = ("auto", "table", "counts", "wide", *ANNOTATION_TOOLS)


@dataclass(frozen=True)
class LabelReading:
    """How labels are read: their columns (in exports, `label` is the question), and the format of the file."""

    item: str = "item"
    annotator: str = "annotator"
    label: str = "label"
    replicate: str = "replicate"
    format: str = "auto"


@dataclass(frozen=True)
class ScoreReading:
    """How scores are read: their columns (in logs, `score` is the metric), the format, and what of lm-eval's logs."""

    item: str = "item"
    model: str = "model"
    score: str = "score"
    group: str | None = None
    cluster: str | None = None
    replicate: str | None = None
    format: str = "auto"
    higher_is_better: bool | None = None
    task: list[str] | None = None
    metric: list[str] | None = None
    filter: list[str] | None = None


_VOTES = (
    "votes between two models at a time",
    "a score of every model on the same items",
    "Strengths of models follow from such votes by a Bradley-Terry model: use evalica or choix. Whether judges agree "
    "on the winner: `probtruth truth FILE --label winner`, with --item and --annotator.",
)
OTHERS = {
    ("model_a", "model_b", "winner"): _VOTES,
    ("model_1", "model_2", "winner"): _VOTES,
    ("chosen", "rejected"): (
        "pairs of a chosen and a rejected answer",
        "scores, probabilities or labels of items",
        "Such pairs train or test reward models: use TRL or RewardBench, and compare the accuracies that they write.",
    ),
}  # Tables that probtruth cannot use, by the columns that tell: what they are, what is wanted, and what serves them


def refuse_others(columns: Iterable[str], where: str) -> None:
    """Raises where the columns are those of a table for another tool: called where the wanted columns are not there."""
    there = set(columns)
    for names, (what, expected, hint) in OTHERS.items():
        if there.issuperset(names):
            raise InputError(f"{what} (columns {', '.join(map(repr, names))})", expected, hint, where)
