"""Checks of names, numbers and options, made once, where data enter, and the words of their errors.

Arrays are checked in `check_arrays`. This module loads no array library: the help of the command line needs it.
"""

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import inf, isfinite, isnan, nan
from numbers import Integral
from typing import TypeAliasType, cast, get_args

from probtruth.errors import InputError

MaybeText = str | None  # A name or word; None where there is none
MaybeNumber = float | None  # None where it is not known
Texts = tuple[str, ...]  # Names or words in order
Strings = Sequence[str]  # The same in a list, a tuple, or one column
MaybeStrings = Strings | None


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """The origin of a table, so that an error can point to the line of a file or the row of a frame.

    Rows of a text file have a line, the one in `lines` for each row. So many rows come `before` a batch. A table of
    several files has their sources as `parts`, each with its number of rows. `columns` are the origin's own names of
    columns that are known by others here. `notes` say how it was read where that was not asked for. `chosen` are its
    rows that are left.
    """

    name: str = "the table"
    lines: Sequence[int] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    before: int = 0
    parts: "Sequence[tuple[Source, int]]" = ()
    notes: Texts = ()
    chosen: Sequence[int] | None = None

    @classmethod
    def of_parts(cls, parts: "Sequence[tuple[Source, int]]") -> "Source":
        """The origin of several tables, one below the other, each with its number of rows."""
        first = parts[0][0]
        return first if len(parts) == 1 else cls(first.name, parts=parts, notes=first.notes)

    def of_rows(self, rows: Sequence[int]) -> "Source":
        """The origin of some of its rows."""
        return replace(self, chosen=rows if self.chosen is None else [self.chosen[row] for row in rows])

    def at(self, row: int | None = None, column: MaybeText = None) -> str:
        """The location in words: file, line (or row, counted from 1) and column."""
        words = [self.name]
        column = None if column is None else self.columns.get(column, column)
        if row is not None and self.chosen is not None:
            row = self.chosen[row]
        if row is not None:
            rest = row
            for part, rows in self.parts:
                if rest < rows:
                    return part.at(rest, column)
                rest -= rows
            words.append(f"row {row + self.before + 1}" if self.lines is None else f"line {self.lines[row]}")
        if column is not None:
            words.append(f"column {quote(column)}")
        return ", ".join(words)


AS_TEXT = (
    "Names are compared as text: '007' is not '7', nor an accented letter in one character that in two (NFC, NFD)."
)
LONGEST = 60  # How many characters of a name or cell a message shows


# Names, in lower case and without blanks and underscores, that columns often have.
USUAL = {
    "item": "(item|question|prompt|task|doc|document|example|instance|sample|hit|unit|image|dataset)(id)?|input:.*",
    "annotator": "(annotator|worker|rater|judge|coder|labell?er|assignment:worker)(id)?",
    "label": r"label|answer([.].*)?|response|annotation|judge?ment|rating|verdict|output:.*",
    "model": "model(name|id)?|system",
    "score": "rating|grade|mark|points|reward",
}


def quote(value: object) -> str:
    """The repr of a name or cell, shortened if it is long."""
    text = value if isinstance(value, str) else str(value)
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r}... ({len(text)} characters)"


def did_you_mean(word: str, options: Iterable[str], otherwise: MaybeText = None) -> str:
    """`Did you mean 'x'?` if an option is close, else what is to be said otherwise: the list of options."""
    listed = [str(option) for option in options]
    short = [option for option in listed if len(option) <= LONGEST][:1000]
    plain = {option.casefold(): option for option in reversed(short)}
    close = get_close_matches(word[:LONGEST], short, n=1, cutoff=0.65)
    close += [plain[name] for name in get_close_matches(word[:LONGEST].casefold(), plain, n=1, cutoff=0.65)]
    if close and not re.fullmatch(r"-?[\d.]+", word):  # no number is a slip for another
        return f"Did you mean {close[0]!r}?"
    return otherwise or f"The options are: {shortlist(listed)}."


def usual_column(role: str, columns: Strings) -> MaybeText:
    """The only column whose name is usual for a role (WorkerId, question_id, Answer.label), for a hint."""
    pattern = USUAL.get(role)
    if pattern is None:
        return None
    fits = [name for name in columns if re.fullmatch(pattern, re.sub("[ _-]", "", name.lower()))]
    return fits[0] if len(fits) == 1 else None


def parts_of(column: str) -> list[str]:
    """The names of columns that are written with commas between them."""
    if not isinstance(column, str):
        raise InputError(
            f"a column called {column!r}",
            "its name as text",
            "Write the name in quotation marks: a column of the number 0 is called '0'.",
        )
    return [name.strip() for name in column.split(",")]


