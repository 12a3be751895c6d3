"""`probtruth plan`: what a study would show, and what it costs."""

from collections.abc import Sequence
from typing import Annotated

from probtruth.cli import options as opt
from probtruth.cli.console import check_plot, write_plot
from probtruth.cli.reading import read_pilot
from probtruth.errors import InputError


def plan(
    pilot: opt.PilotOptions,
    pair: opt.Pair,
    shown: opt.Printed,
    items: Annotated[
        int | None, opt.question(metavar="N", help="Items of the study; as in the pilot if left out.")
    ] = None,
    annotators: Annotated[int | None, opt.question(metavar="M", help="Annotations of each item.")] = None,
    clusters: Annotated[int | None, opt.question(metavar="C", help="Clusters of the study.")] = None,
    replicates: Annotated[int | None, opt.question(metavar="R", help="Replicates of each item.")] = None,
    certainty: Annotated[float, opt.question(metavar="X", help="What P(a better) or P(b better) must reach.")] = 0.95,
    power: Annotated[float, opt.question(metavar="X", help="Probability of reaching it that --cost looks for.")] = 0.8,
    width: Annotated[
        float | None, opt.question(metavar="X", help="Width of the interval to reach, in place of --power.")
    ] = None,
    cost: Annotated[
        list[str] | None, opt.question(metavar="WHAT=PRICE", help="item, annotation, cluster or replicate. Repeat.")
    ] = None,
    difference: opt.Difference = None,
    keep: Annotated[bool, opt.question("--keep", help="The items of the study include the pilot's.")] = False,
    plot: opt.Plot = None,
    seed: opt.Seed = 0,
) -> None:
    """Plan a study from a pilot: size, cost, what to buy next."""
    from probtruth.report.formats.terminal_study import plan_summary, plan_words
    from probtruth.study.plan import plan

    console = shown.console()
    check_plot(plot)
    scores, shared = read_pilot(pilot)
    with console.progress("planning"):
        planned = plan(
            scores,
            annotations=shared,
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
            a=pair.a,
            b=pair.b,
            seed=seed,
        )
    show = "chance" if planned.width is None else "width"
    write_plot(plot, "plan", planned, "What studies of each size would show", plan_words, show=show)
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
