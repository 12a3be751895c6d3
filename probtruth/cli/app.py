"""The commands and their options."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from probtruth.cli import completion, logs

if TYPE_CHECKING:
    from typer import Context as Context
else:
    Context = typer.Context.__base__  # what typer passes is of this class

app = typer.Typer(
    name="probtruth",
    help="Which probabilistic model is better when the reference labels are uncertain.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[str, typer.Option("--out", metavar="DIR", help="Folder for the result; written whole or not at all.")]
OutFile = Annotated[str, typer.Option("--out", metavar="FILE", help="File for the result.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on standard error.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of everything random.")]
Rope = Annotated[
    str | None,
    typer.Option(metavar="X", help="Largest difference that does not matter: in score units, or 2%, or '5% of range'."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 1 where a diagnostic fails.")]
Engine = Annotated[
    str,
    typer.Option(
        metavar="nuts|exact", autocompletion=completion.of(completion.ENGINES), help="How the posterior is computed."
    ),
]
ORIENTATION = "Which way the score counts; needed unless its name is known (accuracy, loss, ...) or a log says it."
Higher = Annotated[bool | None, typer.Option("--higher-is-better/--lower-is-better", help=ORIENTATION)]
Item = Annotated[str, typer.Option(metavar="COL", help="Column of item names.")]
Annotator = Annotated[str, typer.Option(metavar="COL", help="Column of annotator names.")]
Label = Annotated[str, typer.Option(metavar="COL", help="Column of labels.")]
Replicate = Annotated[str, typer.Option(metavar="COL", help="Column that tells repeated answers apart.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD",
        autocompletion=completion.of(completion.METHODS),
        help="How the truth is inferred; `probtruth info` lists them.",
    ),
]
Estimand = Annotated[
    str | None,
    typer.Option(
        metavar="E",
        autocompletion=completion.of(completion.ESTIMANDS),
        help="distribution (of opinions) or class (one true class an item).",
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        metavar="R", autocompletion=completion.of(completion.RULES), help="Scoring rule; `probtruth info` lists them."
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--label-order", metavar="A,B,...", help="Labels from low to high, where ranked-probability scores text."
    ),
]
Evidence = Annotated[
    str, typer.Option(metavar="E", help="For classes: annotators, or annotators-and-models (the default, auto).")
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
        autocompletion=completion.of(completion.KINDS),
        help="What the cells of predictions are: probs, log_probs, logits.",
    ),
]
Column = Annotated[
    str | None, typer.Option("--groups", metavar="FILE:COL", help="Group (task, language, ...) of each item.")
]
Clusters = Annotated[
    str | None, typer.Option("--clusters", metavar="FILE:COL", help="Cluster (passage, patient, ...) of each item.")
]
Form = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="F",
        autocompletion=completion.of(logs.ANNOTATION_FORMATS),
        help="Of annotations: auto, table, counts, wide (a column an annotator), label-studio, argilla, prodigy.",
    ),
]
Filter = Annotated[
    str | None, typer.Option(metavar="NAME", help="lm-eval: the filter, where answers were extracted in several ways.")
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory for the input (2GB); larger Parquet or Arrow input is streamed."),
]

Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Read and score on the workers of this Dask scheduler, or `local` ones."),
]


def _use(name: str | None) -> str | None:
    from probtruth.cli import device

    return device.use(name)


Device = Annotated[
    str | None,
    typer.Option(metavar="cpu|gpu", help="Where arrays are computed; JAX chooses by itself.", callback=_use),
]


@app.callback()
def every_command(
    context: Context,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Options of repeated runs (probtruth.toml if there is one), or 'off'."),
    ] = None,
) -> None:
    """Which probabilistic model is better when the reference labels are uncertain."""
    if {"-h", "--help"} & set(sys.argv):
        return
    from probtruth.cli import settings

    context.obj, context.default_map = settings.load(config, context)


@app.command()
def demo(
    context: Context, out: Out = "probtruth-demo", seed: Seed = 0, json: Json = False, quiet: Quiet = False
) -> None:
    """Run the whole line on embedded data, print the verdict and write the report."""
    from probtruth.cli import commands, settings

    commands.demo(out, seed, settings.console(context, json, quiet))


@app.command()
def run(
    context: Context,
    out: Out,
    predictions: PredictionFiles,
    annotations: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labels: long form, counts per label, or an annotation tool's export."),
    ] = None,
    soft: Annotated[
        str | None, typer.Option(metavar="FILE", help="Soft labels instead: item, one column a label.")
    ] = None,
    truth: Method = None,
    estimand: Estimand = None,
    evidence: Evidence = "auto",
    rule: Rule = "log",
    floor: Floor = None,
    label_order: Order = None,
    groups: Column = None,
    clusters: Clusters = None,
    rope: Rope = None,
    engine: Engine = "nuts",
    strict: Strict = False,
    seed: Seed = 0,
    kind: Kind = "probs",
    item: Item = "item",
    annotator: Annotator = "annotator",
    label: Label = "label",
    replicate: Replicate = "replicate",
    memory: Memory = None,
    dask: Dask = None,
    format: Form = "auto",
    normalise: Annotated[
        str,
        typer.Option(
            metavar="none|characters",
            autocompletion=completion.of(completion.NORMALISE),
            help="lm-eval: divide the choices' log-likelihoods by their lengths.",
        ),
    ] = "none",
    device: Device = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """From annotations and predictions to P(A beats B), with a report."""
    from probtruth.cli import commands, settings

    columns = commands.Columns(item, annotator, label, replicate)
    sources = commands.Sources(
        annotations, soft, predictions, kind, groups, clusters, columns, memory, dask, format, normalise
    )
    options = {"method": truth, "estimand": estimand, "evidence": evidence, "floor": floor, "rope": rope}
    options["rule"] = commands.rule_of(rule, label_order)
    commands.run(
        sources,
        {**options, "engine": engine, "strict": strict, "seed": seed},
        out,
        settings.console(context, json, quiet),
    )


@app.command()
def truth(
    context: Context,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Labels: long form, counts per label, or an annotation tool's export."),
    ],
    method: Method = None,
    estimand: Estimand = None,
    format: Form = "auto",
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the soft labels to this Parquet file.")] = None,
    seed: Seed = 0,
    item: Item = "item",
    annotator: Annotator = "annotator",
    label: Label = "label",
    replicate: Replicate = "replicate",
    device: Device = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Infer soft labels from annotations; without --out, print label frequencies and annotators' confusion."""
    from probtruth.cli import commands, settings

    columns = commands.Columns(item, annotator, label, replicate)
    options = {"method": method, "estimand": estimand, "seed": seed}
    commands.truth(file, columns, format, options, out, settings.console(context, json, quiet))


