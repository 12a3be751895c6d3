"""Scores as a file: one row for each item and model, in their own orientation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars
from polars import DataFrame, Series, String

from probtruth import check, frames
from probtruth.check import MaybeNumber, MaybeStrings, Strings, need_columns, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.frame_numbers import is_array_with_names, is_frame
from probtruth.frames import name_text
from probtruth.io.addresses import fetched_once, is_path
from probtruth.io.formats import MaybeText, ScoreReading, Texts, listed
from probtruth.io.kinds import Board, LongScores, ScoreKind, score_kind, tool_in, votes_on_pairs
from probtruth.io.loaders.readers import OF_SCORES, read_scores_of, refuse_unused
from probtruth.io.table import OWN, Part, Table, opened, placed
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.wide import NAME, VALUE, check_wide
from probtruth.io.truth import answers_of, arrays_of_answers
from probtruth.io.vote_columns import Votes as VoteColumns
from probtruth.io.votes import votes_of
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import lies_on_disk
from probtruth.kernels.shapes import RowInts
from probtruth.types import Index, LabelsBehind, RuleFacts, Scores, Votes, orientation
from probtruth.types.arguments import ESTIMANDS, Files, Frame, StrPath
from probtruth.types.index import positions

NO_LABELS = (
    "the file lacks the labels behind its scores, so that what annotators share, and what is unsure about labels, is "
    "left out: evaluate the annotations themselves (command line: probtruth run), which counts it"
)
CODES = (-1, -9, -99, -999, -9999, 99, 999, 9999)  # Scores that often say that there is none
# What is read of each fact about a rule that notes hold, where infinities are text.
READ_FACTS: dict[str, Callable[[Any], Any]] = {
    "floor": float,
    "entropy": float,
    "baseline": float,
    "proper": bool,
    "range": lambda ends: tuple(map(float, ends)),
    "label_order": lambda names: tuple(map(str, names)),
}
SAME = 1e-4  # Relative; scores of float32 arrays differ so much from what their losses in float64 give


def write_scores(scores: Scores, path: StrPath) -> None:
    """Writes scores as Parquet, with the labels behind them unless they are larger than memory."""
    cautions = [*scores.cautions]
    if scores.by_proper_rule is not None:
        cautions.append(f"compare by {scores.by_proper_rule.rule!r}, the proper rule of its kind, too")
    notes = {
        "content": "scores",
        "rule": scores.rule,
        "higher_is_better": scores.higher_is_better,
        **asdict(scores.known),
        "cautions": cautions,
    }
    arrays: dict[str, Any] = {}
    behind = scores.labels
    if behind is not None and lies_on_disk(behind.log_probs):
        cautions.append(NO_LABELS)
    elif behind is not None:
        arrays = {"losses": to_host(behind.losses), "log_probs": to_host(behind.log_probs)}
        arrays |= {"truth": to_host(behind.truth), "influence": scores.influence, "n_votes": behind.n_votes}
        notes["estimand"] = behind.estimand
        notes["by_votes"] = behind.shares is not None and behind.estimand == "distribution"
        notes["models"] = list(scores.models)
        annotations = behind.named_annotations
        if annotations is not None:
            arrays |= arrays_of_answers(annotations, scores.items)
            notes["labels"] = list(annotations.index.labels)
            notes["annotators"] = list(annotations.index.annotators)
    parquet_notes.write(as_table(scores), path, notes, arrays)


def _beside_labels(arrays: Mapping[str, Any], scores: Scores, notes: Mapping[str, Any]) -> Scores | None:
    """The scores with the labels behind them; None where another program took rows out."""
    models = positions(notes["models"], scores.models)
    losses = arrays["losses"][models]
    truth = arrays["truth"]
    if losses.shape[:2] != scores.values.shape:
        return None
    expected = np.where(truth > 0, truth * losses, 0.0).sum(2)
    if (np.isnan(scores.values) & ~np.isnan(expected)).any():
        return None
    if not np.allclose(expected, scores.values, SAME, SAME, equal_nan=True):
        raise ValueError("scores other than those of its labels")
    annotations = None
    if "annotators" in notes:
        index = Index(scores.items, tuple(notes["labels"]), tuple(notes["annotators"]))
        annotations = answers_of(arrays, index)
    behind = LabelsBehind(
        label_losses=losses,
        truth=truth,
        estimand=one_of(notes["estimand"], ESTIMANDS, "estimand"),
        shares=truth if notes["by_votes"] else None,
        n_votes=arrays["n_votes"].astype(np.int64) if "n_votes" in arrays else None,
        log_probs=arrays["log_probs"][models],
        annotations=annotations,
    )
    return replace(scores, labels=behind, influence=arrays["influence"][models] if "influence" in arrays else None)


def as_table(scores: Scores) -> DataFrame:
    """`item`, `model` and `score`, and `group`, `cluster` and `annotator` where there are any."""
    values = scores.values
    item = np.arange(len(scores.items))
    repeated = scores.replicates
    if repeated is not None and repeated.what != "annotator":
        repeated = None
    if repeated is not None:
        values = repeated.values
        item = repeated.item
    n_models = len(values)
    columns = {
        "item": _names(scores.items, item, n_models),
        "model": _names(scores.models, np.repeat(np.arange(n_models), len(item))),
        "score": Series(values.ravel()),
    }
    for what, partition in (("group", scores.groups), ("cluster", scores.clusters)):
        if partition is not None:
            columns[what] = _names(partition.names, partition.codes[item], n_models)
    if repeated is not None:
        columns["annotator"] = _names(repeated.names, repeated.replicate, n_models)
    return DataFrame(columns).filter(~np.isnan(values).ravel())


def _names(names: Strings, codes: RowInts, times: int = 1) -> Series:
    """The names at these places, as a column, so many times one after the other."""
    return Series(list(names), dtype=String)[np.tile(codes, times)]


@fetched_once()
def read_scores(
    table: StrPath | Frame | Table | Mapping[str, StrPath | Frame],
    *,
    item: MaybeText = None,
    model: MaybeText = None,
    score: MaybeText = None,
    models: MaybeStrings = None,
    group: MaybeText = None,
    cluster: MaybeText = None,
    replicate: MaybeText = None,
    annotator: MaybeText = None,
    transpose: bool = False,
    missing: Sequence[object] = (),
    higher_is_better: bool | None = None,
    memory: MaybeNumber = None,
) -> Scores:
    r"""Scores from a table: any per-item metric.

    Arguments:
        table: a file (CSV, TSV, JSONL, Parquet, Arrow), a folder of Parquet or Arrow files, an address, or a dataframe.
            It has one row for each item and model, in the columns `item`, `model` and `score`. Or one row for each item
            and one column for each of `models` (an empty list: all columns but the named ones), where a blank cell says
            that the model lacks the item, and `score` is the name of the metric. Or one row for each model (a
            leaderboard), told by a column called model, system or run, or said by `transpose`. Or `table` is {model:
            file}, or {model: table}, one for each model, or the log of a harness. A blank score, and one of `missing`
            ("NA", -1), is no score: the model lacks the item.
        item: the column of items.
        model: the column of models.
        score: the column of scores.
        models: the columns of a table with one for each model.
        annotator: the column of annotators, where each score is against one annotator's own label; the answer is then
            about new items and new annotators.
        group, cluster, replicate: name columns. Those of a file that probtruth wrote are used unless others are named.
        transpose: reads a table with a row for each model and a column for each item.
        missing: scores that are none ("NA", -1).
        higher_is_better: says which way the score counts. By default a file that probtruth wrote says it, else the
            score's name, if it is that of a known metric (accuracy, loss, ...). Scores of files that take more than
            `memory` (bytes, half of what is free unless you say) lie in a temporary file instead of memory, but for
            replicates and a column for each model.
        memory: bytes from which on scores lie in a temporary file instead of in memory.

    Errors: `InputError` names file, line and column of what cannot be used, an orientation other than the file's, or a
    score of which nothing says which way it counts.

    >>> import probtruth as pt
    >>> losses = {"item": ["a", "b"], "ours": [1.0, 0.0], "theirs": [0.5, 0.5]}
    >>> pt.read_scores(losses, models=["ours", "theirs"], score="loss").values.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    for column in (item, model, score, group, cluster, replicate, annotator):
        if column is not None:
            check.parts_of(column)  # which is text
    none = tuple(map(name_text, check.listed(missing, "missing")))
    way: dict[str, Any] = {"higher_is_better": higher_is_better, "transpose": transpose, "missing": none}
    how = ScoreReading(item, model, score, group, cluster, replicate, annotator=annotator, **way)
    if models is not None:
        models = [name_text(name) for name in check.listed(models, "models")]
    if is_of_models(table):
        if models is not None:
            how = replace(how, format="wide")
        return of_runs(table, how)  # type: ignore[arg-type]
    made = opened_scores(table)
    tool = tool_in(made, how)
    if tool is not None:
        return read_scores_of(tool, made.path, how, made.name)  # type: ignore[attr-defined]
    return scores_of(made, score_kind(made, how, models), how, memory)


