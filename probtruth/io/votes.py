"""Votes on pairs of models from a table: exports of arenas, of pair judgements and of reward models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
from jaxtyping import Int

from probtruth import check, frame_numbers, frames
from probtruth.check import MaybeNumber, MaybeText, Source, Strings, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import ScoreReading, Texts, listed
from probtruth.io.kinds import log_of, score_kind
from probtruth.io.loaders.readers import OF_SCORES, read_scores_of, refuse_unused
from probtruth.io.scores import is_of_models, of_runs, opened_scores, scores_of
from probtruth.io.table import Table, opened
from probtruth.io.vote_columns import Votes as VoteKind
from probtruth.io.vote_columns import votes_in
from probtruth.kernels.shapes import RowInts
from probtruth.types import Scores, Votes
from probtruth.types.arguments import Files, Frame, StrPath
from probtruth.types.index import positions, sort_names
from probtruth.types.score_rows import partition_of

LEFT, RIGHT, TIE = 1, -1, 0
FAILED, BLANK = 2, 3  # A judgement that a tool marks as an error, and none: both are left out
PREFERENCE = "preference"  # The column in which AlpacaEval writes 0 for a tie
BOTH_BAD = ["tie (bothbad)", "tie(bothbad)", "bothbad", "both_bad", "both bad", "tie (both bad)"]
# What the winner's cell may say, in lower case
LEFT_WON = ["model_a", "a", "left", "model_1", "first", "win", "[[a]]", "a>b", "a>>b", "[[a>b]]", "[[a>>b]]"]
RIGHT_WON = [
    "model_b",
    "b",
    "right",
    "model_2",
    "second",
    "loss",
    "lose",
    "[[b]]",
    "b>a",
    "b>>a",
    "[[b>a]]",
    "[[b>>a]]",
]
TIED = ["tie", "draw", "both", "equal", "same", "neither", "[[c]]", "a=b", "[[a=b]]", *BOTH_BAD]
NUMBERS = {"1": LEFT, "1.0": LEFT, "2": RIGHT, "2.0": RIGHT, "1.5": TIE, "0": TIE, "0.0": TIE}  # as AlpacaEval's
ANSWERS = {"error": FAILED, "": BLANK, **NUMBERS}
ANSWERS |= dict.fromkeys(LEFT_WON, LEFT) | dict.fromkeys(RIGHT_WON, RIGHT) | dict.fromkeys(TIED, TIE)


def read_votes(
    table: StrPath | Frame,
    *,
    item: MaybeText = None,
    left: MaybeText = None,
    right: MaybeText = None,
    winner: MaybeText = None,
    annotator: MaybeText = None,
    group: MaybeText = None,
    covariates: Strings = (),
) -> Votes:
    """Votes on pairs of models from a table with one row for each vote.

    Columns are found by their names unless you name them: the two models (`model_a` and `model_b`, `left` and `right`,
    `generator_1` and `generator_2`), or the preferred and the other one (`chosen` and `rejected`); the `winner` or
    `preference`; the prompt (`item`, `prompt`, `question_id`, ...); the `annotator` (`judge`, `worker`, `user`, ...). A
    winner is "model_a", "a", "left" or the model's name, "tie", or 1, 2 and 1.5 for a tie; where both are bad, that
    counts as a tie and is said; one marked as an error, or blank, is left out and counted. `g1_winner` and `g2_winner`
    (MT-bench) are two votes with sides exchanged. Votes that one annotator gave on the same answers again count
    together.

    Arguments:
        table: a file, an address or a dataframe.
        item: the column of prompts.
        left: the column of the model whose answer is the first.
        right: the column of the other model.
        winner: the column that says which is preferred.
        annotator: the column of annotators.
        group: the column of the prompts' groups (category, language).
        covariates: columns of numbers, each the difference between the two answers, left less right (of length, of
            style). The strengths are then those of answers that are alike in them.

    Errors: `InputError` names the row of a model against itself, and of a winner that is none of these.

    >>> import probtruth as pt
    >>> pt.read_votes({"prompt": [1, 2], "model_a": ["x", "x"], "model_b": ["y", "z"], "winner": ["a", "tie"]})
    Votes: 2 votes on 3 models, 2 prompts, 50% ties
    """
    source_table = opened(table)
    named = {"item": item, "left": left, "right": right, "winner": winner, "annotator": annotator, "group": group}
    kind = votes_in(source_table, named)
    if kind is None:
        raise InputError(
            f"no votes (columns: {shortlist(source_table.columns)})",
            "columns of two models and of the winner (model_a, model_b, winner), or of the chosen and the rejected one",
            "Name them: left=..., right=..., winner=....",
            source_table.name,
        )
    chosen = []
    for name in check.listed(covariates, "covariates"):
        chosen.append(one_of(name, source_table.columns, "column of a covariate"))
    return votes_of(source_table, replace(kind, covariates=tuple(chosen)))


@fetched_once()
def read_scores_or_votes(table: StrPath | Frame | Mapping[str, StrPath | Frame]) -> Scores | Votes:
    """Votes where a table has their columns, else scores: of a table, of {model: file}, or of a harness's logs."""
    if is_of_models(table) or isinstance(table, str | Path):
        return scores_in_files(table)  # type: ignore[arg-type]
    return _in_table(opened_scores(table), ScoreReading(), None)


