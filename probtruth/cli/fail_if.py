"""Conditions on a result that turn the exit status, for a check of a pull request: `p_worse > 0.9`, `inconclusive`."""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from probtruth import check
from probtruth.check import MaybeNumber, MaybeStrings, Strings, one_of
from probtruth.errors import InputError
from probtruth.io.formats import MaybeText

if TYPE_CHECKING:
    from probtruth.types.pairs import Pair

# What a condition may speak of, always of a model against the baseline, and where it stands in the row of their pair.
QUANTITIES = {
    "p_worse": "p_b_better",
    "p_better": "p_a_better",
    "p_equivalent": "p_equivalent",
    "difference": "difference",
    "low": "low",
    "high": "high",
}
SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
# In place of a condition: no verdict, since the interval holds 0 or, with a ROPE, an edge of it.
INCONCLUSIVE = "inconclusive"
EXAMPLE = "Write --fail-if 'p_worse > 0.9'; 90 per cent are 0.9."
# Exit statuses: some model meets a condition; or, if none does, there is no verdict on some model.
FAILED, NO_VERDICT = 1, 3

_FORM = re.compile(r"\s*([A-Za-z_]+)\s*(>=|<=|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")


@dataclass(frozen=True)
class Condition:
    """A quantity, a comparison and a number."""

    quantity: str
    sign: str
    bound: float

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.quantity} {self.sign} {self.bound:g}"


def parse(text: str, rope: object = None) -> Condition:
    """The condition that is written, `NAME SIGN NUMBER`; nothing else is understood, and nothing is evaluated."""
    match = _FORM.fullmatch(text)
    what = f"--fail-if {text!r}"
    if match is None:
        names = f"--fail-if {INCONCLUSIVE}; the names are {', '.join(QUANTITIES)}."
        raise InputError(what, "a name, one of > >= < <=, and a number", f"Write --fail-if 'p_worse > 0.9', or {names}")
    quantity = one_of(match[1], tuple(QUANTITIES), "--fail-if")
    if quantity == "p_equivalent" and rope is None:
        raise InputError("p_equivalent without --rope", "a ROPE to be equivalent within", "Add --rope 0.01.")
    least, most = (0, 1) if quantity.startswith("p_") else (-inf, inf)  # beyond 0 and 1 it holds always or never
    bound = check.number(float(match[3]), f"{what} with", EXAMPLE, above=least, below=most)
    return Condition(quantity, match[2], bound)


@dataclass(frozen=True)
class Gate:
    """What `--fail-if` and `--baseline` ask for."""

    conditions: tuple[Condition, ...]
    inconclusive: bool
    baseline: MaybeText

    @property
    def words(self) -> list[str]:
        """The conditions as they are written."""
        words = [str(condition) for condition in self.conditions]
        return [*words, INCONCLUSIVE] if self.inconclusive else words

    def judged(self, pairs: "Sequence[Pair]", models: Strings, rope: MaybeNumber) -> dict[str, Any]:
        """What is found, and the exit status; the baseline is the first model unless one is named."""
        base = models[0] if self.baseline is None else one_of(self.baseline, tuple(models), "--baseline")
        rows = [pair.seen_from(pair.b if pair.a == base else pair.a) for pair in pairs if base in pair.models]
        found = []
        for condition in self.conditions:
            for row in rows:
                value = getattr(row, QUANTITIES[condition.quantity])
                fails = value is None or SIGNS[condition.sign](value, condition.bound)
                judged = {"model": row.a, "baseline": base, "value": value, "fails": fails}
                found.append({**judged, "condition": str(condition)})
        unsure = []
        for row in rows:
            if self.inconclusive and is_open(row.low, row.high, rope):
                unsure.append({"model": row.a, "low": row.low, "high": row.high})
        status = NO_VERDICT if unsure else 0
        if any(one["fails"] for one in found):
            status = FAILED
        words = "; ".join(self.words)
        return {"condition": words, "models": found, INCONCLUSIVE: unsure, "status": status, "baseline": base}

    def in_words(self, judged: Mapping[str, Any], rope: MaybeNumber) -> list[str]:
        """What was found, a line for each model and condition."""
        against = f"against {judged['baseline']!r}"
        lines = []
        for one in judged["models"]:
            verdict = "fails" if one["fails"] else "passes"
            condition = one["condition"]
            quantity = condition.split()[0]
            value = "not known" if one["value"] is None else f"{one['value']:.4g}"
            lines.append(f"{verdict}: {quantity} of {one['model']!r} {against} is {value} ({condition})")
        edge = "0" if rope is None else f"an edge of the ROPE ({rope:g})"
        for one in judged[INCONCLUSIVE]:
            low, high = one["low"], one["high"]
            ends = "is not known" if None in (low, high) else f"({low:.4g} to {high:.4g}) holds {edge}"
            lines.append(f"{INCONCLUSIVE}: the interval of {one['model']!r} {against} {ends}")
        if self.inconclusive and not judged[INCONCLUSIVE]:
            lines.append(f"passes: there is a verdict on every model {against}")
        return lines


def gate_of(conditions: MaybeStrings, baseline: MaybeText, rope: object) -> Gate | None:
    """What the options ask for; None without `--fail-if`."""
    if not conditions:
        if baseline is not None:
            raise InputError("--baseline without --fail-if", "both", "Add --fail-if 'p_worse > 0.9'.")
        return None
    parsed = [parse(text, rope) for text in conditions if text.strip() != INCONCLUSIVE]
    return Gate(tuple(parsed), len(parsed) < len(conditions), baseline)


def is_open(low: MaybeNumber, high: MaybeNumber, rope: MaybeNumber) -> bool:
    """Whether an interval leaves the verdict open: it holds 0 or, with a ROPE, an edge of it."""
    if low is None or high is None:
        return True
    edge = rope or 0.0
    return low <= edge <= high or low <= -edge <= high
