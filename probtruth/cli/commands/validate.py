"""`probtruth validate`: studies drawn from your own items."""

from typing import Annotated

import typer

from probtruth.cli import options as opt
from probtruth.cli import settings
from probtruth.cli.console import check_plot, write_plot
from probtruth.cli.reading import PilotFiles


def validate(
    context: opt.Context,
    scores: opt.PilotScores = None,
    annotations: opt.PilotAnnotations = None,
    predictions: opt.PilotPredictions = None,
    rule: opt.Rule = "log",
    kind: opt.Kind = "probs",
    items: Annotated[
        int | None, typer.Option(metavar="N", help="Items of a study; as many as the data have if left out.")
    ] = None,
    difference: opt.Difference = None,
    bounds: opt.Bounds = None,
    alpha: opt.Alpha = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Studies at each true difference: 4,000, fewer for many items.")
    ] = None,
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
    """Draw studies like yours from your own items: do intervals, probabilities and the monitor keep their promise?"""
    from probtruth.report.formats.terminal_study import validation_summary, validation_words
    from probtruth.study.validate import validate

    console = settings.console(context, json, quiet)
    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    pilot = PilotFiles(scores, columns, higher_is_better, annotations, predictions or [], rule, kind)
    check_plot(plot)
    read, labels = pilot.read()
    with console.progress("studies") as on_progress:
        validation = validate(
            read,
            a,
            b,
            n_items=items,
            difference=difference,
            bounds=bounds,
            alpha=alpha,
            annotations=labels,
            replications=replications,
            seed=seed,
            on_progress=on_progress,
        )
    if plot is not None:
        from probtruth.figures import plot_validation

        title = "What probabilities meant"
        write_plot(plot, "validation", lambda: plot_validation(validation), title, validation_words(validation))
    console.show(*validation_summary(validation))
    console.emit(validation.to_dict())
