"""Nested JSON of other tools: parsed strictly, every value fetched with the place where it stands."""

import json
import math
from collections.abc import Iterator
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text

Object = dict[str, Any]


def parse(text: bytes | str, where: str) -> Any:
    """One JSON value; a key that stands twice in one object is an error, and so is too deep a nesting.

    Errors: `InputError` for what is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        why = str(error).split(":")[0]
        raise InputError(f"text that is not JSON ({why})", "JSON", "Check that file.", where) from None


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return made


def lines(data: bytes, name: str) -> Iterator[tuple[Object, str]]:
    """The objects of JSON lines, and where each stands; blank lines are skipped."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            where = f"{name}, line {number}"
            yield an_object(parse(line, where), where), where


def an_object(value: Any, where: str, key: str | None = None) -> Object:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise _other(value, "an object", where, key)
    return value


def a_list(value: Any, where: str, key: str | None = None) -> list[Any]:
    """The value, if it is a list."""
    if not isinstance(value, list):
        raise _other(value, "a list", where, key)
    return value


def _other(value: Any, expected: str, where: str, key: str | None) -> InputError:
    return InputError(described(value), expected, "Check that the file is what it should be.", _place(where, key))


def need(row: Object, key: str, where: str, hint: str = "Check that the file is what it should be.") -> Any:
    """The value under a key that must be there."""
    if key not in row:
        raise InputError(f"an object with the keys {check.shortlist(row)}", f"a key {key!r}", hint, where)
    return row[key]


def name(value: Any, where: str, key: str) -> str:
    """Text or an integer as a name that every table can hold."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise InputError(described(value), "text or an integer", "Check that value.", _place(where, key))
    text = decimal(value, where, key) if isinstance(value, int) else name_text(value)
    if not text.strip() or "\0" in text:
        found = "a NUL character" if text.strip() else "a blank name"
        raise InputError(found, "a name", "Check that value.", _place(where, key))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "half of a surrogate pair", "text that UTF-8 can hold", "Repair that text.", _place(where, key)
        ) from None
    return text


def decimal(value: int, where: str, key: str) -> str:
    """An integer as text."""
    try:
        return str(value)
    except ValueError:
        raise InputError("an integer of thousands of digits", "a name", "Check it.", _place(where, key)) from None


def number(value: Any, where: str, key: str) -> float:
    """A number or a truth value as a float; NaN is an error, text is not read as a number."""
    if not isinstance(value, (int, float)):
        raise InputError(described(value), "a number", "Check that value.", _place(where, key))
    try:
        found = float(value)
    except OverflowError:
        raise InputError("an integer past 1e308", "a number", "Check that value.", _place(where, key)) from None
    if math.isnan(found):
        raise InputError("NaN", "a number", "Leave that item out, or give its score.", _place(where, key))
    return found


def described(value: Any) -> str:
    """A JSON value in a message: what it is, and the start of it."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, (bool, float)):
        return json.dumps(value)
    if isinstance(value, int):
        return f"the number {value}" if abs(value) < 10**20 else "a large integer"
    return check.quote(value)


def _place(where: str, key: str | None) -> str:
    return where if key is None else f"{where}, {check.quote(key)}"
