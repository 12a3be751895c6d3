"""Columns of dataframes as numbers: float64, never rounded or made infinite, and every refusal names its cell.

Tables of numbers by item and label, with the names that arrays, dataframes and xarray give them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from jaxtyping import Float
from polars import DataFrame, Series, String

from probtruth import check
from probtruth.check import MaybeStrings, Source, Strings, Texts, quote, shortlist, unique
from probtruth.check_arrays import no_masked
from probtruth.errors import InputError
from probtruth.frames import (
    EXACT,
    as_array,
    as_one,
    as_polars,
    blank,
    flat,
    has_fields,
    is_records,
    missing,
    name_text,
    named,
    names,
)
from probtruth.kernels.arrays import on_device
from probtruth.kernels.shapes import RowFloats

# What a reader takes for a number, but no program: with a percent sign, thousands apart, a decimal comma.
MARKED = r"\s*[+-]?(\d+(,\d{3})*(\.\d*)?\s*%|\d{1,3}(,\d{3})+(\.\d*)?|\d*,\d+)\s*"


def numbers(
    frame: DataFrame, column: str, source: Source, option: str = "score", hint: str = "Check that cell."
) -> RowFloats:
    """A column as float64; text that is not a number, and blanks, are errors that name the row."""
    series = flat(frame, column, source, option)
    values = numeric(series).cast(polars.Float64)
    bad = values.is_null()
    if bad.any():
        row = int(bad.arg_max() or 0)
        cell = None if blank(series[row : row + 1]).all() else series[row]
        advice = "Fill it in or remove the row." if cell is None else as_plain_number(cell) or hint
        raise InputError("a blank cell" if cell is None else quote(cell), "a number", advice, source.at(row, column))
    lost = values.abs() >= EXACT  # where float64 rounds integers, or makes digits infinite
    if lost.any() and not series.dtype.is_float():
        text = series.cast(String).str.strip_chars()
        lost &= text.str.contains("^[+-]?[0-9]+$") | (values.is_infinite() & text.str.contains("[0-9]"))
        if lost.any():
            row = int(lost.arg_max() or 0)
            raise InputError(
                quote(series[row]),
                "a number that float64 holds: integers below 2^53, others up to 1.8e308",
                "Check that cell; nothing is rounded or made infinite.",
                source.at(row, column),
            )
    return values.to_numpy()


def as_plain_number(cell: str) -> str:
    """How to write what is a number to a reader: 63.7%, 1,637.0, 0,5; empty for anything else."""
    text = cell.strip()
    if re.fullmatch(MARKED, text) is None:
        return ""
    if text.endswith("%"):
        return f"Write the whole column without the percent sign ({text.rstrip(' %')})."
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", text):
        return f"Write the whole column without commas between thousands ({text.replace(',', '')})."
    return f"Write the whole column with decimal points ({text.replace(',', '.')})."


def numeric(column: Series) -> Series:
    """A column as floats, which keep their type; null where there is no number."""
    kind = column.dtype
    if isinstance(kind, String):  # first, because a table may have very many such columns
        numbers = column.cast(polars.Float64, strict=False)
        if numbers.null_count() == column.null_count():
            return numbers
        stripped = column.alias("cells").str.strip_chars()  # blanks around a number, or no number
        numbers = stripped.cast(polars.Float64, strict=False)
        if numbers.null_count() == len(numbers):
            words = stripped.str.to_lowercase()
            if words.filter(words != "").is_in(["true", "false"]).all():  # as a frame with truth values is written
                numbers = words.replace_strict({"true": 1.0, "false": 0.0}, default=None, return_dtype=polars.Float64)
        return numbers.alias(column.name)
    if kind.is_float():
        return column
    if kind.is_numeric() or kind == polars.Boolean:
        return column.cast(polars.Float64)
    if kind in (polars.Categorical, polars.Enum):
        return numeric(column.cast(String))
    return Series(column.name, [None] * len(column), polars.Float64)


def float_columns(frame: DataFrame, columns: Strings, source: Source | None = None) -> DataFrame | None:
    """Several columns as floats; float32 stays. None where one is no number, which with a source is an error."""
    made = []
    for name in columns:
        floats = numeric(frame.get_column(name))
        if floats.null_count():
            if source is not None:
                numbers(frame, name, source, "label")
            return None
        made.append(floats)
    return DataFrame(made)


def as_matrix(floats: DataFrame) -> Float[np.ndarray, "row column"]:
    """Columns of floats as one array of float64, column by column in memory."""
    return floats.to_numpy().astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class NamedNumbers:
    """A table of numbers, with the names of its rows and columns; None where they have positions only."""

    values: object
    items: MaybeStrings = None
    labels: MaybeStrings = None

    def in_order_of(self, names: "NamedNumbers", what: str) -> "NamedNumbers":
        """The same with rows and columns in the order of other names, which those without names take."""
        values: Any = self.values
        for axis, side in enumerate(SIDES):
            own, wanted = getattr(self, side), getattr(names, side)
            if own is None or wanted is None or own == wanted:
                continue
            if sorted(own) != sorted(wanted):
                odd = sorted({*own} ^ {*wanted})
                raise InputError(
                    f"{what} with the {side} {shortlist(own, 4)} (others: {shortlist(odd, 4)})",
                    f"those of the first table or of {side}=: {shortlist(wanted, 4)}",
                    f"Names go before positions: rename them, leave {side}= out, or keep what all tables have, as "
                    "`read_predictions` does.",
                )
            position_of = {name: position for position, name in enumerate(own)}
            rows = np.array([position_of[name] for name in wanted])
            values = values[rows] if axis == 0 else values[:, rows]
        items = self.items if names.items is None else names.items
        labels = self.labels if names.labels is None else names.labels
        return NamedNumbers(values, items, labels)


SIDES = ("items", "labels")  # The axes of a table that may have names


def labelled(table: object) -> NamedNumbers:
    """A table of numbers by item and label: an array, a Series, a dataframe, a dict of columns, or a DataArray."""
    if isinstance(table, NamedNumbers):
        return table
    table = as_one(table)
    if is_array_with_names(table):
        return _of_xarray(table)
    if not is_frame(table):
        values = table if on_device(table) else as_array(table)
        items = row_names(table)
        name = getattr(table, "name", None) if is_series(table) else None
        of_one = (name,) if isinstance(name, str) and name else None
        return NamedNumbers(values if items is None else np.asarray(values), items, of_one)
    frame = as_polars(table)
    columns = [column for column in frame.columns if column != "item"]
    items = row_names(table)
    if "item" in frame.columns:
        items = tuple(names(frame, "item", Source(), "item"))
    floats = float_columns(frame, columns, Source()) if columns else None
    values = np.zeros((frame.height, 0)) if floats is None else np.ascontiguousarray(as_matrix(floats))
    return NamedNumbers(values, items, column_names(table, columns))


def is_array_with_names(table: object) -> bool:
    """Whether it is an array of xarray."""
    return all(hasattr(table, sign) for sign in ("dims", "coords", "values")) and not hasattr(table, "data_vars")


def is_series(table: object) -> bool:
    """Whether it is one column of pandas or polars."""
    return type(table).__name__ == "Series" and hasattr(table, "to_frame")


def is_frame(table: object) -> bool:
    """Whether it is a dataframe, or a dict of columns, rather than an array: it has columns with names."""
    if isinstance(table, Mapping) or is_records(table) or has_fields(table):
        return True
    return any(hasattr(table, sign) for sign in ("collect_schema", "column_names", "columns", "data_vars"))


def column_names(table: object, columns: Strings) -> Texts | None:
    """The names of a frame's columns; None for those of an array that was made a frame."""
    pandas_table: Any = table
    own = pandas_table.columns if type(table).__module__.startswith("pandas") else None
    unnamed = _counts_rows(own) or [*columns] == [f"column_{n}" for n in range(len(columns))]
    return None if unnamed else named(columns)