@fetched_once()
def scores_in_files(files: Files, how: ScoreReading = ScoreReading(), memory: MaybeNumber = None) -> Scores | Votes:
    """Scores or votes in a file, in a file for each model, or in the logs of a harness."""
    every = [*files.values()] if isinstance(files, Mapping) else [files]
    paths = [path for one in every for path in (one if isinstance(one, list | tuple) else [one])]
    tables = [opened(path) for path in paths]
    logs = [log_of(table, how) for table in tables]
    tools = dict.fromkeys(log.tool if log else "no tool" for log in logs)
    if len(tools) > 1:
        raise InputError(f"files of {' and of '.join(tools)}", "files of one tool", "Read one tool at a time.")
    if logs[0] is not None:
        if memory is not None:
            raise InputError(f"--memory with files of {logs[0].tool}", "a table", "Leave it out.", tables[0].name)
        return read_scores_of(logs[0].tool, files, how, tables[0].name)
    if isinstance(files, Mapping) and len(paths) == len(files):
        return of_runs(dict(zip(files, tables, strict=True)), how)
    if len(tables) > 1:
        raise InputError(
            f"{len(tables)} tables",
            "one table of scores, or a file for each model",
            "Name the model of each, once: MODEL=FILE MODEL=FILE.",
        )
    return _in_table(tables[0], how, memory)


def _in_table(table: Table, how: ScoreReading, memory: MaybeNumber) -> Scores | Votes:
    refuse_unused(how, how.format if how.format in OF_SCORES else "table", OF_SCORES, table.name)
    models = None
    if how.format == "wide":
        models = listed(how.model)
        how = replace(how, model=None)
    kind = score_kind(table, how, models)
    if not isinstance(kind, VoteKind):
        return scores_of(table, kind, how, memory)
    if memory is not None:
        raise InputError("--memory with votes", "scores", "Leave it out.", table.name)
    refuse_unused(how, "votes", OF_SCORES, table.name)
    return votes_of(table, kind)


