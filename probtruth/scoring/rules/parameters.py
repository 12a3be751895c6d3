"""Checks of the parameters of a family of rules."""

from math import isfinite

from probtruth.errors import InputError


def finite(value: object, what: str) -> float:
    """The value as a float; an error if it is not a finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool) or not isfinite(number):
        raise InputError(f"{what} {value!r}", "a finite number", f"Give {what} as a number.")
    return number


def positive(value: object, what: str) -> float:
    """The value as a float; an error if it is not above 0."""
    number = finite(value, what)
    if number <= 0:
        raise InputError(f"{what} {value!r}", "a number above 0", "1 is the log score; larger is more forgiving.")
    return number
