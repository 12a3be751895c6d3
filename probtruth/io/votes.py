"""Votes on pairs of models from a table: exports of arenas, of pair judgements and of reward models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
from jaxtyping import Int

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import ScoreReading, listed
from probtruth.io.kinds import log_of, score_kind
from probtruth.io.loaders.readers import OF_SCORES, read_scores_of, refuse_unused
from probtruth.io.scores import is_of_models, of_runs, opened_scores, scores_of
from probtruth.io.table import Table, opened
from probtruth.io.vote_columns import Votes as VoteKind
from probtruth.io.vote_columns import vote_columns
from probtruth.types import Scores, Votes
from probtruth.types.arguments import Files, Frame, StrPath
from probtruth.types.index import positions, sort_names

LEFT, RIGHT, TIE = 1, -1, 0
FAILED = 2  # A judgement that a tool marks as an error, which is left out
# What the winner's cell may say, in lower case and without what stands between words.
ANSWERS = {
    **dict.fromkeys(("model_a", "a", "left", "model_1", "first", "win", "[[a]]"), LEFT),
    **dict.fromkeys(("model_b", "b", "right", "model_2", "second", "loss", "lose", "[[b]]"), RIGHT),
    **dict.fromkeys(("tie", "draw", "both", "equal", "same", "neither", "[[c]]"), TIE),
    "error": FAILED,
}
BOTH_BAD = ("tie (bothbad)", "tie(bothbad)", "bothbad", "both_bad", "both bad", "tie (both bad)")
NUMBERS = {"1": LEFT, "1.0": LEFT, "2": RIGHT, "2.0": RIGHT, "1.5": TIE, "0": TIE, "0.0": TIE}  # as AlpacaEval writes


def read_votes(
    table: StrPath | Frame,
    *,
    item: str | None = None,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    annotator: str | None = None,
) -> Votes:
    """Votes on pairs of models from a table with one row for each vote.

    Columns are found by their names unless you name them: the two models (`model_a` and `model_b`, `left` and `right`,
    `generator_1` and `generator_2`), or the preferred and the other one (`chosen` and `rejected`); the `winner` or
    `preference`; the prompt (`item`, `prompt`, `question_id`, ...); the `annotator` (`judge`, `worker`, `user`, ...). A
    winner is "model_a", "a", "left" or the model's name, "tie", or 1, 2 and 1.5 for a tie; where both are bad, that
    counts as a tie and is said; one marked as an error is left out and counted. `g1_winner` and `g2_winner` (MT-bench)
    are two votes with sides exchanged. Votes that one annotator gave on the same answers again count together.

    Arguments:
        table: a file, an address or a dataframe.
        item: the column of prompts.
        left: the column of the model whose answer is the first.
        right: the column of the other model.
        winner: the column that says which is preferred.
        annotator: the column of annotators.

    Errors: `InputError` names the row of a model against itself, of a blank, and of a winner that is none of these.

    >>> import probtruth as pt
    >>> pt.read_votes({"prompt": [1, 2], "model_a": ["x", "x"], "model_b": ["y", "z"], "winner": ["a", "tie"]})
    Votes: 2 votes on 3 models, 2 prompts, 50% ties
    """
    source_table = opened(table)
    named = {"item": item, "left": left, "right": right, "winner": winner, "annotator": annotator}
    kind = vote_columns(source_table.columns, named)
    if kind is None:
        raise InputError(
            f"no votes (columns: {check.shortlist(source_table.columns)})",
            "columns of two models and of the winner (model_a, model_b, winner), or of the chosen and the rejected one",
            "Name them: left=..., right=..., winner=....",
            source_table.name,
        )
    return votes_of(source_table, kind)


@fetched_once()
def read_scores_or_votes(table: StrPath | Frame | Mapping[str, StrPath]) -> Scores | Votes:
    """Votes where a table has their columns, else scores: of a table, of {model: file}, or of a harness's logs."""
    if is_of_models(table) or isinstance(table, str | Path):
        return scores_in_files(table)  # type: ignore[arg-type]
    return _in_table(opened_scores(table), ScoreReading(), None)


@fetched_once()
def scores_in_files(files: Files, how: ScoreReading = ScoreReading(), memory: float | None = None) -> Scores | Votes:
    """Scores or votes in a file, in a file for each model, or in the logs of a harness."""
    every: list[Any] = [*files.values()] if isinstance(files, Mapping) else [files]
    paths = [path for one in every for path in ([one] if isinstance(one, str | Path) else one)]
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
        refuse_unused(how, "table", OF_SCORES, tables[0].name)
        return of_runs(dict(zip(files, tables, strict=True)), how)
    if len(tables) > 1:
        hint = "Name the model of each: MODEL=FILE MODEL=FILE."
        raise InputError(f"{len(tables)} tables", "one table of scores, or a file for each model", hint)
    return _in_table(tables[0], how, memory)


