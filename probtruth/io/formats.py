"""The formats of files by name; light, so that a shell can complete them without loading what reads them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from probtruth.check import MaybeText as MaybeText
from probtruth.check import Texts as Texts

# The tools whose files hold scores, and those whose files hold annotations.
SCORE_TOOLS = ("lm-eval", "inspect", "helm", "promptfoo", "alpaca-eval", "every-eval-ever")
ANNOTATION_TOOLS = (
    "label-studio",
    "argilla",
    "prodigy",
    "chaosnli",
    "doccano",
    "potato",
    "labelbox",
    "lewidi",
)
TOOLS = (*SCORE_TOOLS, *ANNOTATION_TOOLS)


class Reading:
    """How a table is read; what is None was not said."""

    format: str
    missing: Any
    formats: ClassVar[Texts]  # what `format` can be

    @property
    def none(self) -> Texts:
        """The answers or scores that are none."""
        return listed(self.missing)

    def column(self, role: str) -> str:
        """The name of the column of this role, which it has itself unless another was said."""
        said = getattr(self, role)
        return role if said is None else said

    def named(self, *roles: str) -> dict[str, str]:
        """Of these roles those whose column was said."""
        return {role: name for role in roles if (name := getattr(self, role)) is not None}


@dataclass(frozen=True)
class LabelReading(Reading):
    """How labels are read: their columns (in exports, `label` is the question), and the format of the file.

    `missing` are answers that are none, in a list or separated by commas.
    """

    formats = ("auto", "table", "counts", "wide", "soft", *ANNOTATION_TOOLS)

    item: MaybeText = None
    annotator: MaybeText = None
    label: MaybeText = None
    replicate: MaybeText = None
    format: str = "auto"
    missing: Any = None


@dataclass(frozen=True)
class ScoreReading(Reading):
    """How scores are read: their columns (in logs, `score` is the metric), the format, and what of lm-eval's logs.

    `transpose`: the table has a row for each model. `missing` are scores that are none.
    """

    formats = ("auto", "table", "wide", *SCORE_TOOLS)

    item: MaybeText = None
    model: MaybeText = None
    score: MaybeText = None
    group: MaybeText = None
    cluster: MaybeText = None
    replicate: MaybeText = None
    format: str = "auto"
    higher_is_better: bool | None = None
    task: list[str] | None = None
    metric: list[str] | None = None
    filter: list[str] | None = None
    transpose: bool = False
    missing: Any = None
    annotator: MaybeText = None


def listed(words: Any) -> Texts:
    """Words in a list, or separated by commas."""
    if isinstance(words, str):
        return tuple(word.strip() for word in words.split(","))
    return tuple(words or ())
