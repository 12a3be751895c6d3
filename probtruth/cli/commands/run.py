"""`probtruth run`: from annotations and predictions to a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from probtruth import check
from probtruth.cli import fail_if, jax_setup, reading, streamed
from probtruth.cli import options as opt
from probtruth.cli.console import Console, conclude
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.io.tables.read
    import probtruth.line.result
    import probtruth.types

    type Source = tuple[str, str | probtruth.io.tables.read.Block]
    """A model and its file, or its columns of one table."""


@dataclass(frozen=True, kw_only=True)
class LabelledFiles:
    """Predictions and the labels that they are scored against, and how to read them."""

    columns: opt.AnnotationColumns
    predictions: Annotated[
        list[str] | None, opt.input_(metavar="NAME=FILE", help="A model's probabilities, a column a label. Repeat.")
    ] = None
    table: Annotated[
        str | None, opt.input_(metavar="FILE", help="All in one: columns truth.cat (or votes.cat), ours.cat.")
    ] = None
    table_columns: Annotated[
        list[str] | None,
        opt.input_("--columns", metavar="NAME=PREFIX", help="With --table: how a block's columns begin. Repeat."),
    ] = None
    annotations: Annotated[str | None, opt.input_(metavar="FILE", help=opt.LABEL_FILE)] = None
    soft: Annotated[str | None, opt.input_(metavar="FILE", help="Soft labels instead: item, one column a label.")] = (
        None
    )
    format: opt.AnnotationFormat = "auto"
    kind: opt.Kind = "probs"
    renormalise: opt.Renormalise = False
    groups: Annotated[
        str | None, opt.question(metavar="FILE:COL", help="Group (task, language, ...) of each item.")
    ] = None

    @cached_property
    def sources(self) -> "tuple[probtruth.io.tables.read.Block | None, list[Source]]":
        """The reference, where it is a part of one table with the models, and each model's file or columns.

        Errors: `InputError` for a table beside other files, or neither.
        """
        from probtruth.io.loaders import joined_table
        from probtruth.io.predictions import model_files

        if self.table is None and self.table_columns:
            raise InputError("--columns without --table", "both or neither", "Add --table FILE.")
        if self.table is None:
            if not self.predictions:
                raise InputError(
                    "neither --predictions nor --table", "one of the two", "Write --predictions my_model=probs.csv."
                )
            return None, [*model_files(self.predictions)]
        others = {"--annotations": self.annotations, "--soft": self.soft, "--predictions": self.predictions}
        beside = next((option for option, value in others.items() if value), None)
        if beside is not None:
            raise InputError(
                f"--table with {beside}",
                "one of the two",
                "The table holds the reference and all models; --columns says which columns are which.",
            )
        columns = dict(model_files(self.table_columns or (), "--columns ours=prefix"))
        reference, models = joined_table(self.table, columns, self.columns.item)
        return reference, [*models.items()]

    @property
    def soft_labels(self) -> "str | probtruth.io.tables.read.Block | None":
        """Where soft labels are."""
        joined, _ = self.sources
        return joined if joined is not None and not joined.counts else self.soft

    def no_labels(self, more: str = "") -> InputError:
        """The error where labels come from two files, or from none."""
        return InputError(
            "both --annotations and --soft" if self.soft else "neither --annotations nor --soft",
            "one of the two",
            f"Give --annotations labels.csv (annotators' labels) or --soft soft.parquet (distributions){more}.",
        )


@dataclass(frozen=True, kw_only=True)
class RunFiles(LabelledFiles):
    """The files of a run, and how to read them."""

    machine: opt.Machine
    gold: Annotated[
        str | None, opt.input_(metavar="FILE[:COL]", help="Experts' labels of a few items; COL: how probable each was.")
    ] = None
    clusters: Annotated[
        str | None, opt.question(metavar="FILE:COL", help="Cluster (passage, patient, ...) of each item.")
    ] = None
    task: opt.Task = None
    normalise: Annotated[
        str,
        opt.input_(metavar="none|characters", among=opt.NORMALISE, help="lm-eval: divide choices by their lengths."),
    ] = "none"


def run(
    scoring: opt.RuleOptions,
    verdict: opt.VerdictOptions,
    files: RunFiles,
    content: opt.ItemContent,
    shown: opt.Printed,
    out: opt.OutIfAny = None,
    truth: opt.Method = None,
    estimand: opt.Estimand = None,
    evidence: Annotated[
        str, opt.model_(metavar="E", help="For classes: annotators, or annotators-and-models (auto).")
    ] = "auto",
    metric: Annotated[
        str | None,
        opt.question(
            metavar="NAME", among=opt.METRICS, help="In place of a rule: f1, f1:LABEL, kappa, roc-auc, ece and others."
        ),
    ] = None,
    threshold: Annotated[
        float | None, opt.question(metavar="X", help="With --metric: the second label from X on.")
    ] = None,
    exclude_annotator: opt.ExcludeAnnotator = None,
) -> None:
    """Turn labels and predictions into P(A beats B) and a report."""
    if metric is not None and scoring != opt.RuleOptions():
        raise InputError("--metric with --rule, --floor or --label-order", "a metric or a rule", "Leave one out.")
    if metric is None and threshold is not None:
        raise InputError("--threshold without --metric", "both or neither", "Add --metric accuracy, for one.")
    options: dict[str, Any] = {
        "method": truth,
        "estimand": estimand,
        "evidence": evidence,
        "exclude_annotators": exclude_annotator or (),
        **verdict.options,
    }
    by_rule = {"rule": scoring.chosen, "floor": scoring.floor}
    options |= by_rule if metric is None else {"metric": metric, "threshold": threshold}
    gate, console = verdict.gate, shown.console()
    evaluate_and_report(files, options, out, console, None, gate, content)


def evaluate_and_report(
    files: RunFiles,
    options: Mapping[str, Any],
    out: str | None,
    console: Console,
    note: str | None = None,
    gate: fail_if.Gate | None = None,
    content: opt.ItemContent | None = None,
) -> None:
    """Evaluates the models on the files, writes the report with the note, and shows the verdict."""
    from probtruth.io.output.folder import check_out

    console = console.of_stages((2 if files.annotations else 1) + 1 + (out is not None))
    joined, models = files.sources
    if out is not None:
        check_out(out)
    content = content or opt.ItemContent()
    reading.check_content(content, files.columns.item)
    logged = None if joined is not None else _logged(files, console)
    jax_setup.switch_on()
    check_method(files, options)
    options = {**options, **_gold(files)}
    memory = streamed.Memory.of(files.machine.memory)
    _need_reference(files, options, memory)
    if logged is not None:
        items = logged[1].index.items
        result = evaluated(*logged, {**options, "groups": _tasks(items), **_strata(files, items)}, console)
    elif files.machine.dask is not None or memory.streams(models):
        if files.gold is not None:
            raise InputError("--gold with predictions that are streamed", "files in memory", "Raise --memory.")
        result = _streamed(files, options, memory, out, console)
    else:
        reference, predictions, options = read_all(files, options, console)
        result = evaluated(reference, predictions, {**options, **_strata(files, predictions.index.items)}, console)
    conclude(reading.with_content(replace(result, note=note), content, files.columns.item), out, console, gate)


def _logged(files: RunFiles, console: Console) -> "tuple[probtruth.types.Truth, probtruth.types.Predictions] | None":
    """The truth and the predictions that logs of lm-eval hold; None where labels come from files of their own."""
    if (files.annotations is None) != (files.soft is None):
        return None
    with console.progress("reading logs"):
        words = files.predictions or ()
        named = reading.named_files(words) if files.soft is None else None
        if not isinstance(named, dict) or reading.score_format(words, "auto") != "lm-eval":
            raise files.no_labels("; only logs of lm-eval hold the right answers themselves")
        from probtruth.io.loaders import read_lm_eval_choices

        normalise: Any = files.normalise
        models, truth = read_lm_eval_choices(named, normalise, files.task or None)
    return truth, models


def _tasks(items: Sequence[str]) -> dict[str, str] | None:
    """The task of each item (`TASK/doc_id`) as its group; None if there is one task only."""
    tasks = {item: item.rpartition("/")[0] for item in items}
    return tasks if len(set(tasks.values())) > 1 else None


def check_method(files: LabelledFiles, options: Mapping[str, Any]) -> None:
    """Raises for a truth method without annotations to apply it to."""
    joined, _ = files.sources
    annotated = files.annotations is not None or (joined is not None and joined.counts)
    if not annotated and options["method"] is not None:
        raise InputError(
            "--truth without --annotations", "one of the two", "--truth says how annotations become soft labels."
        )


def _need_reference(files: RunFiles, options: Mapping[str, Any], memory: streamed.Memory) -> None:
    """Raises where the reference would take more than `--memory` allows."""
    from probtruth.truth.infer import METHODS, choose

    if files.soft_labels is not None:
        memory.need_items(files.soft_labels)
    if files.annotations is not None and memory.option is not None:
        method = METHODS[choose(options["method"], options["estimand"])]
        memory.need_annotations(files.annotations, method.estimand == "class")


def read_all(
    files: LabelledFiles, options: Mapping[str, Any], console: Console
) -> "tuple[Any, probtruth.types.Predictions, dict[str, Any]]":
    """The labels and the predictions of files that memory holds, and the options that are left for `evaluate`."""
    from probtruth.io.annotations import read_annotations
    from probtruth.io.predictions import read_predictions_pairs
    from probtruth.io.truth import read_soft
    from probtruth.scoring import device_losses

    item, options = files.columns.item, dict(options)
    joined, models = files.sources
    if files.soft_labels is not None:
        of_class = "class" if "gold" in options else None
        estimand: Any = options.pop("estimand") or of_class
        reference: Any = read_soft(files.soft_labels, item, estimand)
    elif joined is not None:
        reference = read_annotations(joined, item, format="counts")
    else:
        reference = _annotations(files, console)
    with console.progress("reading predictions") as on_progress:
        how = (item, files.kind, files.renormalise, on_progress)
        predictions = device_losses.placed(read_predictions_pairs(models, reference.index, *how))
    return reference, predictions, options


def _gold(files: RunFiles) -> dict[str, Any]:
    """The experts' answers, where there are any."""
    if files.gold is None:
        return {}
    from probtruth.io.gold import expert_answers, gold_file

    path, probability = gold_file(files.gold)
    return {"gold": expert_answers(path, files.columns.item, probability)}