def _in_table(table: Table, how: ScoreReading, memory: float | None) -> Scores | Votes:
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
    frame, source = table.whole
    first = frames.names(frame, kind.left, source, "left").to_list()
    second = frames.names(frame, kind.right, source, "right").to_list()
    if not first:
        raise InputError("no rows", "at least one vote", "Check the file.", source.name)
    models = sort_names({*first, *second})
    if len(models) < 2:
        raise InputError(f"one model only ({check.shortlist(models)})", "two at least", "Add votes.", source.name)
    left = positions(models, first)
    right = positions(models, second)
    same = left == right
    if same.any():
        row = int(same.argmax())
        problem = f"a vote on {check.quote(first[row])} against itself"
        raise InputError(problem, "two different models", "Leave the row out.", source.at(row, kind.right))
    notes = source.notes
    outcome = np.full(len(first), LEFT)  # of chosen and rejected ones
    if kind.winner is not None:
        outcome, both_bad = _outcomes(frame, kind.winner, first, second, source)
        if both_bad:
            notes += (f"{check.count(both_bad, 'vote')} that both are bad count as ties",)
    item, items = np.arange(len(first)), tuple(map(str, range(len(first))))
    if kind.item is not None:
        item, items = _codes(frame, kind.item, source, "item")
    annotator = None
    annotators: tuple[str, ...] = ()
    if kind.annotator is not None:
        if isinstance(frame.schema[kind.annotator], polars.List):  # a judge and its prompt, as MT-bench has them
            frame = frame.with_columns(polars.col(kind.annotator).list.join(" "))
        annotator, annotators = _codes(frame, kind.annotator, source, "annotator")
    if kind.swapped is not None:  # a second game of each row, with the sides exchanged
        again, _ = _outcomes(frame, kind.swapped, first, second, source)
        outcome = np.concatenate([outcome, np.where(again == FAILED, FAILED, -again)])
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
        item = np.tile(item, 2)
        annotator = None if annotator is None else np.tile(annotator, 2)
    failed = outcome == FAILED
    if failed.any():
        notes += (f"{check.count(int(failed.sum()), 'judgement')} marked as an error left out",)
        if failed.all():
            raise InputError("no vote that is not marked as an error", "at least one vote", "Check it.", source.name)
        left, right, outcome = left[~failed], right[~failed], outcome[~failed]
        item, items = _still_there(item[~failed], items)
        if annotator is not None:
            annotator, annotators = _still_there(annotator[~failed], annotators)
    found = [
        name
        for name in (kind.item, kind.left, kind.right, kind.winner, kind.swapped, kind.annotator)
        if name is not None
    ]
    notes += (f"read as votes, from the columns {', '.join(found)}",)
    named = kind.item is not None
    placed = kind.winner is not None
    return Votes(item, left, right, outcome, models, items, annotator, annotators, named, placed, notes)


def _codes(frame: polars.DataFrame, column: str, source: Source, what: str) -> tuple[np.ndarray, tuple[str, ...]]:
    codes, distinct = frames.encode(frame, column, source, what)
    ordered = sort_names(distinct)
    return positions(ordered, distinct)[codes], ordered


def _still_there(codes: np.ndarray, names: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The codes and names of those that still have a vote."""
    used, codes = np.unique(codes, return_inverse=True)
    return codes, tuple([names[at] for at in used.tolist()])


def _outcomes(
    frame: polars.DataFrame, column: str, left: Sequence[str], right: Sequence[str], source: Source
) -> tuple[Int[np.ndarray, " vote"], int]:
    """Who won each vote, and of how many it was said that both are bad."""
    cells = frames.text(frames.flat(frame, column, source, "winner")).to_list()
    outcome = np.empty(len(cells), np.int64)
    both_bad = 0
    models = {*left, *right}
    two_codes = {"0", "1"} == {(cell or "").strip().removesuffix(".0") for cell in cells}
    if two_codes and not {"0", "1"} & models:
        hint = "Write model_a, model_b or tie: 0 may be the other model, or a tie."
        raise InputError("the winners 0 and 1 alone", "1, 2 and 1.5 (or 0) for ties", hint, source.at(0, column))
    for row, (cell, first, second) in enumerate(zip(cells, left, right, strict=True)):
        said = "" if cell is None else cell.strip()
        lower = said.lower()
        if said == first:
            outcome[row] = LEFT
        elif said == second:
            outcome[row] = RIGHT
        elif said in models:
            what = f"the winner {check.quote(said)} of a vote on {check.quote(first)} and {check.quote(second)}"
            raise InputError(what, "one of the two models, or tie", "Check the row.", source.at(row, column))
        elif lower in BOTH_BAD:
            outcome[row] = TIE
            both_bad += 1
        elif lower in ANSWERS:
            outcome[row] = ANSWERS[lower]
        elif lower in NUMBERS:
            outcome[row] = NUMBERS[lower]
        else:
            what = f"the winner {check.quote(said)}" if said else "a blank"
            wanted = f"{check.quote(first)}, {check.quote(second)}, model_a, model_b or tie"
            raise InputError(what, wanted, "Leave out votes without an outcome.", source.at(row, column))
    return outcome, both_bad
