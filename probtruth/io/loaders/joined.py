"""One table that holds the reference and all models: a block of columns for each, told apart by their names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.io.addresses import Address, location
from probtruth.io.tables.batches import can_stream, columns_of
from probtruth.io.tables.read import Block, Joined, shown
from probtruth.io.tables.wide import label_difference
from probtruth.types.arguments import Frame, StrPath

SOFT, VOTES = "truth", "votes"
"""The names of the reference: soft labels, or counts of votes."""
SEPARATORS = (".", "_")
"""What stands between the name of a block and that of a label; the first is tried first."""
LABEL = "{label}"


@check.checks_itself
def joined_table(
    table: StrPath | Frame, columns: Mapping[str, str] | None = None, item: str = "item"
) -> tuple[Block, dict[str, Block]]:
    r"""The reference and the models of one table that has an item a row and, for each of them, a column a label.

    The columns of a block are called `name.label` or, where there are none, `name_label`. The block `truth` holds soft
    labels, or the block `votes` counts of votes; every other block is a model. Columns without the separator are no
    part of a block. Pass what comes back to `evaluate`: `pt.evaluate(*pt.loaders.joined_table("T.parquet"))`.

    Arguments: `table` is a file (CSV, TSV, JSONL, Parquet, Arrow), a folder of Parquet or Arrow files, or a dataframe;
    `columns` says how the columns of a block are called where it is not by its name: {"truth": "human", "ours":
    "p_ours"} for `human.cat` and `p_ours.cat`, or with `{label}` for any other form: {"ours": "{label} by ours"}. With
    models in it, only these are read; `item` is the column of items.

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
    joined = Joined(location(table) if isinstance(table, str | Path) else frames.as_polars(table))
    if isinstance(joined.table, Path | Address):
        where = shown(joined.table)
        names = columns_of(joined.table) if can_stream(joined.table) else joined.whole[0].columns
    else:
        where, names = shown(None), joined.table.columns
    frames.need_columns(names, {"item": item}, where)
    others, chosen = [name for name in names if name != item], dict(columns or {})
    reference, counts, separators = _reference(others, chosen, where)
    models = {name: prefix for name, prefix in chosen.items() if name not in (SOFT, VOTES)}
    left = [name for name in others if name not in reference.values()]
    if models:
        by_model = {name: _named(name, prefix, left, reference, where) for name, prefix in models.items()}
    else:
        by_model = _all(left, reference, separators, where)
    _check_blocks(by_model, reference, where)
    blocks = {model: Block(joined, item, own) for model, own in by_model.items()}
    return Block(joined, item, reference, counts), blocks


def _reference(
    names: Sequence[str], chosen: Mapping[str, str], where: str
) -> tuple[dict[str, str], bool, tuple[str, ...]]:
    """The reference's columns by label, whether they count votes, and the separators that models may have."""
    named = [name for name in (SOFT, VOTES) if name in chosen]
    matched = {name: _matching(name, chosen.get(name, name), names, where) for name in named or (SOFT, VOTES)}
    present = [name for name, own in matched.items() if own]
    if len(present) != 1 or len(named) > 1:
        got = f"both {SOFT!r} and {VOTES!r}" if len(present) > 1 or len(named) > 1 else "no columns of the reference"
        raise InputError(
            f"{got} (columns: {check.shortlist(names, 12)})",
            f"one block called {SOFT!r} (soft labels: {SOFT}.cat, {SOFT}.dog) or {VOTES!r} (counts of votes)",
            f"Say how they are called: columns={{{SOFT!r}: 'human'}} (command line: --columns {SOFT}=human).",
            where,
        )
    own = matched[present[0]]
    prefix = chosen.get(present[0], present[0])
    separators = SEPARATORS if LABEL in prefix else (next(iter(own.values()))[len(prefix)],)
    return own, present[0] == VOTES, separators


def _matching(block: str, prefix: str, names: Sequence[str], where: str) -> dict[str, str]:
    """The columns of a block by label, from the beginning of their names or a form with `{label}`."""
    if LABEL in prefix:
        before, _, after = prefix.partition(LABEL)
        long = [name for name in names if len(name) > len(before) + len(after)]
        both = [name for name in long if name.startswith(before) and name.endswith(after)]
        return {name[len(before) : len(name) - len(after)]: name for name in both}
    by_separator = [
        {
            name.removeprefix(prefix + mark): name
            for name in names
            if name.startswith(prefix + mark) and name != prefix + mark
        }
        for mark in SEPARATORS
    ]
    some = [own for own in by_separator if own]
    if len(some) > 1:
        raise InputError(
            f"columns of {check.quote(block)} with two separators: "
            f"{check.shortlist([next(iter(own.values())) for own in some])}",
            "one separator between the name of a block and a label",
            f"Write the form out: --columns '{block}={prefix}{SEPARATORS[0]}{LABEL}' (Python: columns=).",
            where,
        )
    return some[0] if some else {}


def _named(model: str, prefix: str, names: Sequence[str], labels: Mapping[str, str], where: str) -> dict[str, str]:
    """The columns of a model; those of a longer name that begins like its own are not among them."""
    own = _matching(model, prefix, names, where)
    if LABEL not in prefix:
        tails = tuple(mark + label for mark in SEPARATORS for label in labels)
        own = {label: name for label, name in own.items() if label in labels or not label.endswith(tails)}
    if not own:
        raise InputError(
            f"no column of model {check.quote(model)} ({prefix})",
            f"one for each label, such as {prefix}{SEPARATORS[0]}{next(iter(labels))}",
            check.did_you_mean(prefix, names),
            where,
        )
    return own


def _all(
    names: Sequence[str], labels: Mapping[str, str], separators: Sequence[str], where: str
) -> dict[str, dict[str, str]]:
    """The columns of all models."""
    models: dict[str, dict[str, str]] = {}
    hint = (
        "Name the models, and all other columns are left alone: --columns ours=ours (Python: columns={'ours': 'ours'})."
    )
    for name in names:
        tails = [(mark + label, label) for mark in separators for label in labels]
        readings = [(name.removesuffix(tail), label) for tail, label in tails if name.endswith(tail) and name != tail]
        if len(readings) > 1:
            words = " or ".join(f"{label!r} of {model!r}" for model, label in readings)
            raise InputError(f"the column {check.quote(name)}, which may be {words}", "one reading", hint, where)
        if readings:
            model, label = readings[0]
            models.setdefault(model, {})[label] = name
        elif any(mark in name for mark in separators):
            expected = f"MODEL{separators[0]}LABEL with a label of the reference: {check.shortlist(labels)}"
            raise InputError(f"the column {check.quote(name)}", expected, hint, where)
    if not models:
        raise InputError(
            "no column of a model", f"columns such as ours{separators[0]}{next(iter(labels))}", hint, where
        )
    return models


def _check_blocks(blocks: Mapping[str, Mapping[str, str]], labels: Mapping[str, str], where: str) -> None:
    """Raises where a block lacks a label of the reference or has others, or a column is in two blocks."""
    owner: dict[str, str] = {}
    for block, own in blocks.items():
        difference = label_difference(tuple(labels), tuple(own))
        if difference is not None:
            raise InputError(
                f"{difference} for model {check.quote(block)}",
                f"the labels of the reference: {check.shortlist(labels)}",
                "Give every block the same labels.",
                where,
            )
        for name in own.values():
            if owner.setdefault(name, block) != block:
                raise InputError(
                    f"the column {check.quote(name)} in {owner[name]!r} and {block!r}",
                    "every column in one block",
                    "Check the forms with {label}.",
                    where,
                )