def need_columns(columns: Strings, wanted: Mapping[str, MaybeText], where: str, hint: MaybeText = None) -> None:
    """Raises where columns are absent; `wanted` is {option: column}, None for an option that is not used.

    `hint` is for columns that no option names.
    """
    absent = {option: column for option, column in wanted.items() if column is not None and column not in columns}
    if not absent:
        return
    advice = [_advice(option, column, columns, hint) for option, column in absent.items()]
    roles = [f"a column of {option.rstrip('s')}s" for option in absent]
    raise InputError(
        f"no column {' and no column '.join(map(quote, absent.values()))} (columns: {shortlist(columns, 12)})",
        " and ".join(roles) if hint is None else "a column of that name",
        " ".join(advice),
        where,
    )


def _advice(option: str, column: str, columns: Strings, hint: MaybeText) -> str:
    """How to name an absent column."""
    parts_of(column)  # which is text
    close = did_you_mean(column, columns, " ").strip()
    usual = None if hint is not None or close else usual_column(option, columns)
    if usual is not None:
        return f"Perhaps {option}={usual!r} (command line: --{option} {shlex.quote(usual)})."
    advice = hint or f"Name the {option} with {option}=... (command line: --{option})."
    return f"{advice} {close}".strip()


def shortlist(names: Iterable[object], most: int = 8) -> str:
    """The first names, quoted, and the number of the others."""
    listed = list(names)
    text = ", ".join(map(quote, listed[:most]))
    return text + (f" and {len(listed) - most} more" if len(listed) > most else "")


def count(number: int, noun: str) -> str:
    """`1 item`, `2 items`, `3,570 annotations`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def one_of[S: str](value: object, options: Sequence[S], what: str) -> S:
    """The value, if it is one of the options; else an error with the nearest of them."""
    if isinstance(value, str) and value in options:
        return cast(S, value)
    hint = did_you_mean(str(value), options, "Choose one of these.")
    raise InputError(f"{what} {quote(value)}", f"one of {shortlist(options, 40)}", hint)


def literal(value: object, options: TypeAliasType, what: str) -> str:
    """The value, if it is one of the texts that a `type X = Literal[...]` lists; else an error as in `one_of`."""
    texts = get_args(options.__value__)
    return one_of(value, texts, what)


def choose(option: str, value: str, flag: str) -> str:
    """The hint to choose one of several: the argument in Python, and the option of the command line."""
    return f"Choose one: {option}={value[:LONGEST]!r} (command line: {flag} {shlex.quote(value[:LONGEST])})."


def unique(names: Strings, what: str, where: MaybeText = None) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{what} {shortlist(twice)} more than once",
            f"every {what} once",
            f"Rename or remove the repeated {what}.",
            where,
        )


def whole(value: object, least: int, what: str, hint: str = "Leave it out for the default.") -> int:
    """An integer of at least `least` that fits into 32 bits; anything else is an error."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if number < least:
        raise InputError(f"{what} {value!r}", f"an integer of at least {least}", hint)
    if number >= 2**31:
        raise InputError(f"{what} {value!r}", f"an integer below {2**31:,}", hint)
    return number


def number(
    value: object,
    what: str,
    hint: MaybeText = None,
    *,
    least: float | int = -inf,
    above: float | int = -inf,
    below: float | int = inf,
    most: float | int = inf,
    wanted: MaybeText = None,
) -> float:
    """A finite number within these bounds; anything else is an error, which says `wanted` (by default: the bounds)."""
    no_number = isinstance(value, str | bytes) or bool(getattr(value, "ndim", 0)) or "bool" in type(value).__name__
    try:
        real = nan if no_number else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        real = nan
    if isfinite(real) and least <= real <= most and above < real < below:
        return real
    limits = {"of at least": least, "above": above, "below": below, "of at most": most}
    bounds = [f"{word} {limit:g}" for word, limit in limits.items() if isfinite(limit)]
    default = " ".join(["a number", " and ".join(bounds)]) if bounds else "a finite number"
    raise InputError(f"{what} {value!r}", wanted or default, hint or f"Check {what}.")


def as_float(value: object) -> MaybeNumber:
    """A value of a row as a float; None where it is unknown (None, NaN, or no number)."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if not isinstance(value, (int, float)) or isnan(value):
        return None
    return float(value)


def instance[T](value: object, kind: type[T], maker: str) -> T:
    """The value, if it is of the class that `maker` returns; anything else is an error."""
    if isinstance(value, kind):
        return value
    raise InputError(
        type(value).__name__,
        kind.__name__ if kind.__name__.endswith("s") else f"a {kind.__name__}",
        f"Pass on what {maker} returned.",
    )


def finite_numbers(names: Iterable[str], distinct: bool = False) -> list[float]:
    """The numbers that names are; 'nan' and 'inf' are text."""
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


def length(got: int, wanted: int, what: str) -> None:
    """Raises if an array and its index have different lengths."""
    if got != wanted:
        raise InputError(
            f"{got} {what}",
            f"{wanted}",
            "Arrays follow the order of the other side; give both sides names to align them by name instead.",
        )


# Processes that were forked from one in which JAX had started its threads, which a fork leaves behind.
_STRANDED: set[int] = set()


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
