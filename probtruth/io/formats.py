"""The formats of files by name; light, so that a shell can complete them without loading what reads them."""

from dataclasses import dataclass

# The tools whose files hold scores, and those whose files hold annotations.
SCORE_TOOLS = ("lm-eval", "inspect", "helm", "promptfoo", "alpaca-eval", "every-eval-ever")
ANNOTATION_TOOLS = (
    *("label-studio", "argilla", "prodigy", "chaosnli"),
    *("doccano", "potato", "labelbox", "lewidi"),
)
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