@fetched_once()
def read_scores_or_votes(table: StrPath | Frame | Mapping[str, StrPath | Frame]) -> Scores | Votes:
    """Votes where a table has their columns, else scores: of a table, of {model: file}, or of a harness's logs."""
    if is_of_models(table) or is_path(table):
        return scores_in_files(table)  # type: ignore[arg-type]
    return _in_table(opened_scores(table), ScoreReading(), None)


@fetched_once()
def scores_in_files(files: Files, how: ScoreReading = ScoreReading(), memory: MaybeNumber = None) -> Scores | Votes:
    """Scores or votes in a file, in a file for each model, or in the logs of a harness."""
    every = [*files.values()] if isinstance(files, Mapping) else [files]
    paths = [path for one in every for path in (one if isinstance(one, list | tuple) else [one])]
    tables = [opened(path) for path in paths]
    tool = tool_in(tables[0], how)
    tools = dict.fromkeys(tool_in(table, how) or "no tool" for table in tables)
    if len(tools) > 1:
        raise InputError(f"files of {' and of '.join(tools)}", "files of one tool", "Read one tool at a time.")
    if tool is not None:
        if memory is not None:
            raise InputError(f"--memory with files of {tool}", "a table", "Leave it out.", tables[0].name)
        return read_scores_of(tool, files, how, tables[0].name)
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
    if not isinstance(kind, VoteColumns):
        return scores_of(table, kind, how, memory)
    if memory is not None:
        raise InputError("--memory with votes", "scores", "Leave it out.", table.name)
    refuse_unused(how, "votes", OF_SCORES, table.name)
    return votes_of(table, kind)


