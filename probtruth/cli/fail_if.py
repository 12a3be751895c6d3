"""Conditions on a result that turn the exit status, for a check of a pull request: `p_worse > 0.9`, `inconclusive`."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probtruth import check
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.types

QUANTITIES = ("p_worse", "p_better", "p_equivalent", "difference", "low", "high")
"""What a condition may speak of, always of a model against the baseline."""

INCONCLUSIVE = "inconclusive"
"""In place of a condition: no verdict, since the interval holds 0 or, with a ROPE, an edge of it."""
FAILED, NO_VERDICT = 1, 3
"""Exit statuses: some model meets a condition; or, if none does, there is no verdict on some model."""

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

    def words(self, condition: Condition) -> str:
        """What was found, in one line."""
        value = "not known" if self.value is None else f"{self.value:.4g}"
        verdict = "fails" if self.fails else "passes"
        return f"{verdict}: {condition.quantity} of {self.model!r} against {self.baseline!r} is {value} ({condition})"


def parse(text: str, rope: object = None) -> Condition:
    """The condition that is written, `NAME SIGN NUMBER`; nothing else is understood, and nothing is evaluated.

    Errors: `InputError` for another form, an unknown name, `p_equivalent` without a ROPE, a probability outside 0 to 1,
    and a condition that can never hold or always does.
    """
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
        hint = (
            f"For {condition.bound:g} per cent write {condition.bound / 100:g}." if 1 < condition.bound <= 100 else ""
        )
        raise InputError(
            f"--fail-if {text!r}",
            "a probability between 0 and 1",
            hint or "Write --fail-if 'p_worse > 0.9'.",
        )
    ends = [condition.holds(end) for end in (0.0, 1.0)]
    if all(ends) or not any(ends):
        always = "always holds" if all(ends) else "can never hold"
        raise InputError(
            f"--fail-if {text!r}, which {always}",
            "a condition that a result decides",
            "Write --fail-if 'p_worse > 0.9'.",
        )


def findings(
    condition: Condition, pairs: Sequence[Mapping[str, Any]], models: Sequence[str], baseline: str | None
) -> list[Finding]:
    """Every model against the baseline: the first model unless one is named.

    A quantity that is not known fails, since a check must not pass for lack of an answer. Differences are model minus
    baseline, as losses: above 0 the model is worse.
    """
    base = models[0] if baseline is None else check.one_of(baseline, tuple(models), "--baseline")
    rows = []
    for model in models:
        if model != base:
            value = _value(condition.quantity, pairs, model, base)
            rows.append(Finding(model, base, value, value is None or condition.holds(value)))
    return rows


def _value(quantity: str, pairs: Sequence[Mapping[str, Any]], model: str, base: str) -> float | None:
    row = next(row for row in pairs if {row["a"], row["b"]} == {model, base})
    first = row["a"] == model
    if quantity.startswith("p_"):
        key = {
            "p_better": "p_a_better" if first else "p_b_better",
            "p_worse": "p_b_better" if first else "p_a_better",
            "p_equivalent": "p_equivalent",
        }[quantity]
        return None if row[key] is None else float(row[key])
    swapped = {"low": "high", "high": "low"}
    value = row[quantity if first else swapped.get(quantity, quantity)]
    return None if value is None else float(value) if first else -float(value)


@dataclass(frozen=True)
class Gate:
    """What `--fail-if` and `--baseline` ask for."""

    conditions: tuple[Condition, ...]
    inconclusive: bool
    baseline: str | None

    def judged(self, comparison: "probtruth.types.Comparison", models: Sequence[str]) -> "Judged":
        """What the conditions find in a comparison of these models."""
        all_findings = [
            (condition, one)
            for condition in self.conditions
            for one in findings(condition, comparison.pairs, models, self.baseline)
        ]
        base = models[0] if self.baseline is None else check.one_of(self.baseline, tuple(models), "--baseline")
        others = [model for model in models if model != base] if self.inconclusive else []
        ends = {
            model: (_value("low", comparison.pairs, model, base), _value("high", comparison.pairs, model, base))
            for model in others
        }
        unsure = tuple((model, low, high) for model, (low, high) in ends.items() if is_open(low, high, comparison.rope))
        return Judged(tuple(all_findings), unsure, base, comparison.rope, self)


@dataclass(frozen=True)
class Judged:
    """The findings of each condition; `unsure` are the models without a verdict, each with the ends of its interval."""

    findings: tuple[tuple[Condition, Finding], ...]
    unsure: tuple[tuple[str, float | None, float | None], ...]
    baseline: str
    rope: float | None
    gate: Gate

    @property
    def status(self) -> int:
        """The exit status."""
        failed = any(one.fails for _, one in self.findings)
        return FAILED if failed else NO_VERDICT if self.unsure else 0

    @property
    def words(self) -> tuple[str, ...]:
        """What was found, a line for each model and condition."""
        lines = [one.words(condition) for condition, one in self.findings]
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
        models = [{**vars(one), "condition": str(condition)} for condition, one in self.findings]
        unsure = [{"model": model, "low": low, "high": high} for model, low, high in self.unsure]
        status = {"status": self.status, "baseline": self.baseline}
        return {"condition": "; ".join(conditions), "models": models, INCONCLUSIVE: unsure, **status}


def gate(conditions: Sequence[str] | None, baseline: str | None, rope: object) -> Gate | None:
    """What the options ask for; None without `--fail-if`.

    Errors: `InputError` for a condition that is not understood, or a baseline without any.
    """
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
