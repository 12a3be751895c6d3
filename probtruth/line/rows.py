"""What the rows of a comparison say: numbers that may be unknown, and which models lead."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def as_float(value: object) -> float | None:
    """The value as a float; None where it is unknown (None, NaN, or no number)."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return float(value)


def leaders(ranks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The models by probability of being the best, then by expected rank."""

    def order(row: Mapping[str, Any]) -> tuple[float, float]:
        best, rank = as_float(row["p_best"]), as_float(row["expected_rank"])
        return (-best if best is not None else 1.0, rank if rank is not None else float("inf"))

    return sorted(ranks, key=order)


def leading_pair(ranks: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The two models of highest P(best), the first one first."""
    first, second = (str(row["model"]) for row in leaders(ranks)[:2])
    return first, second
