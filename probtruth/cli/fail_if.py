"""Conditions on a result that turn the exit status, for a check of a pull request: `p_worse > 0.9`, `inconclusive`."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.numbers import Row, minus

if TYPE_CHECKING:
    import probtruth.types

# What a condition may speak of, always of a model against the baseline.
QUANTITIES = ("p_worse", "p_better", "p_equivalent", "difference", "low", "high")

# In place of a condition: no verdict, since the interval holds 0 or, with a ROPE, an edge of it.
INCONCLUSIVE = "inconclusive"
EXAMPLE = "Write --fail-if 'p_worse > 0.9'."
# Exit statuses: some model meets a condition; or, if none does, there is no verdict on some model.
FAILED, NO_VERDICT = 1, 3

_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
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

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        return _SIGNS[self.sign](value, self.bound)


@dataclass(frozen=True)
class Finding:
    """One model against the baseline: the value of the quantity (None: not known), and whether it fails the check."""

    model: str
    baseline: str
    value: float | None
    fails: bool
    condition: Condition

    def __str__(self) -> str:
        """What was found, in one line."""
        value = "not known" if self.value is None else f"{self.value:.4g}"
        what = f"{self.condition.quantity} of {self.model!r} against {self.baseline!r}"
        return f"{'fails' if self.fails else 'passes'}: {what} is {value} ({self.condition})"


def parse(text: str, rope: object = None) -> Condition:
    """The condition that is written, `NAME SIGN NUMBER`; nothing else is understood, and nothing is evaluated."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError(
            f"--fail-if {text!r}",
            "a name, one of > >= < <=, and a number",
            f"Write --fail-if 'p_worse > 0.9', or --fail-if {INCONCLUSIVE}; the names are {', '.join(QUANTITIES)}.",
        )
    name = check.one_of(match[1], QUANTITIES, "--fail-if")
    if name == "p_equivalent" and rope is None:
        raise InputError("p_equivalent without --rope", "a ROPE to be equivalent within", "Add --rope 0.01.")
    made = Condition(name, match[2], float(match[3]))
    _can_hold(made, text)
    return made


def _can_hold(condition: Condition, text: str) -> None:
    """Raises for a probability outside 0 to 1, and for a condition that no value can meet or every value meets."""
    if not math.isfinite(condition.bound):
        raise InputError(f"--fail-if {text!r}", "a finite number", "No result is beyond it.")
    if not condition.quantity.startswith("p_"):
        return
    if not 0 <= condition.bound <= 1:
        percent = f"For {condition.bound:g} per cent write {condition.bound / 100:g}."
        hint = percent if 1 < condition.bound <= 100 else EXAMPLE
        raise InputError(f"--fail-if {text!r}", "a probability between 0 and 1", hint)
    ends = [condition.holds(end) for end in (0.0, 1.0)]
    if all(ends) or not any(ends):
        always = "always holds" if all(ends) else "can never hold"
        raise InputError(f"--fail-if {text!r}, which {always}", "a condition that a result decides", EXAMPLE)


def against(pairs: Sequence[Row], models: Sequence[str], baseline: str | None) -> tuple[str, Mapping[str, Row]]:
    """The baseline, which is the first model unless one is named, and the rows of every other model minus it."""
    base = models[0] if baseline is None else check.one_of(baseline, tuple(models), "--baseline")
    pair_of = {frozenset((row["a"], row["b"])): row for row in pairs}
    return base, {model: minus(pair_of[frozenset((model, base))], model) for model in models if model != base}


def findings(condition: Condition, baseline: str, rows: Mapping[str, Row]) -> list[Finding]:
    """What the condition finds in the rows of `against`."""
    key = {"p_better": "p_a_better", "p_worse": "p_b_better"}.get(condition.quantity, condition.quantity)
    values = {model: None if row[key] is None else float(row[key]) for model, row in rows.items()}
    return [
        Finding(model, baseline, value, value is None or condition.holds(value), condition)
        for model, value in values.items()
    ]


@dataclass(frozen=True)
class Gate:
    """What `--fail-if` and `--baseline` ask for."""

    conditions: tuple[Condition, ...]
    inconclusive: bool
    baseline: str | None

    def judged(self, comparison: "probtruth.types.Comparison", models: Sequence[str]) -> "Judged":
        """What the conditions find in a comparison of these models."""
        base, rows = against(comparison.pairs, models, self.baseline)
        found = tuple(one for condition in self.conditions for one in findings(condition, base, rows))
        ends = [(model, row["low"], row["high"]) for model, row in rows.items()] if self.inconclusive else []
        unsure = tuple(one for one in ends if is_open(one[1], one[2], comparison.rope))
        return Judged(found, unsure, base, comparison.rope, self)


@dataclass(frozen=True)
class Judged:
    """The findings of each condition; `unsure` are the models without a verdict, each with the ends of its interval."""

    findings: tuple[Finding, ...]
    unsure: tuple[tuple[str, float | None, float | None], ...]
    baseline: str
    rope: float | None
    gate: Gate

    @property
    def status(self) -> int:
        """The exit status."""
        failed = any(one.fails for one in self.findings)
        return FAILED if failed else NO_VERDICT if self.unsure else 0

    @property
    def words(self) -> tuple[str, ...]:
        """What was found, a line for each model and condition."""
        lines = [str(one) for one in self.findings]
        held = "0" if self.rope is None else f"an edge of the ROPE ({self.rope:g})"
        for model, low, high in self.unsure:
            ends = "is not known" if low is None or high is None else f"({low:.4g} to {high:.4g}) holds {held}"
            lines.append(f"{INCONCLUSIVE}: the interval of {model!r} against {self.baseline!r} {ends}")
        if self.gate.inconclusive and not self.unsure:
            lines.append(f"passes: there is a verdict on every model against {self.baseline!r}")
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """The same for `--json`."""
        conditions = [*map(str, self.gate.conditions), *([INCONCLUSIVE] if self.gate.inconclusive else [])]
        models = [{**vars(one), "condition": str(one.condition)} for one in self.findings]
        unsure = [{"model": model, "low": low, "high": high} for model, low, high in self.unsure]
        status = {"status": self.status, "baseline": self.baseline}
        return {"condition": "; ".join(conditions), "models": models, INCONCLUSIVE: unsure, **status}


def gate_of(conditions: Sequence[str] | None, baseline: str | None, rope: object) -> Gate | None:
    """What the options ask for; None without `--fail-if`."""
    if not conditions:
        if baseline is not None:
            raise InputError("--baseline without --fail-if", "both", "Add --fail-if 'p_worse > 0.9'.")
        return None
    words = [text for text in conditions if text.strip() != INCONCLUSIVE]
    return Gate(tuple(parse(text, rope) for text in words), len(words) < len(conditions), baseline)


def is_open(low: float | None, high: float | None, rope: float | None) -> bool:
    """Whether an interval leaves the verdict open: it holds 0 or, with a ROPE, lies neither within it nor outside.

    >>> is_open(-0.1, 0.2, None), is_open(0.1, 0.2, None), is_open(0.1, 0.2, 0.15), is_open(-0.1, 0.1, 0.15)
    (True, False, True, False)
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return True
    if rope is None:
        return low <= 0 <= high
    outside = low > rope or high < -rope
    within = -rope <= low and high <= rope
    return not (outside or within)
