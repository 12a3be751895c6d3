"""`probtruth plan`: what a study would show, and what it costs."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from probtruth.cli import options as opt
from probtruth.cli import settings
from probtruth.cli.console import check_plot, write_plot
from probtruth.cli.reading import PilotFiles
from probtruth.errors import InputError


def plan(
    context: opt.Context,
    scores: opt.PilotScores = None,
    annotations: opt.PilotAnnotations = None,
    predictions: opt.PilotPredictions = None,
    rule: opt.Rule = "log",
    kind: opt.Kind = "probs",
    items: Annotated[
        int | None, typer.Option(metavar="N", help="Items of the study; as in the pilot if left out.")
    ] = None,
    annotators: Annotated[int | None, typer.Option(metavar="M", help="Annotations of each item.")] = None,
    clusters: Annotated[int | None, typer.Option(metavar="C", help="Clusters of the study.")] = None,
    replicates: Annotated[int | None, typer.Option(metavar="R", help="Replicates of each item.")] = None,
    certainty: Annotated[float, typer.Option(metavar="X", help="What P(a better) or P(b better) must reach.")] = 0.95,
    power: Annotated[float, typer.Option(metavar="X", help="Probability of reaching it that --cost looks for.")] = 0.8,
    width: Annotated[
        float | None, typer.Option(metavar="X", help="Width of the interval to reach, in place of --power.")
    ] = None,
    cost: Annotated[
        list[str] | None, typer.Option(metavar="WHAT=PRICE", help="item, annotation, cluster or replicate. Repeat.")
    ] = None,
    difference: opt.Difference = None,
    keep: Annotated[bool, typer.Option("--keep", help="The items of the study include the pilot's.")] = False,
    higher_is_better: opt.HigherIsBetter = None,
    a: opt.FirstModel = None,
    b: opt.SecondModel = None,
    item: opt.Item = "item",
    model: opt.Model = "model",
    score: opt.Score = "score",
    group: opt.Group = None,
    cluster: opt.Cluster = None,
    replicate: opt.ScoreReplicate = None,
    plot: opt.Plot = None,
    seed: opt.Seed = 0,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """From a pilot: what a study would show, the cheapest that shows enough, and what to buy next."""
    from probtruth.report.formats.terminal_study import plan_summary, plan_words
    from probtruth.study.plan import plan

    console = settings.console(context, json, quiet)
    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    pilot = PilotFiles(scores, columns, higher_is_better, annotations, predictions or [], rule, kind)
    check_plot(plot)
    with console.progress("planning"):
        planned = plan(
            pilot.read()[0],
            n_items=items,
            n_annotators=annotators,
            n_clusters=clusters,
            n_replicates=replicates,
            certainty=certainty,
            power=power,
            width=width,
            costs=_prices(cost or []),
            difference=difference,
            keep=keep,
            a=a,
            b=b,
            seed=seed,
        )
    if plot is not None:
        from probtruth.figures import plot_plan

        def draw() -> Any:
            return plot_plan(planned, "chance" if planned.width is None else "width")

        title = "What studies of each size would show"
        write_plot(plot, "plan", draw, title, plan_words(planned))
    console.show(*plan_summary(planned))
    console.emit(planned.to_dict())


def _prices(costs: Sequence[str]) -> dict[str, float] | None:
    prices: dict[str, float] = {}
    for cost in costs:
        name, _, price = cost.rpartition("=")
        try:
            prices[name] = float(price)
        except ValueError:
            raise InputError(
                f"cost {cost!r}", "WHAT=PRICE", "For example --cost item=1 --cost annotation=0.1."
            ) from None
    return prices or None
