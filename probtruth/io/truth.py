"""Soft labels as a file: the items, one column of probability for each label, and how they were made."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import polars

from probtruth import check, check_arrays, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import Address, location
from probtruth.io.output.csv_safe import check_free, write_new_csv
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.batches import can_stream, has_several, open_table, rows_within
from probtruth.io.tables.read import Block
from probtruth.io.tables.wide import cells, check_rows, labels_of, read_wide
from probtruth.kernels.arrays import to_host
from probtruth.types import Truth
from probtruth.types.arguments import ESTIMANDS, Estimand
from probtruth.types.index import Index, order_of, sort_names


def write_soft(truth: Truth, path: str | Path) -> None:
    """Writes a truth as Parquet or, where the path ends in `.csv`, as CSV: `item`, then a column for each label.

    CSV holds the probabilities alone. In Parquet, method, estimand, the model's label frequencies, and the vote shares
    and numbers of votes behind the labels stand in the file's metadata; draws and confusion are not written.

    Errors: `InputError` where a label is called `item`, a name would be a formula in a spreadsheet (CSV), something
    stands there that may not be replaced, or the file cannot be written.
    """
    check_soft_out(path)
    if "item" in truth.index.labels:
        raise InputError(
            "a label called 'item'", "other names", "Rename that label: it is the name of the items' column."
        )
    probs = to_host(truth.probs)
    columns = {label: probs[:, position] for position, label in enumerate(truth.index.labels)}
    notes = {
        "content": "soft labels",
        "method": truth.method,
        "estimand": truth.estimand,
        "positional_items": truth.index.positional_items,
        "positional_labels": truth.index.positional_labels,
        "marginals": truth.marginals,
    }
    frame = polars.DataFrame({"item": polars.Series(list(truth.index.items), dtype=polars.String), **columns})
    if Path(path).suffix.lower() == ".csv":
        names = (*truth.index.items, *truth.index.labels)
        write_new_csv(frame, path, names, "Write Parquet: end the path in .parquet.")
    else:
        parquet_notes.write(frame, path, notes, _votes(truth))


def check_soft_out(path: str | Path) -> None:
    """Raises where soft labels cannot be written; a CSV that is there is never replaced, since it may be anybody's."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet or .csv", "Name the output so.")
    if suffix == ".csv":
        check_free(path)
    else:
        parquet_notes.check_out(path)


def read_soft(path: str | Path | Block, item: str = "item", estimand: Estimand | None = None) -> Truth:
    r"""Soft labels from a file: a column of item names, and one column of probability for each label.

    Arguments: `item` is the column of names; `estimand` says what the rows are (`"distribution"` of opinions, the
    default, or probabilities of the true `"class"`) where the file does not.

    Errors: `InputError` names file, line and column of what is not a distribution; nothing is renormalised. An
    `estimand` other than the file's own is an error too.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "soft.csv"
    >>> _ = path.write_text("item,cat,dog\na,0.75,0.25\n")
    >>> read_soft(path).probs.tolist()
    [[0.75, 0.25]]
    """
    table = read_wide(path, item)
    check_rows(table, "probs", "soft labels")

    def build(kind: str) -> tuple[Truth, bool]:
        truth = Truth.from_probs(table.values, table.items, table.labels, cast(Estimand, kind))  # which it checks
        return truth, (tuple(table.items), table.labels) == (truth.index.items, truth.index.labels)

    return _noted("" if isinstance(path, Block) else path, table.source.name, estimand, build)


def read_many_soft(
    path: str | Path | Block, item: str = "item", estimand: Estimand | None = None, memory: float = 2e9
) -> Truth:
    """As `read_soft`, for as many items as there are; `memory` (bytes) is what a batch may take.

    Files other than Parquet and Arrow are read whole.
    """
    if not can_stream(path):
        return read_soft(path, item, estimand)
    table = open_table(path)
    labels = sort_names(labels_of(table.columns, item, Source(table.name)))
    size = rows_within(memory, len(labels))
    names = frames.compact(table.names(item, size))
    order = order_of(names)
    ordered = names.gather(order)
    if bool((ordered[1:] == ordered[:-1]).any()):
        raise table.repeated(names, item)
    rank = np.empty(len(order), order.dtype)
    rank[order] = np.arange(len(order))
    probs = np.empty((len(order), len(labels)))
    for batch in table.batches(labels, size):
        rows = rank[batch.start : batch.start + batch.frame.height]
        probs[rows] = cells(batch.frame, labels, batch.source, item, "probs", "soft labels")

    def build(kind: str) -> tuple[Truth, bool]:
        check.one_of(kind, ESTIMANDS, "estimand")
        written = [column for column in table.columns if column != item]
        as_written = written == list(labels) and bool((order[1:] > order[:-1]).all())
        return Truth(probs, Index(frames.Names(ordered), labels), kind, "given"), as_written

    own = "" if isinstance(path, Block) or has_several(location(path)) else path
    return _noted(own, table.name, estimand, build)


def _noted(
    path: str | Path | Address, name: str, estimand: Estimand | None, build: Callable[[str], tuple[Truth, bool]]
) -> Truth:
    """A truth with what its file says of it.

    Arguments: `build` makes it from the estimand, and says whether the rows and labels of the file stand in its order.

    Errors: as `read_soft`.
    """
    notes, side = parquet_notes.read(path) or ({}, None)
    own = notes.get("estimand")
    if estimand is not None and own not in (None, estimand):
        raise InputError(f"the estimand {estimand!r}", f"{own!r}, as the file says", "Leave it out.", name)
    truth, as_written = build(estimand or str(own or "distribution"))
    if not notes:
        return truth
    try:
        return _restored(truth, as_written, notes, side)
    except (KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise parquet_notes.damaged(str(error), path) from None


def _votes(truth: Truth) -> polars.DataFrame | None:
    """Vote shares (columns `0`, `1`, ... in the order of the labels) and numbers of votes, where there are any."""
    columns = {} if truth.n_votes is None else {"n_votes": truth.n_votes}
    if truth.shares is not None:
        columns |= {str(position): truth.shares[:, position] for position in range(truth.shares.shape[1])}
    return polars.DataFrame(columns) if columns else None


def _restored(truth: Truth, as_written: bool, notes: dict[str, object], side: polars.DataFrame | None) -> Truth:
    """The truth with what the notes know of it."""
    if not as_written:
        raise ValueError("items or labels in another order than they were written")
    shape = truth.probs.shape
    votes = shares = None
    if side is not None:
        if side.height != shape[0]:
            raise ValueError(f"{side.height} rows of votes for {shape[0]} items")
        if "n_votes" in side.columns:
            votes = side["n_votes"].cast(polars.Int64).to_numpy()
            if (votes < 0).any():
                raise ValueError("a negative number of votes")
        if "0" in side.columns:
            shares = side.select(*map(str, range(shape[1]))).cast(polars.Float64).to_numpy()
            voted = shares if votes is None else shares[votes > 0]
            if len(voted):
                check_arrays.simplex(voted, "vote shares", lambda row: f"row {row + 1}")
    marginals = None if notes["marginals"] is None else check_arrays.as_floats(notes["marginals"], "label", "marginals")
    if marginals is not None:
        check.length(len(marginals), shape[1], "marginals")
    return replace(
        truth,
        index=replace(
            truth.index,
            positional_items=notes["positional_items"] is True,
            positional_labels=notes["positional_labels"] is True,
        ),
        method=str(notes["method"]),
        shares=shares,
        n_votes=votes,
        marginals=marginals,
    )
