"""How far the leading model's lead stands: under other questions, methods and rules, and if what was not seen came."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probtruth.check import as_float
from probtruth.comparison.estimation.serial import ALIKE
from probtruth.comparison.results.rows import NO_SPREAD
from probtruth.comparison.results.unseen import NO_BOUND
from probtruth.comparison.results.warn import BY_SIZE
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.io.formats import Texts
from probtruth.types import Comparison, Scores, Truth
from probtruth.types.orientation import is_share
from probtruth.types.pairs import Pair, Rank

if TYPE_CHECKING:
    from probtruth.line.labelled import OtherEstimand

CERTAIN = 0.99  # From this probability on a verdict is certain
CLAIMED = 0.8  # From this probability on a verdict says that a model is better; what turns it below matters
EQUIVALENT = 0.95  # From which probability on two models are practically equivalent
POSSIBLE = 0.05  # From which probability on a model may be the best
LONGEST_SCALE = 20  # Between the ends of a scale of marks
SURE = 0.95  # From which probability on a group counts as decided, and the leading model is used
ROUNDING = 1e-12  # Of a probability

type Level = Literal["certain", "likely", "equivalent", "inconclusive", "invalid"]


@dataclass(frozen=True)
class Gate:
    """A diagnostic of the sampling, and the bounds between which it passes."""

    name: str
    value: float | None  # None: not finite
    least: float
    most: float

    @property
    def passes(self) -> bool:
        return self.value is not None and self.least <= self.value <= self.most


def gates(diagnostics: Mapping[str, Any]) -> list[Gate]:
    """The diagnostics that the engine has."""
    bounds = {"max_rhat": (0.0, MAX_RHAT), "min_ess": (MIN_ESS, math.inf), "divergences": (0.0, 0.0)}
    known = {name: diagnostics[name] for name in bounds if diagnostics.get(name) is not None}
    return [Gate(name, as_float(value), *bounds[name]) for name, value in known.items()]


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
        first = comparison.ranked[0]
        return cls(truth.estimand, truth.method, first.model, first.p_best)


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
    gap: Pair  # lead minus next
    answers: tuple[Answer, ...] = ()  # under the two estimands, where these name different winners
    methods: tuple[Answer, ...] = ()  # likewise, of two methods of one estimand
    unseen: Unseen | None = None  # the worst of the pairs of the leading model
    infinite: Mapping[str, int] = field(
        default_factory=dict
    )  # items of infinite score, by model, the leading one first
    open_ended: bool = False  # a score may lie beyond all that were observed
    dependent: bool = False  # items next to each other have like differences
    by_size: bool = False  # the interval may be too narrow if clusters differ by their size
    turned_by_infinite: bool = False  # models of infinite mean lead, or may be the best under the Brier score
    failing: tuple[Gate, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the verdict is unknown because every item shows the same difference."""
        return self.gap.reason == NO_SPREAD

    @property
    def turned_by(self) -> Texts:
        """What turns the verdict: `estimand`, `method`, `unseen`."""
        turns = {"estimand": self.answers, "method": self.methods, "unseen": self.unseen}
        return tuple(name for name, found in turns.items() if found)

    @property
    def level(self) -> Level:
        """How settled the verdict is."""
        if self.failing:
            return "invalid"
        if self.turned_by_infinite or self.turned_by or self.same:
            return "inconclusive"
        if self.p is None:
            return "invalid"
        if self.gap.p_equivalent is not None and self.gap.p_equivalent >= EQUIVALENT:
            return "equivalent"
        if self.p >= CERTAIN:
            return "certain"
        return "likely" if self.p >= CLAIMED else "inconclusive"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        values: dict[str, Any] = {
            "lead": self.lead,
            "next": self.next,
            "p": self.p,
            "turned_by": list(self.turned_by),
            "answers": [vars(answer) for answer in self.answers],
        }
        if self.methods:
            values["methods"] = [vars(answer) for answer in self.methods]
        values["unseen"] = None if self.unseen is None else vars(self.unseen)
        return values


