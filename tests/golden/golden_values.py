"""What is frozen of a result, and how two results are compared."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from closeness import scale

KEPT = ("models", "pairwise", "groups", "uncertainty", "truth")  # keys of `result.json`: its numbers, not its words
DIGITS = 12  # significant digits of the numbers that are frozen
ROUNDING = 1e-9  # how far a number may be off, as a part of its scale: other orders of summation, other compilers
SMALLEST = 1e-6  # numbers without an interval that are smaller: shares of the variance, rates
DRAWN = ("p_best", "expected_rank", "expected_regret")  # from joint draws
MONTE_CARLO = 0.025  # five standard errors of a probability from 10,000 draws: 5 * sqrt(1/4 / 10,000)

Leaf = str | float | bool | None
Flat = dict[str, Leaf]


def flat(result: Mapping[str, Any]) -> Flat:
    """The values that are frozen by their path, `models/0/score`."""
    return {path: _rounded(value) for path, value in _leaves({key: result.get(key) for key in KEPT}, "")}


def frozen(result: Mapping[str, Any]) -> str:
    """The text of a file of golden values."""
    return json.dumps(flat(result), indent=0, sort_keys=True) + "\n"


def differences(before: Mapping[str, Leaf], after: Mapping[str, Leaf], drawn: str | None = None) -> list[str]:
    """One line for each path whose value is another, gone or new; `drawn`: NUTS made what begins so."""
    lines = []
    for path in sorted({*before, *after}):
        if path not in after:
            lines.append(f"{path}: {before[path]!r} -> gone")
        elif path not in before:
            lines.append(f"{path}: new -> {after[path]!r}")
        elif not (
            _same(path, before, after) or (drawn is not None and path.startswith(drawn) and _near(path, before, after))
        ):
            lines.append(f"{path}: {before[path]!r} -> {after[path]!r}")
    return lines


def _same(path: str, before: Mapping[str, Leaf], after: Mapping[str, Leaf]) -> bool:
    one = before[path]
    other = after[path]
    if not isinstance(one, float) or not isinstance(other, float):
        return type(one) is type(other) and one == other
    if path.endswith(DRAWN):
        return abs(one - other) <= MONTE_CARLO * max(1.0, abs(one))
    row, _, name = path.rpartition("/")
    values = {key: before.get(f"{row}/{key}") for key in (name, "low", "high")}
    return abs(one - other) <= ROUNDING * max(scale(name, values), abs(other), SMALLEST)


def _near(path: str, before: Mapping[str, Leaf], after: Mapping[str, Leaf]) -> bool:
    """Whether two probabilities, or two ends of an interval, differ by Monte Carlo error alone."""
    row, _, name = path.rpartition("/")
    low, high, one, other = (before.get(f"{row}/low"), before.get(f"{row}/high"), before[path], after[path])
    if not all(isinstance(value, float) for value in (low, high, one, other)):
        return False
    if name.startswith(("p_", "unseen_p")):
        return abs(one - other) <= MONTE_CARLO
    return (name in ("low", "high") or path.startswith("groups/")) and abs(one - other) <= 2 * MONTE_CARLO * (
        high - low
    )


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if entries is None:
        yield path, value
        return
    if not value:
        yield path, f"empty {type(value).__name__}"
    for key, entry in entries:
        yield from _leaves(entry, f"{path}/{key}" if path else str(key))


def _rounded(value: Any) -> Leaf:
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else str(value)  # no negative zero
