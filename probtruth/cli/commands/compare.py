"""`probtruth compare`: models by any per-item score."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from probtruth import check
from probtruth.cli import jax_setup, streamed
from probtruth.cli import options as opt
from probtruth.cli.console import Console, conclude
from probtruth.cli.reading import check_content, named_file, read_scores, score_format, with_content
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.line.result
    import probtruth.types


INSTEAD = "Write it as Parquet, of which some rows are read at a time unless the comparison needs all at once"
"""What helps where a table of scores is larger than the memory."""


def compare(
    verdict: opt.VerdictOptions,
    columns: opt.ScoreColumns,
    reading: opt.ScoreReading,
    machine: opt.Machine,
    content: opt.ItemContent,
    shown: opt.Printed,
    scores: Annotated[
        list[str],
        opt.argument(metavar="SCORES", help="A table (item, model, score), or logs of a harness: [NAME=]FILE."),
    ],
    out: opt.OutIfAny = None,
    likelihood: Annotated[
        str,
        opt.model_(metavar="NAME", among=opt.LIKELIHOODS, help="normal, student-t, skew-t, tie-spike, two-component."),
    ] = "auto",
    replicates: Annotated[
        str | None,
        opt.model_(
            metavar="KIND", among=opt.REPLICATES, help="What replicates are: independent, crossed (seeds), folds."
        ),
    ] = None,
    fold_correlation: Annotated[
        float | None, opt.model_(metavar="X", help="With --replicates folds: 1/k for k folds.")
    ] = None,
    gold: Annotated[
        str | None,
        opt.input_(metavar="FILE[:COL]", help="Better scores (people's) of a few items; COL: chosen with these odds."),
    ] = None,
) -> None:
    """Compare models by any per-item score."""
    from probtruth.io.output.folder import check_out

    in_memory = {"replicates": replicates, "fold_correlation": fold_correlation, "likelihood": likelihood}
    console = shown.console().of_stages(2 + (out is not None))
    gate, options = verdict.gate, verdict.options
    if out is not None:
        check_out(out)
    check_content(content, columns.item)
    jax_setup.switch_on()
    memory = streamed.Memory.of(machine.memory)
    whole = columns.replicate is not None or replicates is not None or likelihood != "auto" or gold is not None
    if _streams(scores, reading, whole, memory, machine.dask):
        from probtruth.line.result import Result

        named = {what: name for what, name in columns._asdict().items() if what != "replicate"}
        options |= {**named, "higher_is_better": reading.higher_is_better}
        with streamed.streaming(scores[0], out, memory, machine, console, "reading, then sampling") as how:
            result = Result.of_scores(scores[0], **options, **how)
    else:
        for _, path in map(named_file, scores):
            memory.need_table(str(path), INSTEAD)
        result = _held(scores, columns, reading, {**options, **in_memory, "gold": gold}, verdict.baseline, console)
    conclude(with_content(result, content, columns.item), out, console, gate)


def _streams(
    files: Sequence[str], reading: opt.ScoreReading, whole: bool, memory: streamed.Memory, dask: str | None
) -> bool:
    """Whether scores are streamed: a folder or too large a table, unless the comparison needs it `whole`.

    Replicates, better scores of some items, and other likelihoods than the default need it whole.

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
    return dask is not None or Room(memory.n_bytes).streams_scores(files[0])


def _held(
    files: Sequence[str],
    columns: opt.ScoreColumns,
    reading: opt.ScoreReading,
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
    if options["gold"] is not None:
        options = {**options, **_better(options["gold"], scores, columns, reading)}
    with console.progress("sampling") as on_progress:
        return Result.of_scores(scores, **options, on_progress=on_progress)


def _better(
    spec: str, scores: "probtruth.types.Scores", columns: opt.ScoreColumns, reading: opt.ScoreReading
) -> dict[str, Any]:
    """The better scores of some items, and the columns by which they are read as the others were."""
    from probtruth.io.gold import gold_file, gold_table

    named: dict[str, Any] = {"item": columns.item, "score": columns.score}
    named |= {"models": list(scores.models)} if reading.format == "wide" else {"model": columns.model}
    return {"gold": gold_table(*gold_file(spec))[0], **named}
