"""Tables of numbers by item and label, with the names that arrays, dataframes and xarray give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frame_numbers import matrix, numbers
from probtruth.frames import as_array, as_polars, encode, name_text
from probtruth.kernels.arrays import on_device


@dataclass(frozen=True, eq=False)
class NamedNumbers:
    """A table of numbers, with the names of its rows and columns if it has any."""

    values: object
    items: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None

    def in_order_of(self, first: "NamedNumbers", what: str) -> object:
        """The values with rows and columns in the order of another table with the same names.

        Errors: `InputError` if the names differ.
        """
        values: Any = self.values
        for axis, (own, other) in enumerate(((self.items, first.items), (self.labels, first.labels))):
            if own == other or own is None or other is None:
                continue
            if sorted(own) != sorted(other):
                odd = sorted(set(own) ^ set(other))
                raise InputError(
                    f"{what} with other {('items', 'labels')[axis]} than the first model ({check.shortlist(odd, 4)})",
                    "the same names for every model",
                    "Keep the rows and columns that all models have; `read_predictions` does so for files.",
                )
            position_of = {name: position for position, name in enumerate(own)}
            values = np.take(values, [position_of[name] for name in other], axis)
        return values


def labelled(table: object, item: str = "item") -> NamedNumbers:
    """A table of numbers by item and label: an array, a dataframe, a dict of columns, or an xarray DataArray.

    An array of JAX stays where it lies.

    A dataframe's columns are labels, except a column `item`, which names the items (as does a pandas index that was
    set). Names that a library made up (0, 1, ... or column_0, column_1, ...) do not count.
    """
    if hasattr(table, "dims") and hasattr(table, "coords") and hasattr(table, "values"):
        return _of_xarray(table)
    if not is_frame(table):
        return NamedNumbers(table if on_device(table) else as_array(table))
    frame = as_polars(table)
    columns, items = [column for column in frame.columns if column != item], row_names(table)
    if item in frame.columns:
        codes, names = encode(frame, item, Source(), "item")
        items = tuple(names[code] for code in codes)
    values, unread = matrix(frame, columns) if columns else (np.zeros((frame.height, 0)), None)
    if unread is not None:
        numbers(frame, unread, Source(), "label")
    made_up = any(columns == [f"{start}{n}" for n in range(len(columns))] for start in ("", "column_"))
    return NamedNumbers(values, items, None if made_up else tuple(columns))


def is_frame(table: object) -> bool:
    """Whether it is a dataframe, or a dict of columns, rather than an array: it has columns with names."""
    if isinstance(table, Mapping):
        return True
    if isinstance(table, (np.ndarray, list, tuple, str, bytes)):
        return False
    return any(hasattr(table, sign) for sign in ("collect_schema", "column_names", "columns"))


def row_names(table: object) -> tuple[str, ...] | None:
    """The names that a pandas index gives to the rows of a frame or series; None for row numbers, and anything else."""
    index = getattr(table, "index", None) if type(table).__module__.startswith("pandas") else None
    if index is None or not hasattr(index, "to_list") or type(index).__name__ in ("RangeIndex", "MultiIndex"):
        return None
    return tuple(map(name_text, index.to_list()))


def _of_xarray(table: Any) -> NamedNumbers:
    if len(table.dims) == 2 and "item" in table.dims and table.dims[1] == "item":
        table = table.transpose()
    if len(table.dims) != 2:
        return NamedNumbers(table.values)
    rows, columns = (
        tuple(name_text(name) for name in table.coords[axis].values.tolist()) if axis in table.coords else None
        for axis in table.dims
    )
    return NamedNumbers(table.values, rows, columns)
