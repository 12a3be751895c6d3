"""`probtruth run`: from labels and predictions to a report; and `probtruth demo`, the same on embedded data."""

from dataclasses import replace
from typing import Any

from probtruth.check import MaybeNumber
from probtruth.cli import options as opt
from probtruth.cli.console import Console, cache_compiled_code, check_output, conclude
from probtruth.cli.reading import Files, read
from probtruth.errors import InputError
from probtruth.io.formats import MaybeText, Texts

# What says something of one label at a time, or of how one file of it is read; and what stands beside it.
OF_ONE = "soft metric gold weights replicate format missing kind renormalise memory"
OF_ONE_LABEL = (tuple(OF_ONE.split()), "several --label")


def run(
    console: Console,
    files: Files,
    verdict: opt.Verdict,
    label: list[str] | None = None,
    gold: MaybeText = None,
    clusters: MaybeText = None,
    truth: MaybeText = None,
    estimand: MaybeText = None,
    rule: str = "log",
    floor: MaybeNumber = None,
    metric: MaybeText = None,
    memory: MaybeText = None,
    show: MaybeText = None,
    out: MaybeText = None,
) -> None:
    """Turn labels and predictions into P(A beats B) and a report."""
    labels = label or []
    several = len(labels) > 1
    console.refuse(*(OF_ONE_LABEL if several else _unused(files)))
    files = replace(files, reading=replace(files.reading, label=labels[0] if labels else None))
    if metric is not None and (rule, floor, gold, verdict.weights) != ("log", None, None, None):
        raise InputError(
            "--metric with --rule, --floor, --gold or --weights", "a metric or a scoring rule", "Leave one out."
        )
    item = files.reading.item or "item"
    options = {"method": truth, "estimand": estimand, **verdict.options}
    if metric is None:
        options |= {"rule": opt.chosen_rule(rule), "floor": floor, "gold": _gold(gold, item)}
    gate = verdict.gate
    check_output(out, show, item)
    cache_compiled_code()
    if several:
        with console.progress("inferring, scoring, sampling"):
            result = _of_several_labels(labels, files, options, clusters)
    else:
        with console.progress("reading"):
            reference, predictions, strata = read(files, estimand or ("class" if gold else None), clusters, memory)
        for note in dict.fromkeys((*getattr(reference, "notes", ()), *predictions.notes)):
            console.note(note)
        with console.progress("inferring, scoring, sampling"):
            result = evaluated(reference, predictions, {**options, **strata}, metric)
    conclude(result, out, show, item, console, gate)


def _of_several_labels(labels: list[str], files: Files, options: dict[str, Any], clusters: MaybeText) -> Any:
    """The result of labels that have a column each."""
    from probtruth.io.item_columns import read_groups
    from probtruth.io.predictions import model_files
    from probtruth.line.several_labels import evaluate_labels

    del options["gold"], options["weights"]
    if files.annotations is None or not files.predictions:
        raise InputError("several --label", "--annotations FILE and --predictions NAME=FILE", "Give both.")
    item = files.reading.item or "item"
    for what, spec in (("groups", files.groups), ("clusters", clusters)):
        options[what] = None if spec is None else read_groups(spec, None, item, what.rstrip("s"))
    options |= {"item": files.reading.item, "annotator": files.reading.annotator}
    return evaluate_labels(files.annotations, model_files(files.predictions), labels, **options)


def _unused(files: Files) -> tuple[Texts, str]:
    """The options that do nothing beside the files, and what these are."""
    of_votes = ("annotator", "label", "replicate", "format", "missing")
    if files.soft is not None:
        return of_votes, "--soft"
    if files.annotations is None:
        return (
            *of_votes,
            "item",
            "kind",
            "renormalise",
            "memory",
            "truth",
        ), "logs of lm-eval (no --annotations or --soft)"
    return (), ""


def demo(console: Console, out: str = "probtruth-demo", seed: int = 0) -> None:
    """Evaluate embedded data: print the verdict, write a report."""
    from probtruth import demo as data
    from probtruth.line.evaluate import evaluate

    annotations, predictions = data.paths()
    console.note(data.NOTE)
    check_output(out)
    cache_compiled_code()
    with console.progress("inferring, scoring, sampling"):
        result = evaluate(annotations, predictions, groups=data.digits(), rope=0.01, seed=seed)
    conclude(replace(result, note=data.NOTE), out, None, "item", console, None)


def evaluated(reference: Any, predictions: Any, options: dict[str, Any], metric: MaybeText = None) -> Any:
    """The result by a rule, or by a metric (`NAME` or `NAME:LABEL`)."""
    if metric is None:
        from probtruth.line.evaluate import evaluate

        return evaluate(reference, predictions, **options)
    from probtruth.line.compare_metric import compare_metric
    from probtruth.line.result import Result

    name, colon, label = metric.partition(":")
    options.pop("weights")
    known: Any = name
    return Result.of(compare_metric(predictions, reference, known, label=label if colon else None, **options))


def _gold(spec: MaybeText, item: str) -> Any:
    """The experts' answers, where there are any."""
    if spec is None:
        return None
    from probtruth.io.gold import expert_answers, gold_file

    path, probability = gold_file(spec)
    return expert_answers(path, item, probability)
