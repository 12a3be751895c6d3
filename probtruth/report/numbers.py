"""Numbers and names as text: probabilities as 0.97, infinite as ∞, unknown as a dash; names are marked.

A name that came with the data stands between two control characters, which `plain` takes out of all names: each format
shows what stands there as it is, never as markup. Differences are in the user's own units and signs.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from os.path import commonprefix
from typing import Any

from rich.cells import cell_len, chop_cells

from probtruth.check import as_float
from probtruth.redaction import CONTROLS, NO_TEXT
from probtruth.types import Comparison
from probtruth.types.comparison import leaders, leading_pair

UNKNOWN, INFINITE, MINUS = "–", "∞", "−"
LONGEST = 20  # Columns of a name in a figure
LONGEST_NAME = 40  # Columns of a name in a cell; the table of models shows names whole
LONGEST_SETTING = 8  # Characters of a fraction that is shown as it was given
NAME = re.compile("\x02([^\x03]*)\x03")  # A marked name; `NAME.split` has the names at odd positions

Row = Mapping[str, Any]


def fixed(value: object, decimals: int, sign: bool = False) -> str:
    """A number with so many decimals, a true minus sign, thousands apart; `sign` shows a plus as well."""
    number = value if type(value) is float and value == value else as_float(value)
    if number is None:
        return UNKNOWN
    if math.isinf(number):
        return (MINUS if number < 0 else "+" * sign) + INFINITE
    text = f"{abs(number):,.{decimals}f}"
    zero = not text.strip("0.,")
    return (MINUS if number < 0 and not zero else "+" if sign and not zero else "") + text


def significant(value: object, digits: int = 4) -> str:
    """A number with at most so many significant digits (integers whole); below 1e-4 with a power of ten."""
    number = as_float(value)
    if number is None or math.isinf(number):
        return fixed(number, 0)
    digits = max(digits, len(str(int(abs(number)))))
    return f"{float(f'{number:.{digits}g}'):,.12g}".replace("-", MINUS)


def decimals(widths: Iterable[object], at_most: int = 8, ends: Iterable[object] = ()) -> int:
    """How many decimals a column needs for two significant digits of its narrowest half-width; 4 where none is known.

    One more where an end that is not 0 would be shown as 0.
    """
    known = [width / 2 for width in map(as_float, widths) if width is not None and 0 < width < math.inf]
    if not known:
        return 4
    places = max(0, 1 - math.floor(math.log10(min(known))))
    hidden = [end for end in map(as_float, ends) if end and math.isfinite(end) and round(end, places) == 0]
    return min(at_most, places + bool(hidden))


def places_of(rows: Sequence[Row]) -> int:
    known = [(as_float(row["low"]), as_float(row["high"])) for row in rows]
    widths = [high - low for low, high in known if low is not None and high is not None]
    return decimals(widths, ends=[end for both in known for end in both])


def probability(value: object) -> str:
    """A probability: 0.97, >0.999, <0.001; two decimals, three below 0.01 and above 0.99."""
    number = value if type(value) is float and value == value else as_float(value)
    if number is None:
        return UNKNOWN
    if number > 0.999:
        return ">0.999"
    if number < 0.001:
        return "<0.001"
    return f"{number:.{2 if 0.01 <= number <= 0.99 else 3}f}"


def equals(value: object) -> str:
    """A probability with the sign that goes before it: `= 0.97`, `> 0.999`, `< 0.001`."""
    text = probability(value)
    return f"{text[0]} {text[1:]}" if text[0] in "<>" else f"= {text}"


def exact(value: object) -> str:
    """A number as it was given, but for a long fraction: a setting, not a result."""
    text = significant(value, 12)
    return significant(value) if text.lstrip(MINUS).startswith("0.") and len(text) > LONGEST_SETTING else text


def setting(value: object) -> str:
    """A setting, or several by their names, as it was given."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return exact(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(key)} {setting(inner)}" for key, inner in value.items())
    return f"\x02{plain(value)}\x03"


def percent(value: object) -> str:
    """A share as whole per cent; <1% and >99% where rounding would say nothing or all."""
    number = as_float(value)
    if number is None:
        return UNKNOWN
    if 0 < number < 0.005:
        return "<1%"
    return ">99%" if 0.995 < number < 1 else f"{100 * number:.0f}%"


