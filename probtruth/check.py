"""Checks of values, made once, where data enter: on the host, or where the array lies. Kernels check nothing."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

import numpy as np
from jaxtyping import Float, Int

from probtruth.errors import InputError
from probtruth.kernels.arrays import Table, on_device

if TYPE_CHECKING:
    from jax import Array

SUM_TOLERANCE = 1e-4
"""How far the sum of a row of probabilities may be from 1 (rounding in files with four or more decimals)."""


@dataclass(frozen=True)
class Source:
    """The origin of a table, so that an error can point to the line of a file or the row of a frame.

    Rows of a text file have a line: the one in `lines` for each row, else consecutive lines from `first_line`.
    """

    name: str = "the table"
    first_line: int | None = None
    lines: Int[np.ndarray, " row"] | None = field(default=None, compare=False, repr=False)

    def at(self, row: int | None = None, column: str | None = None) -> str:
        """The location in words: file, line (or row, counted from 1) and column."""
        words = [self.name]
        if row is not None:
            line = self.lines[row] if self.lines is not None else self.first_line and self.first_line + row
            words.append(f"row {row + 1}" if line is None else f"line {line}")
        if column is not None:
            words.append(f"column {quote(column)}")
        return ", ".join(words)


LONGEST = 60
"""How many characters of a name or cell a message shows."""


def quote(value: object) -> str:
    """The repr of a name or cell, shortened if it is long."""
    text = value if isinstance(value, str) else str(value)
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r}... ({len(text)} characters)"


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """`Did you mean 'x'?` if an option is close, else the list of options."""
    options = [str(option) for option in options]
    short = [option for option in options if len(option) <= LONGEST][:1000]
    close = get_close_matches(word, short, n=1) if len(word) <= LONGEST else []
    return f"Did you mean {close[0]!r}?" if close else f"The options are: {shortlist(options)}."


def shortlist(names: Iterable[object], most: int = 8) -> str:
    """The first names, quoted, and the number of the others."""
    listed = list(names)
    text = ", ".join(map(quote, listed[:most]))
    return text + (f" and {len(listed) - most} more" if len(listed) > most else "")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 item`, `2 items`, `3,570 annotations`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_of[S: str](value: object, options: Sequence[S], what: str) -> S:
    """The value, if it is one of the options; else an error with the nearest of them."""
    if isinstance(value, str) and value in options:
        return cast(S, value)
    raise InputError(f"{what} {quote(value)}", f"one of {shortlist(options, 40)}", did_you_mean(str(value), options))


def choose(option: str, value: str, flag: str) -> str:
    """The hint to choose one of several: the argument in Python, and the option of the command line."""
    return f"Choose one: {option}={value[:LONGEST]!r} (command line: {flag} {shlex.quote(value[:LONGEST])})."


def unique(names: Sequence[str], what: str) -> None:
    """Raises if a name occurs twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{what} {shortlist(twice)} more than once", f"every {what} once", f"Rename or remove the repeated {what}."
        )


def checks_itself[F: Callable[..., object]](function: F) -> F:
    """Marks a function that checks its own arguments, so that its own messages appear when types are checked at run
    time."""
    function.__no_type_check__ = True  # type: ignore[attr-defined]
    return function


def whole(value: object, least: int, what: str) -> int:
    """An integer of at least `least`; anything else is an error."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise InputError(f"{what} {value!r}", f"an integer of at least {least}", f"Check {what}.")


def non_negative(value: object, what: str) -> float:
    """A finite number of at least 0; anything else is an error."""
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value) and value >= 0:
        return float(value)
    raise InputError(f"{what} {value!r}", "a number of at least 0", f"Check {what}.")


def positive_row(values: object, n_labels: int, what: str) -> Float[np.ndarray, " label"]:
    """Positive numbers, one for each label, or one number for all labels; anything else is an error."""
    try:
        row = np.broadcast_to(np.asarray(values, np.float64), (n_labels,)).copy()
    except (TypeError, ValueError):
        row = np.full(n_labels, np.nan)
    if not (np.isfinite(row) & (row > 0)).all():
        raise InputError(
            f"{what} {values!r}", f"{n_labels} positive numbers, one for each label, or one number", "Check its length."
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
        raise InputError(
            f"{what} that are not numbers ({error})", "an array of numbers", "Check for text or ragged rows."
        ) from None
    _need_axes(array, axes, what)
    return array


def as_float_table(values: object, what: str) -> Float[Table, "item label"]:
    """`as_floats` of a table by item and label; an array of JAX stays where it lies, half precision as float32."""
    if not on_device(values):
        return as_floats(values, "item label", what)
    from probtruth.kernels import device_tables

    _need_axes(values, "item label", what)
    if values.dtype.kind == "c":
        raise InputError(f"{what} of type {values.dtype}", "an array of real numbers", "Take the real part.")
    return device_tables.as_float_table(values)


def _need_axes(array: Table, axes: str, what: str) -> None:
    if array.ndim != len(axes.split()):
        raise InputError(
            f"{what} with shape {array.shape}", f"{len(axes.split())} axes ({axes})", "Check the shape of the array."
        )


def no_masked(values: object, what: str) -> None:
    """Raises at the first masked entry of a NumPy array, or of a list with masked entries or rows."""
    entry = masked_entry(values)
    if entry is not None:
        raise InputError(f"{what} with a masked entry at {entry}", "a number everywhere", "Fill it or drop its item.")


def masked_entry(values: object) -> tuple[int, ...] | None:
    """Where the first masked entry stands; NumPy itself would read the number below the mask."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.atleast_1d(np.ma.getmaskarray(values))
        if values.ndim == 0:
            return () if mask.any() else None
        return tuple(int(axis[0]) for axis in np.nonzero(mask)) if mask.any() else None
    listed = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object)
    for row, value in enumerate(values) if listed else ():  # type: ignore[arg-type,var-annotated]
        if isinstance(value, list | tuple | np.ma.MaskedArray):
            inner = masked_entry(value)
            if inner is not None:
                return row, *inner
    return None


