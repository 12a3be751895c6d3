"""`probtruth choose-gold`: which items to send to an expert."""

from typing import Annotated, Any

from probtruth.cli import jax_setup, settings
from probtruth.cli import options as opt
from probtruth.cli.commands.run import LabelledFiles, check_method, evaluated, read_all, rule_of
from probtruth.errors import InputError


def choose_gold(
    context: opt.Context,
    files: LabelledFiles,
    pair: opt.Pair,
    shown: opt.Printed,
    out: Annotated[str, opt.output("--out", metavar="FILE", help="The CSV for the expert to fill in.")],
    number: Annotated[int, opt.question(metavar="N", help="How many items.")] = 40,
    truth: opt.Method = None,
    rule: opt.Rule = "log",
    floor: opt.Floor = None,
    label_order: opt.LabelOrder = None,
    seed: opt.Seed = 0,
) -> None:
    """Choose items for an expert to label, for --gold of run."""
    from probtruth.io.gold import check_gold_out, write_gold
    from probtruth.io.groups import read_groups

    console = settings.console(context, shown.json, shown.quiet).of_stages(3)
    check_gold_out(out)
    jax_setup.switch_on()
    options: dict[str, Any] = {
        "method": truth,
        "estimand": "class",
        "rule": rule_of(rule, label_order),
        "floor": floor,
        "engine": "exact",
        "seed": seed,
    }
    joined, _ = files.sources
    if joined is None and (files.annotations is None) == (files.soft is None):
        raise InputError(
            "both --annotations and --soft" if files.soft else "neither --annotations nor --soft",
            "one of the two",
            "Give --annotations labels.csv (annotators' labels) or --soft soft.parquet (probabilities of classes).",
        )
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
