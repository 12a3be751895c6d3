"""Differences in the user's own units and signs; inside, a score that is better when higher is a negated loss."""

from collections.abc import Mapping
from typing import Any

from probtruth.types import Comparison

Row = Mapping[str, Any]


def shown(comparison: Comparison, row: Row) -> Row:
    """The row of a pair with `difference`, `low` and `high` as a minus b of the scores that the user gave."""
    if not comparison.higher_is_better:
        return row
    return {**row, "difference": flipped(row["difference"]), "low": flipped(row["high"]), "high": flipped(row["low"])}


def flipped(value: Any) -> float | None:
    """The number with the other sign; what is not known stays so, and 0 has no sign."""
    return None if value is None else 0.0 - float(value)


def favouring_a(higher_is_better: bool) -> str:
    """The sign of a difference, a minus b, that favours a."""
    return "positive" if higher_is_better else "negative"
