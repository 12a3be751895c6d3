"""What each command does: read, call the line, print or write."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probtruth import check as check_names
from probtruth.cli import cache, fail_if, large, logs
from probtruth.cli.console import Console as Console
from probtruth.errors import InputError


@dataclass(frozen=True)
class Columns:
    """Names of the columns of annotations."""

    item: str
    annotator: str
    label: str
    replicate: str


@dataclass(frozen=True)
class Sources:
    """The files of a run, and how to read them."""

    annotations: str | None
    soft: str | None
    predictions: Sequence[str]
    kind: str
    groups: str | None
    clusters: str | None
    columns: Columns
    memory: str | None = None
    dask: str | None = None
    format: str = "auto"
    normalise: str = "none"


def rule_of(name: str, order: str | None) -> Any:
    """A rule by its name or, where the order of the labels is written out (`low,medium,high`), for that order."""
    if order is None:
        return name
    from probtruth.scoring.rules import get_rule

    return get_rule(name, [label.strip() for label in order.split(",")])


def run(sources: Sources, options: Mapping[str, Any], out: str, console: Console, note: str | None = None) -> None:
    """The line on files, and its report."""
    from probtruth.io.output.folder import check_out

    check_out(out)
    bare = sources.annotations is None and sources.soft is None
    with console.progress("reading logs"):
        logged = logs.choices(sources.predictions, sources.normalise) if bare else None
    if logged is None and (sources.annotations is None) == (sources.soft is None):
        raise InputError(
            "both --annotations and --soft" if sources.soft else "neither --annotations nor --soft",
            "one of the two",
            "Give --annotations labels.csv (what annotators said) or --soft soft.parquet (distributions); only logs of "
            "lm-eval hold the right answers themselves.",
        )
    cache.switch_on()
    from probtruth.io.groups import read_groups
    from probtruth.io.predictions import model_files, read_predictions_pairs
    from probtruth.io.truth import read_soft
    from probtruth.line.evaluate import evaluate
    from probtruth.line.informed_truth import EVIDENCE

    columns = sources.columns
    memory = large.known_memory(sources.memory)
    files = model_files(sources.predictions)
    names = {name for name, _ in files}
    if len(names) < 2 and (logged is not None or len(files) < 2):
        raise InputError(
            f"one model only ({files[0][0]!r})", "at least two models to compare", "Repeat --predictions NAME=FILE."
        )
    settings = dict(options)
    if sources.annotations is None and settings["method"] is not None:
        raise InputError(
            "--truth without --annotations", "one of the two", "--truth says how annotations become soft labels."
        )
    streams = logged is None and (sources.dask is not None or large.too_large(files, memory))
    reference: Any
    if logged is not None:
        predictions, reference = logged
        settings["groups"] = logs.tasks(predictions.index.items)
    elif sources.soft is not None:
        reference = sources.soft if streams else read_soft(sources.soft, columns.item, settings.pop("estimand"))
    else:
        with console.progress("reading annotations"):
            reference = logs.read_annotations(str(sources.annotations), columns, sources.format, files[0][1])
    specs = {"group": sources.groups, "cluster": sources.clusters}
    if streams:
        if check_names.one_of(settings.pop("evidence", "auto"), EVIDENCE, "evidence") == "annotators-and-models":
            raise InputError(
                "--evidence annotators-and-models with predictions that are streamed",
                "predictions that fit into memory",
                "Raise --memory, or leave --evidence out: classes then come from the annotators alone.",
            )
        how = files, columns.item, sources.kind, memory, specs, settings, out, console, sources.dask
        result = large.stream(reference, *how)
        return _finish(replace(result, note=note), out, console)
    if logged is None:
        with console.progress("reading predictions"):
            predictions = read_predictions_pairs(files, reference.index, columns.item, sources.kind)
    for what, spec in specs.items():
        if spec is not None:
            settings[f"{what}s"] = read_groups(spec, predictions.index.items, columns.item, what)
    with console.progress("inferring, scoring, sampling") as on_progress:
        result = evaluate(reference, predictions, **settings, on_progress=on_progress)
    _finish(replace(result, note=note), out, console)


def demo(out: str, seed: int, console: Console) -> None:
    """The line on embedded data."""
    from probtruth import demo as data

    annotations, predictions = data.paths()
    pairs = [f"{name}={path}" for name, path in predictions.items()]
    columns = Columns("item", "annotator", "label", "replicate")
    sources = Sources(str(annotations), None, pairs, "probs", None, None, columns)
    console.note(data.NOTE)
    run(sources, {"method": None, "estimand": None, "rope": 0.01, "seed": seed}, out, console, data.NOTE)


def compare(
    files: Sequence[str],
    columns: Mapping[str, Any],
    reading: logs.Reading,
    options: Mapping[str, Any],
    out: str,
    console: Console,
    gate: tuple[str | None, str | None] = (None, None),
    memory: str | None = None,
    dask: str | None = None,
) -> None:
    """A comparison of bare scores, and its report; `gate` is a condition that fails the check, and the baseline."""
    from probtruth.io.output.folder import check_out

    condition = fail_if.parse(gate[0], options["rope"]) if gate[0] is not None else None
    if condition is None and gate[1] is not None:
        raise InputError("--baseline without --fail-if", "both", "Add --fail-if 'p_worse > 0.9'.")
    check_out(out)
    cache.switch_on()
    free = large.known_memory(memory)
    if large.streams_scores(files, columns, reading, options, free, dask):
        result = large.stream_comparison(files[0], columns, reading.higher_is_better, options, free, out, console, dask)
    else:
        result = _compared(files, columns, reading, options, gate[1], console)
    if condition is None:
        _finish(result, out, console)
        return
    comparison, models = result.comparison, result.scores.models
    found = fail_if.findings(condition, comparison.pairs, models, gate[1])
    _finish(result, out, console, {"fail_if": {"condition": str(condition), "models": [vars(one) for one in found]}})
    for one in found:
        console.show(one.words(condition))
    if any(one.fails for one in found):
        raise SystemExit(1)


def _compared(
    files: Sequence[str],
    columns: Mapping[str, Any],
    reading: logs.Reading,
    options: Mapping[str, Any],
    baseline: str | None,
    console: Console,
) -> Any:
    """The comparison of scores that memory holds."""
    from probtruth.line.result import Result

    with console.progress("reading scores"):
        scores = logs.read_scores(files, columns, reading)
    if baseline is not None:
        check_names.one_of(baseline, scores.models, "--baseline")
    with console.progress("sampling") as on_progress:
        return Result.of_scores(scores, **options, on_progress=on_progress)


def truth(
    path: str,
    columns: Columns,
    format: str,
    options: Mapping[str, Any],
    out: str | None,
    console: Console,
) -> None:
    """Soft labels from annotations."""
    cache.switch_on()
    from probtruth.io.truth import write_soft
    from probtruth.line.labelled import alike_labels
    from probtruth.report.formats import terminal
    from probtruth.truth.infer import infer_truth

    with console.progress("reading annotations"):
        annotations, gone = logs.read_annotations(path, columns, format).annotated()
    if gone:
        console.note(f"{len(gone)} items without annotations left out")
    for warning in alike_labels(annotations.index.labels):
        console.note(warning)
    with console.progress("inferring"):
        found = infer_truth(annotations, **options, draws=0)
    if out is not None:
        write_soft(found, out)
        console.note(f"soft labels of {found.n_items} items written to {out}")
    else:
        console.show(*terminal.truth_summary(found))
    console.emit(terminal.truth_dict(found))


def score(
    path: str,
    predictions: Sequence[str],
    kind: str,
    rule: Any,
    floor: float | None,
    item: str,
    out: str,
    console: Console,
    memory: str | None = None,
    dask: str | None = None,
) -> None:
    """Scores of predictions against soft labels."""
    from probtruth.io.predictions import model_files, read_predictions_pairs
    from probtruth.io.scores import write_scores
    from probtruth.io.tables.parquet_notes import check_out
    from probtruth.io.truth import read_soft
    from probtruth.scoring.score import score as score_predictions

    check_out(out)
    cache.switch_on()
    files, free = model_files(predictions), large.known_memory(memory)
    if dask is not None or large.too_large(files, free):
        options = {"item": item, "kind": kind, "rule": rule, "floor": floor}
        means, n_items = large.stream_scores(path, files, free, options, out, console, dask)
    else:
        with console.progress("reading and scoring"):
            reference = read_soft(path, item)
            table = read_predictions_pairs(files, reference.index, item, kind)
            for warning in table.warnings:
                console.note(warning)
            scores = score_predictions(table, reference, rule=rule, floor=floor)
        write_scores(scores, out)
        means, n_items = large.means_of(scores), len(scores.items)
    console.note(f"scores of {len(means)} models on {n_items} items written to {out}")
    known = rule if isinstance(rule, str) else rule.name
    for name, mean in means.items():
        console.show(f"{name}: {mean:.6g} mean {known} score")
    console.emit({"rule": known, "floor": floor, "n_items": n_items, "models": means})


def check(
    files: Sequence[str],
    columns: Columns,
    format: str,
    chosen: tuple[str | None, str | None],
    console: Console,
) -> None:
    """Says of each file what it would be used as, and of all what would be compared; those that cannot be used last.

    `chosen` are the metric and the filter of logs.
    """
    from probtruth.cli.inspect import Found, inspect_file
    from probtruth.cli.together import together

    check_names.one_of(format, tuple(dict.fromkeys((*logs.FORMATS, *logs.ANNOTATION_FORMATS))), "--format")
    found: list[tuple[str, Found]] = []
    faults: list[InputError] = []
    with console.progress("reading") as on_progress:
        for place, path in enumerate(files):
            on_progress(place, len(files))
            try:
                found.append((path, inspect_file(path, columns, format, chosen[0])))
            except InputError as error:
                faults.append(error)
    for path, one in found:
        console.show(f"{path}: {', '.join(one.words)}", *(f"  {line}" for line in one.lines))
    with console.progress("comparing"):
        lines: list[str] = [] if faults or not found else together(found, columns, *chosen)
    console.show(*lines)
    rows: list[dict[str, Any]] = [{"file": path, "kind": one.kind, **one.facts} for path, one in found]
    console.emit({"files": rows, "faults": [str(fault) for fault in faults], "notes": lines})
    for fault in faults[:-1]:
        print(f"probtruth: {fault}", file=sys.stderr)
    if faults:
        raise faults[-1]


def info(console: Console) -> None:
    """Versions, devices, methods and rules."""
    import platform
    from importlib.metadata import version

    import jax

    from probtruth.line.result import VERSIONS
    from probtruth.scoring.rules import RULES
    from probtruth.truth.infer import METHODS

    facts = {
        "versions": {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}},
        "devices": [str(device) for device in jax.devices()],
        "methods": {name: method.estimand for name, method in METHODS.items()},
        "rules": list(RULES),
        "compilation cache": str(cache.folder() or "off"),
    }
    console.show(*(f"{name}: {_listed(value)}" for name, value in facts.items()))
    console.emit(facts)


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _finish(result: Any, out: str, console: Console, more: Mapping[str, Any] | None = None) -> None:
    """Writes the report, then says the verdict; `more` goes into the JSON on standard output."""
    from probtruth.report.formats import terminal
    from probtruth.report.write import write_report

    with console.progress("writing the report"):
        write_report(replace(result, command=console.command), out)
    console.show(*terminal.summary(result))
    console.note(f"report: {Path(out) / 'report.html'}")
    console.emit({**result.to_dict(), **(more or {})})
