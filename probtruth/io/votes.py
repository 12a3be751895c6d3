"""Votes on pairs of models from a table: exports of arenas, of pair judgements and of reward models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
from jaxtyping import Int

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import ScoreReading, listed
from probtruth.io.kinds import log_of, score_kind
from probtruth.io.loaders.readers import OF_SCORES, read_scores_of, refuse_unused
from probtruth.io.scores import is_of_models, of_runs, opened_scores, scores_of
from probtruth.io.table import Table, opened
from probtruth.io.vote_columns import Votes as VoteKind
from probtruth.io.vote_columns import votes_in
from probtruth.types import Scores, Votes
from probtruth.types.arguments import Files, Frame, StrPath
from probtruth.types.index import Coded, positions, sort_names
from probtruth.types.score_rows import partition_of

LEFT, RIGHT, TIE = 1, -1, 0
FAILED, BLANK = 2, 3  # A judgement that a tool marks as an error, and none: both are left out
PREFERENCE = "preference"  # The column in which AlpacaEval writes 0 for a tie
BOTH_BAD = ("tie (bothbad)", "tie(bothbad)", "bothbad", "both_bad", "both bad", "tie (both bad)")
# What the winner's cell may say, in lower case
ANSWERS = {
    **dict.fromkeys(("model_a", "a", "left", "model_1", "first", "win", "[[a]]"), LEFT),
    **dict.fromkeys(("model_b", "b", "right", "model_2", "second", "loss", "lose", "[[b]]"), RIGHT),
    **dict.fromkeys(("tie", "draw", "both", "equal", "same", "neither", "[[c]]", *BOTH_BAD), TIE),
    **{"1": LEFT, "1.0": LEFT, "2": RIGHT, "2.0": RIGHT, "1.5": TIE, "0": TIE, "0.0": TIE},  # as AlpacaEval writes
    "error": FAILED,
    "": BLANK,
}


def read_votes(
    table: StrPath | Frame,
    *,
    item: str | None = None,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    annotator: str | None = None,
    group: str | None = None,
    covariates: Sequence[str] = (),
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
            f"no votes (columns: {check.shortlist(source_table.columns)})",
            "columns of two models and of the winner (model_a, model_b, winner), or of the chosen and the rejected one",
            "Name them: left=..., right=..., winner=....",
            source_table.name,
        )
    chosen = []
    for name in check.listed(covariates, "covariates"):
        chosen.append(check.one_of(name, source_table.columns, "column of a covariate"))
    return votes_of(source_table, replace(kind, covariates=tuple(chosen)))


@fetched_once()
def read_scores_or_votes(table: StrPath | Frame | Mapping[str, StrPath | Frame]) -> Scores | Votes:
    """Votes where a table has their columns, else scores: of a table, of {model: file}, or of a harness's logs."""
    if is_of_models(table) or isinstance(table, str | Path):
        return scores_in_files(table)  # type: ignore[arg-type]
    return _in_table(opened_scores(table), ScoreReading(), None)