def interval(low: object, high: object, places: int) -> str:
    if as_float(low) is None and as_float(high) is None:
        return UNKNOWN
    if low == high and math.isinf(as_float(low) or 0):
        return fixed(low, places)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def plain(name: object) -> str:
    """A name on one line, without characters that control the terminal or the direction of the text around it."""
    text = str(name)
    if text.isascii() and text.isprintable():
        return text
    return text.translate(REPLACED)


REPLACED = dict.fromkeys(CONTROLS | NO_TEXT, "�")


def marked(names: Iterable[object], longest: int) -> dict[str, str]:
    """Each name, shortened where it is wide, between the marks of a name; different names stay different."""
    return {name: f"\x02{short}\x03" for name, short in short_names(map(str, names), longest).items()}


def unmarked(text: str) -> str:
    return NAME.sub(r"\1", text)


def joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def short_names(names: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Each name, shortened where it is wide; different names stay different."""
    whole = list(dict.fromkeys(names))
    texts = [_shorten(plain(name), longest) for name in whole]
    if len(set(texts)) < len(texts):
        start = len(commonprefix([plain(name) for name in whole]))  # noqa: RUF071 (of characters)
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


def _shorten(text: str, longest: int) -> str:
    """Its beginning and its end, in so many columns of a terminal: East Asian and emoji characters take two."""
    if cell_len(text) <= longest:
        return text
    head = chop_cells(text, longest // 2)[0]
    tail = chop_cells(text[::-1], longest - 1 - cell_len(head))[0][::-1]
    return head.rstrip() + "…" + tail.lstrip()


def minus(row: Row, first: object) -> Row:
    if row["a"] == first:
        return row
    p = row["p_a_better"]
    other = row["p_b_better"] if "p_b_better" in row else None if p is None else 1 - p  # groups have one of them
    return {**turned(row), "a": row["b"], "b": row["a"], "p_a_better": other, "p_b_better": p}


def turned(row: Row) -> Row:
    """The row with the difference and its interval of the other sign; what is not known stays so, 0 has no sign."""
    known = (row["difference"], row["high"], row["low"])
    difference, low, high = (None if value is None else 0.0 - float(value) for value in known)
    return {**row, "difference": difference, "low": low, "high": high}


def favouring_a(higher_is_better: bool) -> str:
    return "positive" if higher_is_better else "negative"


def advantage(comparison: Comparison, model: str, over: str) -> dict[str, Any]:
    """How much better `model` is than `over` (positive: better), its interval, P(better), P(equivalent), the reason."""
    row = minus(next(row for row in comparison.pairs if {row["a"], row["b"]} == {model, over}), model)
    row = row if comparison.higher_is_better else turned(row)
    known = {name: as_float(row[name]) for name in ("difference", "low", "high", "p_a_better", "p_equivalent")}
    return {**known, "reason": row.get("reason")}


def of_leaders(comparison: Comparison) -> list[Row]:
    """The leading model (a) minus the next one (b) in every group; none without groups."""
    if not comparison.groups:
        return []
    first, second = leading_pair(comparison.ranks)
    return [minus(row, first) for row in comparison.groups if {row["a"], row["b"]} == {first, second}]


def rank_chances(comparison: Comparison) -> dict[str, Sequence[float]]:
    rows = comparison.decisions.get("rank_probability")
    of_model = {str(row["model"]): row["probability"] for row in rows} if isinstance(rows, Sequence) else {}
    ordered = (str(row["model"]) for row in leaders(comparison.ranks))
    return {model: of_model[model] for model in ordered if model in of_model} if len(of_model) > 1 else {}


def best_pairs(comparison: Comparison, most: int, rows: Sequence[Row] | None = None) -> tuple[list[Row], int]:
    """All pairs or, where there are more than `most`, those among the best models; and the number of these models."""
    models = [str(row["model"]) for row in leaders(comparison.ranks)]
    while math.comb(len(models), 2) > most:
        models.pop()
    known = comparison.pairs if rows is None else rows
    return [row for row in known if row["a"] in models and row["b"] in models], len(models)