def length(got: int, wanted: int, what: str) -> None:
    """Raises if an array and its index have different lengths."""
    if got != wanted:
        raise InputError(
            f"{got} {what}",
            f"{wanted}",
            f"Arrays follow the order of the other side; give {what.rstrip('s')} names to align by name instead.",
        )


def simplex(
    probs: Float[Table, "item label"], what: str, where: Callable[[int], str], labels: Sequence[str] | None = None
) -> None:
    """Raises at the first row that is not a distribution: NaN, infinite, negative, above 1, or a sum other than 1."""

    if probs.shape[-1] == 0 or probs.shape[0] == 0:
        raise InputError(f"an empty table of {what}", "at least one item and one label", "Check the file.")
    if on_device(probs):
        _rows_there(probs, "probs", lambda row, at: simplex(row, what, at, labels), where)
        return

    def cell(bad: np.ndarray, expected: str) -> None:
        if bad.any():
            row, column = (int(axis[0]) for axis in np.nonzero(bad))
            name = labels[column] if labels is not None else str(column)
            raise InputError(
                f"{what} {probs[row, column]} for label {quote(name)}",
                expected,
                "Check that cell; nothing is clipped.",
                where(row),
            )

    if surely_simplex(probs):
        return
    cell(~np.isfinite(probs), "a finite number")
    cell(probs < 0, "a probability between 0 and 1")
    totals = probs.sum(-1, dtype=np.float64)
    off = np.abs(totals - 1) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"{what} that sum to {totals[row]:.6g}",
            f"a sum of 1 (tolerance {SUM_TOLERANCE:g})",
            "Divide each row by its sum if that is what you mean; probtruth does so for files of predictions when told "
            "(renormalise=True; command line: --renormalise).",
            where(row),
        )


def exponentials(log_probs: Float[Table, "item label"], what: str, where: Callable[[int], str]) -> None:
    """`simplex` of the exponentials of a table."""
    if on_device(log_probs):
        _rows_there(log_probs, "log-probs", lambda row, at: exponentials(row, what, at), where)
        return
    with np.errstate(over="ignore"):
        simplex(np.exp(log_probs), what, where)


def logits(array: Float[Table, "item label"], where: Callable[[int], str]) -> None:
    """Raises at the first row that has no softmax: NaN, infinity, or minus infinity alone."""
    if on_device(array):
        _rows_there(array, "logits", logits, where)
        return
    bad = np.isnan(array).any(-1) | (array == np.inf).any(-1) | (array == -np.inf).all(-1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"logits {array[row].tolist()}", "finite numbers", "Check that row.", where(row))


def _rows_there(
    cells: "Array", kind: str, refuse: Callable[[np.ndarray, Callable[[int], str]], None], where: Callable[[int], str]
) -> None:
    """Checks a table on devices: three numbers come back, and where a row is faulty that row, which is then refused."""
    from probtruth.kernels.device_tables import faulty_row

    if not cells.size:
        refuse(np.zeros(cells.shape), where)
        return
    fault = faulty_row(cells, kind, SUM_TOLERANCE)
    if fault is not None:
        refuse(fault[1][None], lambda _: where(fault[0]))


def surely_simplex(probs: Float[Table, "item label"]) -> bool:
    """Whether every row is well within the tolerance, in two quick passes; False means that `simplex` must decide."""
    if on_device(probs):
        from probtruth.kernels import device_tables

        return device_tables.surely_simplex(probs, SUM_TOLERANCE / 2)
    if not probs.size or not probs.min() >= 0:
        return False
    totals = np.einsum("ij->i", probs, dtype=np.float64)
    return bool(np.abs(totals - 1).max() <= SUM_TOLERANCE / 2)  # NaN and infinities fail one of the two


def one_hot(values: object, n_labels: int, what: str) -> Float[np.ndarray, "item label"]:
    """Integer labels as rows with a single 1; anything but integers from 0 to n_labels - 1 is an error."""
    no_masked(values, what)
    array = np.asarray(values)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"{what} of type {array.dtype} and shape {array.shape}",
            "one integer for each item",
            "Give positions of labels, from 0.",
        )
    bad = (array < 0) | (array >= n_labels)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"label {array[row]}", f"an integer from 0 to {n_labels - 1}", "Check n_labels.", f"{what}, item {row}"
        )
    rows: np.ndarray = np.eye(n_labels)[array]
    return rows


_STRANDED: set[int] = set()
"""Processes that were forked from one in which JAX had started its threads, which a fork leaves behind."""


def _note_fork() -> None:
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "backends_are_initialized", bool)():
        _STRANDED.add(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def own_threads() -> None:
    """Raises in a process that would wait forever for threads of JAX that its parent has and it has not."""
    if os.getpid() in _STRANDED:
        raise InputError(
            "a process that was forked after JAX had computed in its parent",
            "a process that was started anew, since JAX's threads do not survive a fork",
            "Use multiprocessing.get_context('spawn') (joblib's default does), or compute nothing before you fork.",
        )
