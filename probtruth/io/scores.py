"""Scores as a file: one row for each item and model, in their own orientation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars
from jaxtyping import Float

from probtruth import check, frame_numbers, frames
from probtruth.errors import InputError
from probtruth.io.addresses import Address
from probtruth.io.formats import refuse_others
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.read import read_table, shown
from probtruth.types import RuleFacts, Scores, orientation


def write_scores(scores: Scores, path: str | Path) -> None:
    """Writes scores as Parquet: `item`, `model`, `score`, and `group` and `cluster` where there are any.

    The score stands in its own orientation (higher is better stays so); rule, orientation and floor are in the file's
    metadata. What the label variance needs is not written: read back, these are bare scores.

    Errors: `InputError` where the file cannot be written.
    """
    n_models, n_items = scores.values.shape
    values = -scores.values if scores.higher_is_better else scores.values
    columns = {
        "item": polars.Series(list(scores.items) * n_models, dtype=polars.String),
        "model": polars.Series(np.repeat(np.array(scores.models, object), n_items).tolist(), dtype=polars.String),
        "score": polars.Series(values.ravel()),
    }
    for what, partition in (("group", scores.groups), ("cluster", scores.clusters)):
        if partition is not None:
            names = [partition.names[code] for code in partition.codes.tolist()]
            columns[what] = polars.Series(names * n_models, dtype=polars.String)
    notes = notes_of(scores.rule, scores.higher_is_better, scores.known)
    parquet_notes.write(polars.DataFrame(columns), path, notes, None)


def notes_of(rule: str, higher_is_better: bool, known: RuleFacts) -> Mapping[str, object]:
    """What the file's metadata say of the scores."""
    return {
        "content": "scores",
        "rule": rule,
        "higher_is_better": higher_is_better,
        "floor": known.floor,
        "proper": known.proper,
        "entropy": known.entropy,
    }


Piece = tuple[polars.Series, str, Float[np.ndarray, " item"]]
"""Names of items, a model, and its scores on them."""


def write_pieces(pieces: Iterator[Piece], path: str | Path, notes: Mapping[str, object]) -> None:
    """As `write_scores`, from pieces one after the other, of which memory holds a few."""
    schema = {"item": polars.String, "model": polars.String, "score": polars.Float64}
    frames = (
        polars.DataFrame(
            {"item": names, "model": polars.repeat(model, len(names), eager=True), "score": values}, schema
        )
        for names, model, values in pieces
    )
    parquet_notes.write_stream(frames, schema, path, notes)


def read_scores(
    path: str | Path,
    item: str = "item",
    model: str = "model",
    score: str = "score",
    group: str | None = None,
    cluster: str | None = None,
    replicate: str | None = None,
    higher_is_better: bool | None = None,
) -> Scores:
    r"""Scores from a file with one row for each item and model: any per-item metric.

    Arguments: the names of the columns; `higher_is_better` says which way the score counts; by default a file that
    probtruth wrote says it, else the name of the score's column, if it is that of a known metric (accuracy, loss,
    ...). The groups and clusters of a file that probtruth wrote are used unless others are named.

    Errors: `InputError` names file, line and column of what cannot be used, an orientation other than the file's, or a
    score of which nothing says which way it counts.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("item,model,score\na,m,1\nb,m,0\n")
    >>> read_scores(path, higher_is_better=False).values.tolist()
    [[1.0, 0.0]]
    """
    frame, source = read_table(path)
    named = {"item": item, "model": model, "score": score, "group": group, "cluster": cluster, "replicate": replicate}
    if not {item, model, score} <= set(frame.columns):
        refuse_others(frame.columns, source.name)
        refuse_wide(frame, named, source.name)
    frames.need_columns(frame.columns, named, source.name)
    known = notes_in(path, score, higher_is_better)
    group, cluster = (known.column(own, name, frame.columns) for own, name in ((group, "group"), (cluster, "cluster")))
    scores = Scores.from_frame(
        frame, item, model, score, group, cluster, replicate, source, higher_is_better=known.higher_is_better
    )
    return replace(scores, rule=known.rule, known=known.facts)


def refuse_wide(frame: polars.DataFrame, named: Mapping[str, str | None], where: str | None = None) -> None:
    """Raises where a table has a column for each model instead of one for all, with the option that reads it.

    Arguments: `named` are the columns by what they are named for; one that is not among them has its option's name.
    """
    item, model, score = (named.get(name, name) for name in ("item", "model", "score"))
    if item not in frame.columns or {model, score} & set(frame.columns):
        return
    others = (name for name in frame.columns if name not in (item, named.get("group"), named.get("cluster")))
    models = [name for name in others if frame_numbers.matrix(frame, [name])[1] is None]
    if len(models) > 1:
        raise InputError(
            f"no columns {check.quote(model)} and {check.quote(score)}, but one column of numbers for each of "
            f"{check.shortlist(models)}",
            "one row for each item and model, or the names of the models' columns",
            f"If these are models, pass models={models[:6]!r} (command line: --format wide --model "
            f"{','.join(models[:6])}).",
            where,
        )


@dataclass(frozen=True)
class ScoreNotes:
    """What a file says of its scores; `ours`: probtruth wrote it."""

    ours: bool
    higher_is_better: bool
    rule: str
    facts: RuleFacts = field(default_factory=RuleFacts)

    def column(self, chosen: str | None, name: str, columns: Sequence[str]) -> str | None:
        """The column that was chosen, or the one that probtruth itself wrote under this name."""
        return chosen or (name if self.ours and name in columns else None)


def notes_in(path: str | Path | Address, score: str, higher_is_better: bool | None) -> ScoreNotes:
    """What the file says of its scores in the column `score`, and what the caller does.

    Errors: `InputError` where the two disagree, or the notes cannot be used.
    """
    notes, _ = parquet_notes.read(path) or ({}, None)
    own = notes.get("higher_is_better")
    if higher_is_better is not None and own not in (None, higher_is_better):
        raise InputError(
            f"higher_is_better={higher_is_better}", f"{own}, as the file says", "Leave the option out.", shown(path)
        )
    stated = own if higher_is_better is None and isinstance(own, bool) else higher_is_better
    if not notes or score != "score":
        return ScoreNotes(bool(notes), orientation.upward(score, stated, shown(path)), score)
    try:
        rule, floor, entropy, proper = (notes[name] for name in ("rule", "floor", "entropy", "proper"))
        facts = RuleFacts(
            floor=_number(floor), proper=None if proper is None else proper is True, entropy=_number(entropy)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise parquet_notes.damaged(str(error), path) from None
    upward = orientation.upward(str(rule), stated, shown(path))
    return ScoreNotes(True, upward, str(rule), facts)


def _number(value: object) -> float | None:
    """A number as JSON holds it: infinities are text."""
    return float(value) if isinstance(value, (int, float, str)) else None
