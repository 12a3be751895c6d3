"""Checks of names, numbers and options, made once, where data enter, and the words of their errors.

Arrays are checked in `check_arrays`. This module loads no array library: the help of the command line needs it.
"""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, cast

from probtruth.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Int


@dataclass(frozen=True)
class Source:
    """The origin of a table, so that an error can point to the line of a file or the row of a frame.

    Rows of a text file have a line: the one in `lines` for each row, else consecutive lines from `first_line`.
    `columns` are the origin's own names of columns that are known by others here.
    """

    name: str = "the table"
    first_line: int | None = None
    lines: "Int[np.ndarray, ' row'] | None" = field(default=None, compare=False, repr=False)
    columns: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def at(self, row: int | None = None, column: str | None = None) -> str:
        """The location in words: file, line (or row, counted from 1) and column."""
        words = [self.name]
        if row is not None:
            line = self.lines[row] if self.lines is not None else self.first_line and self.first_line + row
            words.append(f"row {row + 1}" if line is None else f"line {line}")
        if column is not None:
            words.append(f"column {quote(self.columns.get(column, column))}")
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
    near = get_close_matches(word, short) if len(word) <= LONGEST else []
    close = [one for one in near if one[:1].lower() == word[:1].lower()]
    close += get_close_matches(word[:LONGEST], near, n=1, cutoff=0.7)
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
    """An integer of at least `least` that fits into 32 bits; anything else is an error."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{what} {value!r}", f"an integer of at least {least}", "Leave it out for the default.")
    if int(value) >= 2**31:
        raise InputError(f"{what} {value!r}", f"an integer below {2**31:,}", "Leave it out for the default.")
    return int(value)


def finite_numbers(names: Iterable[str], distinct: bool = False) -> list[float]:
    """The numbers that names are; 'nan' and 'inf' are text.

    Errors: `ValueError` where a name is not a finite number, or two are the same one and `distinct` is set.
    """
    numbers = [float(name) for name in names]
    if not all(map(isfinite, numbers)):
        raise ValueError("a name that is not a finite number")
    if distinct and len(set(numbers)) < len(numbers):
        raise ValueError("two names of the same number")
    return numbers


def listed(names: object, what: str) -> list[object]:
    """Names in a list; anything but a list of them (a single text, a set, a number) is an error."""
    scalar = getattr(names, "ndim", 1) == 0  # an array without axes says that it can be iterated over
    if isinstance(names, Iterable) and not scalar and not isinstance(names, (str, bytes, Mapping, Set)):
        return list(names)
    raise InputError(f"{what} as a {type(names).__name__}", f"a list of {what}", f"Give {what}=[...] in order.")


def non_negative(value: object, what: str) -> float:
    """A finite number of at least 0; anything else is an error."""
    if isinstance(value, Real) and isfinite(value) and float(value) >= 0:
        return float(value)
    raise InputError(f"{what} {value!r}", "a number of at least 0", f"Check {what}.")


def length(got: int, wanted: int, what: str) -> None:
    """Raises if an array and its index have different lengths."""
    if got != wanted:
        raise InputError(
            f"{got} {what}",
            f"{wanted}",
            f"Arrays follow the order of the other side; give {what.rstrip('s')} names to align by name instead.",
        )


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
