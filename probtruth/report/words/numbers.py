"""Numbers and names as a reader sees them: probabilities as 0.97, infinite as ∞, unknown as a dash.

Differences in the user's own units and signs; inside, a score that is better when higher is a negated loss.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from probtruth.check import as_float
from probtruth.check import count as count
from probtruth.report.words.sentences import Name

if TYPE_CHECKING:
    from probtruth.types import Comparison

UNKNOWN = "–"
INFINITE = "∞"
MINUS = "−"
LONGEST = 20
"""Characters of a name that a figure shows."""
LONGEST_SETTING = 8
"""Characters of a fraction that is shown as it was given."""


def fixed(value: object, decimals: int, sign: bool = False) -> str:
    """A number with so many decimals, a true minus sign, thousands apart; `sign` shows a plus as well."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if math.isinf(number):
        return (MINUS if number < 0 else "+" * sign) + INFINITE
    text = f"{abs(number):,.{decimals}f}"
    zero = not text.strip("0.,")
    return (MINUS if number < 0 and not zero else "+" if sign and not zero else "") + text


def significant(value: object, digits: int = 4) -> str:
    """A number with so many significant digits; powers of ten below 1e-5 and from 1e9 on."""
    number = as_float(value)
    if number is None or math.isinf(number) or number == 0:
        return fixed(number, 0)
    exponent = math.floor(math.log10(abs(float(f"{number:.{digits - 1}e}"))))
    if not -5 <= exponent < 9:
        mantissa = fixed(number / 10.0**exponent if exponent > -300 else number * 1e300 * 10.0 ** (-exponent - 300), 2)
        return f"{mantissa} × 10{str(exponent).translate(_SUPERSCRIPT)}"
    return fixed(number, max(0, digits - 1 - exponent))


_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimals(widths: Iterable[object], at_most: int = 8, ends: Iterable[object] = ()) -> int:
    """How many decimals a column needs for two significant digits of its narrowest interval; 4 where none is known.

    One more where an end that is not 0 would be shown as 0: whether an interval holds 0 must be seen.
    """
    known = [width for width in map(as_float, widths) if width is not None and 0 < width < math.inf]
    if not known:
        return 4
    places = max(0, 1 - math.floor(math.log10(min(known))))
    hidden = [end for end in map(as_float, ends) if end and math.isfinite(end) and round(end, places) == 0]
    return min(at_most, places + bool(hidden))


def probability(value: object) -> str:
    """A probability: 0.97, >0.999, <0.001; two decimals, three below 0.01 and above 0.99."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if number > 0.999:
        return ">0.999"
    if number < 0.001:
        return "<0.001"
    inner = 0.01 <= number <= 0.99
    return f"{number:.{2 if inner else 3}f}"


def equals(value: object) -> str:
    """A probability with the sign that goes before it: `= 0.97`, `> 0.999`, `< 0.001`."""
    text = probability(value)
    return f"{text[0]} {text[1:]}" if text[0] in "<>" else f"= {text}"


def exact(value: object) -> str:
    """A number as it was given, without trailing zeros: a setting, not a result.

    A fraction of many digits, such as a ROPE that is a share of a score, is rounded to four.
    """
    number = as_float(value)
    if number is None or math.isinf(number):
        return fixed(number, 0)
    text = f"{number:.12g}"
    return (f"{number:.4g}" if abs(number) < 1 and len(text) > LONGEST_SETTING else text).replace("-", MINUS)


def percent(value: object) -> str:
    """A share as whole per cent; <1% and >99% where rounding would say nothing or all."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if 0 < number < 0.005:
        return "<1%"
    if 0.995 < number < 1:
        return ">99%"
    return f"{100 * number:.0f}%"


def interval(low: object, high: object, places: int) -> str:
    """An interval, `low to high`."""
    if as_float(low) is None and as_float(high) is None:
        return UNKNOWN
    if low == high and math.isinf(as_float(low) or 0):
        return fixed(low, places)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def interval_width(row: Mapping[str, object]) -> float | None:
    """How wide the interval of a row is; None where it is not known."""
    low, high = as_float(row["low"]), as_float(row["high"])
    return None if low is None or high is None else high - low


