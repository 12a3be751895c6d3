"""A value that may be unknown, as a number."""

import math


def as_float(value: object) -> float | None:
    """The value as a float; None where it is unknown (None, NaN, or no number)."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return float(value)
