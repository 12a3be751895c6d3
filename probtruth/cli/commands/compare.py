"""`probtruth compare`: models by any per-item score."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from probtruth import check
from probtruth.cli import fail_if, jax_setup, settings, streamed
from probtruth.cli import options as opt
from probtruth.cli.console import Console, ItemContent, write_and_show
from probtruth.cli.reading import ScoreReading, read_scores, score_format
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.line.result


def compare(
    context: opt.Context,
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES...", help="A table (item, model, score), or logs of lm-eval, Inspect, HELM: [NAME=]FILE."
        ),
    ],
    out: opt.Out,
    item: opt.Item = "item",
    model: opt.Model = "model",
    score: Annotated[str, typer.Option(metavar="COL", help="Column of scores; in logs, the metric.")] = "score",
    group: opt.Group = None,
    cluster: opt.Cluster = None,
    replicate: opt.ScoreReplicate = None,
    likelihood: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=opt.completing(opt.LIKELIHOODS),
            help="auto, normal, student-t, skew-t, tie-spike or two-component.",
        ),
    ] = "auto",
    replicates: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            autocompletion=opt.completing(opt.REPLICATES),
            help="What replicates are: independent, crossed (seeds), folds.",
        ),
    ] = None,
    fold_correlation: Annotated[
        float | None, typer.Option(metavar="X", help="With --replicates folds: 1/k for k folds.")
    ] = None,
    higher_is_better: opt.HigherIsBetter = None,
    item_text: opt.ItemText = None,
    item_image: opt.ItemImage = None,
    format: opt.ScoreFormat = "auto",
    filter: opt.Filter = None,
    rope: opt.Rope = None,
    engine: opt.Engine = "nuts",
    strict: opt.Strict = False,
    fail_condition: Annotated[
        str | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with status 1 if a model meets it against the baseline, such as 'p_worse > 0.9'.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model that --fail-if compares with; the first in the file.")
    ] = None,
    seed: opt.Seed = 0,
    memory: opt.Memory = None,
    dask: opt.Dask = None,
    device: opt.Device = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Compare models by any per-item score."""
    from probtruth.io.output.folder import check_out

    columns = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    options: dict[str, Any] = {"rope": rope, "engine": engine, "strict": strict, "seed": seed}
    in_memory = {"replicates": replicates, "fold_correlation": fold_correlation, "likelihood": likelihood}
    reading = ScoreReading(format, higher_is_better, filter)
    console = settings.console(context, json, quiet)
    condition = None if fail_condition is None else fail_if.parse(fail_condition, rope)
    if condition is None and baseline is not None:
        raise InputError("--baseline without --fail-if", "both", "Add --fail-if 'p_worse > 0.9'.")
    check_out(out)
    content = ItemContent(item_text, item_image, item)
    content.check()
    jax_setup.switch_on()
    available = streamed.known_memory(memory)
    whole = replicate is not None or replicates is not None or likelihood != "auto"
    if _streams(scores, reading, whole, available, dask):
        from probtruth.line.result import Result

        del columns["replicate"]
        options |= {**columns, "higher_is_better": higher_is_better}
        with streamed.streaming(scores[0], out, available, dask, console, "reading, then sampling") as how:
            result = Result.of_scores(scores[0], **options, **how)
    else:
        result = _held(scores, columns, reading, {**options, **in_memory}, baseline, console)
    if condition is None:
        write_and_show(result, out, console, content=content)
        return
    findings = fail_if.findings(condition, result.comparison.pairs, result.scores.models, baseline)
    verdicts = {"condition": str(condition), "models": [vars(finding) for finding in findings]}
    write_and_show(result, out, console, {"fail_if": verdicts}, content)
    console.show(*(finding.words(condition) for finding in findings))
    if any(finding.fails for finding in findings):
        raise SystemExit(1)


def _streams(files: Sequence[str], reading: ScoreReading, whole: bool, memory: float, dask: str | None) -> bool:
    """Whether scores are streamed: a folder or too large a table, unless the comparison needs it `whole`.

    Replicates, and other likelihoods than the default, need it whole.

    Errors: `InputError` for a cluster that cannot be used.
    """
    from probtruth.io.tables.batches import can_stream
    from probtruth.line.larger_than_memory import Room

    if whole or len(files) > 1 or not can_stream(files[0]) or score_format(files, reading.format) != "table":
        if dask is not None:
            raise InputError(
                "--dask for scores that are compared in memory",
                "one table in Parquet or Arrow, or a folder of such files, without replicates and another likelihood",
                "Leave --dask out.",
            )
        return False
    return dask is not None or Room(memory).streams_scores(files[0])


def _held(
    files: Sequence[str],
    columns: Mapping[str, Any],
    reading: ScoreReading,
    options: Mapping[str, Any],
    baseline: str | None,
    console: Console,
) -> "probtruth.line.result.Result":
    """The comparison of scores that memory holds."""
    from probtruth.line.result import Result

    with console.progress("reading scores"):
        scores = read_scores(files, columns, reading)
    if baseline is not None:
        check.one_of(baseline, scores.models, "--baseline")
    with console.progress("sampling") as on_progress:
        return Result.of_scores(scores, **options, on_progress=on_progress)
