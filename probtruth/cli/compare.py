"""`probtruth compare`: models by any per-item score."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from probtruth.check import MaybeNumber, need_columns, one_of, quote, unique
from probtruth.cli import options as opt
from probtruth.cli.console import Console, cache_compiled_code, check_output, conclude
from probtruth.cli.reading import named_files
from probtruth.errors import InputError
from probtruth.io.formats import MaybeText, ScoreReading


def compare(
    console: Console,
    reading: ScoreReading,
    verdict: opt.Verdict,
    scores: list[str],
    gold: MaybeText = None,
    replicates: MaybeText = None,
    annotator_groups: MaybeText = None,
    cost: MaybeText = None,
    fold_correlation: MaybeNumber = None,
    memory: MaybeText = None,
    show: MaybeText = None,
    out: MaybeText = None,
) -> None:
    """Compare models by any per-item score."""
    from probtruth.io.scores import scores_in_files
    from probtruth.io.table import opened_once
    from probtruth.line.compare import compare as compare_scores
    from probtruth.line.result import Result
    from probtruth.types import Votes

    gate = verdict.gate
    options = {"replicates": replicates, "fold_correlation": fold_correlation, **verdict.options}
    check_output(out, show, reading.item or "item")
    cache_compiled_code()
    of_column = cost is not None and not Path(cost).is_file()
    costs: Any = None
    with console.progress("reading scores"), opened_once():
        read = scores_in_files(named_files(scores), reading, opt.n_bytes(memory))
        if of_column and isinstance(read, Votes):
            raise InputError(f"--cost {cost} with votes", "a file with the columns model and cost", "Check the path.")
        if of_column:
            by_item = replace(reading, score=cost, higher_is_better=False)
            try:
                costs = scores_in_files(named_files(scores), by_item)
            except InputError as error:
                if not error.got.startswith(f"no column {quote(cost)}"):
                    raise
                wanted = "a file of prices, or the column of costs"
                raise InputError(error.got, wanted, "Check the path or the column.", error.where) from None
        elif cost is not None:
            costs = _prices(cost)
    for note in read.notes:
        console.note(note)
    if verdict.baseline is not None:
        one_of(verdict.baseline, read.models, "--baseline")
    if gold is not None:
        from probtruth.io.gold import gold_file, gold_table

        model = None if reading.format == "wide" else reading.model
        options["gold"] = gold_table(*gold_file(gold), reading.item, model)[0]
    if annotator_groups is not None:
        from probtruth.io.item_columns import read_groups

        annotator = reading.annotator or "annotator"
        options["annotator_groups"] = read_groups(annotator_groups, None, annotator, "annotator-group")
    with console.progress("sampling"):
        result = Result.of(compare_scores(read, **options), costs)
    conclude(result, out, show, reading.item or "item", console, gate)


def _prices(cost: str) -> dict[str, float]:
    """A price of each model, from a file with the columns `model` and `cost`."""
    from probtruth import frame_numbers, frames
    from probtruth.io.table import opened

    table, source = opened(cost).whole
    need_columns(table.columns, {"model": "model", "cost": "cost"}, source.name, "Rename it.")
    models = frames.names(table, "model", source, "model").to_list()
    unique(models, "model")
    return dict(zip(models, frame_numbers.numbers(table, "cost", source, "cost").tolist(), strict=True))
