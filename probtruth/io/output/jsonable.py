"""Values as strict JSON: no NaN or Infinity tokens, the same bytes for the same value."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

# What `json` writes; lists and dicts hold the same again.
Json = None | bool | int | float | str | list[Any] | dict[str, Any]


def jsonable(value: object) -> Json:
    """The value in JSON's types: NaN and None are null, infinities the strings "inf" and "-inf".

    Mappings and dataclasses keep the order of their keys; NumPy scalars and arrays, tuples and sequences are
    converted.

    Errors: `TypeError` for anything else (sets, paths, functions), which has no one written form.

    >>> jsonable({"loss": float("inf"), "p": float("nan")})
    {'loss': 'inf', 'p': None}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return jsonable(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return float(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, (str, int, np.integer)) or isinstance(key, bool)), "")
        if odd != "":
            raise TypeError(f"{type(odd).__name__} cannot be a key in JSON")
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(cell) for cell in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# Characters that control a terminal and that `json` leaves as they are.
TERMINAL = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def dumps(value: object, encoding: str = "utf-8") -> str:
    """The value as JSON text with a line end; the keys keep their order, text stays readable.

    Characters that control a terminal, and those that the encoding lacks, are escaped.

    >>> print(dumps({"b": (1, 0.5), "a": float("-inf")}), end="")
    {
      "b": [
        1,
        0.5
      ],
      "a": "-inf"
    }
    """
    plain = jsonable(value)
    text = json.dumps(plain, allow_nan=False, ensure_ascii=False, indent=2).translate(TERMINAL)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # halves of surrogate pairs, as in undecodable paths, or another encoding
        text = json.dumps(plain, allow_nan=False, indent=2).translate(TERMINAL)
    return text + "\n"
