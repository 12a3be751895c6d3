"""Nested JSON of other tools: parsed strictly; every value is checked, and an error says where it stands."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.io.tables.json_lines import strict
from probtruth.io.tables.read import read_bytes, shown, utf8

CHECK = "Check that the file is what it should be."


class Record(dict[str, Any]):
    """A JSON object, and where it stands: what is taken from it is checked, and an error says where."""

    __slots__ = ("where",)

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        super().__init__(values)
        self.where = where

    def need(self, key: str, hint: str = CHECK) -> Any:
        if key not in self:
            raise InputError(f"an object with the keys {check.shortlist(self)}", f"a key {key!r}", hint, self.where)
        return self[key]

    def name_at(self, key: str, hint: str = CHECK) -> str:
        return as_name(self.need(key, hint), self.where, key)

    def number_at(self, key: str, hint: str = CHECK) -> float:
        return as_number(self.need(key, hint), self.where, key)

    def object_at(self, key: str, absent: Mapping[str, Any] | None = None) -> "Record":
        return as_object(self.need(key) if absent is None else self.get(key) or absent, self.where, key)

    def list_at(self, key: str, absent: list[Any] | None = None) -> list[Any]:
        return as_list(self.need(key) if absent is None else self.get(key) or absent, self.where, key)

    def objects_at(self, key: str, absent: list[Any] | None = None) -> "Iterator[Record]":
        return (as_object(one, self.where, key) for one in self.list_at(key, absent))


def read_json(path: str | Path) -> tuple[Any, str]:
    name = shown(path)
    return strict(utf8(read_bytes(path), name), name), name


def read_objects(path: str | Path, what: str) -> Iterator[Record]:
    """The objects in the list of a JSON file; each stands at `FILE, WHAT 3`."""
    value, name = read_json(path)
    return (as_object(one, f"{name}, {what} {number}") for number, one in enumerate(as_list(value, name), 1))


def read_lines(path: str | Path) -> Iterator[Record]:
    name = shown(path)
    for number, line in enumerate(utf8(read_bytes(path), name).split(b"\n"), 1):
        if line.strip():
            where = f"{name}, line {number}"
            yield as_object(strict(line, where), where)


def as_object(value: Any, where: str, key: str | None = None) -> Record:
    if not isinstance(value, dict):
        raise InputError(described(value), "an object", CHECK, _at(where, key))
    return Record(value, where)


def as_list(value: Any, where: str, key: str | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(described(value), "a list", CHECK, _at(where, key))
    return value


def as_name(value: Any, where: str, key: str) -> str:
    """Text or an integer as a name that every table can hold."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise InputError(described(value), "text or an integer", "Check that value.", _at(where, key))
    try:
        text = name_text(value)
    except ValueError:
        raise InputError("an integer of thousands of digits", "a name", "Check it.", _at(where, key)) from None
    if not text.strip() or "\0" in text:
        fault = "a NUL character" if text.strip() else "a blank name"
        raise InputError(fault, "a name", "Check that value.", _at(where, key))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "half of a surrogate pair", "text that UTF-8 can hold", "Repair that text.", _at(where, key)
        ) from None
    return text


def as_number(value: Any, where: str, key: str) -> float:
    """A number or a truth value as a float; NaN is an error, text is not read as a number."""
    if not isinstance(value, (int, float)):
        raise InputError(described(value), "a number", "Check that value.", _at(where, key))
    try:
        number = float(value)
    except OverflowError:
        raise InputError("an integer past 1e308", "a number", "Check that value.", _at(where, key)) from None
    if math.isnan(number):
        raise InputError("NaN", "a number", "Leave that item out, or give its score.", _at(where, key))
    return number


def described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, (bool, float)):
        return json.dumps(value)
    if isinstance(value, int):
        return f"the number {value}" if abs(value) < 10**20 else "a large integer"
    return check.quote(value)


def _at(where: str, key: str | None) -> str:
    return where if key is None else f"{where}, {check.quote(key)}"
