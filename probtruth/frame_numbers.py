"""Columns of dataframes as numbers: float64, never rounded or made infinite, and every refusal names its cell.

Tables of numbers by item and label, with the names that arrays, dataframes and xarray give them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frames import as_array, as_polars, encode, flat, missing, name_text
from probtruth.kernels.arrays import on_device
from probtruth.kernels.host import block_rows

if TYPE_CHECKING:
    import polars

EXACT = 2.0**53  # Up to this size float64 holds every integer


def numbers(frame: "polars.DataFrame", column: str, source: Source, option: str = "score") -> Float[np.ndarray, " row"]:
    """A column as float64; text that is not a number, and blanks, are errors that name the row."""
    import polars

    series = flat(frame, column, source, option)
    values = _floats(series.to_frame()).to_series().cast(polars.Float64)
    bad = values.is_null()
    if bad.any():
        row = int(bad.arg_max() or 0)
        problem = "a blank cell" if series[row] is None else check.quote(series[row])
        hint = "Check that cell." if series[row] is not None else "Fill it in or remove the row."
        raise InputError(problem, "a number", hint, source.at(row, column))
    lost = values.abs() >= EXACT  # where float64 rounds integers, or makes digits infinite
    if lost.any() and not series.dtype.is_float():
        text = series.cast(polars.String).str.strip_chars()
        lost &= text.str.contains("^[+-]?[0-9]+$") | (values.is_infinite() & text.str.contains("[0-9]"))
        if lost.any():
            row = int(lost.arg_max() or 0)
            raise InputError(
                check.quote(series[row]),
                "a number that float64 holds: integers below 2^53, others up to 1.8e308",
                "Check that cell; nothing is rounded or made infinite.",
                source.at(row, column),
            )
    return values.to_numpy()


def _floats(frame: "polars.DataFrame") -> "polars.DataFrame":
    """All columns as floats, which keep their type; null where there is no number."""
    import polars
    from polars import selectors

    numbers = selectors.numeric() | selectors.boolean()
    words = selectors.by_dtype(polars.String, polars.Categorical, polars.Enum)
    return frame.with_columns(
        (numbers - selectors.float()).cast(polars.Float64),
        words.cast(polars.String).str.strip_chars().cast(polars.Float64, strict=False),
        *(polars.lit(None, polars.Float64).alias(name) for name in frame.select(~(numbers | words)).columns),
    )


@dataclass(frozen=True, eq=False)
class FloatColumns:
    """Columns of floats in their own type, and the first of them that `numbers` refuses (None: it accepts all)."""

    columns: Sequence[Float[np.ndarray, " row"]]
    n_rows: int
    unread: str | None

    def block(self, start: int, stop: int) -> Float[np.ndarray, "column some"]:
        """Some rows as float64, column by column."""
        block = np.empty((len(self.columns), stop - start))
        for own, column in zip(block, self.columns, strict=True):
            own[:] = column[start:stop]
        return block

    def rows(self) -> Float[np.ndarray, "row column"]:
        """All rows as float64, by way of blocks that stay in the processor's cache."""
        values, size = np.empty((self.n_rows, len(self.columns))), block_rows(len(self.columns))
        for start in range(0, self.n_rows, size):
            values[start : start + size] = self.block(start, min(start + size, self.n_rows)).T
        return values


def float_columns(frame: "polars.DataFrame", columns: Sequence[str], source: Source | None = None) -> FloatColumns:
    """Several columns as floats; float32 stays. With a source, what is no number is an error."""
    import polars

    # a selection reads `^x$` as a pattern
    given = polars.DataFrame([frame.get_column(name) for name in columns])
    floats = given if all(kind.is_float() for kind in given.dtypes) else _floats(given)
    unread = np.array(floats.null_count().row(0)) > 0
    refused = columns[int(unread.argmax())] if unread.any() else None
    if source is not None and refused is not None:
        numbers(frame, refused, source, "label")
    return FloatColumns([series.to_numpy() for series in floats], floats.height, refused)


@dataclass(frozen=True, eq=False)
class NamedNumbers:
    """A table of numbers, with the names of its rows and columns if it has any."""

    values: object
    items: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None

    def in_order_of(self, first: "NamedNumbers", what: str) -> object:
        """The values with rows and columns in the order of another table with the same names."""
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
    """A table of numbers by item and label: an array, a dataframe, a dict of columns, or an xarray DataArray."""
    if hasattr(table, "dims") and hasattr(table, "coords") and hasattr(table, "values"):
        return _of_xarray(table)
    if not is_frame(table):
        return NamedNumbers(table if on_device(table) else as_array(table))
    frame = as_polars(table)
    columns, items = [column for column in frame.columns if column != item], row_names(table)
    if item in frame.columns:
        codes, names = encode(frame, item, Source(), "item")
        items = tuple(names[code] for code in codes)
    values = float_columns(frame, columns, Source()).rows() if columns else np.zeros((frame.height, 0))
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
    if index is None or not hasattr(index, "to_list"):
        return None
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):  # else rows of a larger frame
        return None
    listed = index.to_list()
    blank = next((row for row, name in enumerate(listed) if missing(name)), None)
    if blank is not None:
        hint = "Drop that row, or name it; reset_index(drop=True) makes the index row numbers."
        raise InputError(f"no name (NaN or None) in the index, row {blank}", "a name for every row", hint)
    return tuple(map(name_text, listed))


def no_frame(listed: object, what: str) -> None:
    """Raises for a dataframe in place of a list by item."""
    if is_frame(listed) and not isinstance(listed, Mapping):
        hint = (
            f"For a table with the columns item and {what[:-1]}: {what}=dict(zip(table['item'], table['{what[:-1]}']))."
        )
        raise InputError(f"a table as {what}", "a list in the order of the items, or {item: name}", hint)


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