def votes_of(table: Table, kind: VoteKind) -> Votes:
    """The votes of a table whose columns are found."""
    frame, source = (table if kind.item is None else table.with_items(kind.item)).whole
    n_rows = frame.height
    if not n_rows:
        raise InputError("no rows", "at least one vote", "Check the file.", source.name)
    columns = [frames.text(frames.written(frame, name, source, "model")) for name in (kind.left, kind.right)]
    sides, names = frames.coded(frames.by_value(polars.concat([column.alias("model") for column in columns])))
    models = sort_names(names)
    if len(models) < 2:
        raise InputError(f"one model only ({shortlist(models)})", "two at least", "Add votes.", source.name)
    sides = positions(models, names)[sides]  # the left one of every row, then the right one
    opposite = np.roll(sides, n_rows)
    if (sides == opposite).any():
        row = int((sides == opposite).argmax())
        problem = f"a vote on {quote(models[sides[row]])} against itself"
        raise InputError(problem, "two different models", "Leave the row out.", source.at(row, kind.right))
    pairs = [(models[first], models[second]) for first, second in zip(sides, opposite, strict=True)][:n_rows]
    notes = source.notes
    outcome = np.full(n_rows, LEFT)  # of chosen and rejected ones
    if kind.winner is not None:
        outcome, both_bad = _outcomes(frame, kind.winner, pairs, source)
        if both_bad:
            notes += (f"{check.count(both_bad, 'vote')} that both are bad count as ties",)
    if kind.flags:
        outcome = _flagged(frame, kind.flags, source)
    if kind.swapped is not None:  # a second game of each row, with the sides exchanged
        again, _ = _outcomes(frame, kind.swapped, pairs, source)
        outcome = np.concatenate([outcome, np.where(again >= FAILED, again, -again)])
    for code, what, why in ((FAILED, "judgement", "marked as an error"), (BLANK, "vote", "without a winner")):
        n_out = int((outcome == code).sum())
        if n_out:
            notes += (f"{check.count(n_out, what)} {why} left out",)
    votes = np.flatnonzero(outcome < FAILED)
    if not len(votes):
        raise InputError("no vote with a winner", "at least one vote", "Check it.", source.name)
    rows = votes % n_rows
    lists = polars.col(polars.List(polars.String))  # a judge and its prompt, as MT-bench has them
    chosen = frame[rows].with_columns(lists.list.join(" "))
    coded = {"item": frames.coded(polars.Series(rows))}
    for role, column in (("item", kind.item), ("annotator", kind.annotator), ("group", kind.group)):
        if column is not None:
            coded[role] = frames.encode(chosen, column, source.of_rows(rows.tolist()), role)
    item, items, order = _in_order(*coded["item"])
    annotator, annotators, _ = _in_order(*coded["annotator"]) if "annotator" in coded else (None, (), None)
    covariates = {}
    for name in kind.covariates:
        values = frame_numbers.numbers(frame, name, source, "covariate")
        infinite = ~np.isfinite(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise InputError(f"{values[row]}", "a finite number", "Check that cell.", source.at(row, name))
        covariates[name] = np.concatenate([values, -values])[votes]
    found = [kind.item, kind.left, kind.right, kind.winner, *kind.flags, kind.swapped, kind.annotator, kind.group]
    found += kind.covariates
    notes += (f"read as votes, from the columns {', '.join(name for name in found if name is not None)}",)
    return Votes(
        item,
        sides[votes],
        opposite[votes],
        outcome[votes],
        models,
        items,
        annotator,
        annotators,
        kind.item is not None,
        kind.winner is not None or bool(kind.flags),
        notes,
        covariates,
        partition_of("group", coded, order, source.of_rows(rows.tolist()), {"group": str(kind.group)}),
    )


def _in_order(codes: RowInts, names: Strings) -> tuple[RowInts, Texts, Int[np.ndarray, " name"]]:
    """The codes and the names in the order of the names, and where these stood before."""
    ordered = sort_names(names)
    place = positions(ordered, names)
    return place[codes], ordered, np.argsort(place)


def _flagged(frame: polars.DataFrame, columns: Strings, source: Source) -> RowInts:
    """Who won each vote, by a column of 0 and 1 for the left one, the right one and a tie."""
    flags = np.stack([frame_numbers.numbers(frame, name, source, "winner") for name in columns])
    fits = ((flags == 0) | (flags == 1)).all(0) & (flags.sum(0) == 1)
    if not fits.all():
        row = int(fits.argmin())
        cells = shortlist([f"{cell:g}" for cell in flags[:, row]])
        raise InputError(
            f"{cells} in {shortlist(columns)}", "1 in one of them, 0 in the others", "Check the row.", source.at(row)
        )
    return np.array([LEFT, RIGHT, TIE])[flags.argmax(0)]


def _outcomes(
    frame: polars.DataFrame, column: str, pairs: Sequence[tuple[str, str]], source: Source
) -> tuple[RowInts, int]:
    """Who won each vote, and of how many it was said that both are bad."""
    cells = frames.text(frames.flat(frame, column, source, "winner")).fill_null("").str.strip_chars()
    models = {model for pair in pairs for model in pair}
    numbers = cells.str.strip_suffix(".0")  # a blank makes pandas' integers floats
    zeros = numbers == "0"
    distinct = {*numbers}
    if zeros.any() and not distinct & models and (column.lower() != PREFERENCE or distinct == {"0", "1"}):
        raise InputError(
            "the winner 0",
            "1, 2, and 1.5 for ties",
            "Write model_a, model_b or tie: 0 may be the other model, the first of three codes, or a tie.",
            source.at(zeros.arg_max(), column),
        )
    outcome = np.zeros(len(cells), np.int64)
    for row, (said, number, (first, second)) in enumerate(zip(cells, numbers, pairs, strict=True)):
        model = number if number in models else said
        answers = {first: LEFT, second: RIGHT} if model in models else ANSWERS
        found = answers.get(model if model in models else said.lower())
        if found is None:
            what = f"the winner {quote(said)} of a vote on {quote(first)} and {quote(second)}"
            raise InputError(what, "one of the two models, or tie", "Check the row.", source.at(row, column))
        outcome[row] = found
    return outcome, int(cells.str.to_lowercase().is_in(BOTH_BAD).sum())