@app.command()
def score(
    context: Context,
    truth: Annotated[str, typer.Option(metavar="FILE", help="Soft labels, as `probtruth truth --out` writes them.")],
    predictions: PredictionFiles,
    out: OutFile,
    rule: Rule = "log",
    floor: Floor = None,
    label_order: Order = None,
    kind: Kind = "probs",
    item: Item = "item",
    memory: Memory = None,
    dask: Dask = None,
    device: Device = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score predictions against soft labels; writes one row for each item and model."""
    from probtruth.cli import commands, settings

    console = settings.console(context, json, quiet)
    chosen = commands.rule_of(rule, label_order)
    commands.score(truth, predictions, kind, chosen, floor, item, out, console, memory, dask)


@app.command()
def compare(
    context: Context,
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES...", help="A table (item, model, score), or logs of lm-eval, Inspect, HELM: [NAME=]FILE."
        ),
    ],
    out: Out,
    item: Item = "item",
    model: Annotated[str, typer.Option(metavar="COL", help="Column of model names.")] = "model",
    score: Annotated[str, typer.Option(metavar="COL", help="Column of scores; in logs, the metric.")] = "score",
    group: Annotated[str | None, typer.Option(metavar="COL", help="Column of groups.")] = None,
    cluster: Annotated[str | None, typer.Option(metavar="COL", help="Column of clusters.")] = None,
    replicate: Annotated[str | None, typer.Option(metavar="COL", help="Column of replicates (seeds, repeats).")] = None,
    likelihood: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.of(completion.LIKELIHOODS),
            help="auto, normal, student-t, skew-t, tie-spike or two-component.",
        ),
    ] = "auto",
    replicates: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            autocompletion=completion.of(completion.REPLICATES),
            help="What replicates are: independent, crossed (seeds), folds.",
        ),
    ] = None,
    fold_correlation: Annotated[
        float | None, typer.Option(metavar="X", help="With --replicates folds: 1/k for k folds.")
    ] = None,
    higher_is_better: Higher = None,
    format: Annotated[
        str,
        typer.Option(
            metavar="F",
            autocompletion=completion.of(logs.FORMATS),
            help="auto (by content), table, wide (a column a model), lm-eval, inspect, helm.",
        ),
    ] = "auto",
    filter: Filter = None,
    rope: Rope = None,
    engine: Engine = "nuts",
    strict: Strict = False,
    fail_if: Annotated[
        str | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with status 1 where a model meets it against the baseline, such as 'p_worse > 0.9'.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model that --fail-if compares with; the first in the file.")
    ] = None,
    seed: Seed = 0,
    memory: Memory = None,
    dask: Dask = None,
    device: Device = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare models by any per-item score."""
    from probtruth.cli import commands, settings

    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    of_replicates = {"replicates": replicates, "fold_correlation": fold_correlation, "likelihood": likelihood}
    options = {"rope": rope, "engine": engine, "strict": strict, "seed": seed, **of_replicates}
    reading = logs.Reading(format, higher_is_better, filter)
    console = settings.console(context, json, quiet)
    commands.compare(scores, columns, reading, options, out, console, (fail_if, baseline), memory, dask)


@app.command()
def check(
    context: Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE...", help="Annotations, predictions, soft labels, scores, logs or exports."
        ),
    ],
    item: Item = "item",
    annotator: Annotator = "annotator",
    label: Label = "label",
    replicate: Replicate = "replicate",
    score: Annotated[
        str | None, typer.Option(metavar="NAME", help="The metric of logs; the column of a table.")
    ] = None,
    filter: Filter = None,
    format: Annotated[str, typer.Option(metavar="F", help="As of the command that will read them.")] = "auto",
    json: Json = False,
) -> None:
    """Validate files and print what would be used of them."""
    from probtruth.cli import commands, settings

    columns = commands.Columns(item, annotator, label, replicate)
    commands.check(files, columns, format, (score, filter), settings.console(context, json, False))


@app.command()
def info(context: Context, json: Json = False) -> None:
    """Print versions, devices, methods, rules and where compiled code is kept."""
    from probtruth.cli import commands, settings

    commands.info(settings.console(context, json, False))
