"""One table that holds the reference and all models: a block of columns for each, told apart by their names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars

from probtruth.check import did_you_mean, quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import need_columns
from probtruth.io.annotations import annotations_of
from probtruth.io.kinds import Counts
from probtruth.io.table import FrameTable, Table, opened
from probtruth.types import Annotations
from probtruth.types.arguments import Frame, StrPath

SOFT, VOTES = "truth", "votes"  # The names of the reference: soft labels, or counts of votes
SEPARATORS = (".", "_")  # What stands between the name of a block and that of a label; the first is tried first


def joined_table(
    table: StrPath | Frame, columns: Mapping[str, str] | None = None, item: str = "item"
) -> tuple[Annotations | Table, dict[str, FrameTable]]:
    r"""The reference and the models of one table that has an item a row and, for each of them, a column a label.

    The columns of a block are called `name.label` or, where the reference has none, `name_label`. The block `truth`
    holds soft labels, or the block `votes` counts of votes; every other block is a model. Columns without the separator
    are no part of a block. Pass what comes back to `evaluate`: `pt.evaluate(*pt.loaders.joined_table("T.parquet"))`.

    Arguments:
        table: a file (CSV, TSV, JSONL, Parquet, Arrow), a folder of Parquet or Arrow files, or a dataframe.
        columns: says how the columns of a block begin where it is not by its name: {"truth": "human", "ours": "p_ours"}
            for `human.cat` and `p_ours.cat`. With models in it, only these are read.
        item: the column of items.

    Returns: the reference and {model: table}, all in memory.

    Errors: `InputError` for a table without a reference or with two, a label that a model lacks, and columns whose name
    can be read in two ways.

    >>> import probtruth as pt
    >>> table = {"item": ["x", "y"], "truth.no": [0.5, 0.0], "truth.yes": [0.5, 1.0], "a.no": [0.5, 0.25],
    ...          "a.yes": [0.5, 0.75]}
    >>> reference, models = pt.loaders.joined_table(table)
    >>> pt.score(models, reference).values.round(3).tolist()
    [[0.693, 0.288]]
    """
    frame, source = opened(table).with_items(item).whole
    need_columns(frame.columns, {"item": item}, source.name)
    begins = dict(columns or {})
    sides = [name for name in (SOFT, VOTES) if name in begins] or [SOFT, VOTES]
    found = {name: _labels(begins.pop(name, name), frame.columns) for name in sides}
    present = [name for name in sides if found[name]]
    if len(present) != 1:
        got = f"both {SOFT!r} and {VOTES!r}" if present else "no columns of the reference"
        raise InputError(
            f"{got} (columns: {shortlist(frame.columns, 12)})",
            f"one block called {SOFT!r} (soft labels: {SOFT}.cat, {SOFT}.dog) or {VOTES!r} (counts of votes)",
            f"Rename them, or say how they begin: joined_table(path, columns={{{SOFT!r}: 'human'}}).",
            source.name,
        )
    reference = found[present[0]]
    label, column = next(iter(reference.items()))
    mark = column.removesuffix(label)[-1]
    if not begins:
        left = [name for name in frame.columns if mark in name and name not in reference.values()]
        begins = _models(left, [*reference], mark, source.name)

    def block(labels: Mapping[str, str]) -> FrameTable:
        absent = [name for name in labels.values() if name not in frame.columns]
        if absent:
            hint = did_you_mean(absent[0], frame.columns)
            raise InputError(f"no column {shortlist(absent)}", "every label of the reference", hint, source.name)
        named = frame.select(item, **{label: polars.col(f"^{re.escape(name)}$") for label, name in labels.items()})
        return FrameTable(named, source.name, source=replace(source, columns=labels))

    models = {model: block({label: f"{begin}{mark}{label}" for label in reference}) for model, begin in begins.items()}
    if present == [SOFT]:
        return block(reference), models
    return annotations_of(block(reference), Counts(item, {label: label for label in reference})), models


def _labels(begin: str, names: Sequence[str]) -> dict[str, str]:
    """The columns that begin so, with a separator, by label."""
    for mark in SEPARATORS:
        labels = {name.removeprefix(begin + mark): name for name in names if name.startswith(begin + mark)}
        labels.pop("", None)
        if labels:
            return labels
    return {}


def _models(names: Sequence[str], labels: Sequence[str], mark: str, where: str) -> dict[str, str]:
    """The models whose columns these are, each of which ends like one label."""
    models: dict[str, str] = {}
    hint = "Name the models, and all other columns are left alone: joined_table(path, columns={'ours': 'ours'})."
    for name in names:
        fits = [name.removesuffix(mark + label) for label in labels if name.endswith(mark + label)]
        if len(fits) != 1:
            problem = f"the column {quote(name)} of {shortlist(fits) or 'no model'}"
            raise InputError(problem, f"MODEL{mark}LABEL with one label of {shortlist(labels)}", hint, where)
        models[fits[0]] = fits[0]
    if not models:
        raise InputError("no column of a model", f"columns such as ours{mark}{labels[0]}", hint, where)
    return models
