"""The verdict under the estimand that was not asked for, so that a reader sees whether the choice matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probtruth.types import Comparison, Truth
from probtruth.types.arguments import QUESTIONS, method_in_words
from probtruth.types.shown import Brief

DECIDED = 0.975  # A pair counts as decided where P(one is better) is at least this


@dataclass(frozen=True, eq=False, repr=False)
class OtherEstimand(Brief):
    """The same models under the other estimand, and the pairs whose verdict is another there."""

    truth: Truth
    comparison: Comparison
    # a, b, p_a_better (as asked), p_a_better_other: pairs with another sign there, of which one answer is decided
    changes: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        keys = ("model", "score", "p_best")
        return {
            "estimand": self.truth.estimand,
            "method": self.truth.method,
            "models": [{key: row[key] for key in keys} for row in self.comparison.ranks],
            "changes": [dict(row) for row in self.changes],
        }

    def warning(self) -> str | None:
        """The changes in words; None where there are none."""
        if not self.changes:
            return None
        turned = pairs_of([(row["a"], row["b"]) for row in self.changes])
        return (
            f"the choice of estimand matters: for {QUESTIONS[self.truth.estimand]} ({self.truth.estimand!r}), by "
            f"{method_in_words(self.truth.method)}, the order of {turned} is the reverse"
        )


def pairs_of(listed: Sequence[tuple[str, str]]) -> str:
    """The first three pairs, and how many more there are."""
    pairs = ", ".join([f"{a!r} and {b!r}" for a, b in listed[:3]])
    return pairs + (f" and {len(listed) - 3} more pairs" if len(listed) > 3 else "")


def changed(truth: Truth, comparison: Comparison, other: Comparison) -> OtherEstimand:
    """What `other`, the comparison under the other truth, says that the one asked for does not."""
    rows = []
    for one, two in zip(comparison.pairs, other.pairs, strict=True):
        p = one.p_a_better
        q = two.p_a_better
        if p is not None and q is not None and (p - 0.5) * (q - 0.5) < 0 and max(p, q, 1 - p, 1 - q) >= DECIDED:
            rows.append({"a": one.a, "b": one.b, "p_a_better": p, "p_a_better_other": q})
    return OtherEstimand(truth, other, tuple(rows))
