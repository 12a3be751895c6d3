"""One table that holds the reference and all models: a block of columns for each, told apart by their names."""

from collections.abc import Mapping, Sequence

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.table import Block, opened
from probtruth.types.arguments import Frame, StrPath

SOFT, VOTES = "truth", "votes"  # The names of the reference: soft labels, or counts of votes
SEPARATORS = (".", "_")  # What stands between the name of a block and that of a label; the first is tried first


def joined_table(
    table: StrPath | Frame, columns: Mapping[str, str] | None = None, item: str = "item"
) -> tuple[Block, dict[str, Block]]:
    r"""The reference and the models of one table that has an item a row and, for each of them, a column a label.

    The columns of a block are called `name.label` or, where there are none, `name_label`. The block `truth` holds soft
    labels, or the block `votes` counts of votes; every other block is a model. Columns without the separator are no
    part of a block. Pass what comes back to `evaluate`: `pt.evaluate(*pt.loaders.joined_table("T.parquet"))`.

    Arguments:
        table: a file (CSV, TSV, JSONL, Parquet, Arrow), a folder of Parquet or Arrow files, or a dataframe.
        columns: says how the columns of a block begin where it is not by its name: {"truth": "human", "ours": "p_ours"}
            for `human.cat` and `p_ours.cat`. With models in it, only these are read.
        item: the column of items.

    Returns: the reference and {model: block}, which are read where they are used.

    Errors: `InputError` for a table without a reference or with two, a block without columns, labels of a model that
    are not those of the reference, and columns whose name can be read in two ways.

    >>> import probtruth as pt
    >>> table = {"item": ["x", "y"], "truth.no": [0.5, 0.0], "truth.yes": [0.5, 1.0], "a.no": [0.5, 0.25],
    ...          "a.yes": [0.5, 0.75]}
    >>> reference, models = pt.loaders.joined_table(table)
    >>> pt.score(models, reference).values.round(3).tolist()
    [[0.693, 0.288]]
    """
    joined = opened(table)
    names = joined.columns
    where = joined.name
    frames.need_columns(names, {"item": item}, where)
    others, chosen = [name for name in names if name != item], dict(columns or {})
    reference, counts = _reference(others, chosen, where)
    named = {name: prefix for name, prefix in chosen.items() if name not in (SOFT, VOTES)}
    left = [name for name in others if name not in reference.values()]
    models = {name: _block(prefix, left) for name, prefix in named.items()} or _all(left, reference, where)
    for model, own in models.items():
        absent = [label for label in reference if label not in own]
        if absent:
            raise InputError(
                f"no column {check.shortlist(absent)} for model {check.quote(model)}",
                f"the labels of the reference: {check.shortlist(reference)}",
                check.did_you_mean(f"{named.get(model, model)}{SEPARATORS[0]}{absent[0]}", left),
                where,
            )
    blocks = {model: Block(joined, item, {label: own[label] for label in reference}) for model, own in models.items()}
    return Block(joined, item, reference, counts), blocks


def _reference(names: Sequence[str], chosen: Mapping[str, str], where: str) -> tuple[dict[str, str], bool]:
    """The reference's columns by label, and whether they count votes."""
    named = [name for name in (SOFT, VOTES) if name in chosen] or [SOFT, VOTES]
    present = {name: own for name in named if (own := _block(chosen.get(name, name), names))}
    if len(present) != 1:
        got = f"both {SOFT!r} and {VOTES!r}" if present else "no columns of the reference"
        raise InputError(
            f"{got} (columns: {check.shortlist(names, 12)})",
            f"one block called {SOFT!r} (soft labels: {SOFT}.cat, {SOFT}.dog) or {VOTES!r} (counts of votes)",
            f"Rename them, or say how they begin: joined_table(path, columns={{{SOFT!r}: 'human'}}).",
            where,
        )
    ((name, own),) = present.items()
    return own, name == VOTES


def _block(prefix: str, names: Sequence[str]) -> dict[str, str]:
    """The columns that begin with the prefix and a separator, by label."""
    for mark in SEPARATORS:
        begin = prefix + mark
        own = {name.removeprefix(begin): name for name in names if name.startswith(begin) and name != begin}
        if own:
            return own
    return {}


def _all(names: Sequence[str], labels: Mapping[str, str], where: str) -> dict[str, dict[str, str]]:
    """The columns of all models, which end like a column of the reference."""
    models: dict[str, dict[str, str]] = {}
    hint = "Name the models, and all other columns are left alone: joined_table(path, columns={'ours': 'ours'})."
    label, first = next(iter(labels.items()))
    mark = first.removesuffix(label)[-1]
    for name in names:
        readings = [(name.removesuffix(mark + label), label) for label in labels if name.endswith(mark + label)]
        if len(readings) > 1:
            words = " or ".join(f"{label!r} of {model!r}" for model, label in readings)
            raise InputError(f"the column {check.quote(name)}, which may be {words}", "one reading", hint, where)
        if readings and readings[0][0]:
            models.setdefault(readings[0][0], {})[readings[0][1]] = name
        elif mark in name:
            expected = f"MODEL{mark}LABEL with a label of the reference: {check.shortlist(labels)}"
            raise InputError(f"the column {check.quote(name)}", expected, hint, where)
    if not models:
        raise InputError("no column of a model", f"columns such as ours{mark}{label}", hint, where)
    return models
