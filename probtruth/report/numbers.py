"""Numbers as text: probabilities as 0.97, infinite as ∞, unknown as a dash, in the units and signs of the data."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from probtruth.check import as_float
from probtruth.report.names import mark, plain
from probtruth.types.pairs import Pair, Rank

UNKNOWN, INFINITE, MINUS = "–", "∞", "−"
LONGEST_FRACTION = 8  # Characters of a fraction that a setting shows as it was given
ALMOST_1, ALMOST_0 = 0.999, 0.001  # Probabilities beyond are shown as beyond
MOST_DECIMALS, LONGEST = 8, 20  # Of a column; where all its numbers are tiny
DEFAULT_DECIMALS = 4  # Of a column without intervals


type Interval = Pair | Rank


def fixed(value: object, decimals: int, sign: bool = False) -> str:
    """A number with so many decimals, a true minus sign, thousands apart; `sign` shows a plus as well."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    text = INFINITE if math.isinf(number) else f"{abs(number):,.{decimals}f}"
    if not text.strip("0.,"):
        return text
    if number < 0:
        return MINUS + text
    return f"+{text}" if sign else text


def significant(value: object, digits: int = 4) -> str:
    """A number with at most so many significant digits, integers in full; below 1e-4 with a power of ten."""
    number = as_float(value)
    if number is None or math.isinf(number):
        return fixed(number, 0)
    before_the_point = len(str(int(abs(number))))
    digits = max(digits, before_the_point)
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.12g}".replace("-", MINUS)


def decimals(widths: Iterable[object], at_most: int = MOST_DECIMALS, ends: Iterable[object] = ()) -> int:
    """How many decimals a column needs for two significant digits of its narrowest half-width; 4 without a width.

    One more where an end that is not 0 would be shown as 0, and more than `at_most` where all ends are that small.
    """
    not_zero = [abs(end) for end in map(as_float, ends) if end and math.isfinite(end)]
    if not_zero:
        of_largest = 1 - math.floor(math.log10(max(not_zero)))
        at_most = max(at_most, min(of_largest, LONGEST))
    halves = [width / 2 for width in map(as_float, widths) if width is not None and 0 < width < math.inf]
    if not halves:
        return DEFAULT_DECIMALS
    places = max(0, 1 - math.floor(math.log10(min(halves))))
    if any(round(end, places) == 0 for end in not_zero):
        places += 1
    return min(at_most, places)


def places_of(rows: Sequence[Interval]) -> int:
    """The decimals that intervals and what stands next to them are shown with."""
    known = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    return decimals([high - low for low, high in known], ends=chain(*known))


def probability(value: object) -> str:
    """A probability: 0.97, >0.999, <0.001; two decimals, three below 0.01 and above 0.99."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if number > ALMOST_1:
        return f">{ALMOST_1}"
    if number < ALMOST_0:
        return f"<{ALMOST_0}"
    if 0.01 <= number <= 0.99:
        return f"{number:.2f}"
    return f"{number:.3f}"


def equals(value: object) -> str:
    """A probability with the sign that goes before it: `= 0.97`, `> 0.999`, `< 0.001`."""
    text = probability(value)
    if text[0] in "<>":
        return f"{text[0]} {text[1:]}"
    return f"= {text}"


def at_least_shown(value: object, places: int) -> str:
    """A number of 0 or more with so many decimals; what is less than these show as below the least of them."""
    number = as_float(value)
    smallest = 10.0**-places
    if number is not None and 0 < number < smallest / 2:
        return f"<{fixed(smallest, places)}"
    return fixed(number, places)


def exact(value: object) -> str:
    """A number as it was given, but for a long fraction: a setting, not a result."""
    text = significant(value, 12)
    fraction = text.lstrip(MINUS).startswith("0.")
    return significant(value) if fraction and len(text) > LONGEST_FRACTION else text


def setting(value: object) -> str:
    """A setting, or several by their names, as it was given."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return exact(value)
    if isinstance(value, Mapping):
        parts = [f"{plain(key)} {setting(inner)}" for key, inner in value.items()]
        return ", ".join(parts)
    return mark(value)


def percent(value: object) -> str:
    """A share in per cent; <1% and >99% where rounding would say nothing or all."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if 0 < number < 0.005:
        return "<1%"
    if 0.995 < number < 1:
        return ">99%"
    return f"{100 * number:.0f}%"


def interval(low: object, high: object, places: int, shown: Callable[[object, int], str] = fixed) -> str:
    lower, upper = as_float(low), as_float(high)
    if lower == upper and (lower is None or math.isinf(lower)):
        return shown(lower, places)
    return f"{shown(lower, places)} to {shown(upper, places)}"


def with_interval(value: float | None, row: Interval, units: str = "", sign: bool = False) -> str:
    """A number and its 95% interval: `−0.09 nats (95% interval −0.13 to −0.05)`."""
    if value is None:
        return "not known"
    if math.isinf(value) or row.low is None or row.high is None:
        return f"{significant(value)}{units} (interval not known)"
    places = places_of([row])
    ends = interval(row.low, row.high, places)
    return f"{fixed(value, places, sign)}{units} (95% interval {ends})"


def favouring_a(higher_is_better: bool) -> str:
    """The sign of a difference that favours the first of the two."""
    return "positive" if higher_is_better else "negative"
