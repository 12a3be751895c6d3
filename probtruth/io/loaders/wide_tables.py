"""Wide tables: one row for each item, and one column for each model (scores) or each annotator (labels)."""

from collections.abc import Sequence
from dataclasses import replace

import polars

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.read import read_table
from probtruth.io.tables.wide import distinct_items
from probtruth.types import Annotations, Scores, orientation
from probtruth.types.arguments import Frame, StrPath

MODEL, SCORE = "model ", "score "  # Names that columns of a file do not have


def read_wide_scores(
    table: StrPath | Frame,
    models: Sequence[str] | None = None,
    item: str = "item",
    group: str | None = None,
    cluster: str | None = None,
    higher_is_better: bool | None = None,
    rule: str = "score",
) -> Scores:
    r"""Scores from a table with one row for each item and one column for each model.

    Arguments: `table` is a file (CSV, TSV, JSONL, Parquet, Arrow) or any dataframe; `models` are the columns of scores
    (by default all but the named others); `item`, `group` and `cluster` name columns; `rule` is the score's name;
    `higher_is_better` says which way it counts, and can be left out if `rule` is a known metric (accuracy, loss,
    ...). A blank cell says that the model lacks the item, which is then dropped for all models and counted in
    `audit`.

    Errors: `InputError` with file, line and column of a cell that is no number, a column that is not there, or an item
    that stands twice.

    >>> import probtruth as pt
    >>> losses = {"item": ["q1", "q2"], "ours": [0.5, 1.0], "theirs": [0.0, 2.0]}
    >>> scores = pt.loaders.read_wide_scores(losses, higher_is_better=False)
    >>> scores.models, scores.values.tolist()
    (('ours', 'theirs'), [[0.5, 1.0], [0.0, 2.0]])
    """
    frame, source, columns = _opened(table, item, models, [group, cluster], "model")
    upward = orientation.upward(rule, higher_is_better, source.name)
    parts = []
    of_items = {"item": item, "group": group, "cluster": cluster}
    named = {option: column for option, column in of_items.items() if column is not None}
    lines = range(1, len(frame) + 1) if source.lines is None else source.lines
    for model in columns:
        there = polars.DataFrame({name: frame.get_column(name) for name in named.values()})
        there = there.with_columns(frame.get_column(model).alias(SCORE), polars.lit(model).alias(MODEL))
        full = ~_blank(there[SCORE])
        where = replace(source, lines=[lines[row] for row in full.arg_true().to_list()], columns={SCORE: model})
        parts.append((there.filter(full), where))
    scores = Scores.from_parts(lambda: parts, {**named, "model": MODEL}, SCORE, upward)
    return replace(scores, rule=rule)


def read_wide_annotations(
    table: StrPath | Frame,
    annotators: Sequence[str] | None = None,
    item: str = "item",
    labels: Sequence[str | int] | None = None,
) -> Annotations:
    r"""Annotations from a table with one row for each item and one column for each annotator; blank: not annotated.

    Arguments: `table` is a file (CSV, TSV, JSONL, Parquet, Arrow) or any dataframe; `annotators` are the columns (by
    default all but the item's); `item` names the column of items; `labels` are all the labels an item can have, if
    some were never used.

    Errors: `InputError` with file and line of an item that stands twice, or a column that is not there.

    >>> import probtruth as pt
    >>> table = {"item": ["a", "b"], "ann": ["cat", "dog"], "bob": ["cat", None]}
    >>> pt.loaders.read_wide_annotations(table).counts().tolist()
    [[2, 0], [0, 1]]
    """
    frame, source, columns = _opened(table, item, annotators, [], "annotator")
    parts = []
    for annotator in columns:
        labels_given = _names(frame, annotator, source)
        of_one = {"item": frame.get_column(item), "label": labels_given}
        part = polars.DataFrame(of_one).with_columns(polars.lit(annotator).alias("annotator"))
        parts.append(part.filter(~_blank(labels_given)))
    return Annotations.from_long(polars.concat(parts), labels=labels, source=Source(source.name))


def _opened(
    table: StrPath | Frame, item: str, chosen: Sequence[str] | None, others: Sequence[str | None], what: str
) -> tuple[polars.DataFrame, Source, list[str]]:
    frame, source = read_table(table)
    hint = f"For one row for each item and {what}, read the table in long form."
    distinct_items(frame, item, source, "one row for each item", hint)
    taken = {item, *others}
    columns = [name for name in frame.columns if name not in taken] if chosen is None else list(chosen)
    for name in columns:
        frames.need_columns(frame.columns, {what: name}, source.name)
    if not columns or any(name in taken for name in columns):
        raise InputError(
            f"no column of a {what}",
            f"one for each {what}",
            f"Name them: {what}s=[...] (command line: --{what} x,y).",
            source.name,
        )
    check.unique(columns, f"{what} column")
    return frame, source, columns


def _blank(series: polars.Series) -> polars.Series:
    blank = series.is_null()
    if series.dtype == polars.String:
        return blank | (series.str.strip_chars() == "")
    return blank | series.is_nan() if series.dtype.is_float() else blank


def _names(frame: polars.DataFrame, column: str, source: Source) -> polars.Series:
    """Labels as text, in the way of `frames.name_text`; a float that holds an integer is one (pandas makes them so)."""
    series = frames.flat(frame, column, source, "label")
    whole = series.dtype.is_float() and bool((series.drop_nulls().drop_nans() % 1 == 0).all())
    values = [None if value is None or value != value else int(value) if whole else value for value in series.to_list()]
    text = [None if value is None else frames.name_text(value) for value in values]
    return polars.Series("label ", text, dtype=polars.String)
