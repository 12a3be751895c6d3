"""How far the leading model's lead stands: under other questions, methods and rules, and if what was not seen came."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probtruth.check import as_float
from probtruth.comparison.rows import NO_SPREAD
from probtruth.types import Comparison, Truth
from probtruth.types.comparison import leaders

if TYPE_CHECKING:
    from probtruth.line.other_estimand import OtherEstimand

CLAIMED = 0.8  # From this probability on a verdict says that a model is better; what turns it below matters


@dataclass(frozen=True)
class Answer:
    """Which model is the best under an estimand, by which method, and how probably."""

    estimand: str
    method: str
    best: str
    p_best: float | None

    @classmethod
    def of(cls, truth: Truth, comparison: Comparison) -> "Answer":
        """That of a comparison under a truth."""
        first = leaders(comparison.ranks)[0]
        return cls(truth.estimand, truth.method, str(first["model"]), as_float(first["p_best"]))


@dataclass(frozen=True)
class Unseen:
    """Outcomes at a `rate` that units leave room for would put the leading model `behind` another."""

    other: str
    rate: float
    behind: float
    n_units: int


@dataclass(frozen=True)
class Standing:
    """The leading model and the next, P(the leading one is the best), and what would turn the verdict."""

    lead: str
    next: str
    p: float | None
    answers: tuple[Answer, ...] = ()  # under the two estimands, where these name different winners
    methods: tuple[Answer, ...] = ()  # likewise, of two methods of one estimand
    unseen: Unseen | None = None  # the worst of the pairs of the leading model
    same: bool = False  # the verdict is unknown because every item shows the same difference

    @property
    def turned_by(self) -> tuple[str, ...]:
        """What turns the verdict: `estimand`, `method`, `unseen`."""
        turns = {"estimand": self.answers, "method": self.methods, "unseen": self.unseen}
        return tuple(name for name, found in turns.items() if found)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        return {
            "lead": self.lead,
            "next": self.next,
            "p": self.p,
            "turned_by": list(self.turned_by),
            "answers": [vars(answer) for answer in self.answers],
            **({"methods": [vars(answer) for answer in self.methods]} if self.methods else {}),
            "unseen": None if self.unseen is None else vars(self.unseen),
        }


def standing_of(
    comparison: Comparison, truth: Truth | None, other: "OtherEstimand | None", method: "OtherEstimand | None" = None
) -> Standing | None:
    """How far the lead of a comparison stands; None for one model."""
    ranked = leaders(comparison.ranks)
    if len(ranked) < 2:
        return None
    lead, following = (str(row["model"]) for row in ranked[:2])
    pair = next(row for row in comparison.pairs if {row["a"], row["b"]} == {lead, following})
    chance = pair["p_a_better"] if pair["a"] == lead else pair["p_b_better"]
    p = as_float(ranked[0]["p_best"] if len(ranked) > 2 else chance)
    return Standing(
        lead,
        following,
        p,
        _answers(comparison, lead, truth, other),
        _answers(comparison, lead, truth, method),
        _unseen(comparison, lead) if p is None or p >= CLAIMED else None,
        pair.get("reason") == NO_SPREAD,
    )


def _answers(
    comparison: Comparison, lead: str, truth: Truth | None, other: "OtherEstimand | None"
) -> tuple[Answer, ...]:
    if truth is None or other is None:
        return ()
    theirs = Answer.of(other.truth, other.comparison)
    turned = any({row["a"], row["b"]} == {lead, theirs.best} for row in other.changes)
    return (Answer.of(truth, comparison), theirs) if turned else ()


def _unseen(comparison: Comparison, lead: str) -> Unseen | None:
    """The pair of the leading model that the unseen would turn furthest, and by more than what does not matter."""
    turned = []
    for row in comparison.pairs:
        difference, worst = as_float(row["difference"]), as_float(row.get("unseen_difference"))
        if lead not in (row["a"], row["b"]) or difference is None or worst is None:
            continue
        leads = row["favours"] is not None and row[str(row["favours"])] == lead
        if leads and difference * worst < 0 and abs(worst) > (comparison.rope or 0.0):
            other = str(row["b"] if row["a"] == lead else row["a"])
            n_units = int(str(comparison.unseen["n_units"]))
            turned.append(Unseen(other, float(str(row["unseen_rate"])), abs(worst), n_units))
    return max(turned, key=lambda case: case.behind, default=None)