def evaluated(
    reference: Any, predictions: "probtruth.types.Predictions", options: Mapping[str, Any], console: Console
) -> "probtruth.line.result.Result":
    """The result of labels and predictions in memory."""
    from probtruth.line.evaluate import evaluate

    with console.progress("inferring, scoring, sampling") as on_progress:
        call: Callable[..., probtruth.line.result.Result] = _by_metric if "metric" in options else evaluate
        return call(reference, predictions, **options, on_progress=on_progress)


def _by_metric(
    reference: Any, predictions: "probtruth.types.Predictions", metric: str, gold: Any = None, **options: Any
) -> "probtruth.line.result.Result":
    """The comparison by `NAME` or `NAME:LABEL`, as a result."""
    from probtruth.line.compare_metric import compare_metric
    from probtruth.line.evaluate import without_annotators
    from probtruth.line.result import Result

    if gold is not None:
        raise InputError("--gold with --metric", "a scoring rule, whose mean experts can anchor", "Drop --metric.")
    excluded = options.pop("exclude_annotators")
    if excluded:
        reference = without_annotators(reference, excluded)
    name, of, label = metric.partition(":")
    known: Any = name
    return Result.of(compare_metric(predictions, reference, known, label=label if of else None, **options))


def _streamed(
    files: RunFiles, options: Mapping[str, Any], memory: streamed.Memory, out: str | None, console: Console
) -> "probtruth.line.result.Result":
    """The result of files that are read some rows at a time; finished work is saved beside the output."""
    from probtruth.io.truth import read_many_soft
    from probtruth.line.evaluate import evaluate

    if "metric" in options:
        raise InputError(
            "--metric with predictions that are streamed", "predictions that fit into memory", "Raise --memory."
        )
    item, options = files.columns.item, dict(options)
    joined, models = files.sources
    check.unique([name for name, _ in models], "model")
    if files.soft is not None:  # soft labels even where the columns are those of annotations
        estimand: Any = options.pop("estimand")
        reference: Any = read_many_soft(files.soft, item, estimand, memory.n_bytes)
    else:
        reference = joined or _annotations(files, console)
    options |= {"item": item, "kind": files.kind, "renormalise": files.renormalise, **_strata(files, None)}
    what, doing = f"{len(models)} models' files", "scoring, then sampling"
    with streamed.streaming(what, out, memory, files.machine, console, doing) as how:
        return evaluate(reference, dict(models), **options, **how)


def _annotations(files: LabelledFiles, console: Console) -> Any:
    with console.progress("reading annotations"):
        first = str(files.sources[1][0][1])
        return reading.read_annotations(str(files.annotations), files.columns, files.format, first)


def _strata(files: RunFiles, items: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """The groups and clusters of the items (None: of all that the files have), where there are any."""
    from probtruth.io.groups import read_groups

    columns = {"group": files.groups, "cluster": files.clusters}
    return {
        f"{what}s": read_groups(spec, items, files.columns.item, what)
        for what, spec in columns.items()
        if spec is not None
    }
