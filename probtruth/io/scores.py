"""Scores as a file: one row for each item and model, in their own orientation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.columns import some_number
from probtruth.io.tables.read import batches, read_table, too_large
from probtruth.io.tables.wide import NAME, VALUE, long_form
from probtruth.types import RuleFacts, Scores, orientation
from probtruth.types.arguments import Frame, StrPath

EVALUATE = "evaluate the annotations themselves (command line: probtruth run), which counts it"
NO_ANNOTATORS = f"a table of scores does not say who annotated, so that what annotators share is left out: {EVALUATE}"
NO_WEIGHTS = f"a table of scores lacks what the evidence of the models adds to the intervals: {EVALUATE}"


def write_scores(scores: Scores, path: str | Path) -> None:
    """Writes scores as Parquet."""
    notes = {
        "content": "scores",
        "rule": scores.rule,
        "higher_is_better": scores.higher_is_better,
        "floor": scores.known.floor,
        "proper": scores.known.proper,
        "entropy": scores.known.entropy,
        "cautions": [*scores.cautions, *_left_out(scores)],
    }
    parquet_notes.write(as_table(scores), path, notes)


def _left_out(scores: Scores) -> list[str]:
    """What a table of scores cannot hold."""
    behind = scores.labels
    if behind is None:
        return []
    if behind.influence is not None:
        return [NO_WEIGHTS]
    return [] if behind.named_annotations is None else [NO_ANNOTATORS]


def as_table(scores: Scores) -> polars.DataFrame:
    """`item`, `model` and `score`, and `group` and `cluster` where there are any."""
    n_models, n_items = scores.values.shape
    columns = {
        "item": polars.Series(list(scores.items) * n_models, dtype=polars.String),
        "model": polars.Series(np.repeat(np.array(scores.models, object), n_items).tolist(), dtype=polars.String),
        "score": polars.Series(scores.values.ravel()),
    }
    for what, partition in (("group", scores.groups), ("cluster", scores.clusters)):
        if partition is not None:
            names = [partition.names[code] for code in partition.codes.tolist()]
            columns[what] = polars.Series(names * n_models, dtype=polars.String)
    return polars.DataFrame(columns)


def read_scores(
    table: StrPath | Frame,
    *,
    item: str = "item",
    model: str = "model",
    score: str = "score",
    models: Sequence[str] | None = None,
    group: str | None = None,
    cluster: str | None = None,
    replicate: str | None = None,
    higher_is_better: bool | None = None,
    memory: float | None = None,
) -> Scores:
    r"""Scores from a table: any per-item metric.

    Arguments: `table` is a file (CSV, TSV, JSONL, Parquet, Arrow), a folder of Parquet or Arrow files, an address, or a
    dataframe. It has one row for each item and model, in the columns `item`, `model` and `score`; or one row for each
    item and one column for each of `models` (an empty list: all columns but the named ones), where a blank cell says
    that the model lacks the item, and `score` is the name of the metric. `group`, `cluster` and `replicate` name
    columns; those of a file that probtruth wrote are used unless others are named. `higher_is_better` says which way
    the score counts; by default a file that probtruth wrote says it, else the score's name, if it is that of a known
    metric (accuracy, loss, ...). Scores of files that take more than `memory` (bytes, half of what is free unless you
    say) lie in a temporary file instead of memory, but for replicates and a column for each model.

    Errors: `InputError` names file, line and column of what cannot be used, an orientation other than the file's, or a
    score of which nothing says which way it counts.

    >>> import probtruth as pt
    >>> losses = {"item": ["a", "b"], "ours": [1.0, 0.0], "theirs": [0.5, 0.5]}
    >>> pt.read_scores(losses, models=["ours", "theirs"], score="loss").values.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    if models is not None:
        if replicate is not None:
            raise InputError(
                "replicate= with a column for each model", "one row for each item", "Give the table in long form."
            )
        long, source = long_form(table, item, list(models) or None, [group, cluster], "model")
        upward = orientation.upward(score, higher_is_better, source.name)
        columns = {option: column for option, column in (("group", group), ("cluster", cluster)) if column is not None}
        columns |= {"item": item, "model": NAME}
        return replace(Scores.from_parts([(long, source)], columns, VALUE, upward), rule=score)
    stored = table if isinstance(table, str | Path) else None
    on_disk = too_large([table], memory) and stored is not None and replicate is None
    frame, source = next(batches(table)) if on_disk else read_table(table)
    names = frame.columns
    if {"model_a", "model_b", "winner"} <= set(names):
        raise InputError(
            "votes on pairs of models (model_a, model_b, winner)",
            "a score for each item and model",
            "If the same two models answered every item, give each its own row: 1 for the winner, 0 for the other, "
            "0.5 for a tie, with the judge as replicate. Votes on several pairs need a Bradley-Terry model.",
            source.name,
        )
    named = {"item": item, "model": model, "group": group, "cluster": cluster, "replicate": replicate}
    if not {item, model, score} <= set(names):
        _refuse_wide(frame, named, score, source.name)
    frames.need_columns(names, named | {"score": score}, source.name)
    if stored is not None:
        ours, upward, rule, facts = notes_in(stored, score, higher_is_better)
        cautions = cautions_in(stored)
    else:
        upward = orientation.upward(score, higher_is_better, source.name)
        ours, rule, facts, cautions = False, score, RuleFacts(), ()
    own = [name for name in ("group", "cluster") if ours and name in names]  # which probtruth itself wrote
    named |= {name: named[name] or name for name in own}
    columns = {option: column for option, column in named.items() if column is not None}
    parts = batches(stored, [*columns.values(), score]) if stored and on_disk else [(frame, source)]
    made = Scores.from_parts(parts, columns, score, upward, on_disk)
    return replace(made, rule=rule, known=facts, cautions=cautions)


