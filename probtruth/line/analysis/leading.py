"""The models by how likely each is the best."""

from collections.abc import Mapping, Sequence
from typing import Any

from probtruth.line.numbers import as_float
from probtruth.types import Comparison


def leaders(ranks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The models by probability of being the best, then by expected rank."""

    def order(row: Mapping[str, Any]) -> tuple[float, float]:
        best, rank = as_float(row["p_best"]), as_float(row["expected_rank"])
        return (-best if best is not None else 1.0, rank if rank is not None else float("inf"))

    return sorted(ranks, key=order)


def leading_pair(comparison: Comparison) -> tuple[str, str]:
    """The two models of highest P(best), the first one first."""
    first, second = (str(row["model"]) for row in leaders(comparison.ranks)[:2])
    return first, second
