"""Every option by the name of the parameter that takes it: its panel of the help, its value, its help.

A command's parameters, and the fields of the dataclasses among them, are its options: one line each of the help.
"""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, NamedTuple

import typer
from typer import Context as Context
from typer.core import TyperCommand

from probtruth.check import MaybeNumber
from probtruth.cli.fail_if import Gate, gate_of
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading, MaybeText, ScoreReading, Texts

# The panels of the help in order: what is read, what is asked of it, where the answer goes, and what few need.
PANELS = ("Input", "Question", "Output", "Advanced")


class Option(NamedTuple):
    """Where an option stands in the help, and what it says there."""

    panel: str
    metavar: str
    help: str


def _options(table: str) -> dict[str, Option]:
    """The options of a table: the name of the parameter, the panel, the value, and the help."""
    options = {}
    for line in table.strip().splitlines():
        name, *cells = (cell.strip() for cell in line.split(" | "))
        options[name] = Option(*cells)
    return options


# By the name of the parameter; by that of the command too where a parameter of another has the same name.
ARGUMENTS = _options("""
files               | Input    | [NAME=]FILE | Labels, predictions, soft labels, scores, logs or exports.
scores              | Input    | SCORES      | A table (item, model, score), or logs of a harness: [NAME=]FILE.
monitor.scores      | Input    | SCORES      | A table with a row for each item and model.
file                | Input    | FILE        | Labels (long form, counts, item and label, export): path or address.
""")
OPTIONS = _options("""
predictions         | Input    | NAME=FILE   | A model's probabilities, a column a label. Repeat.
annotations         | Input    | FILE        | Labels (long form, counts, item and label, export): path or address.
soft                | Input    | FILE        | Soft labels instead: item, one column a label.
score.truth         | Input    | FILE        | Soft labels of `truth --out`; annotations, with --each annotation.
each                | Question | WHAT        | item, or annotation: each annotator's label by itself.
gold                | Input    | FILE[:COL]  | Experts' true class of a few items; COL: chosen with this probability.
compare.gold        | Input    | FILE[:COL]  | Better scores of a few items; COL: chosen with this probability.
item                | Input    | COL         | Column of item names, else found by its values.
check.item          | Input    | COL         | Column of item names.
compare.item        | Input    | COL         | Column of item names.
monitor.item        | Input    | COL         | Column of item names.
truth.item          | Input    | COL         | Column of item names.
annotator           | Input    | COL         | Column of annotator names.
monitor.score       | Input    | COL         | Column of scores.
label               | Input    | COL         | Column of labels; in exports, the question.
run.label           | Input    | COL         | Column of labels; repeat for labels of a column (0 or 1) each.
model               | Input    | COL         | Column of model names.
score               | Input    | COL         | Column of scores; in logs, the metric.
group               | Input    | COL         | Column of groups.
cluster             | Input    | COL         | Column of clusters.
replicate           | Input    | COL         | Column that tells repeats (seeds, runs) apart.
missing             | Input    | NAME,...    | Answers or scores that are none: NA, -1, 'cannot say'.
transpose           | Input    |             | Rows are models, columns are items.
task                | Input    | TASK        | lm-eval: read this task only. Repeat.
metric              | Input    | [TASK=]NAME | lm-eval: a task's metric; else its first. Repeat.
filter              | Input    | [TASK=]NAME | lm-eval: a task's filter; else its first. Repeat.
state               | Input    | FILE        | What the monitor has seen; made at the first call.
rule                | Question | R           | log, brier, spherical, ranked-probability:LOW,...,HIGH ...
run.metric          | Question | NAME        | In place of a rule: f1, f1:LABEL, kappa, roc-auc, ece ...
truth               | Question | METHOD      | Of inferring it: dirichlet, pooled, dawid-skene, mace ...
method              | Question | METHOD      | dirichlet, pooled, dawid-skene-em, mace, glad ...
monitor.method      | Advanced | M           | betting, or asymptotic for scores that nothing bounds.
estimand            | Question | E           | distribution (of opinions) or class (true).
groups              | Question | FILE:COL    | Group (task, language, ...) of each item.
clusters            | Question | FILE:COL    | Cluster (passage, patient, ...) of each item.
rope                | Question | X           | Difference that does not matter: 0.01, or 2% of a proportion.
monitor.rope        | Question | X           | Difference that does not matter, in units of the score.
higher_is_better    | Question |             | How it counts, unless a name or a log says so.
a                   | Question | NAME        | One model, if there are more than two.
b                   | Question | NAME        | The other model.
difference          | Question | X           | True difference, a minus b; else that of the data.
bounds              | Question | LOW HIGH    | The least and the largest possible score.
n_items             | Question | N           | Items of the study; else as many as there are.
n_annotators        | Question | M           | Annotations of each item.
n_clusters          | Question | C           | Clusters of the study.
n_replicates        | Question | R           | Replicates of each item.
certainty           | Question | X           | What P(a better) or P(b better) reaches.
power               | Question | X           | Probability of it that --cost looks for.
width               | Question | X           | Width of the interval, in place of --power.
cost                | Question | WHAT=PRICE  | item, annotation, cluster or replicate: what may vary. Repeat.
compare.cost        | Question | FILE|COL    | Cost of each model, or the column of costs by item: what quality costs.
keep                | Question |             | The items of the study include the pilot's.
choose_gold.n_items | Question | N           | How many items the expert labels.
choose_gold.out     | Output   | FILE        | The CSV for the expert to fill in.
out                 | Output   | DIR         | Folder for the report; written as a whole or not at all.
truth.out           | Output   | FILE        | Write the soft labels to this .parquet or .csv file.
score.out           | Output   | FILE        | Parquet file for the scores: item, model, score.
json                | Output   |             | Print the result as JSON on standard output, and nothing else.
fail_if             | Output   | CONDITION   | 'p_worse > 0.9': status 1; inconclusive: status 3. Repeat.
baseline            | Output   | MODEL       | Model that --fail-if compares with; the first if left out.
show                | Output   | FILE:COL    | Text, or path of an image, of each item for the report.
format              | Advanced | F           | table, counts, wide (a column a person), label-studio ...
compare.format      | Advanced | F           | table, wide (a column a model), lm-eval, inspect, helm.
check.format        | Advanced | F           | As of the command that will read them.
kind                | Advanced | K           | Of cells: probs, percent, log-probs, logits.
renormalise         | Advanced |             | Divide rows by their sums; the report counts them.
floor               | Advanced | X           | Raise smaller probabilities to X (makes the rule improper).
weights             | Advanced | equal       | Every group counts the same; else by its number of items.
replicates          | Advanced | KIND        | What replicates are: independent, crossed, folds.
fold_correlation    | Advanced | X           | With --replicates folds: 1/k for k folds.
annotator_groups    | Question | FILE:COL    | Group of each annotator: each one's answer, and who disagrees.
exclude_annotator   | Advanced | NAME        | Leave out what this annotator answered. Repeat.
alpha               | Advanced | X           | The monitor's rate of false alarms, 0.05 if left out.
largest_cluster     | Advanced | N           | The most items that a cluster can have.
close               | Advanced |             | The last cluster is complete.
replications        | Advanced | N           | Studies at each true difference.
engine              | Advanced | E           | How the posterior is computed: auto, nuts, exact.
strict              | Advanced |             | Exit with status 1 if a diagnostic fails.
seed                | Advanced | N           | Seed of everything random.
memory              | Advanced | SIZE        | Memory for data (2GB); what is larger lies on disk meanwhile.
""")
# The options that are not called as their parameters.
FLAGS = {
    "higher_is_better": "--higher-is-better/--lower-is-better",
    "n_items": "--items",
    "n_annotators": "--annotators",
    "n_clusters": "--clusters",
    "n_replicates": "--replicates",
}


