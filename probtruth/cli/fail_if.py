"""Conditions on a result that turn the exit status, for a check of a pull request: `p_worse > 0.9`, `inconclusive`."""

import operator
import re
from collections.abc import Sequence
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
        """What is found, in words too, and the exit status; the baseline is the first model unless one is named."""
        if not pairs:
            raise InputError(f"--fail-if with one model ({models[0]!r})", "another to compare with", "Leave it out.")
        base = models[0] if self.baseline is None else one_of(self.baseline, tuple(models), "--baseline")
        rows = [pair.seen_from(pair.b if pair.a == base else pair.a) for pair in pairs if base in pair.models]
        against = f"against {base!r}"
        words = []
        found = []
        for condition in self.conditions:
            for row in rows:
                value = getattr(row, QUANTITIES[condition.quantity])
                fails = value is None or SIGNS[condition.sign](value, condition.bound)
                number = "not known" if value is None else f"{value:.4g}"
                verdict = "fails" if fails else "passes"
                words.append(f"{verdict}: {condition.quantity} of {row.a!r} {against} is {number} ({condition})")
                judged = {"model": row.a, "baseline": base, "value": value, "fails": fails}
                found.append({**judged, "condition": str(condition)})
        unsure = []
        for row in rows if self.inconclusive else ():
            if is_open(row.low, row.high, rope):
                edge = "0" if rope is None else f"an edge of the ROPE ({rope:g})"
                ends = "is not known"
                if row.low is not None and row.high is not None:
                    ends = f"({row.low:.4g} to {row.high:.4g}) holds {edge}"
                words.append(f"{INCONCLUSIVE}: the interval of {row.a!r} {against} {ends}")
                unsure.append({"model": row.a, "low": row.low, "high": row.high})
        if self.inconclusive and not unsure:
            words.append(f"passes: there is a verdict on every model {against}")
        status = NO_VERDICT if unsure else 0
        if any(one["fails"] for one in found):
            status = FAILED
        conditions = "; ".join(self.words)
        judged = {"condition": conditions, "models": found, INCONCLUSIVE: unsure, "status": status, "baseline": base}
        return {**judged, "words": words}


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
