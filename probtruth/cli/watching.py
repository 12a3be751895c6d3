"""The commands before and during a study, and their options: plan, monitor, validate."""

from typing import Annotated

import typer

from probtruth.cli.app import Context, Higher, Item, Json, Kind, Quiet, Rope, Rule, Seed, app

Scores = Annotated[str, typer.Argument(metavar="SCORES", help="A table of scores: item, model, score.")]
Model = Annotated[str, typer.Option(metavar="COL", help="Column of model names.")]
Score = Annotated[str, typer.Option(metavar="COL", help="Column of scores.")]
Cluster = Annotated[str | None, typer.Option(metavar="COL", help="Column of clusters.")]
First = Annotated[str | None, typer.Option("--a", metavar="NAME", help="One model, where there are more than two.")]
Second = Annotated[str | None, typer.Option("--b", metavar="NAME", help="The other model.")]
Bounds = Annotated[
    tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="The least and the largest score there can be.")
]
Rows = Annotated[str | None, typer.Argument(metavar="[SCORES]", help="A table of scores (item, model, score).")]
Annotations = Annotated[
    str | None, typer.Option(metavar="FILE", help="Instead of scores: what annotators said, with --predictions.")
]
PredictionFiles = Annotated[
    list[str] | None,
    typer.Option("--predictions", metavar="NAME=FILE", help="With --annotations: a model's probabilities. Repeat."),
]
Group = Annotated[str | None, typer.Option(metavar="COL", help="Column of groups.")]
Difference = Annotated[
    float | None, typer.Option(metavar="X", help="True difference, a minus b; else that of the data.")
]
Plot = Annotated[str | None, typer.Option("--plot", metavar="FILE", help="Write a figure to this SVG file.")]


@app.command()
def monitor(
    context: Context,
    scores: Scores,
    state: Annotated[str, typer.Option(metavar="FILE", help="Where it goes on next time; made at the first.")],
    bounds: Bounds = None,
    method: Annotated[
        str | None, typer.Option(metavar="betting|asymptotic", help="asymptotic: for scores that nothing bounds.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(metavar="X", help="Rate of false alarms, .05 unless given.")] = None,
    rope: Rope = None,
    higher_is_better: Higher = None,
    a: First = None,
    b: Second = None,
    item: Item = "item",
    model: Model = "model",
    score: Score = "score",
    cluster: Cluster = None,
    largest_cluster: Annotated[
        int | None, typer.Option(metavar="N", help="The most items that a cluster can have.")
    ] = None,
    close: Annotated[bool, typer.Option("--close", help="The last cluster is complete.")] = False,
    plot: Plot = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Watch two models as scores come in; look as often as you like. Items that are known already are skipped."""
    from probtruth.cli import settings
    from probtruth.cli import watching_commands as commands

    columns = {"item": item, "model": model, "score": score, "cluster": cluster}
    options = {"bounds": bounds, "method": method, "alpha": alpha, "rope": rope, "a": a, "b": b, "close": close}
    options |= {"largest_cluster": largest_cluster, "higher_is_better": higher_is_better}
    commands.monitor(scores, state, columns, options, plot, settings.console(context, json, quiet))


@app.command()
def plan(
    context: Context,
    scores: Annotated[
        str | None, typer.Argument(metavar="[SCORES]", help="The pilot: a table of scores (item, model, score).")
    ] = None,
    annotations: Annotated[
        str | None, typer.Option(metavar="FILE", help="The pilot instead: what annotators said, to plan them too.")
    ] = None,
    predictions: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="With --annotations: a model's probabilities. Repeat.")
    ] = None,
    rule: Rule = "log",
    kind: Kind = "probs",
    items: Annotated[
        int | None, typer.Option(metavar="N", help="Items of the study; as in the pilot if left out.")
    ] = None,
    annotators: Annotated[int | None, typer.Option(metavar="M", help="Annotations of each item.")] = None,
    clusters: Annotated[int | None, typer.Option(metavar="C", help="Clusters of the study.")] = None,
    replicates: Annotated[int | None, typer.Option(metavar="R", help="Replicates of each item.")] = None,
    certainty: Annotated[float, typer.Option(metavar="X", help="What P(a better) or P(b better) must reach.")] = 0.95,
    power: Annotated[float, typer.Option(metavar="X", help="How likely it shall be to reach it, for --cost.")] = 0.8,
    width: Annotated[
        float | None, typer.Option(metavar="X", help="Width that the interval shall have, in place of --power.")
    ] = None,
    cost: Annotated[
        list[str] | None, typer.Option(metavar="WHAT=PRICE", help="item, annotation, cluster or replicate. Repeat.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(metavar="X", help="True difference, a minus b, in place of the pilot's.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="The items of the study include the pilot's.")] = False,
    higher_is_better: Higher = None,
    a: First = None,
    b: Second = None,
    item: Item = "item",
    model: Model = "model",
    score: Score = "score",
    group: Group = None,
    cluster: Cluster = None,
    replicate: Annotated[str | None, typer.Option(metavar="COL", help="Column of replicates.")] = None,
    plot: Plot = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """From a pilot: what a study would show, the cheapest that shows enough, and what to buy next."""
    from probtruth.cli import settings
    from probtruth.cli import watching_commands as commands

    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    pilot = commands.Pilot(scores, columns, higher_is_better, annotations, predictions or [], rule, kind)
    options: dict[str, object] = {
        "n_items": items,
        "n_annotators": annotators,
        "n_clusters": clusters,
        "n_replicates": replicates,
    }
    options |= {"certainty": certainty, "power": power, "width": width, "difference": difference, "keep": keep}
    options |= {"a": a, "b": b, "seed": seed}
    commands.plan(pilot, options, cost or [], plot, settings.console(context, json, quiet))


@app.command()
def validate(
    context: Context,
    scores: Rows = None,
    annotations: Annotations = None,
    predictions: PredictionFiles = None,
    rule: Rule = "log",
    kind: Kind = "probs",
    items: Annotated[
        int | None, typer.Option(metavar="N", help="Items of a study; as many as given if left out.")
    ] = None,
    difference: Difference = None,
    bounds: Bounds = None,
    alpha: Annotated[float | None, typer.Option(metavar="X", help="The monitor's level, .05 unless given.")] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Studies at each true difference: 4,000, fewer for many items.")
    ] = None,
    higher_is_better: Higher = None,
    a: First = None,
    b: Second = None,
    item: Item = "item",
    model: Model = "model",
    score: Score = "score",
    group: Group = None,
    cluster: Cluster = None,
    replicate: Annotated[str | None, typer.Option(metavar="COL", help="Column of replicates.")] = None,
    plot: Plot = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw studies like yours from your own items: do intervals, probabilities and the monitor keep their promise?"""
    from probtruth.cli import settings
    from probtruth.cli import watching_commands as commands

    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    pilot = commands.Pilot(scores, columns, higher_is_better, annotations, predictions or [], rule, kind)
    options: dict[str, object] = {"a": a, "b": b, "n_items": items, "difference": difference, "bounds": bounds}
    options |= {"alpha": alpha, "replications": replications, "seed": seed}
    commands.validate(pilot, options, plot, settings.console(context, json, quiet))