def standing_of(
    comparison: Comparison,
    truth: Truth | None = None,
    other: "OtherEstimand | None" = None,
    method: "OtherEstimand | None" = None,
    scores: Scores | None = None,
    bounded: Comparison | None = None,
) -> Standing | None:
    """How far the lead of a comparison stands; None for one model."""
    ranks = comparison.ranked
    if len(ranks) < 2:
        return None
    lead, following = ranks[:2]
    gap = comparison.pair(lead.model, following.model)
    p = gap.p_a_better if len(ranks) == 2 else lead.p_best
    infinite = {} if scores is None else _infinite(ranks, scores)
    others = () if bounded is None else bounded.ranks
    chance = sum(rank.p_best or 0.0 for rank in others if rank.model in infinite)  # that one of these is the best
    claimed = p is None or p >= CLAIMED
    return Standing(
        lead.model,
        following.model,
        p,
        gap,
        _answers(comparison, lead.model, truth, other),
        _answers(comparison, lead.model, truth, method),
        _unseen(comparison, lead.model) if claimed else None,
        infinite,
        scores is not None and open_ended(comparison, scores),
        any(line.startswith(ALIKE) for line in comparison.warnings),
        any(BY_SIZE in line for line in comparison.warnings),
        bool(infinite) and (not gap.finite or chance >= POSSIBLE),
        tuple(gate for gate in gates(comparison.diagnostics) if not gate.passes),
    )


def open_ended(comparison: Comparison, scores: Scores) -> bool:
    """Whether a score may lie far beyond all that were observed: not of shares, of 0 and 1, or of a scale of marks."""
    if comparison.unseen.get("reason") != NO_BOUND or is_share(scores.rule):
        return False
    finite = scores.values[np.isfinite(scores.values)]
    if not finite.size:
        return True
    low, high = float(finite.min()), float(finite.max())
    marks = high - low <= LONGEST_SCALE and bool((finite == np.round(finite)).all())
    return not (marks or (low == 0 and high == 1))


def _infinite(ranks: Sequence[Rank], scores: Scores) -> dict[str, int]:
    counts = dict(zip(scores.models, scores.n_infinite.tolist(), strict=True))
    return {rank.model: counts[rank.model] for rank in ranks if counts[rank.model]}


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
    worst = None
    least = comparison.rope or 0.0
    for pair in comparison.ordered_pairs:
        if pair.a != lead or pair.favours != "a" or pair.difference is None or pair.unseen_difference is None:
            continue
        behind = abs(pair.unseen_difference)
        if pair.difference * pair.unseen_difference < 0 and behind > least:
            least = behind
            worst = Unseen(pair.b, pair.unseen_rate or 0.0, behind, int(str(comparison.unseen["n_units"])))
    return worst


@dataclass(frozen=True)
class GroupCount:
    """In how many of the groups the leading model is ahead of the next one, and in which it is not.

    `disagree` is of groups of people: the two that most surely disagree about the two models, with the probability.
    """

    n_groups: int
    ahead: int
    sure: int  # with a probability of 0.95 or more
    behind: tuple[tuple[str, float], ...]  # the other groups with P(the leading model is better), the least first
    disagree: tuple[str, str, float] | None = None


def group_count(comparison: Comparison, people: bool = False) -> GroupCount | None:
    """None without groups (of people), or where nothing is known of any."""
    pairs = comparison.leading_pair_by_people if people else comparison.leading_pair_by_group
    chances = [(pair.p_a_better, str(pair.group)) for pair in pairs if pair.p_a_better is not None]
    if not chances:
        return None
    behind = tuple([(group, p) for p, group in sorted(chances) if p <= 0.5])
    sure = sum([p >= SURE - ROUNDING for p, _ in chances])
    disagree: tuple[str, str, float] | None = None
    rows: Any = comparison.decisions["group_disagreement"] if people else ()
    for row in rows:
        p = row["p_disagree"]
        of_pair = {row["a"], row["b"]} == {*pairs[0].models}
        if of_pair and p is not None and (disagree is None or p > disagree[2]):
            disagree = (row["group"], row["other_group"], p)
    return GroupCount(len(chances), len(chances) - len(behind), sure, behind, disagree)