@fetched_once()
def scores_in_files(files: Files, how: ScoreReading = ScoreReading(), memory: float | None = None) -> Scores | Votes:
    """Scores or votes in a file, in a file for each model, or in the logs of a harness."""
    every: list[Any] = [*files.values()] if isinstance(files, Mapping) else [files]
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
        hint = "Name the model of each, once: MODEL=FILE MODEL=FILE."
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
    frame, source = (table if kind.item is None else table.with_items(kind.item)).whole
    sides = [frames.text(frames.written(frame, name, source, "model")) for name in (kind.left, kind.right)]
    both = frames.by_value(polars.concat([side.alias("model") for side in sides])).to_list()
    first = both[: frame.height]
    second = both[frame.height :]
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
    n = len(first)
    coded: dict[str, Coded] = {
        "item": (np.arange(n), [*map(str, range(n))]),
        "annotator": (np.zeros(n, np.int64), [""]),
    }
    for role, column in (("item", kind.item), ("annotator", kind.annotator), ("group", kind.group)):
        if column is not None:
            if isinstance(frame.schema[column], polars.List):  # a judge and its prompt, as MT-bench has them
                frame = frame.with_columns(polars.col(column).list.join(" "))
            coded[role] = frames.encode(frame, column, source, role)
    given = []
    for name in kind.covariates:
        values = frame_numbers.numbers(frame, name, source, "covariate")
        infinite = ~np.isfinite(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise InputError(f"{values[row]}", "a finite number", "Check that cell.", source.at(row, name))
        given.append(values)
    rows = np.stack([coded["item"][0], left, right, outcome, coded["annotator"][0], *given])
    if kind.swapped is not None:  # a second game of each row, with the sides exchanged
        again, _ = _outcomes(frame, kind.swapped, first, second, source)
        swapped = rows[[0, 2, 1, *range(3, len(rows))]]
        swapped[3] = np.where(again >= FAILED, again, -again)
        swapped[5:] *= -1
        rows = np.concatenate([rows, swapped], axis=1)
    for code, what in ((FAILED, "judgement marked as an error"), (BLANK, "vote without a winner")):
        left_out = rows[3] == code
        if left_out.any():
            noun, _, how = what.partition(" ")
            notes += (f"{check.count(int(left_out.sum()), noun)} {how} left out",)
    rows = rows[:, rows[3] < FAILED]
    if not rows.size:
        raise InputError("no vote with a winner", "at least one vote", "Check it.", source.name)
    item, left, right, outcome, annotator = rows[:5].astype(np.int64)
    item, items, stays = _in_order(item, coded["item"][1])
    annotator, annotators, _ = _in_order(annotator, coded["annotator"][1])
    found = (kind.item, kind.left, kind.right, kind.winner, kind.swapped, kind.annotator, kind.group, *kind.covariates)
    notes += (f"read as votes, from the columns {', '.join(name for name in found if name is not None)}",)
    return Votes(
        item,
        left,
        right,
        outcome,
        models,
        items,
        None if kind.annotator is None else annotator,
        () if kind.annotator is None else annotators,
        kind.item is not None,
        kind.winner is not None,
        notes,
        dict(zip(kind.covariates, rows[5:], strict=True)),
        partition_of("group", coded, stays, source, {"group": str(kind.group)}),
    )


def _in_order(codes: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """The codes and names of those that still have a vote, in the order of the names, and their places before."""
    used, codes = np.unique(codes, return_inverse=True)
    found = [names[at] for at in used.tolist()]
    ordered = sort_names(found)
    place = positions(ordered, found)
    return place[codes], ordered, used[np.argsort(place)]


def _outcomes(
    frame: polars.DataFrame, column: str, left: Sequence[str], right: Sequence[str], source: Source
) -> tuple[Int[np.ndarray, " vote"], int]:
    """Who won each vote, and of how many it was said that both are bad."""
    cells = frames.text(frames.flat(frame, column, source, "winner")).fill_null("").str.strip_chars().to_list()
    models = {*left, *right}
    numbers = {cell.removesuffix(".0") for cell in cells}
    if "0" in numbers and not numbers & models and (column.lower() != PREFERENCE or numbers == {"0", "1"}):
        row = next(row for row, cell in enumerate(cells) if cell.removesuffix(".0") == "0")
        hint = "Write model_a, model_b or tie: 0 may be the other model, the first of three codes, or a tie."
        raise InputError("the winner 0", "1, 2, and 1.5 for ties", hint, source.at(row, column))
    outcome = np.zeros(len(cells), np.int64)
    for row, (said, first, second) in enumerate(zip(cells, left, right, strict=True)):
        if said.removesuffix(".0") in models:  # a blank makes pandas' integers floats
            said = said.removesuffix(".0")
        answers = {first: LEFT, second: RIGHT} if said in models else ANSWERS
        found = answers.get(said if said in models else said.lower())
        if found is None:
            what = f"the winner {check.quote(said)} of a vote on {check.quote(first)} and {check.quote(second)}"
            raise InputError(what, "one of the two models, or tie", "Check the row.", source.at(row, column))
        outcome[row] = found
    both_bad = sum(said.lower() in BOTH_BAD for said in cells)
    return outcome, both_bad
