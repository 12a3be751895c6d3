"""How close two numbers have to be, by what a reader sees of them.

A probability is read by its difference to another: 1e-24 and 2e-24 are both "never". Its last digits are those of a
difference that EM or a sum in another order moved by its own rounding, times the slope of a tail. So its bound is
absolute. A difference, a score and the ends of an interval are read beside the interval: a difference of 1e-12 with an
interval of width 1 is 0. So their bound is a part of that width, or of their size where there is no interval.
"""

from collections.abc import Mapping

Number = float | int | None
PROBABILITIES = ("p_", "unseen_p", "expected_rank", "t_p", "wilcoxon_p", "sign_flip_p")
BESIDE_INTERVAL = ("score", "difference", "low", "high", "expected_regret")


def scale(name: str, row: Mapping[str, object]) -> float:
    """What a bound on a number of a row is a part of: 1 for probabilities, the interval's width, or its size."""
    value = row[name]
    size = abs(value) if isinstance(value, float | int) else 0.0
    if name.startswith(PROBABILITIES):
        return max(1.0, size)
    low, high = row.get("low"), row.get("high")
    if name.endswith(BESIDE_INTERVAL) and isinstance(low, float) and isinstance(high, float):
        return max(size, high - low)
    return size


def differing(one: Mapping[str, object], other: Mapping[str, object], within: float) -> list[str]:
    """What differs between two rows of a result, a line each; numbers may by a part of their scale."""
    found = []
    for name in sorted({*one, *other}):
        if name not in one or name not in other:
            found.append(f"{name}: only in one of them")
        elif not _close(name, one, other, within):
            found.append(f"{name}: {one[name]!r} and {other[name]!r}")
    return found


def _close(name: str, one: Mapping[str, object], other: Mapping[str, object], within: float) -> bool:
    first = one[name]
    second = other[name]
    if not isinstance(first, float) or not isinstance(second, float):
        return type(first) is type(second) and first == second
    return first == second or abs(first - second) <= within * max(scale(name, one), scale(name, other))
