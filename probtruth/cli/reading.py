"""Files as they are written on the command line: `[NAME=]FILE`, labels and predictions, and a pilot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probtruth.check import Strings, quote
from probtruth.cli.console import Console
from probtruth.cli.options import Cells, Pilot, chosen_rule, n_bytes
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, named
from probtruth.io.formats import LabelReading, MaybeText


def named_file(word: str) -> tuple[str, str | Path]:
    """The name (empty without one) and the path of `FILE` or `NAME=FILE`; what exists is a file."""
    if "=" not in word or Path(word).exists() or is_address(word):
        return "", word if is_address(word) else Path(word)
    name, path = named(word)
    if not name.strip() or not path:
        raise InputError(quote(word), "FILE or NAME=FILE", "Write my_model=logs/samples.jsonl.")
    return name, path if is_address(path) else Path(path)


def named_files(words: Strings) -> list[str | Path] | dict[str, list[str | Path]]:
    """Files as loaders take them: paths, or {model: paths} where they are written NAME=FILE."""
    by_name: dict[str, list[str | Path]] = {}
    for word in words:
        name, path = named_file(word)
        by_name.setdefault(name, []).append(path)
    if "" not in by_name:
        return by_name
    if len(by_name) > 1:
        raise InputError(
            f"{quote(str(by_name[''][0]))} without a name", "NAME=FILE for every file, or for none", "Name it."
        )
    return by_name[""]


@dataclass(frozen=True)
class Files:
    """Predictions and the labels that they are scored against, and how to read them."""

    reading: LabelReading
    cells: Cells
    predictions: list[str] | None = None
    annotations: MaybeText = None
    soft: MaybeText = None
    groups: MaybeText = None


def read(
    files: Files, estimand: Any = None, clusters: MaybeText = None, memory: MaybeText = None
) -> tuple[Any, Any, dict[str, Any]]:
    """The labels, the predictions, and the groups and clusters of their items."""
    from probtruth.io.item_columns import read_groups
    from probtruth.io.predictions import model_files, opened_models, read_predictions
    from probtruth.line.inputs import reference_of

    item = files.reading.item
    limit = n_bytes(memory)
    how = LabelReading(item, format="soft") if files.soft else files.reading
    strata: dict[str, Any] = {}
    models = {}
    known: Any = files.soft or files.annotations
    if not files.predictions:
        raise InputError("no --predictions", "a file for each model", "Write --predictions my_model=probs.csv.")
    if files.annotations and files.soft:
        raise _no_labels("both --annotations and --soft")
    if known is None:
        known, predictions, strata = _logged(files.predictions)
    else:
        models = opened_models(model_files(files.predictions))
    reference = reference_of(known, models, how, estimand, memory=limit)
    if models:
        cells = files.cells
        predictions = read_predictions(models, reference.index, item, cells.kind, cells.renormalise, memory=limit)
    for what, spec in (("group", files.groups), ("cluster", clusters)):
        if spec is not None:
            strata[f"{what}s"] = read_groups(spec, predictions.index.items, item or "item", what)
    return reference, predictions, strata


def _logged(words: Strings) -> tuple[Any, Any, dict[str, Any]]:
    """The truth, the predictions and the tasks that logs of lm-eval hold."""
    from probtruth.io.loaders import read_lm_eval_choices
    from probtruth.io.tools import tool_of

    files = named_files(words)
    if not isinstance(files, dict) or {tool_of(path) for own in files.values() for path in own} != {"lm-eval"}:
        raise _no_labels("neither --annotations nor --soft", "; only logs of lm-eval hold the right answers themselves")
    predictions, truth = read_lm_eval_choices(files)
    tasks = {item: item.rpartition("/")[0] for item in predictions.index.items}
    return truth, predictions, {"groups": tasks} if len(set(tasks.values())) > 1 else {}


def _no_labels(got: str, more: str = "") -> InputError:
    hint = f"Give --annotations labels.csv (annotators' labels) or --soft soft.parquet (distributions){more}."
    return InputError(got, "one of the two", hint)


def read_pilot(pilot: Pilot, console: Console) -> tuple[Any, Any]:
    """The scores of a pilot, and the annotations behind them where there are annotators."""
    console.refuse(*pilot.unused)
    if (not pilot.scores) == (pilot.annotations is None):
        raise InputError(
            "both SCORES and --annotations" if pilot.scores else "no pilot",
            "one of the two",
            "Give a table of scores, or --annotations and --predictions.",
        )
    if pilot.scores:
        from probtruth.io.scores import scores_in_files

        scores = scores_in_files(named_files(pilot.scores), pilot.reading)
        for note in scores.notes:
            console.note(note)
        return scores, None
    from probtruth.line.score import score
    from probtruth.truth.infer import infer_truth
    from probtruth.types import Annotations

    labels, predictions, _ = read(Files(pilot.labels, pilot.cells, pilot.predictions, pilot.annotations))
    for note in (*getattr(labels, "notes", ()), *predictions.notes):
        console.note(note)
    behind = None
    if isinstance(labels, Annotations):
        annotated = labels.annotated()[0]
        behind = None if annotated.annotator is None else annotated
        labels = infer_truth(annotated, method="vote-share")
    return score(predictions, labels, rule=chosen_rule(pilot.rule)), behind
