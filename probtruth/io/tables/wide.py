"""Wide tables: a column of item names, and one column of numbers for each label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars
from jaxtyping import Float, Int

from probtruth import check, check_arrays, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.tables.columns import item_column, labels_of
from probtruth.io.tables.read import Block, read_table
from probtruth.kernels.host import block_rows
from probtruth.types.arguments import Frame, StrPath
from probtruth.types.index import positions

type CellKind = Literal["probs", "percent", "log-probs", "logits", "log_probs"]
# What the cells of a table can be; `log_probs` is another way to write one of them.
KINDS = get_args(CellKind.__value__)[:-1]
REPEATED = "Remove one of its rows; if the table has a row for each item and label, pivot it: a column for each label."


def known_kind(kind: str) -> CellKind:
    known: CellKind = check.one_of("log-probs" if kind == "log_probs" else kind, KINDS, "kind")
    return known


@dataclass(frozen=True, eq=False)
class WideTable:
    """Items and labels in the order of the file; `used` are the labels of the reference, where they are known."""

    items: Sequence[str]
    labels: tuple[str, ...]
    columns: frame_numbers.FloatColumns
    source: Source
    item: str
    used: frozenset[str] | None

    @cached_property
    def values(self) -> Float[np.ndarray, "item label"]:
        return self.columns.rows()

    def of(self, rows: Int[np.ndarray, " some"], labels: tuple[str, ...]) -> "WideTable":
        """Some of the rows, and the labels, in another order; without the names of the items."""
        columns = self.columns.of(rows, positions(self.labels, labels))
        return replace(self, items=(), labels=labels, columns=columns)

    def blocks(self, kind: str) -> Iterator[tuple[int, Float[np.ndarray, "item label"]]]:
        """The cells as they are, but percentages as probabilities, some rows at a time; the first row of each block."""
        size, n = block_rows(len(self.labels)), self.columns.n_rows
        for start in range(0, n, size):
            yield start, in_kind(self.columns.rows(start, min(start + size, n)), kind)


def read_wide(table: StrPath | Frame | Block, item: str, like: Sequence[polars.Series] = ()) -> WideTable:
    """A file or a dataframe as a wide table: every item once, every other column full of numbers."""
    frame, source = read_table(table)
    item, _ = item_column(frame, item, like, source)
    items = distinct_items(frame, item, source, "every item once", REPEATED)
    made = wide_table(frame, source, item, labels_of(frame, item, source), None)
    return replace(made, items=items)


def wide_table(
    frame: polars.DataFrame, source: Source, item: str, labels: Sequence[str], used: frozenset[str] | None
) -> WideTable:
    """The numbers of a frame under the labels, without the names of the items."""
    columns = frame_numbers.float_columns(frame, labels)
    if columns.unread is not None:
        frame_numbers.numbers(frame, columns.unread, source, "label")
    return WideTable((), tuple(labels), columns, source, item, used)


def distinct_items(frame: polars.DataFrame, item: str, source: Source, expected: str, hint: str) -> frames.Names:
    """The names of the items, each of which has one row."""
    names = frames.keys(frame, item, source, "item")
    distinct(names, item, source, expected, hint)
    return frames.Names(names)


def distinct(names: polars.Series, item: str, source: Source, expected: str, hint: str) -> None:
    """Raises at the first row of an item that had one before."""
    if not frames.rising(names) and names.n_unique() < len(names):
        row = int((~names.is_first_distinct()).arg_max() or 0)
        raise InputError(f"item {check.quote(names[row])} a second time", expected, hint, source.at(row, item))


def check_rows(table: WideTable, kind: str, what: str = "probabilities") -> None:
    """Raises at the first cell or row that cannot be used, with its line, and what the numbers look like."""
    plain = "probs" if kind == "percent" else kind
    columns = [table.source.columns.get(label, label) for label in table.labels]
    try:
        check_arrays.distributions(in_kind(table.values, kind), table.source.at, what, plain, columns)
    except InputError as error:
        words, options = looks_like(table, kind, what)
        hint = f"{words or error.hint} {_suspects(table)}"
        raise InputError(error.got, error.expected, hint, error.where, options) from None


def in_kind(values: Float[np.ndarray, "item label"], kind: str) -> Float[np.ndarray, "item label"]:
    """The cells as they are, but percentages as probabilities."""
    return values / 100 if kind == "percent" else values


def renormalised(table: WideTable, kind: str) -> tuple[WideTable, Float[np.ndarray, " row"]]:
    """The table with every row divided by its sum that is off by more than the tolerance."""
    if kind == "logits":
        return table, np.empty(0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        probs = np.exp(table.values) if kind == "log-probs" else in_kind(table.values, kind)
        sums = probs.sum(1)
        sound = np.isfinite(sums) & (sums > 0) & (probs >= 0).all(1)
        off = sound & (np.abs(sums - 1) > check_arrays.SUM_TOLERANCE)
        divided = table.values - np.log(sums)[:, None] if kind == "log-probs" else table.values / sums[:, None]
    cells = np.where(off[:, None], divided, table.values)
    return replace(table, columns=frame_numbers.FloatColumns(list(cells.T), len(cells), None)), sums[off]


NEAR = 0.02  # How far from 1 the sums of rows may be, relatively, that are to look like distributions


def looks_like(table: WideTable, kind: str, what: str) -> tuple[str, tuple[str, ...]]:
    """What the numbers look like, in words, and the options to read them so; empty where they look like nothing."""
    values = table.values
    if kind == "logits" or not values.size or np.isnan(values).any() or (values == np.inf).any():
        return "", ()
    if what == "soft labels" and (values >= 0).all() and (values == np.floor(values)).all():
        return "Whole numbers: if they count votes, read_annotations(path, format='counts') reads them.", ()
    guess = _guess(values, kind)
    if guess is None:
        return "", ()
    words, like = guess
    if what == "soft labels":
        return f"{words}; soft labels must be probabilities: convert the file.", ()
    if like == kind:
        return f"{words}; pass --renormalise (Python: renormalise=True) to divide rows by their sums.", (
            "--renormalise",
        )
    return f"{words}; pass --kind {like} (Python: kind={like!r}).", ("--kind", like)


def _guess(values: Float[np.ndarray, "item label"], kind: str) -> tuple[str, str] | None:
    with np.errstate(over="ignore"):
        sums, exponentials = values.sum(1), np.exp(values).sum(1)
    if (values >= 0).all():
        for total, like, words in ((1.0, "probs", "probabilities"), (100.0, "percent", "percentages")):
            if np.abs(sums / total - 1).max() <= NEAR:
                if like == kind:
                    return f"Rows sum to {sums.min():.6g} to {sums.max():.6g}: these look like rounded {words}", like
                return f"Rows sum to {total:g}: these look like {words}", like
        return None
    if (values <= 0).all() and np.abs(exponentials - 1).max() <= NEAR:
        if kind == "log-probs":
            return "The exponentials sum to about 1: these look like rounded log-probabilities", kind
        return (
            "No number is above 0, and the exponentials of a row sum to 1: these look like log-probabilities",
            "log-probs",
        )
    if np.median(np.abs(sums - 1)) <= NEAR:
        return None  # probabilities with some negative cell, not logits
    return f"Numbers from {values.min():.4g} to {values.max():.4g}: these look like logits", "logits"


def _suspects(table: WideTable) -> str:
    """The columns that may not be labels, for the hint."""
    strange = [] if table.used is None else [label for label in table.labels if label not in table.used]
    if strange:
        return f"No annotator used column {check.shortlist(strange)}: drop it if it is no label."
    return f"Every column but {check.quote(table.item)} is read as a label: {check.shortlist(table.labels)}."