def is_of_models(table: object) -> bool:
    """Whether it is {model: file}, or {model: table}."""
    if not isinstance(table, Mapping) or not table:
        return False
    return all(is_path(one) or is_frame(one) for one in table.values())


def opened_scores(table: object) -> Table:
    """A table of scores; an array of xarray has a row for each of its cells."""
    return opened(frames.as_polars(table) if is_array_with_names(table) else table)


def scores_of(table: Table, kind: ScoreKind, how: ScoreReading, memory: MaybeNumber = None) -> Scores:
    """The scores in a table of this kind."""
    if isinstance(kind, VoteColumns):
        raise votes_on_pairs(table.name)
    if isinstance(kind, Board):
        return _of_board(table, kind, how)
    return _of_long(table.with_items(how.item), kind, how, memory)


def _of_board(table: Table, kind: Board, how: ScoreReading) -> Scores:
    """Scores of a table with a column for each model, or with a row for each."""
    for option in how.named("replicate", "annotator"):
        raise InputError(
            f"{option}= with a column for each model", "one row for each item", "Give the table in long form."
        )
    others = how.named("group", "cluster")
    if kind.of_models and others:
        raise InputError(
            f"groups or clusters ({shortlist(others.values())}) of items that are columns",
            "a row for each item",
            "Leave them out.",
            table.name,
        )
    of_rows, of_columns = ("model", "item") if kind.of_models else ("item", "model")
    frame, source = table.with_items(kind.rows).whole
    check_wide(frame, source, {of_rows: kind.rows, **others}, kind.columns, of_columns)
    parts = []
    rows = frames.of_columns([frame.get_column(name) for name in {kind.rows, *others.values()}])
    for name in kind.columns:
        cells = frame.get_column(name).alias(VALUE)
        parts.append((rows.with_columns(cells, polars.lit(name).alias(NAME)), replace(source, columns={VALUE: name})))
    columns = {of_rows: kind.rows, of_columns: NAME} | others
    return _made(parts, columns, VALUE, how, source.name, said=kind.notes)


def of_runs(files: Mapping[str, StrPath | Frame | Table], how: ScoreReading) -> Scores:
    """Scores of a file or table for each model, all with the same columns."""
    if how.format == "wide":
        raise InputError(
            "a column for each model in a table for each",
            "one of the two",
            "Give one table, or leave the names of the models out.",
        )
    refuse_unused(how, "one model each", OF_SCORES, f"the table of model {quote(next(iter(files)))}")
    columns = {"item": how.column("item")} | how.named("group", "cluster", "replicate", "annotator")
    parts = []
    for model, path in files.items():
        frame, source = opened(path, f"the table of model {quote(model)}").with_items(how.item).whole
        need_columns(frame.columns, columns | {"score": how.column("score")}, source.name)
        parts.append((frame.with_columns(polars.lit(name_text(model)).alias(NAME)), source))
    return _made(parts, columns | {"model": NAME}, how.column("score"), how, parts[0][1].name)


