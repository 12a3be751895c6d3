"""The options that several commands share, each with its name, its help and what the shell completes; blocks of them.

What the shell completes is written out here, so that nothing heavy is loaded at a key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Context as Context

from probtruth.cli import fail_if, interrupts, jax_setup, settings
from probtruth.cli.blocks import INPUT, PANELS
from probtruth.cli.console import Console
from probtruth.io.formats import ANNOTATION_FORMATS, SCORE_FORMATS

if TYPE_CHECKING:
    import probtruth.scoring.rules

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


def option(panel: str, *flags: str, among: tuple[str, ...] = (), **how: Any) -> Any:
    """An option in a panel of the help; the shell completes what is written so far to one of the words `among` it."""

    def matching(incomplete: str) -> list[str]:
        return [word for word in among if word.startswith(incomplete)]

    return typer.Option(*flags, rich_help_panel=panel, autocompletion=matching if among else None, **how)


input_, question, model_, output = (partial(option, panel) for panel in PANELS)
"""An option of each panel of the help."""
argument = partial(typer.Argument, rich_help_panel=INPUT)
"""An argument; all of them are input."""

LABEL_FILE = "Labels (long form, counts, export): path or address."

Out = Annotated[str, output("--out", metavar="DIR", help="Folder for the result; written whole or not at all.")]
OutIfAny = Annotated[str | None, output("--out", metavar="DIR", help="Folder for the report; without it, none.")]
Json = Annotated[bool, output("--json", help="Print the result as JSON on standard output, and nothing else.")]
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
    str | None, question(metavar="X", help="Largest difference that does not matter: 0.01, 2%, or '5% of range'.")
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
    str | None, model_(metavar="METHOD", among=METHODS, help="How the truth is inferred; `probtruth info` lists them.")
]
Estimand = Annotated[
    str | None,
    question(metavar="E", among=ESTIMANDS, help="distribution (of opinions), attentive (of readers) or class (true)."),
]
ExcludeAnnotator = Annotated[
    list[str] | None, input_(metavar="NAME", help="Leave out what this annotator answered. Repeat.")
]
AnnotationFormat = Annotated[
    str, input_(metavar="F", among=ANNOTATION_FORMATS, help="Of annotations; `wide` has a column an annotator.")
]
Rule = Annotated[str, question(metavar="R", among=RULES, help="Scoring rule; `probtruth info` lists them.")]
Kind = Annotated[str, input_(metavar="K", among=KINDS, help="Of cells: probs, percent, log-probs, logits.")]
Renormalise = Annotated[bool, input_("--renormalise", help="Divide rows by their sums; the report counts them.")]

# logs of evaluation harnesses
Task = Annotated[list[str] | None, input_(metavar="TASK", help="lm-eval: read this task only (mmlu_*). Repeat.")]
Metric = Annotated[
    list[str] | None, input_(metavar="TASK=NAME", help="lm-eval: a task's metric; else its first. Repeat.")
]
Filter = Annotated[
    list[str] | None, input_(metavar="TASK=NAME", help="lm-eval: a task's filter; else its first. Repeat.")
]

# before and during a study
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

    context: Context
    json: Json = False
    quiet: Annotated[bool, output("--quiet", "-q", help="No progress and no notes on standard error.")] = False

    def console(self) -> Console:
        """Where it is printed; notes the file of settings."""
        return settings.console(self.context, self.json, self.quiet)


@dataclass(frozen=True)
class RuleOptions:
    """How predictions are scored."""

    rule: Rule = "log"
    floor: Annotated[
        float | None, question(metavar="X", help="Raise smaller probabilities to X (makes the rule improper).")
    ] = None
    label_order: Annotated[
        str | None, question(metavar="A,B,...", help="Labels from low to high, for ranked-probability.")
    ] = None

    @property
    def chosen(self) -> "str | probtruth.scoring.rules.ScoringRule":
        """The rule by its name or, where the order of the labels is written out, for that order."""
        if self.label_order is None:
            return self.rule
        from probtruth.scoring.rules import get_rule

        return get_rule(self.rule, [label.strip() for label in self.label_order.split(",")])


@dataclass(frozen=True)
class VerdictOptions:
    """How models are compared, and what of it makes the command fail."""

    rope: Rope = None
    engine: Annotated[str, model_(metavar="nuts|exact", among=ENGINES, help="How the posterior is computed.")] = "nuts"
    strict: Annotated[bool, output("--strict", help="Exit with status 1 if a diagnostic fails.")] = False
    fail_conditions: Annotated[
        list[str] | None,
        output("--fail-if", metavar="CONDITION", help="'p_worse > 0.9': status 1; inconclusive: status 3. Repeat."),
    ] = None
    baseline: Annotated[
        str | None, output(metavar="MODEL", help="Model that --fail-if compares with; the first one if left out.")
    ] = None
    seed: Seed = 0

    @property
    def options(self) -> dict[str, Any]:
        """Those of `compare` and `evaluate`."""
        return {"rope": self.rope, "engine": self.engine, "strict": self.strict, "seed": self.seed}

    @property
    def gate(self) -> fail_if.Gate | None:
        """What makes the command fail, if anything does; see `fail_if.gate`."""
        return fail_if.gate(self.fail_conditions, self.baseline, self.rope)


@dataclass(frozen=True)
class ItemContent:
    """What the report shows of the items."""

    item_text: Annotated[str | None, output(metavar="FILE:COL", help="Text of each item, for the report.")] = None
    item_image: Annotated[str | None, output(metavar="FILE:COL", help="Path of each item's image, for the report.")] = (
        None
    )


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
    dask_timeout: Annotated[float, input_(metavar="X", help="Seconds that Dask may lack workers or a scheduler.")] = (
        30.0
    )
    device: Device = None


@dataclass(frozen=True)
class Pair:
    """Which two models."""

    a: Annotated[str | None, question("--a", metavar="NAME", help="One model, if there are more than two.")] = None
    b: Annotated[str | None, question("--b", metavar="NAME", help="The other model.")] = None


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

    format: Annotated[
        str, input_(metavar="F", among=SCORE_FORMATS, help="table, wide (a column a model), lm-eval, inspect, helm.")
    ] = "auto"
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
        list[str] | None, input_(metavar="NAME=FILE", help="With --annotations: a model. Repeat.")
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
