"""The rows of a comparison as data: a pair of models, from the side of either, and the rank of one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

from probtruth.check import as_float
from probtruth.types.comparison import Comparison, Row, leaders


@dataclass(frozen=True)
class Pair:
    """A row of `pairwise()` or `by_group()`: a minus b, in the units and with the sign of the scores; None: unknown."""

    a: str
    b: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_a_better: float | None = None
    p_b_better: float | None = None
    p_equivalent: float | None = None
    unseen_rate: float | None = None
    unseen_difference: float | None = None
    favours: str | None = None  # "a" or "b"
    reason: str | None = None
    group: str | None = None
    n_items: int | None = None

    @classmethod
    def of(cls, row: Row) -> "Pair":
        known = {name: as_float(row.get(name)) for name in NUMBERS}
        if known["p_b_better"] is None and known["p_a_better"] is not None:  # groups have one of the two
            known["p_b_better"] = 1.0 - known["p_a_better"]
        named = {name: row.get(name) for name in NAMES}
        return cls(row["a"], row["b"], **known, **named)

    @property
    def finite(self) -> bool:
        return self.difference is not None and math.isfinite(self.difference)

    def seen_from(self, model: str) -> "Pair":
        """The pair with that model as a: the difference changes its sign, and each side takes the other's chances."""
        if self.a == model:
            return self
        sides = {"a": "b", "b": "a"}
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=minus(self.difference),
            low=minus(self.high),
            high=minus(self.low),
            p_a_better=self.p_b_better,
            p_b_better=self.p_a_better,
            unseen_difference=minus(self.unseen_difference),
            favours=sides.get(self.favours or ""),
        )


NUMBERS = (
    "difference",
    "low",
    "high",
    "p_a_better",
    "p_b_better",
    "p_equivalent",
    "unseen_rate",
    "unseen_difference",
)
NAMES = ("favours", "reason", "group", "n_items")


@dataclass(frozen=True)
class Rank:
    """A row of `ranking()`: one model; None: unknown."""

    model: str
    score: float | None = None
    low: float | None = None
    high: float | None = None
    entropy: float | None = None
    divergence: float | None = None
    p_best: float | None = None
    expected_rank: float | None = None
    expected_regret: float | None = None

    @classmethod
    def of(cls, row: Row) -> "Rank":
        known = {field.name: as_float(row.get(field.name)) for field in fields(cls)[1:]}
        return cls(row["model"], **known)


def minus(value: float | None) -> float | None:
    """The number with the other sign; what is unknown stays so, and 0 has no sign."""
    return None if value is None else 0.0 - value


def ranked(comparison: Comparison) -> list[Rank]:
    """The models, the likeliest to be the best first."""
    return [Rank.of(row) for row in leaders(comparison.ranks)]


def from_the_leader(comparison: Comparison, rows: Iterable[Row] | None = None) -> list[Pair]:
    """All pairs, the model that leads as a, in the order of the models; of `rows`, those of other populations."""
    place = {rank.model: at for at, rank in enumerate(ranked(comparison))}
    pairs = []
    for row in comparison.pairs if rows is None else rows:
        lead = min(row["a"], row["b"], key=place.__getitem__)
        pairs.append(Pair.of(row).seen_from(lead))
    return sorted(pairs, key=lambda pair: (place[pair.a], place[pair.b]))


def pair_of(comparison: Comparison, a: str, b: str) -> Pair:
    row = next(row for row in comparison.pairs if {row["a"], row["b"]} == {a, b})
    return Pair.of(row).seen_from(a)


def leading_pair_by_group(comparison: Comparison) -> list[Pair]:
    """The leading model minus the next one in every group; none without groups."""
    if not comparison.groups:
        return []
    first, second = [rank.model for rank in ranked(comparison)[:2]]
    rows = [row for row in comparison.groups if {row["a"], row["b"]} == {first, second}]
    return [Pair.of(row).seen_from(first) for row in rows]


def rank_chances(comparison: Comparison) -> dict[str, Sequence[float]]:
    """The probability of each rank, by model in their order; empty where they are not known."""
    rows = comparison.decisions.get("rank_probability")
    if not isinstance(rows, Sequence) or len(rows) < 2:
        return {}
    chances = {row["model"]: row["probability"] for row in rows}
    models = [rank.model for rank in ranked(comparison)]
    return {model: chances[model] for model in models if model in chances}
