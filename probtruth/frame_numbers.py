"""Columns of dataframes as numbers: float64, never rounded or made infinite, and every refusal names its cell."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frames import cells, flat, single

if TYPE_CHECKING:
    import polars

EXACT = 2.0**53
"""Up to this size float64 holds every integer."""
BLOCK = 4096
"""Rows that are joined at once."""


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


def matrix(frame: "polars.DataFrame", columns: Sequence[str]) -> tuple[Float[np.ndarray, "row column"], str | None]:
    """Several columns as float64, all at once, and the first column that `numbers` refuses (None: it accepts all)."""
    import polars
    from polars import selectors

    chosen = frame.select(selectors.by_name(*columns))  # as text `*` and `^x$` would stand for others
    for column, kind in chosen.schema.items():
        if not (kind == polars.String or kind.is_numeric() or kind == polars.Boolean):
            read = single(kind) and not kind.is_temporal()
            text = cells(chosen, column).cast(polars.String, strict=False) if read else polars.lit(None)
            chosen = chosen.with_columns(text.cast(polars.String).alias(column))
    flat = chosen.with_columns(
        ((selectors.numeric() - selectors.float()) | selectors.boolean()).cast(polars.Float64),
        selectors.string().str.strip_chars().cast(polars.Float64, strict=False),
    )
    unread = np.array(flat.null_count().row(0)) > 0
    return _by_rows(flat), columns[int(unread.argmax())] if unread.any() else None


def _by_rows(frame: "polars.DataFrame") -> Float[np.ndarray, "row column"]:
    """Columns of floats as one array, a block of rows at a time, which stays in the processor's cache."""
    columns = [series.to_numpy() for series in frame]
    values = np.empty((frame.height, len(columns)))
    for start in range(0, frame.height, BLOCK):
        block = slice(start, start + BLOCK)
        for position, column in enumerate(columns):
            values[block, position] = column[block]
    return values
