"""Checks of arrays, made once, on the host or where they lie, where data enter. Kernels check nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np

from probtruth.check import MaybeStrings, quote
from probtruth.errors import InputError
from probtruth.kernels.arrays import (
    LabelTable,
    Table,
    exponential,
    first_faults,
    log_softmax,
    on_device,
    some_items,
    to_host,
)
from probtruth.kernels.shapes import LabelFloats

# How far the sum of a row of probabilities may be from 1 (rounding in files with four or more decimals); a little
# more than 0.0001, because 0.9999 itself is no binary fraction, and cells may be float32.
SUM_TOLERANCE = 1.001e-4


def positive_row(values: object, n_labels: int) -> LabelFloats:
    """A prior of positive numbers, one for each label, or one number for all labels; anything else is an error."""
    try:
        row = np.broadcast_to(np.asarray(values, np.float64), (n_labels,)).copy()
    except (TypeError, ValueError):
        row = np.full(n_labels, np.nan)
    if not (np.isfinite(row) & (row > 0)).all():
        raise InputError(
            f"prior {values!r}", f"{n_labels} positive numbers, one for each label, or one number", "Check its length."
        )
    return row


def as_floats(values: object, axes: str, what: str) -> np.ndarray:
    """The values as a float array with one axis for each word of `axes`; float32 stays, all else becomes float64."""
    no_masked(values, what)
    try:
        array = np.asarray(values)
        if array.dtype.kind in "cmMV":
            raise TypeError(f"their type is {array.dtype}")
        if array.dtype != np.float32:
            array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        if not (hasattr(values, "__len__") or hasattr(values, "__array__")):
            got = f"{what} that are not numbers, but a {type(values).__name__}"
            hint = "Give a path, or read it into a dataframe first."
            raise InputError(got, "an array of numbers", hint) from None
        raise InputError(
            f"{what} that are not numbers ({error})", "an array of numbers", "Check for text or ragged rows."
        ) from None
    _need_axes(array, axes, what)
    return array


def distribution(values: object) -> LabelFloats:
    """A truth, one distribution over labels in float64; anything else is an error."""
    row = as_floats(values, "label", "truth").astype(np.float64)
    distributions(row[None], lambda _: "the truth", "truth")
    return row


def as_float_table(values: object, what: str) -> LabelTable:
    """`as_floats` of a table by item and label; an array of JAX stays where it lies, half precision as float32."""
    if not on_device(values):
        return as_floats(values, "item label", what)
    from probtruth.kernels import device

    _need_axes(values, "item label", what)
    if values.dtype.kind == "c":
        raise InputError(f"{what} of type {values.dtype}", "an array of real numbers", "Take the real part.")
    return device.as_float_table(values)


def _need_axes(array: Table, axes: str, what: str) -> None:
    if array.ndim != len(axes.split()):
        one_column = array.ndim == 1 and axes == "item label"
        raise InputError(
            f"{what} with shape {array.shape}",
            f"{len(axes.split())} axes ({axes})",
            "For two labels give both columns: np.stack([1 - p, p], axis=1)." if one_column else "Check its shape.",
        )


def no_masked(values: object, what: str) -> None:
    """Raises at the first masked entry of a NumPy array, or of a list with masked entries or rows."""
    entry = masked_entry(values)
    if entry is not None:
        raise InputError(f"{what} with a masked entry at {entry}", "a number everywhere", "Fill it or drop its item.")


def shape_of(values: Any, what: str) -> tuple[int, ...]:
    """The lengths of the axes; rows of several lengths are an error."""
    try:
        return np.shape(values)
    except ValueError:
        raise InputError(f"{what} in rows of several lengths", "rows of one length", "Check each row.") from None
    except TypeError:
        raise InputError(f"{what} as a {type(values).__name__}", "an array", "Give its values.") from None


def masked_entry(values: object) -> tuple[int, ...] | None:
    """Where the first masked entry stands; NumPy itself would read the number below the mask."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.atleast_1d(np.ma.getmaskarray(values))
        first = tuple(int(axis[0]) for axis in np.nonzero(mask)) if mask.any() else None
        return first and first[: values.ndim]
    listed = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object)
    for row, value in enumerate(values) if listed else ():  # type: ignore[arg-type,var-annotated]
        if isinstance(value, list | tuple | np.ma.MaskedArray):
            inner = masked_entry(value)
            if inner is not None:
                return row, *inner
    return None


def distributions(
    cells: LabelTable,
    where: Callable[[int], str],
    what: str = "probabilities",
    kind: str = "probs",
    labels: MaybeStrings = None,
) -> None:
    """Raises at the first row that is no distribution: NaN, infinite, negative, or a sum other than 1.

    The cells are "probs", which are called `what`, "log-probs", or "logits", which need a softmax.
    """
    what = {"log-probs": "exponentials of log-probabilities", "logits": "logits"}.get(kind, what)
    if 0 in cells.shape:
        raise InputError(f"an empty table of {what}", "at least one item and one label", "Check the file.")
    with np.errstate(over="ignore", invalid="ignore"):
        probs = cells if kind == "probs" else exponential(cells if kind == "log-probs" else log_softmax(cells))
    faults = _faults(probs, SUM_TOLERANCE)
    if not faults:
        return
    fault, row = min(faults.items())
    given, own = (some_items(table, np.array([row]))[0] for table in (cells, probs))
    if kind == "logits":
        raise InputError(f"logits {given.tolist()}", "finite numbers", "Check that row.", where(row))
    if fault == 2:
        raise InputError(
            f"{what} that sum to {own.sum(dtype=np.float64):.6g}",
            f"a sum of 1 (tolerance {SUM_TOLERANCE:.1g})",
            "Divide each row by its sum if that is what you mean; probtruth does so for files of predictions when told "
            "(renormalise=True; command line: --renormalise).",
            where(row),
        )
    column = int(np.argmax(own < 0 if fault else ~np.isfinite(own)))
    hint = "Check that cell; nothing is clipped."
    if fault and kind == "probs" and bool((to_host(cells) > 1).any()):
        hint += " If these are percentages, divide them by 100; if logits, write pt.Predictions.from_logits(models)."
    raise InputError(
        f"{what} {own[column]} for label {quote(labels[column] if labels is not None else column)}",
        "a probability between 0 and 1" if fault else "a finite number",
        hint,
        where(row),
    )


def surely_simplex(probs: LabelTable) -> bool:
    """Whether every row is well within the tolerance."""
    return probs.size > 0 and not _faults(probs, SUM_TOLERANCE / 2)


def _faults(probs: LabelTable, tolerance: float) -> dict[int, int]:
    """The first row of each fault that there is: 0 not finite, 1 negative, 2 another sum."""
    rows = to_host(first_faults(probs, np.float64(tolerance))).tolist()
    return {fault: row for fault, row in enumerate(rows) if row < len(probs)}


TOTALS = ("total", "sum", "count", "votes", "n", "n_votes", "n_annotators", "all")  # of a sum of the others
FEWEST_ROWS = 5  # by which a column of another name is told to be the sum or the largest of others


def may_be_total(name: str, n_rows: int) -> bool:
    """Whether a column that is the sum of the others is so by its name, or in too many rows for chance."""
    return n_rows >= FEWEST_ROWS or name.lower() in TOTALS
