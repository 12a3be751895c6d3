"""How far the leading model's lead stands: under other questions and methods, what was not seen, another prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probtruth.check import as_float
from probtruth.comparison.rows import NO_SPREAD
from probtruth.line.bounds import Bounds
from probtruth.line.other_estimand import OtherEstimand
from probtruth.types import Comparison, Truth
from probtruth.types.comparison import Row, leaders

CLAIMED = 0.8
"""From this probability on a verdict says that a model is better; what turns it below matters."""


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
    """The unseen would turn the order of the leading model and `other`.

    So many independent units leave room for `rate`, and then the leading model would be worse by `behind`.
    """

    other: str
    rate: float
    behind: float
    n_units: int


@dataclass(frozen=True)
class Shared:
    """Errors that annotators share on up to a share of the items could put `other` ahead, by `behind`."""

    other: str
    share: float
    behind: float


@dataclass(frozen=True)
class Standing:
    """The leading model and the next, P(the leading one is the best), and what would turn the verdict.

    `answers` are those under the two estimands where these name different winners, else empty; `methods` those of two
    methods of the estimand asked for, likewise; `unseen` is the worst of the pairs of the leading model; `prior`
    whether half or double the prior makes another model more probable; `same` whether a verdict is unknown because
    every item shows the same difference; `shared` whether errors that annotators may share would turn the order.
    """

    lead: str
    next: str | None
    p: float | None
    answers: tuple[Answer, ...] = ()
    unseen: Unseen | None = None
    prior: bool = False
    same: bool = False
    methods: tuple[Answer, ...] = ()
    shared: Shared | None = None

    @property
    def turned_by(self) -> tuple[str, ...]:
        """What turns the verdict: `estimand`, `method`, `unseen`, `prior`, `shared_errors`."""
        named = (
            ("estimand", bool(self.answers)),
            ("method", bool(self.methods)),
            ("unseen", self.unseen is not None),
            ("prior", self.prior),
            ("shared_errors", self.shared is not None),
        )
        return tuple(name for name, turns in named if turns)

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
            **({} if self.shared is None else {"shared_errors": vars(self.shared)}),
        }


def standing_of(
    comparison: Comparison,
    truth: Truth | None,
    other: OtherEstimand | None,
    method: OtherEstimand | None = None,
    bounds: Bounds | None = None,
) -> Standing | None:
    """How far the lead stands; None for one model. `method` is the comparison under another method of the estimand."""
    ranked = leaders(comparison.ranks)
    if len(ranked) < 2:
        return None
    lead, following = (str(row["model"]) for row in ranked[:2])
    pair = next(row for row in comparison.pairs if {row["a"], row["b"]} == {lead, following})
    chance = pair["p_a_better"] if pair["a"] == lead else pair["p_b_better"]
    p = as_float(ranked[0]["p_best"] if len(ranked) > 2 else chance)
    claimed = p is not None and p >= CLAIMED
    return Standing(
        lead,
        following,
        p,
        _answers(comparison, lead, truth, other),
        _unseen(comparison, lead) if claimed or p is None else None,
        claimed and _prior_turns(comparison.sensitivity, lead),
        pair.get("reason") == NO_SPREAD,
        _answers(comparison, lead, truth, method),
        _shared(comparison, lead, bounds) if claimed else None,
    )


def _answers(comparison: Comparison, lead: str, truth: Truth | None, other: OtherEstimand | None) -> tuple[Answer, ...]:
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
        leads = difference < 0 if row["a"] == lead else difference > 0
        if leads and difference * worst < 0 and abs(worst) > (comparison.rope or 0.0):
            other = str(row["b"] if row["a"] == lead else row["a"])
            n_units = int(str(comparison.unseen["n_units"]))
            turned.append(Unseen(other, float(str(row["unseen_rate"])), abs(worst), n_units))
    return max(turned, key=lambda case: case.behind, default=None)


def _shared(comparison: Comparison, lead: str, bounds: Bounds | None) -> Shared | None:
    """The model that shared errors would put furthest ahead of the lead, and by more than what does not matter."""
    turned = []
    for other in comparison.models:
        ends = None if bounds is None or other == lead else bounds.of(lead, other)
        if bounds is not None and bounds.share and ends is not None and ends[1] > (comparison.rope or 0.0):
            turned.append(Shared(other, bounds.share, ends[1]))
    return max(turned, key=lambda case: case.behind, default=None)


def _prior_turns(rows: Sequence[Row], lead: str) -> bool:
    """Whether half or double the prior takes P(the lead is the best) below a half."""
    row = next((row for row in rows if row["what"] == f"P({lead} best)"), None)
    moved = [] if row is None else [as_float(row[f"prior_{word}"]) for word in ("half", "double")]
    return any(p is not None and p < 0.5 for p in moved)
