"""Values as strict JSON: no NaN or Infinity tokens, the same bytes for the same value."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from probtruth.redaction import CONTROLS

# What `json` writes; lists and dicts hold the same again.
Json = None | bool | int | float | str | list[Any] | dict[str, Any]


def jsonable(value: object) -> Json:
    """The value in JSON's types: NaN and None are null, infinities "inf" and "-inf"; `TypeError` for anything else."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        known = None if math.isnan(value) else value
        return known if known is None or math.isfinite(known) else str(known)
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, (str, int, np.integer)) or isinstance(key, bool):
                raise TypeError(f"{type(key).__name__} cannot be a key in JSON")
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(cell) for cell in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON")


TERMINAL = {code: f"\\u{code:04x}" for code in CONTROLS if code >= 0x20}  # `json` escapes those below by itself


def dumps(value: object, encoding: str = "utf-8") -> str:
    """The value as JSON text; characters that control a terminal, or that the encoding lacks, are escaped."""
    plain = jsonable(value)
    text = json.dumps(plain, allow_nan=False, ensure_ascii=False, indent=2).translate(TERMINAL)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # halves of surrogate pairs, as in undecodable paths, or another encoding
        text = json.dumps(plain, allow_nan=False, indent=2).translate(TERMINAL)
    return text + "\n"