def _of_long(table: Table, kind: LongScores, how: ScoreReading, memory: MaybeNumber) -> Scores:
    """Scores of a table with a row for each item and model."""
    notes = parquet_notes.of(table)
    columns = {"item": kind.item, "model": kind.model} | how.named("replicate", "annotator", "group", "cluster")
    for role in ("group", "cluster", "annotator"):
        if notes and role in table.columns:  # which probtruth itself wrote
            columns.setdefault(role, role)
    (large,) = placed([table], memory)
    if table.stored and columns.keys().isdisjoint(("replicate", "annotator")):
        table = large
    need_columns(table.columns, columns, table.name)
    parts = table.rows([*columns.values(), kind.score])
    scores = _made(parts, columns, kind.score, how, table.name, notes, table.batched)
    had_labels = "models" in notes or any(name.startswith(OWN) for name in table.columns)
    if not had_labels or kind.score != "score":
        return scores
    with_labels = None
    if "arrays" in notes and parquet_notes.ARRAYS in table.columns and not table.batched:
        try:
            with_labels = _beside_labels(parquet_notes.arrays_of(table, notes), scores, notes)
        except (AttributeError, KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
            raise parquet_notes.damaged(str(error), table.name) from None
    return with_labels or replace(scores, cautions=(*scores.cautions, NO_LABELS))


def _made(
    parts: Iterable[Part],
    columns: Mapping[str, str],
    score: str,
    how: ScoreReading,
    where: str,
    notes: Mapping[str, object] = MappingProxyType({}),
    on_disk: bool = False,
    said: Texts = (),
) -> Scores:
    """The scores in rows of items and models, of which the notes of a file and what was guessed say more."""
    metric = how.column("score")
    upward, rule, facts = notes_in(notes, metric, how.higher_is_better, where)
    made = Scores.from_parts(parts, columns, score, upward, on_disk, how.none)
    lines = notes.get("cautions", ())
    cautions = made.cautions + (tuple(map(str, lines)) if isinstance(lines, list) else ())
    alike = frames.lookalikes(made.models, "model")
    notes_of_reading = (*made.notes, *said, *alike, *lone_code(made))
    return replace(made, rule=rule, known=facts, cautions=cautions, notes=notes_of_reading)


def lone_code(scores: Scores) -> Texts:
    """A note on the least or the largest score where it often stands for none, and lies apart from all others."""
    values = scores.values if scores.replicates is None else scores.replicates.values
    finite = values[np.isfinite(values)]
    ends = (finite.min(), finite.max()) if len(finite) else ()
    for code in CODES:
        if code not in ends:
            continue
        others = finite[finite != code]
        if not len(others):
            continue
        low, high = others.min(), others.max()
        apart = max(low - code, code - high) > high - low
        if code == -1:
            apart = low >= 1 or high > 1  # -1, 0 and 1 are a scale
        if apart and (code > 0 or low >= 0):
            found = check.count(len(finite) - len(others), "score")
            return (
                f"{found} of {code} among others from {low:g} to {high:g}: if it means that there is none, "
                f"missing=[{code}] (command line: --missing={code}) leaves it out",
            )
    return ()


def notes_in(
    notes: Mapping[str, Any], score: str, higher_is_better: bool | None, where: str
) -> tuple[bool, str, RuleFacts]:
    """Of the scores in a column, by the notes of a file if probtruth wrote it: orientation, rule, and its facts."""
    own = notes.get("higher_is_better")
    if higher_is_better is not None and own not in (None, higher_is_better):
        raise InputError(
            f"higher_is_better={higher_is_better}", f"{own}, as the file says", "Leave the option out.", where
        )
    stated = own if higher_is_better is None and isinstance(own, bool) else higher_is_better
    rule = score
    facts = RuleFacts()
    if notes and score == "score":
        try:
            rule = str(notes["rule"])
            said = {name: notes[name] for name in READ_FACTS if notes[name] is not None}
            known: dict[str, Any] = {name: READ_FACTS[name](value) for name, value in said.items()}
            facts = RuleFacts(**known)
        except (KeyError, TypeError, ValueError) as error:
            raise parquet_notes.damaged(str(error), where) from None
    return orientation.upward(rule, stated, where), rule, facts
