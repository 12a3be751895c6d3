"""Tables of scores larger than memory: one row for each item and model, read some rows at a time, names as codes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars
from jaxtyping import Bool, Float, Int

from probtruth import check, frame_numbers, frames
from probtruth.errors import InputError
from probtruth.io.tables.batches import Batch, BigTable
from probtruth.types import Partition
from probtruth.types.index import one_each, sort_names

MOST_DIGITS = 18
"""Integers of more digits are sorted by Python."""


@dataclass(frozen=True, eq=False)
class NameCodes:
    """The distinct names of a column; a row's code is the position of its name."""

    column: str
    option: str
    known: polars.Series

    @classmethod
    def of(cls, table: BigTable, column: str, option: str, size: int, ordered: bool = True) -> "NameCodes":
        """From a pass over the column; `ordered` as `sort_names` does, else in the order of first appearance."""
        frames.need_columns(table.columns, {option: column}, table.name)
        read = frames.names
        parts = (read(batch.frame, column, batch.source, option) for batch in table.batches([column], size))
        distinct = _distinct(parts)
        return cls(column, option, sorted_names(distinct) if ordered else distinct)

    def __len__(self) -> int:
        """The number of distinct names."""
        return len(self.known)

    def codes(self, batch: Batch, guess: int) -> Int[np.ndarray, " row"]:
        """The codes of a batch; `guess` is the code of its first row, if the rows go on in order."""
        names = frames.names(batch.frame, self.column, batch.source, self.option)
        places = (guess + np.arange(len(names))) % len(self.known)
        if bool((self.known.gather(places) == names).all()):
            return places
        return frames.positions(names, self.known)


def _distinct(parts: Iterable[polars.Series]) -> polars.Series:
    """The distinct names in the order of first appearance; what waits is joined once it is as long as what is known."""
    known, waiting = polars.Series(dtype=polars.String), []
    for part in parts:
        waiting.append(part.rename("name").unique(maintain_order=True))
        if sum(map(len, waiting)) > len(known):
            known, waiting = polars.concat([known.rename("name"), *waiting]).unique(maintain_order=True), []
    return polars.concat([known.rename("name"), *waiting]).unique(maintain_order=True)


def sorted_names(names: polars.Series) -> polars.Series:
    """As `sort_names`, for a column: by value if every name is a decimal integer, else by code point."""
    integers = names.str.contains(r"^(?:0|-?[1-9][0-9]*)$").all()
    if not integers:
        return names.sort()
    if names.str.len_bytes().max() > MOST_DIGITS:  # type: ignore[operator]
        return polars.Series(names.name, sort_names(names.to_list()), dtype=polars.String)
    return names.gather(names.cast(polars.Int64).arg_sort())


def cells(
    table: BigTable, names: tuple[NameCodes, NameCodes], size: int, *more: str
) -> Iterator[tuple[Batch, Int[np.ndarray, " row"], Int[np.ndarray, " row"]]]:
    """The batches of a table, with more of its columns, and the codes of each row's item and model.

    Errors: `InputError` for an item and a model that stand together twice, with the row.
    """
    items, models = names
    seen = np.zeros((len(models), len(items)), bool)
    guess = 0
    for batch in table.batches([items.column, models.column, *more], size):
        of_item, of_model = items.codes(batch, guess), models.codes(batch, 0)
        guess = int(of_item[-1]) + 1
        _once(seen, of_model, of_item, batch, items, models)
        yield batch, of_item, of_model


def checked_scores(batch: Batch, score: str) -> Float[np.ndarray, " row"]:
    """The scores of a batch.

    Errors: `InputError` for NaN and what is no number, with the row.
    """
    values = frame_numbers.numbers(batch.frame, score, batch.source, "score")
    if np.isnan(values).any():
        where = batch.source.at(int(np.isnan(values).argmax()), score)
        raise InputError("NaN", "a number", "Remove the item or give its score.", where)
    return values


def _once(
    seen: Bool[np.ndarray, "model item"],
    of_model: Int[np.ndarray, " row"],
    of_item: Int[np.ndarray, " row"],
    batch: Batch,
    items: NameCodes,
    models: NameCodes,
) -> None:
    cell = of_model * seen.shape[1] + of_item
    flat = seen.reshape(-1)
    again = flat[cell]
    if not again.any():
        flat[cell] = True
        if np.unique(cell).size == cell.size:
            return
        again = np.ones(len(cell), bool)
        again[np.unique(cell, return_index=True)[1]] = False
    row = int(again.argmax())
    item, model = items.known[int(of_item[row])], models.known[int(of_model[row])]
    raise InputError(
        f"item {check.quote(item)}, model {check.quote(model)} twice",
        "one score for each item and model",
        "Remove the duplicates; scores with replicates are compared in memory.",
        batch.source.at(row),
    )


def per_item(
    table: BigTable, items: NameCodes, column: str, what: str, complete: Bool[np.ndarray, " item"], size: int
) -> Partition:
    """The group (or cluster) of each item that is kept.

    Errors: `InputError` for an item in two of them.
    """
    names = NameCodes.of(table, column, what, size)
    of_item = np.full(len(items), -1)
    guess = 0
    for batch in table.batches([items.column, column], size):
        position, code = items.codes(batch, guess), names.codes(batch, 0)
        guess = int(position[-1]) + 1
        one_each(of_item, position, code, frames.Names(items.known), what, partial(batch.source.at, column=column))
    return Partition.of_used(of_item[complete], names.known.to_list())
