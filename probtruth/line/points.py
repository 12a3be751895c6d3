"""Percentages as points."""

import re


def points_of(rope: float | str | None) -> float | None:
    """`X%` as a number of points; None for a rope of another form."""
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*", rope) if isinstance(rope, str) else None
    return None if match is None else float(match[1]) / 100
