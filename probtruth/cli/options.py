"""The options that several commands share, each with its name, its help and what the shell completes.

What the shell completes after an option; written out here, so that nothing heavy is loaded at a key.
"""

from collections.abc import Callable
from typing import Annotated

import typer
from typer import Context as Context

from probtruth.io.formats import ANNOTATION_FORMATS, SCORE_FORMATS

RULES = ("log", "brier", "quadratic", "spherical", "ranked-probability", "zero-one", "linear")
ESTIMANDS = ("distribution", "class")
METHODS = (
    *("vote-share", "dirichlet", "dirichlet-mixture", "annotator-effects"),
    *("majority", "dawid-skene-em", "dawid-skene", "hierarchical-dawid-skene", "ordinal", "one-coin", "mace", "glad"),
    *("ability", "perceived-class", "pooled"),
)
ENGINES = ("nuts", "exact")
KINDS = ("probs", "log_probs", "logits")
LIKELIHOODS = ("auto", "normal", "student-t", "skew-t", "tie-spike", "two-component")
REPLICATES = ("independent", "crossed", "folds")
NORMALISE = ("none", "characters")


def completing(options: tuple[str, ...]) -> Callable[[str], list[str]]:
    """The options that begin with what is written so far."""

    def matching(incomplete: str) -> list[str]:
        return [option for option in options if option.startswith(incomplete)]

    return matching


def _use_device(name: str | None) -> str | None:
    from probtruth.cli import jax_setup

    return jax_setup.use(name)


LABEL_FILE = "Labels: long form, counts per label, or an annotation tool's export."
ORIENTATION = "Which way the score counts; needed unless its name is known (accuracy, loss, ...) or a log says it."

Out = Annotated[str, typer.Option("--out", metavar="DIR", help="Folder for the result; written whole or not at all.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on standard error.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of everything random.")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory for the input (2GB); larger Parquet or Arrow input is streamed."),
]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Read and score on the workers of this Dask scheduler, or `local` ones."),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="cpu|gpu", help="Where arrays are computed; JAX chooses by itself.", callback=_use_device),
]

# how models are compared
Rope = Annotated[
    str | None,
    typer.Option(metavar="X", help="Largest difference that does not matter: in score units, or 2%, or '5% of range'."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a diagnostic fails.")]
Engine = Annotated[
    str,
    typer.Option(metavar="nuts|exact", autocompletion=completing(ENGINES), help="How the posterior is computed."),
]
HigherIsBetter = Annotated[bool | None, typer.Option("--higher-is-better/--lower-is-better", help=ORIENTATION)]

# columns
Item = Annotated[str, typer.Option(metavar="COL", help="Column of item names.")]
Annotator = Annotated[str, typer.Option(metavar="COL", help="Column of annotator names.")]
Label = Annotated[str, typer.Option(metavar="COL", help="Column of labels.")]
Replicate = Annotated[str, typer.Option(metavar="COL", help="Column that tells repeated answers apart.")]
Model = Annotated[str, typer.Option(metavar="COL", help="Column of model names.")]
Score = Annotated[str, typer.Option(metavar="COL", help="Column of scores.")]
Group = Annotated[str | None, typer.Option(metavar="COL", help="Column of groups.")]
Cluster = Annotated[str | None, typer.Option(metavar="COL", help="Column of clusters.")]
ScoreReplicate = Annotated[
    str | None, typer.Option("--replicate", metavar="COL", help="Column of replicates (seeds, repeats).")
]

# how labels become soft labels, and predictions scores
Method = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD",
        autocompletion=completing(METHODS),
        help="How the truth is inferred; `probtruth info` lists them.",
    ),
]
Estimand = Annotated[
    str | None,
    typer.Option(
        metavar="E",
        autocompletion=completing(ESTIMANDS),
        help="distribution (of opinions) or class (one true class an item).",
    ),
]
AnnotationFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="F",
        autocompletion=completing(ANNOTATION_FORMATS),
        help="Of annotations: auto, table, counts, wide (a column an annotator), label-studio, argilla, prodigy.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(metavar="R", autocompletion=completing(RULES), help="Scoring rule; `probtruth info` lists them."),
]
LabelOrder = Annotated[
    str | None,
    typer.Option(
        "--label-order", metavar="A,B,...", help="Labels from low to high, where ranked-probability scores text."
    ),
]
Floor = Annotated[
    float | None, typer.Option(metavar="X", help="Raise smaller probabilities to X (makes the rule improper).")
]
PredictionFiles = Annotated[
    list[str],
    typer.Option(
        "--predictions", metavar="NAME=FILE", help="A model's probabilities: item, one column a label. Repeat."
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="K",
        autocompletion=completing(KINDS),
        help="What the cells of predictions are: probs, log_probs, logits.",
    ),
]

# what the report shows of the items
ItemText = Annotated[
    str | None,
    typer.Option("--item-text", metavar="FILE:COL", help="Text of each item, to be shown in the report."),
]
ItemImage = Annotated[
    str | None,
    typer.Option("--item-image", metavar="FILE:COL", help="Path of each item's image, to be shown in the report."),
]

# logs of evaluation harnesses
ScoreFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="F",
        autocompletion=completing(SCORE_FORMATS),
        help="auto (by content), table, wide (a column a model), lm-eval, inspect, helm.",
    ),
]
Filter = Annotated[
    str | None, typer.Option(metavar="NAME", help="lm-eval: the filter, where answers were extracted in several ways.")
]

# before and during a study
PilotScores = Annotated[
    str | None, typer.Argument(metavar="[SCORES]", help="A table of scores (item, model, score), such as a pilot's.")
]
PilotAnnotations = Annotated[
    str | None, typer.Option(metavar="FILE", help="In place of scores: annotators' labels, with --predictions.")
]
PilotPredictions = Annotated[
    list[str] | None,
    typer.Option("--predictions", metavar="NAME=FILE", help="With --annotations: a model's probabilities. Repeat."),
]
FirstModel = Annotated[str | None, typer.Option("--a", metavar="NAME", help="One model, if there are more than two.")]
SecondModel = Annotated[str | None, typer.Option("--b", metavar="NAME", help="The other model.")]
Difference = Annotated[
    float | None, typer.Option(metavar="X", help="True difference, a minus b; left out: that of the data.")
]
Bounds = Annotated[
    tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="The least and the largest possible score.")
]
Alpha = Annotated[float | None, typer.Option(metavar="X", help="The monitor's rate of false alarms, 0.05 if left out.")]
Plot = Annotated[str | None, typer.Option("--plot", metavar="FILE", help="Write a figure to this SVG file.")]