@dataclass(frozen=True)
class Cells:
    """What the cells of predictions are."""

    kind: Any = "probs"
    renormalise: bool = False


@dataclass(frozen=True)
class Verdict:
    """How models are compared, and what of it makes the command fail."""

    rope: MaybeText = None
    engine: str = "auto"
    strict: bool = False
    seed: int = 0
    weights: MaybeText = None
    fail_if: list[str] | None = None
    baseline: MaybeText = None

    @property
    def options(self) -> dict[str, Any]:
        """Those of `compare` and `evaluate`."""
        return {name: getattr(self, name) for name in ("rope", "engine", "strict", "seed", "weights")}

    @property
    def gate(self) -> Gate | None:
        """What makes the command fail, if anything does."""
        return gate_of(self.fail_if, self.baseline, self.rope)


@dataclass(frozen=True)
class Pilot:
    """A pilot: its scores, or its annotations and predictions."""

    reading: ScoreReading
    labels: LabelReading
    cells: Cells
    scores: list[str] | None = None
    annotations: MaybeText = None
    predictions: list[str] | None = None
    rule: str = "log"
    a: MaybeText = None
    b: MaybeText = None

    @property
    def unused(self) -> tuple[Texts, str]:
        """The options that do nothing for this kind of pilot, and what kind it is."""
        if self.scores:
            return ("label", "rule", "kind", "renormalise", "predictions"), "a table of scores"
        unused = ("model", "score", "group", "cluster", "transpose", "task", "metric", "filter", "higher_is_better")
        return unused, "--annotations"


@dataclass(frozen=True)
class Study:
    """The study that `plan` plans."""

    n_items: int | None = None
    n_annotators: int | None = None
    n_clusters: int | None = None
    n_replicates: int | None = None
    certainty: float = 0.95
    power: float = 0.8
    width: MaybeNumber = None
    difference: MaybeNumber = None
    keep: bool = False


