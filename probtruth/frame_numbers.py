"""Columns of dataframes as numbers: float64, never rounded or made infinite, and every refusal names its cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from probtruth import check, check_arrays
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frames import cells, flat, single
from probtruth.kernels.arrays import is_own
from probtruth.kernels.host import block_rows

if TYPE_CHECKING:
    import polars

EXACT = 2.0**53
"""Up to this size float64 holds every integer."""
LONG = 1 << 15
"""Cells of a column that are looked at at once."""


def numbers(frame: "polars.DataFrame", column: str, source: Source, option: str = "score") -> Float[np.ndarray, " row"]:
    """A column as float64; text that is not a number, and blanks, are errors that name the row."""
    import polars

    series = flat(frame, column, source, option)
    if series.dtype.is_numeric() or series.dtype == polars.Boolean:
        values = series.cast(polars.Float64)
    else:
        text = series.cast(polars.String, strict=False).str.strip_chars()
        values = text.cast(polars.Float64, strict=False)
    bad = values.is_null()
    if bad.any():
        row = int(bad.arg_max() or 0)
        problem = "a blank cell" if series[row] is None else check.quote(series[row])
        raise InputError(problem, "a number", "Check that cell.", source.at(row, column))
    _no_overflow(series, values, column, source)
    return values.to_numpy()


def _no_overflow(series: "polars.Series", values: "polars.Series", column: str, source: Source) -> None:
    """Raises for an integer past 2^53, which float64 rounds, and for digits that it makes infinite."""
    import polars

    if series.dtype.is_integer():
        lost = (values.abs() >= EXACT).arg_true()
    elif series.dtype == polars.String:
        digits = series.str.strip_chars()
        lost = ((values.abs() >= EXACT) & digits.str.contains(r"^[+-]?[0-9]+$")).arg_true()
        if not len(lost):
            lost = (values.is_infinite() & digits.str.contains("[0-9]")).arg_true()
    else:
        return
    if len(lost):
        row = int(lost[0])
        raise InputError(
            check.quote(series[row]),
            "a number that float64 holds: integers below 2^53, others up to 1.8e308",
            "Check that cell; nothing is rounded or made infinite.",
            source.at(row, column),
        )


@dataclass(frozen=True, eq=False)
class FloatColumns:
    """Columns of floats in their own type, and the first of them that `numbers` refuses (None: it accepts all)."""

    columns: Sequence[Float[np.ndarray, " row"]]
    n_rows: int
    unread: str | None

    def rows(self, start: int, stop: int) -> Float[np.ndarray, "row column"]:
        """Some rows as float64, a block of them at a time, which stays in the processor's cache."""
        size = min(block_rows(len(self.columns)), stop - start)
        values, across = np.empty((stop - start, len(self.columns))), np.empty((len(self.columns), size))
        for low in range(start, stop, size):
            high = min(low + size, stop)
            for own, column in zip(across, self.columns, strict=True):
                own[: high - low] = column[low:high]
            values[low - start : high - start] = across[:, : high - low].T
        return values

    def of(self, rows: Int[np.ndarray, " some"], order: Int[np.ndarray, " column"]) -> "FloatColumns":
        """Some rows and columns in another order; the columns themselves where all rows stay in theirs."""
        whole = is_own(rows, self.n_rows)
        chosen = [self.columns[at] if whole else self.columns[at][rows] for at in order.tolist()]
        return FloatColumns(chosen, len(rows), self.unread)

    def surely_simplex(self) -> bool:
        """Whether every row is a distribution over the columns beyond doubt; see `check_arrays.surely_simplex`."""
        blocks = (slice(start, start + LONG) for start in range(0, self.n_rows, LONG))
        sure = (check_arrays.columns_surely_simplex([column[block] for column in self.columns]) for block in blocks)
        return self.n_rows > 0 and all(sure)

    def all_rows(self) -> Float[np.ndarray, "row column"]:
        """All rows as float64."""
        return self.rows(0, self.n_rows)


def matrix(frame: "polars.DataFrame", columns: Sequence[str]) -> tuple[Float[np.ndarray, "row column"], str | None]:
    """Several columns as float64, all at once, and the first column that `numbers` refuses (None: it accepts all)."""
    floats = float_columns(frame, columns)
    return floats.all_rows(), floats.unread


def float_columns(frame: "polars.DataFrame", columns: Sequence[str]) -> FloatColumns:
    """Several columns as floats; float32 stays."""
    import polars
    from polars import selectors

    chosen = polars.DataFrame([frame.get_column(name) for name in columns])  # a selection reads `^x$` as a pattern
    kinds = chosen.schema
    if all(kind in (polars.Float32, polars.Float64) for kind in kinds.values()):
        return _float_columns(chosen, columns)
    for column, kind in kinds.items():
        if not (kind == polars.String or kind.is_numeric() or kind == polars.Boolean):
            read = single(kind) and not kind.is_temporal()
            text = cells(chosen, column).cast(polars.String, strict=False) if read else polars.lit(None)
            chosen = chosen.with_columns(text.cast(polars.String).alias(column))
    flat = chosen.with_columns(
        ((selectors.numeric() - selectors.float()) | selectors.boolean()).cast(polars.Float64),
        selectors.string().str.strip_chars().cast(polars.Float64, strict=False),
    )
    return _float_columns(flat, columns)


def _float_columns(flat: "polars.DataFrame", columns: Sequence[str]) -> FloatColumns:
    """Those of a frame of floats."""
    unread = np.array(flat.null_count().row(0)) > 0
    refused = columns[int(unread.argmax())] if unread.any() else None
    return FloatColumns([series.to_numpy() for series in flat], flat.height, refused)
