"""Before and during a study: `probtruth plan`, `choose-gold`, `monitor` and `validate`."""

from pathlib import Path
from typing import Any

from probtruth.check import MaybeNumber, Strings
from probtruth.cli import options as opt
from probtruth.cli.console import Console, cache_compiled_code
from probtruth.cli.reading import Files, read, read_pilot
from probtruth.cli.run import evaluated
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading, MaybeText


def plan(
    console: Console,
    pilot: opt.Pilot,
    study: opt.Study,
    cost: list[str] | None = None,
) -> None:
    """Plan a study from a pilot: size, cost, what to buy next."""
    from probtruth.report.terminal_study import plan_summary
    from probtruth.study.plan import plan

    scores, annotations = read_pilot(pilot, console)
    with console.progress("planning"):
        costs = _prices(cost or [])
        planned = plan(scores, pilot.a, pilot.b, annotations=annotations, costs=costs, **vars(study))
    console.show(*plan_summary(planned))
    console.emit(planned.to_dict())


def _prices(costs: Strings) -> dict[str, float] | None:
    prices = {}
    for cost in costs:
        name, _, price = cost.rpartition("=")
        try:
            prices[name] = float(price)
        except ValueError:
            raise InputError(
                f"cost {cost!r}", "WHAT=PRICE", "For example --cost item=1 --cost annotation=0.1."
            ) from None
    return prices or None


def choose_gold(
    console: Console,
    reading: LabelReading,
    cells: opt.Cells,
    annotations: str,
    predictions: list[str],
    n_items: int,
    out: str,
    groups: MaybeText = None,
    truth: MaybeText = None,
    rule: str = "log",
    a: MaybeText = None,
    b: MaybeText = None,
    seed: int = 0,
) -> None:
    """Choose the items that an expert labels, for --gold of `probtruth run`."""
    from probtruth.io.output.csv_safe import check_new_csv, write_new_csv

    check_new_csv(out)
    cache_compiled_code()
    with console.progress("choosing"):
        files = Files(reading, cells, predictions, annotations, groups=groups)
        reference, models, strata = read(files, estimand="class")
        options = {"method": truth, "estimand": "class", "rule": opt.chosen_rule(rule), "engine": "exact", "seed": seed}
        result = evaluated(reference, models, options)
        chosen = result.choose_gold(n_items, a, b, strata.get("groups"), seed)
    hint = "Rename these items: an apostrophe before them would be another name."
    write_new_csv(chosen, out, chosen["item"].to_list(), hint)
    console.note(
        f"{n_items} of {len(result.scores.items)} items written to {out}: fill in the column 'label', then add "
        f"--gold {out} to `probtruth run`"
    )
    console.emit({"items": chosen.select("item", "probability").to_dicts(), "seed": seed})


def monitor(
    console: Console,
    watching: opt.Watching,
    scores: str,
    state: str,
) -> None:
    """Compare two models while scores come in. Look as often as you like; known items are skipped."""
    from probtruth.io.output.folder import check_out
    from probtruth.io.table import opened
    from probtruth.report import terminal_study as words
    from probtruth.study.monitor import monitor
    from probtruth.study.monitor_state import is_state

    if watching.close and watching.cluster is None:
        raise InputError("--close without --cluster", "clusters, of which the last is complete", "Leave it out.")
    check_out(state, is_state)
    table: Any = opened(scores)
    watched = monitor(table, state if Path(state).exists() else None, **vars(watching))
    watched.save(state)
    for note in (*table.head[1].notes, *words.monitor_notes(watched)):
        console.note(note)
    console.show(*words.monitor_summary(watched))
    console.emit(watched.to_dict())


def validate(
    console: Console,
    pilot: opt.Pilot,
    n_items: int | None = None,
    difference: MaybeNumber = None,
    replications: int = 400,
    seed: int = 0,
) -> None:
    """Check the error rates of the answer on data like yours. Draws studies from your own items."""
    from probtruth.report.terminal_study import validation_summary
    from probtruth.study.validate import validate

    scores, _ = read_pilot(pilot, console)
    with console.progress("studies") as on_progress:
        known: dict[str, Any] = {
            "n_items": n_items,
            "difference": difference,
            "replications": replications,
            "seed": seed,
        }
        validation = validate(scores, pilot.a, pilot.b, **known, on_progress=on_progress)
    console.show(*validation_summary(validation))
    console.emit(validation.to_dict())
