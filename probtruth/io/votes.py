"""Votes on pairs of models from a table: exports of arenas, of pair judgements and of reward models."""

from dataclasses import replace
from itertools import chain

import numpy as np
import polars

from probtruth import check, frame_numbers, frames
from probtruth.check import MaybeText, Source, Strings, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.formats import Texts
from probtruth.io.table import Table, opened
from probtruth.io.vote_columns import Votes as VoteKind
from probtruth.io.vote_columns import votes_in
from probtruth.kernels.shapes import RowInts
from probtruth.types import Votes
from probtruth.types.arguments import Frame, StrPath
from probtruth.types.index import in_order, positions
from probtruth.types.score_rows import partition_of

LEFT, RIGHT, TIE = 1, -1, 0
# A vote that both are bad, which is a tie; a judgement that a tool marks as an error, and none, which are left out
BAD, FAILED, BLANK = 2, 3, 4
UNKNOWN = 5
PREFERENCE = "preference"  # The column in which AlpacaEval writes 0 for a tie
# What the winner's cells may say, in lower case and without brackets and spaces; numbers are AlpacaEval's
ANSWERS = {
    LEFT: ["model_a", "modela", "a", "left", "model_1", "first", "win", "a>b", "1", "1/0/0", "true/false/false"],
    RIGHT: [
        "model_b",
        "modelb",
        "b",
        "right",
        "model_2",
        "second",
        "loss",
        "lose",
        "b>a",
        "2",
        "0/1/0",
        "false/true/false",
    ],
    TIE: ["tie", "draw", "both", "equal", "same", "neither", "c", "a=b", "1.5", "0", "0/0/1", "false/false/true"],
    BAD: ["bothbad", "both_bad", "tiebothbad"],
    FAILED: ["error"],
    BLANK: [""],
}
NOTES = {
    BAD: ("vote", "that both are bad count as ties"),
    FAILED: ("judgement", "marked as an error left out"),
    BLANK: ("vote", "without a winner left out"),
}


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
    for column in named.values():
        if column is not None:
            check.parts_of(column)  # which is text
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


