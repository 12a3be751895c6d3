"""Files on the command line: `NAME=FILE`, which format a file has, and the loader that reads it.

The data that plan and validate start from: scores, or annotations and predictions.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from probtruth import check
from probtruth.cli.options import AnnotationColumns, ItemContent, PilotOptions, ScoreColumns, ScoreReading, by_task
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, location, named
from probtruth.io.formats import ANNOTATION_FORMATS, ANNOTATION_TOOLS, SCORE_FORMATS, SCORE_TOOLS

if TYPE_CHECKING:
    import probtruth.line.result
    import probtruth.types


def named_files(words: Sequence[str]) -> list[str | Path] | dict[str, list[str | Path]]:
    """Files as loaders take them: paths, or {model: paths} where they are written NAME=FILE."""
    pairs = [named_file(word) for word in words]
    if not any(name for name, _ in pairs):
        return [path for _, path in pairs]
    if not all(name for name, _ in pairs):
        unnamed = next(path for name, path in pairs if not name)
        raise InputError(
            f"{check.quote(str(unnamed))} without a name", "NAME=FILE for every file, or for none", "Name it."
        )
    return {name: [path for other, path in pairs if other == name] for name, _ in pairs}


def named_file(word: str) -> tuple[str, str | Path]:
    """The name (empty without one) and the path of `FILE` or `NAME=FILE`; what exists is a file.

    An address stays text, which a `Path` would change.
    """
    if "=" not in word or Path(word).exists() or is_address(word):
        return "", word if is_address(word) else Path(word)
    name, path = named(word)
    if not name.strip() or not path:
        raise InputError(check.quote(word), "FILE or NAME=FILE", "Write my_model=logs/samples.jsonl.")
    return name, path if is_address(path) else Path(path)


def score_format(words: Sequence[str], option: str) -> str:
    """The format of files of scores: that of the option, or with `auto` by their content, which must be one."""
    if check.one_of(option, SCORE_FORMATS, "--format") != "auto":
        return option
    from probtruth.io.loaders.detect import format_of

    formats = {path: format_of(path) for _, path in map(named_file, words)}
    named_files(words)  # raises where some have names and some do not
    one, *_ = formats.values()
    for path, other in formats.items():
        if other != one:
            raise InputError(f"files of {one} and of {other} ({path})", "files of one tool", "Read one tool at a time.")
    return one


def annotation_format(path: str | Path, option: str) -> str:
    """The format of a file of annotations: that of the option, or with `auto` by its content."""
    if check.one_of(option, ANNOTATION_FORMATS, "--format") != "auto":
        return option
    if location(path).suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return "table"
    from probtruth.io.loaders.detect import format_of

    detected = format_of(path)
    if detected not in (*ANNOTATION_TOOLS, "table"):
        hint = "Logs hold scores: give them to `probtruth compare`."
        raise InputError(f"a log of {detected}", "annotations", hint, str(path))
    return detected


def read_scores(words: Sequence[str], columns: ScoreColumns, reading: ScoreReading) -> "probtruth.types.Scores":
    """Scores from a table, or from the logs of a harness; of these, the column `score` names the metric."""
    from probtruth.io import loaders
    from probtruth.io.scores import read_scores as read_table

    format, upward = score_format(words, reading.format), reading.higher_is_better
    for option in ("task", "metric", "filter"):
        if getattr(reading, option) and format != "lm-eval":
            raise InputError(f"--{option} with files of {format}", "files of lm-eval", f"Leave --{option} out.")
    if format in ("table", "wide"):
        if len(words) > 1:
            raise InputError(f"{len(words)} tables", "one table of scores", "Put the models into one table.")
        if format == "table":
            return read_table(words[0], *columns, higher_is_better=upward)
        if columns.replicate is not None:
            raise InputError(
                "--replicate with a wide table", "one row for each item", "Read the table in long form.", words[0]
            )
        models = _listed(columns.model, "model")
        return loaders.read_wide_scores(
            words[0],
            models,
            item=columns.item,
            group=columns.group,
            cluster=columns.cluster,
            higher_is_better=upward,
            rule=columns.score,
        )
    if format not in SCORE_TOOLS:
        raise InputError(f"an export of {format}", "scores", "Give it as --annotations of `probtruth run`.", words[0])
    named = [name for name in ("group", "cluster", "replicate") if getattr(columns, name) is not None]
    if named:
        raise InputError(
            f"--{named[0]} with a log of {format}",
            "no column: logs have none",
            "Tasks are the groups, epochs and trials the replicates.",
            words[0],
        )
    files, metric = named_files(words), None if columns.score == "score" else columns.score
    if format == "inspect":
        return loaders.read_inspect(files, metric, upward)
    if format == "helm":
        return loaders.read_helm(files, metric, higher_is_better=upward)
    of_tasks = by_task(reading.metric) or {}
    metrics = of_tasks if metric is None else {**of_tasks, "*": metric}
    return loaders.read_lm_eval_samples(files, metrics or None, by_task(reading.filter), upward, reading.task or None)


def _listed(names: str, default: str) -> list[str] | None:
    """Names of columns written `a,b,c`; None if the option has its default."""
    return None if names == default else [name.strip() for name in names.split(",")]


def read_annotations(
    path: str | Path, columns: AnnotationColumns, format: str = "auto", predictions: str | None = None
) -> "probtruth.types.Annotations":
    """Annotations from a table or the export of a tool; of an export, the column `label` names the question.

    The labels of `predictions` (a file) tell counts from other columns of numbers.
    """
    from probtruth.io import loaders
    from probtruth.io.annotations import read_annotations as read_table

    format = annotation_format(path, format)
    question = None if columns.label == "label" else columns.label
    if format == "table":
        return read_table(path, *columns, labels=_labels(path, columns, predictions))
    if format == "counts":
        return read_table(path, *columns, format="counts")
    if format == "wide":
        return loaders.read_wide_annotations(path, _listed(columns.annotator, "annotator"), columns.item)
    if format == "label-studio":
        return loaders.read_label_studio(path, question, None if columns.item == "item" else columns.item)
    if format == "argilla":
        return loaders.read_argilla(path, question)
    if format == "chaosnli":
        return loaders.read_chaosnli(path, item=None if columns.item == "item" else columns.item, votes=question)
    if question is not None:
        raise InputError(
            "--label with an export of Prodigy",
            "nothing to choose: it holds one answer a line",
            "Leave it out.",
            str(path),
        )
    return loaders.read_prodigy(path)


def _labels(path: str | Path, columns: AnnotationColumns, predictions: str | None) -> list[str] | None:
    """The labels that a file of predictions has, if the annotations are not in long form."""
    from probtruth.io.annotations import is_long
    from probtruth.io.tables.batches import columns_of
    from probtruth.io.tables.read import read_table

    if predictions is None or is_long(read_table(path)[0].columns, *columns[:3]):
        return None
    return [name for name in columns_of(predictions) if name != columns.item and name.strip()]


def read_pilot(pilot: PilotOptions) -> "tuple[probtruth.types.Scores, probtruth.types.Annotations | None]":
    """The scores, and the annotations behind them if the same few annotators judged all items."""
    if (pilot.scores is None) == (pilot.annotations is None):
        raise InputError(
            "both SCORES and --annotations" if pilot.scores else "no pilot",
            "one of the two",
            "Give a table of scores, or --annotations and --predictions.",
        )
    if pilot.scores is not None:
        if Path(pilot.scores, "result.json").exists():
            raise InputError(
                "a folder with a result, which holds no scores of single items",
                "the files of that run",
                "Give its scores or logs, or its --annotations and --predictions.",
                pilot.scores,
            )
        return read_scores([pilot.scores], pilot.columns, ScoreReading(higher_is_better=pilot.higher_is_better)), None
    from probtruth.comparison.evidence.crossed import same_few
    from probtruth.io.predictions import model_files, read_predictions_pairs
    from probtruth.scoring.score import score
    from probtruth.truth.infer import infer_truth

    item, replicate = pilot.columns.item, pilot.columns.replicate or "replicate"
    files = model_files(pilot.predictions or [])
    columns = AnnotationColumns(item, pilot.annotator, pilot.label, replicate)
    annotations = read_annotations(str(pilot.annotations), columns, predictions=files[0][1])
    predictions = read_predictions_pairs(files, annotations.index, item, pilot.kind, pilot.renormalise)
    annotations = annotations.annotated()[0]
    scores = score(predictions, infer_truth(annotations, method="vote-share"), rule=pilot.rule)
    return scores, annotations if same_few(annotations) else None


def check_content(content: ItemContent, item: str) -> None:
    """Raises before long work if a text or an image of the items could not be read.

    Arguments: `item` is the column of item names.
    """
    from probtruth.io.item_content import check_item_content

    for what, spec in (("text", content.item_text), ("image", content.item_image)):
        if spec is not None:
            check_item_content(spec, item, what)


def with_content(
    result: "probtruth.line.result.Result", content: ItemContent, item: str
) -> "probtruth.line.result.Result":
    """The result with what the report shows of the items that it lists.

    Errors: `InputError` where something cannot be read, or the items were streamed and are not listed.
    """
    from probtruth.io.item_content import read_item_images, read_item_text

    if content.item_text is None and content.item_image is None:
        return result
    listed = result.analysis.listed
    if listed is None:
        raise InputError(
            "--item-text or --item-image with input that is streamed", "items in memory", "Raise --memory."
        )
    texts = {} if content.item_text is None else read_item_text(content.item_text, listed.items, item)
    images = {} if content.item_image is None else read_item_images(content.item_image, listed.items, item)
    return replace(result, item_text=texts, item_images=images)