@dataclass(frozen=True)
class Watching:
    """What `monitor` is told of the scores, most of it with the first batch."""

    bounds: tuple[float, float] | None = None
    method: Any = None
    alpha: MaybeNumber = None
    rope: MaybeNumber = None
    higher_is_better: bool | None = None
    a: MaybeText = None
    b: MaybeText = None
    item: str = "item"
    model: str = "model"
    score: str = "score"
    cluster: MaybeText = None
    largest_cluster: int | None = None
    close: bool = False


def chosen_rule(word: str) -> Any:
    """A rule by its name or, as `NAME:LOW,...,HIGH`, for labels in that order."""
    name, colon, order = word.partition(":")
    if not colon:
        return word
    from probtruth.scoring.rules import get_rule

    return get_rule(name, [label.strip() for label in order.split(",")])


def n_bytes(size: MaybeText) -> MaybeNumber:
    """`--memory` as a number of bytes."""
    if size is None:
        return None
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", size, re.IGNORECASE)
    number = float(match[1]) * 1e3 ** " KMGT".index(match[2].upper() or " ") if match else 0.0
    if not 0 < number < math.inf:
        raise InputError(f"--memory {size}", "a size such as 2GB or 1500MB", "Leave it out for half of what is free.")
    return number


WIDTH = 100  # Columns that help needs for one line an option
LONGEST = 44  # Columns for an option and its value; a longer one has a line of its own
FIRST = ("predictions", "annotations")  # Options with which the help begins
# Options that other commands, or the functions in Python, call so, and what they are called here.
OTHER_NAMES = {"--method": "--truth", "--truth": "--method", "--models": "--predictions", "--labels": "--annotations"}

UsageError: Any = typer.BadParameter.__base__


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its dataclasses as options of their own."""
    name = function.__name__
    parameters = [_with_option(one, name) for one in _parameters(function)]

    def command(**values: Any) -> None:
        function(**_arguments(function, values))

    command.__name__, command.__doc__, command.__module__ = name, function.__doc__, function.__module__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameters(block: Any) -> list[inspect.Parameter]:
    """Its own parameters, then those of its dataclasses; of two with one name the first."""
    found: dict[str, inspect.Parameter] = {}
    parameters = inspect.signature(block, eval_str=True).parameters.values()
    for one in sorted(parameters, key=lambda one: is_dataclass(one.annotation)):
        for each in _parameters(one.annotation) if is_dataclass(one.annotation) else [one]:
            found.setdefault(each.name, each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    return list(found.values())


def _arguments(block: Any, values: dict[str, Any]) -> dict[str, Any]:
    made = {}
    for name, one in inspect.signature(block, eval_str=True).parameters.items():
        kind: Any = one.annotation
        made[name] = kind(**_arguments(kind, values)) if is_dataclass(kind) else values[name]  # type: ignore[operator]
    return made


def _with_option(parameter: inspect.Parameter, command: str) -> inspect.Parameter:
    """The parameter with what typer needs to know of its option."""
    name, kind = parameter.name, parameter.annotation
    if kind is typer.Context:
        return parameter
    table = ARGUMENTS if name in ARGUMENTS else OPTIONS
    one = table.get(f"{command}.{name}") or table[name]
    said: dict[str, Any] = {"metavar": one.metavar or None, "help": one.help, "rich_help_panel": one.panel}
    flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
    how = typer.Argument(**said) if table is ARGUMENTS else typer.Option(flag, **said)
    # a word that the library checks is `Any`, which typer knows as text from 0.28 on alone
    return parameter.replace(annotation=Annotated[str if kind is Any else kind, how])


class PanelCommand(TyperCommand):
    """A command that refuses repetitions and groups its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the words; an error says which option was probably meant."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        try:
            if not {"-h", "--help"} & set(args):
                order = self.make_parser(ctx).parse_args(list(args))[2]
                for one in order:
                    if one.param_type_name == "option" and not one.multiple and order.count(one) > 1:
                        raise UsageError(f"{one.opts[0]} stands twice: it takes one value. Leave one of them out.", ctx)
            return super().parse_args(ctx, args)
        except UsageError as error:
            meant = OTHER_NAMES.get(getattr(error, "option_name", ""))
            if meant in known:
                error.possibilities = [meant]
            if "extra argument" in error.message and "--predictions" in known:
                error.message += (
                    "; each file follows its option: --annotations FILE --predictions NAME=FILE --predictions NAME=FILE"
                )
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in sorted(self.get_params(ctx), key=_importance):
            record = parameter.get_help_record(ctx)
            if record is not None:
                flag = str(parameter.metavar) if parameter.param_type_name == "argument" else record[0]
                panels[getattr(parameter, "rich_help_panel", None) or "Output"].append((flag, record[1]))
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows, col_max=LONGEST)


def _importance(parameter: Any) -> int:
    """Arguments first, then what a command needs, the others in the order of the dictionary; `--help` last."""
    if "--help" in parameter.opts:
        return 1000
    if parameter.param_type_name == "argument":
        return -2
    return -1 if parameter.required or parameter.name in FIRST else list(OPTIONS).index(parameter.name)