def votes_of(table: Table, kind: VoteKind) -> Votes:
    """The votes of a table whose columns are found."""
    frame, source = (table if kind.item is None else table.with_items(kind.item)).whole
    n_rows = frame.height
    if not n_rows:
        raise InputError("no rows", "at least one vote", "Check the file.", source.name)
    columns = [frames.text(frames.written(frame, name, source, "model")) for name in (kind.left, kind.right)]
    names = frames.by_value(polars.concat(columns))
    sides, models = in_order(*frames.coded(names))  # the left one of every row, then the right one
    if len(models) < 2:
        raise InputError(f"one model only ({shortlist(models)})", "two at least", "Add votes.", source.name)
    opposite = np.roll(sides, n_rows)
    if (sides == opposite).any():
        row = int((sides == opposite).argmax())
        problem = f"a vote on {quote(models[sides[row]])} against itself"
        raise InputError(problem, "two different models", "Leave the row out.", source.at(row, kind.right))
    games = [_outcomes(frame, columns, (sides, opposite), models, source) for columns in kind.games]
    outcome = np.concatenate(games or [np.full(n_rows, LEFT)])
    notes = source.notes
    for code, (what, said) in NOTES.items():
        n_such = int((outcome == code).sum())
        if n_such:
            notes += (f"{check.count(n_such, what)} {said}",)
    outcome[outcome == BAD] = TIE
    votes = np.flatnonzero(outcome < BAD)
    if not len(votes):
        raise InputError("no vote with a winner", "at least one vote", "Check it.", source.name)
    turned = np.where(votes < n_rows, 1, -1)  # in a second game
    rows = votes % n_rows
    source_of_votes = source.of_rows(rows.tolist())
    lists = polars.col(polars.List(polars.String))  # a judge and its prompt, as MT-bench has them
    chosen = frame[rows].with_columns(lists.list.join(" "))
    coded = {"item": frames.coded(polars.Series(rows))}
    for role, column in (("item", kind.item), ("annotator", kind.annotator), ("group", kind.group)):
        if column is not None:
            coded[role] = frames.encode(chosen, column, source_of_votes, role)
    item, items = in_order(*coded["item"])
    annotator, annotators = in_order(*coded["annotator"]) if "annotator" in coded else (None, ())
    covariates = {}
    for name in kind.covariates:
        values = frame_numbers.numbers(frame, name, source, "covariate")
        infinite = ~np.isfinite(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise InputError(f"{values[row]}", "a finite number", "Check that cell.", source.at(row, name))
        covariates[name] = turned * values[rows]
    notes += (*frames.lookalikes(models, "model"), *frames.lookalikes(annotators, "annotator"))
    found = [kind.item, kind.left, kind.right, *chain(*kind.games), kind.annotator, kind.group, *kind.covariates]
    notes += (f"read as votes, from the columns {', '.join(name for name in found if name is not None)}",)
    return Votes(
        item=item,
        left=sides[votes],
        right=opposite[votes],
        outcome=turned * outcome[votes],
        models=models,
        items=items,
        annotator=annotator,
        annotators=annotators,
        prompts_named=kind.item is not None,
        placed=bool(kind.games),
        notes=notes,
        covariates=covariates,
        groups=partition_of(
            "group", coded, positions(coded["item"][1], items), source_of_votes, {"group": str(kind.group)}
        ),
    )


def _outcomes(
    frame: polars.DataFrame, columns: Texts, sides: tuple[RowInts, RowInts], models: Texts, source: Source
) -> RowInts:
    """Who won each vote by what the cells say, the name of a model or another answer."""
    first, second = (side[: frame.height] for side in sides)
    cells = [
        frames.text(frames.flat(frame, name, source, "winner")).fill_null("").str.strip_chars() for name in columns
    ]
    said = polars.select(polars.concat_str(cells, separator="/")).to_series()
    number = said.str.replace_all("[.]0(/|$)", "$1")  # a blank makes pandas' integers floats
    names = polars.Series(models)
    winner = frames.positions(said, names)
    winner = np.where(winner < 0, frames.positions(number, names), winner)
    distinct = {*number}
    if "0" in distinct and (winner < 0).all() and (columns[0].lower() != PREFERENCE or distinct == {"0", "1"}):
        raise InputError(
            "the winner 0",
            "1, 2, and 1.5 for ties",
            "Write model_a, model_b or tie: 0 may be the other model, the first of three codes, or a tie.",
            source.at((number == "0").arg_max(), columns[0]),
        )
    code_of = {word: code for code, words in ANSWERS.items() for word in words}
    answer = number.str.to_lowercase().str.replace_all(r"[\[\]() ]", "").str.replace_all(">>", ">", literal=True)
    codes = answer.replace_strict(code_of, default=UNKNOWN, return_dtype=polars.Int64).to_numpy()
    outcome = np.select([winner == first, winner == second, winner < 0], [LEFT, RIGHT, codes], UNKNOWN)
    by_side = (winner >= 0) & (codes != UNKNOWN) & (outcome != codes)
    if len(models) == 2 and by_side.any():  # of three models, names that are sides would not always fit the pair
        row = int(by_side.argmax())
        raise InputError(
            f"the winner {quote(said[row])}, which may be the model or the side",
            "names of models that are no sides",
            "Call the two models something else, in all columns that name them.",
            source.at(row, columns[0]),
        )
    if (outcome == UNKNOWN).any():
        row = int((outcome == UNKNOWN).argmax())
        pair = [quote(models[side[row]]) for side in (first, second)]
        what = f"the winner {quote(said[row])} of a vote on {' and '.join(pair)}"
        raise InputError(what, "one of the two models, or tie", "Check the row.", source.at(row, columns[0]))
    return outcome
