"""`probtruth run`: from labels and predictions to a report; and `probtruth demo`, the same on embedded data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from probtruth.cli import options as opt
from probtruth.cli.console import Console, conclude, use_jax
from probtruth.cli.reading import named_files
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading


@dataclass(frozen=True)
class Files:
    """Predictions and the labels that they are scored against, and how to read them."""

    reading: LabelReading
    cells: opt.Cells
    predictions: list[str] | None = None
    annotations: str | None = None
    soft: str | None = None
    groups: str | None = None


def run(
    context: opt.Context,
    files: Files,
    verdict: opt.Verdict,
    table: str | None = None,
    gold: str | None = None,
    clusters: str | None = None,
    truth: str | None = None,
    estimand: str | None = None,
    rule: str = "log",
    floor: float | None = None,
    metric: str | None = None,
    memory: str | None = None,
    device: str | None = None,
    show: str | None = None,
    out: str | None = None,
    json: bool = False,
) -> None:
    """Turn labels and predictions into P(A beats B) and a report."""
    if metric is not None and (rule, floor, gold, verdict.weights) != ("log", None, None, None):
        hint = "Leave one out."
        raise InputError("--metric with --rule, --floor, --gold or --weights", "a metric or a scoring rule", hint)
    options = {"method": truth, "estimand": estimand, **verdict.options}
    if metric is None:
        options |= {"rule": opt.chosen_rule(rule), "floor": floor, "gold": _gold(gold, files.reading.item)}
    console, gate = Console.of(context, json), verdict.gate
    _check(files, table, out, show)
    use_jax(device)
    with console.progress("reading"):
        reference, predictions, strata = read(files, table, estimand or ("class" if gold else None), clusters, memory)
    for note in (*getattr(reference, "notes", ()), *predictions.notes):
        console.note(note)
    _need_annotations(reference, options)
    with console.progress("inferring, scoring, sampling"):
        result = evaluated(reference, predictions, {**options, **strata}, metric)
    conclude(result, out, show, files.reading.item, console, gate)


def demo(context: opt.Context, out: str = "probtruth-demo", seed: int = 0, json: bool = False) -> None:
    """Evaluate embedded data: print the verdict, write a report."""
    from probtruth import demo as data
    from probtruth.line.evaluate import evaluate

    console = Console.of(context, json)
    annotations, predictions = data.paths()
    console.note(data.NOTE)
    _check(None, None, out, None)
    use_jax()
    with console.progress("inferring, scoring, sampling"):
        result = evaluate(annotations, predictions, rope=0.01, seed=seed)
    conclude(replace(result, note=data.NOTE), out, None, "item", console, None)


def evaluated(reference: Any, predictions: Any, options: dict[str, Any], metric: str | None = None) -> Any:
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


def read(
    files: Files, table: str | None, estimand: Any, clusters: str | None = None, memory: str | None = None
) -> tuple[Any, Any, dict[str, Any]]:
    """The labels, the predictions, and the groups and clusters of their items."""
    from probtruth.io.groups import read_groups
    from probtruth.io.predictions import model_files, read_predictions
    from probtruth.io.truth import read_soft
    from probtruth.kernels.arrays import placed
    from probtruth.line.inputs import reference_of, stored_labels

    item = files.reading.item
    strata: dict[str, Any] = {}
    models: dict[str, Any]
    if table is not None:
        from probtruth.io.loaders import joined_table

        block, blocks = joined_table(table, item=item)
        reference: Any = reference_of(block, blocks, item, estimand)
        models = blocks
    elif files.annotations is None and files.soft is None:
        reference, predictions, strata = _logged(files.predictions or ())
    else:
        models = model_files(files.predictions or ())
        if files.soft is not None:
            reference = read_soft(files.soft, item, estimand)
        else:
            reference = stored_labels(str(files.annotations), models, files.reading)
    if table is not None or files.annotations or files.soft:
        cells, limit = files.cells, opt.n_bytes(memory)
        predictions = read_predictions(models, reference.index, item, cells.kind, cells.renormalise, memory=limit)
        predictions = replace(predictions, log_probs=placed(predictions.log_probs))
    items = predictions.index.items
    for what, spec in (("group", files.groups), ("cluster", clusters)):
        if spec is not None:
            strata[f"{what}s"] = read_groups(spec, items, item, what)
    return reference, predictions, strata


def _logged(words: Sequence[str]) -> tuple[Any, Any, dict[str, Any]]:
    """The truth, the predictions and the tasks that logs of lm-eval hold."""
    from probtruth.io.loaders.readers import score_format

    files = named_files(words)
    if not isinstance(files, dict) or score_format([path for own in files.values() for path in own]) != "lm-eval":
        raise _no_labels("neither", "; only logs of lm-eval hold the right answers themselves")
    from probtruth.io.loaders import read_lm_eval_choices

    predictions, truth = read_lm_eval_choices(files)
    tasks = {item: item.rpartition("/")[0] for item in predictions.index.items}
    return truth, predictions, {"groups": tasks} if len(set(tasks.values())) > 1 else {}


def _check(files: Files | None, table: str | None, out: str | None, show: str | None) -> None:
    """Raises before long work for files that do not go together, or an output that could not be written."""
    if files is not None:
        others = {"--predictions": files.predictions, "--annotations": files.annotations, "--soft": files.soft}
        beside = [name for name, value in others.items() if value]
        if table is not None and beside:
            raise InputError(
                f"the table {table!r} with {beside[0]}", "one table that holds all, or a file for each",
                "Each file follows its option: --annotations FILE --predictions NAME=FILE --predictions NAME=FILE.",
            )  # fmt: skip
        if table is None and not files.predictions:
            hint = "Write --predictions my_model=probs.csv, or one TABLE with columns truth.cat, ours.cat."
            raise InputError("no --predictions and no table", "one of the two", hint)
        if files.annotations and files.soft:
            raise _no_labels("both")
    if out is not None:
        from probtruth.io.output.folder import check_out

        check_out(out)
    if show is not None and files is not None:
        from probtruth.io.item_content import check_item_content

        check_item_content(show, files.reading.item)


def _no_labels(got: str, more: str = "") -> InputError:
    """The error where labels come from two files, or from none."""
    return InputError(
        "both --annotations and --soft" if got == "both" else "neither --annotations nor --soft",
        "one of the two",
        f"Give --annotations labels.csv (annotators' labels) or --soft soft.parquet (distributions){more}.",
    )


def _need_annotations(reference: Any, options: dict[str, Any]) -> None:
    """Raises for a truth method without annotations to apply it to; a truth that is read has its own estimand."""
    from probtruth.types import Truth

    if isinstance(reference, Truth):
        if options["method"] is not None:
            hint = "--truth says how annotations become soft labels."
            raise InputError("--truth without annotations", "both or neither", hint)
        if options["estimand"] is None or options["estimand"] == reference.estimand:
            options["estimand"] = None


def _gold(spec: str | None, item: str) -> Any:
    """The experts' answers, where there are any."""
    if spec is None:
        return None
    from probtruth.io.gold import expert_answers, gold_file

    path, probability = gold_file(spec)
    return expert_answers(path, item, probability)
