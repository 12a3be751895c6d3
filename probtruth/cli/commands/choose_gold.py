"""`probtruth choose-gold`: which items to send to an expert."""

from typing import Annotated, Any

from probtruth.cli import jax_setup
from probtruth.cli import options as opt
from probtruth.cli.commands.run import LabelledFiles, check_method, evaluated, read_all


def choose_gold(
    scoring: opt.RuleOptions,
    files: LabelledFiles,
    pair: opt.Pair,
    shown: opt.Printed,
    out: Annotated[str, opt.output("--out", metavar="FILE", help="The CSV for the expert to fill in.")],
    number: Annotated[int, opt.question(metavar="N", help="How many items.")] = 40,
    truth: opt.Method = None,
    seed: opt.Seed = 0,
) -> None:
    """Choose items for an expert to label, for --gold of run."""
    from probtruth.io.gold import check_gold_out, write_gold
    from probtruth.io.groups import read_groups

    console = shown.console().of_stages(3)
    check_gold_out(out)
    jax_setup.switch_on()
    options: dict[str, Any] = {
        "method": truth,
        "estimand": "class",
        "rule": scoring.chosen,
        "floor": scoring.floor,
        "engine": "exact",
        "seed": seed,
    }
    joined, _ = files.sources
    if joined is None and (files.annotations is None) == (files.soft is None):
        raise files.no_labels()
    check_method(files, options)
    result = evaluated(*read_all(files, options, console), console)
    groups = None if files.groups is None else read_groups(files.groups, None, files.columns.item)
    chosen = result.choose_gold(number, pair.a, pair.b, groups, seed)
    write_gold(chosen, out)
    console.note(
        f"{number} of {len(result.scores.items)} items written to {out}: fill in the column 'label', then add "
        f"--gold {out} to `probtruth run`"
    )
    console.emit({"items": chosen.select("item", "probability").to_dicts(), "seed": seed})