def _refuse_wide(frame: polars.DataFrame, named: Mapping[str, str | None], score: str, where: str) -> None:
    """Raises where a table has a column for each model instead of one for all, with the option that reads it."""
    taken = [named[name] for name in ("item", "group", "cluster")]
    if named["item"] not in frame.columns or {named["model"], score} & set(frame.columns):
        return
    others = [name for name in frame.columns if name not in taken]
    models = [name for name in others if some_number(frame, name)]
    # by their names where other columns stand between, unless a name cannot be written so
    some = len(models) < len(others) and not any("," in name for name in models)
    option = ("--format", "wide", *(("--model", ",".join(models)) if some else ()))
    if len(models) > 1:
        raise InputError(
            f"no columns {check.quote(named['model'])} and {check.quote(score)}, but one column of numbers for each of "
            f"{check.shortlist(models)}",
            "one row for each item and model, or the names of the models' columns",
            f"If these are models, pass models={models if some else []!r} (command line: {' '.join(option)}).",
            where,
            option,
        )


def cautions_in(path: StrPath) -> tuple[str, ...]:
    """What the scores of a file that probtruth wrote do not know."""
    lines: Any = parquet_notes.read(path).get("cautions", ())
    return tuple(map(str, lines)) if isinstance(lines, list) else ()


def notes_in(path: StrPath, score: str, higher_is_better: bool | None) -> tuple[bool, bool, str, RuleFacts]:
    """Whether probtruth wrote a file; of its scores in the column `score`: the orientation, the rule, and its facts."""
    notes = parquet_notes.read(path)
    own = notes.get("higher_is_better")
    if higher_is_better is not None and own not in (None, higher_is_better):
        raise InputError(
            f"higher_is_better={higher_is_better}", f"{own}, as the file says", "Leave the option out.", shown(path)
        )
    stated = own if higher_is_better is None and isinstance(own, bool) else higher_is_better
    rule, facts = score, RuleFacts()
    if notes and score == "score":
        try:
            rule, proper = str(notes["rule"]), notes["proper"]
            given: Any = [notes[name] for name in ("floor", "entropy")]  # infinities are text
            floor, entropy = (None if one is None else float(one) for one in given)
            facts = RuleFacts(floor=floor, proper=None if proper is None else proper is True, entropy=entropy)
        except (KeyError, TypeError, ValueError) as error:
            raise parquet_notes.damaged(str(error), path) from None
    return bool(notes), orientation.upward(rule, stated, shown(path)), rule, facts
