"""The options that several commands share, each with its name, its help and what the shell completes; blocks of them.

What the shell completes is written out here, so that nothing heavy is loaded at a key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import typer
from typer import Context as Context

from probtruth.cli import interrupts, jax_setup
from probtruth.cli.blocks import INPUT, MODEL, OUTPUT, QUESTION
from probtruth.io.formats import ANNOTATION_FORMATS, SCORE_FORMATS

RULES = ("log", "brier", "quadratic", "spherical", "ranked-probability", "zero-one", "linear")
ESTIMANDS = ("distribution", "attentive", "class")
METHODS = (
    *("vote-share", "dirichlet", "dirichlet-mixture", "annotator-effects", "clicker-mixture"),
    *("majority", "dawid-skene-em", "dawid-skene", "hierarchical-dawid-skene", "ordinal", "one-coin", "mace", "glad"),
    *("ability", "perceived-class", "pooled"),
)
ENGINES = ("nuts", "exact")
KINDS = ("probs", "percent", "log-probs", "logits")
LIKELIHOODS = ("auto", "normal", "student-t", "skew-t", "tie-spike", "two-component")
REPLICATES = ("independent", "crossed", "folds")
NORMALISE = ("none", "characters")
METRICS = ("accuracy", "precision", "recall", "f1", "macro-f1", "kappa", "roc-auc", "average-precision", "ece")


def completing(options: tuple[str, ...]) -> Callable[[str], list[str]]:
    """The options that begin with what is written so far."""

    def matching(incomplete: str) -> list[str]:
        return [option for option in options if option.startswith(incomplete)]

    return matching


input_, question, model_, output = (
    partial(typer.Option, rich_help_panel=panel) for panel in (INPUT, QUESTION, MODEL, OUTPUT)
)
"""An option of each panel of the help."""
argument = partial(typer.Argument, rich_help_panel=INPUT)
"""An argument; all of them are input."""

LABEL_FILE = "Labels (long form, counts, export): path or address."

Out = Annotated[str, output("--out", metavar="DIR", help="Folder for the result; written whole or not at all.")]
OutIfAny = Annotated[str | None, output("--out", metavar="DIR", help="Folder for the report; without it, none.")]
Json = Annotated[bool, output("--json", help="Print the result as JSON on standard output, and nothing else.")]
Quiet = Annotated[bool, output("--quiet", "-q", help="No progress and no notes on standard error.")]
Strict = Annotated[bool, output("--strict", help="Exit with status 1 if a diagnostic fails.")]
Plot = Annotated[str | None, output("--plot", metavar="FILE", help="Write a figure to this SVG file.")]
Seed = Annotated[int, model_(metavar="N", help="Seed of everything random.")]
Device = Annotated[
    str | None,
    model_(metavar="cpu|gpu", help="Where arrays are computed; JAX chooses by itself.", callback=jax_setup.use),
]
Time = Annotated[
    str | None,
    input_(metavar="TIME", help="End a run that takes longer (90s, 10m) with status 1.", callback=interrupts.start),
]
Rope = Annotated[
    str | None,
    question(metavar="X", help="Largest difference that does not matter: 0.01, 2%, or '5% of range'."),
]
Engine = Annotated[
    str,
    model_(metavar="nuts|exact", autocompletion=completing(ENGINES), help="How the posterior is computed."),
]
HigherIsBetter = Annotated[
    bool | None,
    question("--higher-is-better/--lower-is-better", help="How it counts, unless its name or a log says so."),
]

# columns
Item = Annotated[str, input_(metavar="COL", help="Column of item names.")]
Annotator = Annotated[str, input_(metavar="COL", help="Column of annotator names.")]
Label = Annotated[str, input_(metavar="COL", help="Column of labels.")]
Replicate = Annotated[str, input_(metavar="COL", help="Column that tells repeated answers apart.")]
Model = Annotated[str, input_(metavar="COL", help="Column of model names.")]
Score = Annotated[str, input_(metavar="COL", help="Column of scores; in logs, the metric.")]
Group = Annotated[str | None, input_(metavar="COL", help="Column of groups.")]
Cluster = Annotated[str | None, input_(metavar="COL", help="Column of clusters.")]
ScoreReplicate = Annotated[
    str | None, input_("--replicate", metavar="COL", help="Column of replicates (seeds, repeats).")
]

# how labels become soft labels, and predictions scores
Method = Annotated[
    str | None,
    model_(
        metavar="METHOD",
        autocompletion=completing(METHODS),
        help="How the truth is inferred; `probtruth info` lists them.",
    ),
]
Estimand = Annotated[
    str | None,
    question(
        metavar="E",
        autocompletion=completing(ESTIMANDS),
        help="distribution (of opinions), attentive (of readers) or class (true).",
    ),
]
ExcludeAnnotator = Annotated[
    list[str] | None,
    input_("--exclude-annotator", metavar="NAME", help="Leave out what this annotator answered. Repeat."),
]
AnnotationFormat = Annotated[
    str,
    input_(
        "--format",
        metavar="F",
        autocompletion=completing(ANNOTATION_FORMATS),
        help="Of annotations; `wide` has a column an annotator.",
    ),
]
Rule = Annotated[
    str,
    question(metavar="R", autocompletion=completing(RULES), help="Scoring rule; `probtruth info` lists them."),
]
ByMetric = Annotated[
    str | None,
    question(
        "--metric",
        metavar="NAME",
        autocompletion=completing(METRICS),
        help="In place of a rule: f1, f1:LABEL, kappa, roc-auc, ece and others.",
    ),
]
Threshold = Annotated[float | None, question(metavar="X", help="With --metric: the second label from X on.")]
LabelOrder = Annotated[
    str | None,
    question("--label-order", metavar="A,B,...", help="Labels from low to high, for ranked-probability."),
]
Floor = Annotated[
    float | None, question(metavar="X", help="Raise smaller probabilities to X (makes the rule improper).")
]
PredictionFiles = Annotated[
    list[str],
    input_("--predictions", metavar="NAME=FILE", help="A model's probabilities, a column a label. Repeat."),
]
JoinedTable = Annotated[
    str | None, input_("--table", metavar="FILE", help="All in one: columns truth.cat (or votes.cat), ours.cat.")
]
JoinedColumns = Annotated[
    list[str] | None,
    input_("--columns", metavar="NAME=PREFIX", help="With --table: how a block's columns begin. Repeat."),
]
Kind = Annotated[
    str,
    input_(
        "--kind",
        metavar="K",
        autocompletion=completing(KINDS),
        help="Of cells: probs, percent, log-probs, logits.",
    ),
]
Renormalise = Annotated[
    bool,
    input_("--renormalise", help="Divide rows by their sums; the report counts them."),
]

# logs of evaluation harnesses
ScoreFormat = Annotated[
    str,
    input_(
        "--format",
        metavar="F",
        autocompletion=completing(SCORE_FORMATS),
        help="table, wide (a column a model), lm-eval, inspect, helm.",
    ),
]
Task = Annotated[
    list[str] | None, input_("--task", metavar="TASK", help="lm-eval: read this task only (mmlu_*). Repeat.")
]
Metric = Annotated[
    list[str] | None,
    input_("--metric", metavar="TASK=NAME", help="lm-eval: a task's metric; else its first. Repeat."),
]
Filter = Annotated[
    list[str] | None,
    input_("--filter", metavar="TASK=NAME", help="lm-eval: a task's filter; else its first. Repeat."),
]

# when a check fails
FailIf = Annotated[
    list[str] | None,
    output("--fail-if", metavar="CONDITION", help="'p_worse > 0.9': status 1; inconclusive: status 3. Repeat."),
]
Baseline = Annotated[
    str | None, output(metavar="MODEL", help="Model that --fail-if compares with; the first one if left out.")
]

# before and during a study
FirstModel = Annotated[str | None, question("--a", metavar="NAME", help="One model, if there are more than two.")]
SecondModel = Annotated[str | None, question("--b", metavar="NAME", help="The other model.")]
Difference = Annotated[
    float | None, question(metavar="X", help="True difference, a minus b; left out: that of the data.")
]
Bounds = Annotated[
    tuple[float, float] | None, question(metavar="LOW HIGH", help="The least and the largest possible score.")
]
Alpha = Annotated[float | None, model_(metavar="X", help="The monitor's rate of false alarms, 0.05 if left out.")]


@dataclass(frozen=True)
class Printed:
    """What is printed."""

    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True)
class ItemContent:
    """What the report shows of the items."""

    item_text: Annotated[
        str | None, output("--item-text", metavar="FILE:COL", help="Text of each item, for the report.")
    ] = None
    item_image: Annotated[
        str | None, output("--item-image", metavar="FILE:COL", help="Path of each item's image, for the report.")
    ] = None


@dataclass(frozen=True)
class Machine:
    """What the work may take."""

    memory: Annotated[
        str | None, input_(metavar="SIZE", help="Memory of the run, 1GB or more; larger Parquet is streamed.")
    ] = None
    time: Time = None
    dask: Annotated[
        str | None, input_(metavar="ADDRESS", help="Read and score on this Dask scheduler's workers, or `local` ones.")
    ] = None
    dask_timeout: Annotated[
        float, input_("--dask-timeout", metavar="X", help="Seconds that Dask may lack workers or a scheduler.")
    ] = 30.0
    device: Device = None


@dataclass(frozen=True)
class Pair:
    """Which two models."""

    a: FirstModel = None
    b: SecondModel = None


class AnnotationColumns(NamedTuple):
    """Names of the columns of annotations."""

    item: Item = "item"
    annotator: Annotator = "annotator"
    label: Label = "label"
    replicate: Replicate = "replicate"


class ScoreColumns(NamedTuple):
    """Names of the columns of scores."""

    item: Item = "item"
    model: Model = "model"
    score: Score = "score"
    group: Group = None
    cluster: Cluster = None
    replicate: ScoreReplicate = None


@dataclass(frozen=True)
class ScoreReading:
    """How scores are read: the format, the orientation (None: not stated), and what of a log of lm-eval."""

    format: ScoreFormat = "auto"
    higher_is_better: HigherIsBetter = None
    task: Task = None
    metric: Metric = None
    filter: Filter = None


@dataclass(frozen=True)
class PilotOptions:
    """A pilot: its scores, or its annotations and predictions."""

    columns: ScoreColumns
    scores: Annotated[
        str | None, argument(metavar="SCORES", help="A pilot's table of scores (item, model, score).")
    ] = None
    annotations: Annotated[
        str | None, input_(metavar="FILE", help="In place of scores: annotators' labels, with --predictions.")
    ] = None
    predictions: Annotated[
        list[str] | None,
        input_("--predictions", metavar="NAME=FILE", help="With --annotations: a model. Repeat."),
    ] = None
    kind: Kind = "probs"
    renormalise: Renormalise = False
    rule: Rule = "log"
    higher_is_better: HigherIsBetter = None
    annotator: Annotator = "annotator"
    label: Label = "label"


def by_task(words: list[str] | None) -> Mapping[str, str] | None:
    """`TASK=NAME` words as {task: name}; a bare NAME is for all tasks."""
    if not words:
        return None
    pairs = [word.rpartition("=") for word in words]
    return {task or "*": name for task, _, name in pairs}