def places_of(rows: Sequence[Mapping[str, object]]) -> int:
    """How many decimals a column of differences needs."""
    return decimals(map(interval_width, rows), ends=[row[end] for row in rows for end in ("low", "high")])


def plain(name: object) -> str:
    """A name on one line, without characters that control the terminal or the direction of the text around it."""
    return "".join("�" if _controls(character) else character for character in str(name))


def in_text(sentence: Iterable[str]) -> str:
    """The pieces of a sentence as plain text on one line, without what would control a terminal."""
    return "".join(plain(piece) for piece in sentence)


def _controls(character: str) -> bool:
    if character in "\ufffe\uffff":  # no characters at all, and none that XML can hold
        return True
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069"


def short_names(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Each name, shortened where it is wide, for a figure; different names stay different.

    Names are cut in the middle; where that makes them alike, what they all begin with goes instead, else they are
    numbered.
    """
    whole = list(dict.fromkeys(names))
    texts = [_shorten(plain(name), longest) for name in whole]
    if len(set(texts)) < len(texts):
        start = _same_start([plain(name) for name in whole])
        texts = [_shorten(f"…{plain(name)[start:]}" if start > 1 else plain(name), longest) for name in whole]
    shown: dict[str, str] = {}
    used: set[str] = set()
    for name, text in zip(whole, texts, strict=True):
        number = 1
        while text in used:
            number += 1
            text = _shorten(plain(name), longest - len(f" ({number})")) + f" ({number})"
        shown[name] = text
        used.add(text)
    return shown


def _same_start(names: Sequence[str]) -> int:
    """How many characters all names begin with."""
    first, last = min(names), max(names)
    return next((at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), min(len(first), len(last)))


def shortened(names: Iterable[str], longest: int) -> dict[str, Name]:
    """`short_names`, as names that know their whole."""
    return {name: Name(short, name) for name, short in short_names(names, longest).items()}


def width(text: str) -> int:
    """How wide a text is, in columns of a terminal: East Asian and emoji characters take two, combining marks none."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shorten(text: str, longest: int) -> str:
    if width(text) <= longest:
        return text
    head = _fitting(text, longest // 2)
    tail = _fitting(text[::-1], longest - 1 - width(head))[::-1]
    return head.rstrip() + "…" + tail.lstrip()


def _fitting(text: str, room: int) -> str:
    """As many of the first characters as fit."""
    end, used = 0, 0
    for character in text:
        used += _width(character)
        if used > room:
            break
        end += 1
    return text[:end]


Row = Mapping[str, Any]


def shown(comparison: "Comparison", row: Row) -> Row:
    """The row of a pair with `difference`, `low` and `high` as a minus b of the scores that the user gave."""
    return _turned(row) if comparison.higher_is_better else row


def minus(row: Row, first: object) -> Row:
    """The row of a pair as `first` minus the other model, turned round if it stands the other way."""
    if row["a"] == first:
        return row
    p = row["p_a_better"]
    other = row["p_b_better"] if "p_b_better" in row else None if p is None else 1 - p  # groups have one of them
    return {**_turned(row), "a": row["b"], "b": row["a"], "p_a_better": other, "p_b_better": p}


def _turned(row: Row) -> Row:
    """The row with the difference and its interval of the other sign."""
    return {**row, "difference": flipped(row["difference"]), "low": flipped(row["high"]), "high": flipped(row["low"])}


def flipped(value: Any) -> float | None:
    """The number with the other sign; what is not known stays so, and 0 has no sign."""
    return None if value is None else 0.0 - float(value)


def favouring_a(higher_is_better: bool) -> str:
    """The sign of a difference, a minus b, that favours a."""
    return "positive" if higher_is_better else "negative"
