"""The commands before and during a study, and their options: plan, monitor, validate."""

from typing import Annotated

import typer

from probtruth.cli.app import Item, Json, Quiet, Rope, app

Scores = Annotated[str, typer.Argument(metavar="SCORES", help="A table of scores: item, model, score.")]
Model = Annotated[str, typer.Option(metavar="COL", help="Column of model names.")]
Score = Annotated[str, typer.Option(metavar="COL", help="Column of scores.")]
Cluster = Annotated[str | None, typer.Option(metavar="COL", help="Column of clusters.")]
First = Annotated[str | None, typer.Option("--a", metavar="NAME", help="One model, where there are more than two.")]
Second = Annotated[str | None, typer.Option("--b", metavar="NAME", help="The other model.")]
Higher = Annotated[bool, typer.Option("--higher-is-better", help="The score is a merit, not a loss.")]
Bounds = Annotated[
    tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="The least and the largest score there can be.")
]
Plot = Annotated[str | None, typer.Option("--plot", metavar="FILE", help="Write a figure to this SVG file.")]


@app.command()
def monitor(
    scores: Scores,
    state: Annotated[str, typer.Option(metavar="FILE", help="Where it goes on next time; made at the first.")],
    bounds: Bounds = None,
    method: Annotated[
        str | None, typer.Option(metavar="betting|asymptotic", help="asymptotic: for scores that nothing bounds.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(metavar="X", help="Rate of false alarms, .05 unless given.")] = None,
    rope: Rope = None,
    higher_is_better: Higher = False,
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
    from probtruth.cli import watching_commands as commands

    columns = {"item": item, "model": model, "score": score, "cluster": cluster}
    options = {"bounds": bounds, "method": method, "alpha": alpha, "rope": rope, "a": a, "b": b, "close": close}
    options |= {"largest_cluster": largest_cluster, "higher_is_better": higher_is_better or None}
    commands.monitor(scores, state, columns, options, plot, commands.Console(json, quiet))
