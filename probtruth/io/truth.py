"""Soft labels as a file: the items, one column of probability for each label, and how they were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars

from probtruth import check, check_arrays
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.formats import LabelReading
from probtruth.io.kinds import Soft, kind_of
from probtruth.io.output.csv_safe import check_new_csv, write_new_csv
from probtruth.io.table import Table, opened, too_large
from probtruth.io.tables import parquet_notes
from probtruth.io.tables.columns import OWN
from probtruth.io.tables.wide import REPEATED, check_rows, fill, items_of, suspects
from probtruth.kernels.arrays import to_host
from probtruth.kernels.host import empty_array
from probtruth.types import Index, Truth
from probtruth.types.arguments import ESTIMANDS, Estimand, StrPath

VOTES = f"{OWN}votes"  # The column of the numbers of votes


def write_soft(truth: Truth, path: str | Path) -> None:
    """Writes a truth as Parquet or, where the path ends in `.csv`, as CSV: `item`, then a column for each label."""
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
    if truth.shares is not None:
        frame = frame.with_columns(*(polars.Series(OWN + one, truth.shares[:, at]) for at, one in enumerate(columns)))
    if truth.n_votes is not None:
        frame = frame.with_columns(polars.Series(VOTES, truth.n_votes))
    if Path(path).suffix.lower() == ".csv":
        names = (*truth.index.items, *truth.index.labels)
        write_new_csv(frame.select("item", *columns), path, names, "Write Parquet: end the path in .parquet.")
    else:
        parquet_notes.write(frame, path, notes)


def check_soft_out(path: str | Path) -> None:
    """Raises where soft labels cannot be written; a CSV that is there is never replaced, since it may be anybody's."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"the path {str(path)!r}", "a path that ends in .parquet or .csv", "Name the output so.")
    (check_new_csv if suffix == ".csv" else parquet_notes.check_parquet_out)(path)


def read_soft(
    table: StrPath | Table, item: str | None = None, estimand: Estimand | None = None, memory: float | None = None
) -> Truth:
    """Soft labels in a file: a column of item names, and one of probability for each label."""
    made = opened(table)
    on_disk = too_large([made], memory)
    if on_disk:
        made = made.in_batches()
    kind = kind_of(made, LabelReading(item, format="soft"))
    assert isinstance(kind, Soft)
    return soft_of(made, kind, estimand, on_disk)


def soft_of(table: Table, kind: Soft, estimand: Estimand | None = None, on_disk: bool = False) -> Truth:
    """The soft labels in a table, of rows that are distributions.

    Where the file does not say what they are, `estimand` does.
    """
    table = table.with_items(kind.item)
    labels = [*kind.labels]
    item = kind.item
    source = table.head[1]
    items = None
    n_rows = sum(part.height for part, _ in table.rows(kind.columns[:1]))
    if item is not None:
        items, source = items_of(table.rows([item]), item, "every item once", REPEATED)
    index, rows, _ = Index.of_array((n_rows, len(labels)), items, None if kind.positional else labels)
    ordered = labels if kind.positional else index.labels

    def refuse(cells: np.ndarray, frame: polars.DataFrame, source: Source) -> None:
        check_rows(cells, ordered, source, "probs", suspects(labels, None, item or ""), "soft labels")

    def numbers(start: str, convert: Callable[[np.ndarray], tuple[np.ndarray, bool]]) -> np.ndarray:
        """The numbers in the columns of the labels, in the order of the index."""
        columns = [start + kind.labels[label] for label in ordered]
        wanted = columns if item is None else [item, *columns]
        values = empty_array((len(rows), len(labels)), on_disk)
        fill(values, rows, len(rows), table.rows(wanted), columns, convert, refuse)
        return values

    probs = numbers("", lambda cells: (cells, check_arrays.surely_simplex(cells)))
    notes = parquet_notes.of(table)
    own = notes.get("estimand")
    if estimand is not None and own not in (None, estimand):
        raise InputError(f"the estimand {estimand!r}", f"{own!r}, as the file says", "Leave it out.", source.name)
    known = check.one_of(estimand or str(own or "distribution"), ESTIMANDS, "estimand")
    truth = Truth(probs, index, known, "given")
    if not notes:
        return truth
    try:
        if (items, tuple(labels)) != (truth.index.items, truth.index.labels):
            raise ValueError("items or labels in another order than they were written")
        shares = numbers(OWN, lambda cells: (cells, True)) if OWN + labels[0] in table.columns else None
        votes = [frame[VOTES] for frame, _ in table.rows([VOTES])] if VOTES in table.columns else []
        return _restored(truth, notes, shares, votes)
    except (KeyError, TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise parquet_notes.damaged(str(error), source.name) from None


def _restored(
    truth: Truth, notes: Mapping[str, object], shares: np.ndarray | None, n_votes: Sequence[polars.Series]
) -> Truth:
    votes = np.concatenate([some.cast(polars.Int64).to_numpy() for some in n_votes]) if n_votes else None
    if votes is not None and (votes < 0).any():
        raise ValueError("a negative number of votes")
    if shares is not None:
        voted = shares if votes is None or votes.all() else shares[votes > 0]
        if len(voted):
            check_arrays.distributions(voted, lambda row: f"row {row + 1}", "vote shares")
    marginals = None
    if notes["marginals"] is not None:
        marginals = check_arrays.as_floats(notes["marginals"], "label", "marginals")
        check.length(len(marginals), len(truth.index.labels), "marginals")
    known = {name: notes[name] is True for name in ("positional_items", "positional_labels")}
    return replace(
        truth,
        index=replace(truth.index, **known),  # type: ignore[arg-type]
        method=str(notes["method"]),
        shares=shares,
        n_votes=votes,
        marginals=marginals,
    )
