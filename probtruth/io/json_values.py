"""Nested JSON of other tools: parsed strictly; every value is checked, and an error says where it stands."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from probtruth.check import quote, shortlist
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.addresses import location, shown
from probtruth.io.tables.json_lines import HALF, strict, values_in
from probtruth.io.tables.read import guarded, read_bytes, regular, utf8
from probtruth.types.arguments import StrPath

CHECK = "Check that the file is what it should be."
FIRST_LINE = 1 << 24  # Bytes in which the end of the first line is looked for


class Record(dict[str, Any]):
    """A JSON object, and where it stands: what is taken from it is checked, and an error says where."""

    __slots__ = ("where",)

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        super().__init__(values)
        self.where = where

    def at[T](self, read: Callable[[Any, str], T], key: str, absent: Any = None, hint: str = CHECK) -> T:
        """What the reader makes of the value under a key; where it is null or not there, of `absent`."""
        if self.get(key) is None and absent is not None:
            return read(absent, self.where)
        if key not in self:
            raise InputError(
                f"an object with the keys {shortlist(self)}",
                f"a key {key!r}",
                hint,
                self.where,
            )
        return read(self[key], f"{self.where}, {quote(key)}")


def parsed(data: bytes, where: str) -> Any:
    return strict(utf8(data, where), where)


def read_object(path: StrPath) -> Record:
    """The object that a file holds."""
    name = shown(path)
    return as_object(parsed(read_bytes(path), name), name)


def read_rows(path: StrPath, what: str) -> Iterator[Record]:
    """The objects of a file, one a line or in a list, whatever the file's extension."""
    name = shown(path)
    data = utf8(read_bytes(path), name)
    for _, where, value in values_in(data, name, what, data.lstrip().startswith(b"[")):
        yield as_object(value, where)


def first_object(path: StrPath) -> Any:
    """The first object of a file: on its first line, in its list, or the one that it is; None where none is read."""
    name = shown(path)
    where = location(path)
    regular(where)
    with suppress(InputError), guarded(where, lambda: where.open("rb")) as file:
        line = file.read(FIRST_LINE).lstrip().split(b"\n", 1)[0]  # a long file is not read for it
        return _first_of(strict(utf8(line, name), name))
    data = utf8(read_bytes(path), name)
    with suppress(InputError):
        return _first_of(strict(data, name))
    return None


def _first_of(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def as_it_is(value: Any, where: str) -> Any:
    return value


def wrong(got: str, expected: str, where: str) -> InputError:
    """The refusal of a value."""
    return InputError(got, expected, "Check that value.", where)


def as_object(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(described(value), "an object", CHECK, where)
    return Record(value, where)


def as_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(described(value), "a list", CHECK, where)
    return value


def as_objects(value: Any, where: str) -> list[Record]:
    return [as_object(one, where) for one in as_list(value, where)]


def as_name(value: Any, where: str) -> str:
    """Text or an integer as a name that every table can hold."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise wrong(described(value), "text or an integer", where)
    text = name_text(value)
    if HALF.search(text):
        raise wrong("half of a surrogate pair, which UTF-8 cannot hold,", "a name", where)
    if not text.strip():
        raise wrong("a blank name", "a name", where)
    if "\0" in text:
        raise wrong("a NUL character", "a name", where)
    return text


def split(value: Any, where: str) -> list[Any]:
    """The parts of a text with commas, or a list as it is."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return as_list(value, where)


def as_number(value: Any, where: str) -> float:
    """A number or a truth value as a float; NaN is an error, text is not read as a number."""
    if not isinstance(value, (int, float)):
        raise wrong(described(value), "a number", where)
    try:
        number = float(value)
    except OverflowError:
        raise wrong("an integer past 1e308", "a number", where) from None
    if math.isnan(number):
        raise InputError("NaN", "a number", "Leave that item out, or give its score.", where)
    return number


def described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return quote(value)
    text = json.dumps(value)
    return text if isinstance(value, (bool, float)) else f"the number {text:.20}"
