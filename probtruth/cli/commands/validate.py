"""`probtruth validate`: studies drawn from your own items."""

from typing import Annotated

from probtruth.cli import options as opt
from probtruth.cli.console import check_plot, write_plot
from probtruth.cli.reading import read_pilot


def validate(
    pilot: opt.PilotOptions,
    pair: opt.Pair,
    shown: opt.Printed,
    items: Annotated[
        int | None, opt.question(metavar="N", help="Items of a study; as many as the data have if left out.")
    ] = None,
    difference: opt.Difference = None,
    bounds: opt.Bounds = None,
    alpha: opt.Alpha = None,
    replications: Annotated[
        int | None, opt.question(metavar="N", help="Studies at each true difference: 4,000, fewer for many items.")
    ] = None,
    plot: opt.Plot = None,
    seed: opt.Seed = 0,
    time: opt.Time = None,
) -> None:
    """Check the error rates of the answer on data like yours. Draws studies from your own items."""
    from probtruth.report.formats.terminal_study import validation_summary, validation_words
    from probtruth.study.validate import validate

    console = shown.console()
    check_plot(plot)
    read, labels = read_pilot(pilot)
    with console.progress("studies") as on_progress:
        validation = validate(
            read,
            pair.a,
            pair.b,
            n_items=items,
            difference=difference,
            bounds=bounds,
            alpha=alpha,
            annotations=labels,
            replications=replications,
            seed=seed,
            on_progress=on_progress,
        )
    write_plot(plot, "validation", validation, "What probabilities meant", validation_words)
    console.show(*validation_summary(validation))
    console.emit(validation.to_dict())
