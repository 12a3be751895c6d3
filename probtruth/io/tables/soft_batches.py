"""Soft labels of many items: read some rows at a time, their names kept in a column and not as Python's text."""

from pathlib import Path

import numpy as np
import polars
from jaxtyping import Integer

from probtruth import check, frames
from probtruth.check import Source
from probtruth.io.tables.batches import can_stream, open_table, rows_within
from probtruth.io.tables.wide import cells, labels_of
from probtruth.io.truth import noted, read_soft
from probtruth.types import Truth
from probtruth.types.index import Index, positions, sort_names


def read_many_soft(path: str | Path, item: str = "item", estimand: str | None = None, memory: float = 2e9) -> Truth:
    """As `read_soft`, for as many items as there are; `memory` (bytes) is what a batch may take.

    Files other than Parquet and Arrow are read whole.
    """
    if not can_stream(path):
        return read_soft(path, item, estimand)
    table = open_table(path)
    labels = sort_names(labels_of(table.columns, item, Source(table.name)))
    size = rows_within(memory, len(labels))
    names = frames.compact(table.names(item, size))
    order = _order(names)
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
        check.one_of(kind, ("distribution", "class"), "estimand")
        written = [column for column in table.columns if column != item]
        as_written = written == list(labels) and bool((order[1:] > order[:-1]).all())
        return Truth(probs, Index(frames.Names(ordered), labels), kind, "given"), as_written

    return noted(path if Path(path).is_file() else "", table.name, estimand, build)


def _order(names: polars.Series) -> Integer[np.ndarray, " item"]:
    """The rows in the order of `sort_names`."""
    if bool((names[1:] > names[:-1]).all()) and not _all_digits(names):
        return np.arange(len(names), dtype=np.uint32)
    if not _all_digits(names):
        return names.arg_sort().to_numpy()
    listed = names.to_list()
    return positions(listed, sort_names(listed))


def _all_digits(names: polars.Series) -> bool:
    """Whether all names are text of digits, and so perhaps integers of more than 64 bits, which Python has to sort."""
    return names.dtype == polars.String and bool(names.str.contains("^-?[0-9]+$").all())