def row_names(table: object) -> Texts | None:
    """The names that an index of pandas, or the coordinate of an array of xarray, gives to the rows; None for none."""
    if is_array_with_names(table):
        values: Any = table
        return _coordinate(values, values.dims[0]) if values.ndim else None
    index = getattr(table, "index", None) if type(table).__module__.startswith("pandas") else None
    if index is None or _counts_rows(index):
        return None
    return names_in(index.to_list())


def levels(table: Any) -> dict[str, object]:
    """The levels, by name, of the index of a Series, or the coordinate of an array with one axis."""
    if is_array_with_names(table):
        (axis,) = table.dims
        names_of_rows = _coordinate(table, axis)
        return {} if names_of_rows is None else {str(axis): list(names_of_rows)}
    index = getattr(table, "index", None)
    if index is None or None in index.names:
        return {}
    return {name_text(name): index.get_level_values(name).to_list() for name in index.names}


def _counts_rows(index: Any) -> bool:
    """Whether an index of pandas holds positions; other ranges are rows of a larger frame."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def names_in(listed: Sequence[object]) -> Texts:
    """Values of Python as names; a missing one is an error."""
    for row, value in enumerate(listed):
        if missing(value):
            raise InputError(
                f"no name (NaN or None) in the index, row {row}",
                "a name for every row",
                "Drop that row, or name it; reset_index(drop=True) makes the index row numbers.",
            )
    return named(listed)


def by_name(listed: object, names: MaybeStrings, what: str) -> object:
    """What is said of each item as a mapping by its name, of a Series whose index holds names, or else as a list."""
    has_index = is_series(listed) or is_array_with_names(listed)
    if listed is None or (names is None and not has_index and not isinstance(listed, Mapping)):
        return listed  # the design says what is wrong with weights without names
    if isinstance(listed, Mapping):
        index: MaybeStrings = names_in([*listed])
        values = [*listed.values()]
    else:
        if is_frame(listed):
            raise InputError(
                f"a table as {what}",
                "a list in the order of the items, or {item: name}",
                f"For a table with the columns item and {what[:-1]}: "
                f"{what}=dict(zip(table['item'], table['{what[:-1]}'])).",
            )
        if not has_index:
            no_masked(listed, what)
            values = check.listed(listed, what)
            array = np.asarray(listed) if hasattr(listed, "__array__") else np.array(values, dtype=object)
            return [*array.ravel()]
        index = row_names(listed)
        values = np.asarray(listed).tolist()
        if index is not None and names is not None and set(index).isdisjoint(names):
            raise InputError(
                f"{what} as a Series with the index {shortlist(index, 3)}",
                f"an index of the names ({shortlist(names, 3)}), or a plain range",
                f"Pass {what}.to_list() if it stands in the right order, or set its index.",
            )
    if index is None:
        return values
    unique(index, f"name in {what}")
    return dict(zip(index, values, strict=True))


def _of_xarray(table: Any) -> NamedNumbers:
    if table.dims[1:] == ("item",):
        table = table.transpose()
    of_axes = [_coordinate(table, axis) for axis in table.dims]
    return NamedNumbers(table.values, *of_axes[:2])


def _coordinate(table: Any, axis: str) -> Texts | None:
    if axis not in table.coords:
        return None
    values = table.coords[axis].values
    return names_in([*values] if values.dtype.kind == "M" else values.tolist())  # a list of times would be integers
