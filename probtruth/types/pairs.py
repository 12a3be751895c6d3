"""The rows of a comparison as data: a pair of models, from the side of either, and the rank of one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probtruth.check import as_float

type Row = Mapping[str, Any]

LEAST_CHANCE = 0.001  # Below it, who is likelier to be the best hangs on a few draws


@dataclass(frozen=True)
class Rank:
    """A row of `ranking()`: one model; None: unknown."""

    model: str
    score: float | None
    low: float | None
    high: float | None
    entropy: float | None
    divergence: float | None
    p_best: float | None
    expected_rank: float | None
    expected_regret: float | None

    @classmethod
    def of(cls, row: Row) -> "Rank":
        return cls(row["model"], *[as_float(row.get(name)) for name in RANK_NUMBERS])


RANK_NUMBERS = ("score", "low", "high", "entropy", "divergence", "p_best", "expected_rank", "expected_regret")


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
        numbers: dict[str, Any] = {name: as_float(row.get(name)) for name in PAIR_NUMBERS}
        if "p_b_better" not in row and numbers["p_a_better"] is not None:  # rows of groups have one of the two
            numbers["p_b_better"] = 1.0 - numbers["p_a_better"]
        names: dict[str, Any] = {name: row.get(name) for name in PAIR_NAMES}
        return cls(row["a"], row["b"], **numbers, **names)

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


PAIR_NUMBERS = (
    "difference",
    "low",
    "high",
    "p_a_better",
    "p_b_better",
    "p_equivalent",
    "unseen_rate",
    "unseen_difference",
)
PAIR_NAMES = ("favours", "reason", "group", "n_items")


def minus(value: float | None) -> float | None:
    """The number with the other sign; what is unknown stays so, and 0 has no sign."""
    return None if value is None else 0.0 - value


def leaders(ranks: Sequence[Row]) -> list[Row]:
    """The models by probability of being the best and, where that is less than 0.001, by expected rank."""
    return sorted(ranks, key=_order)


def _order(row: Row) -> tuple[float, float]:
    best, rank = as_float(row["p_best"]), as_float(row["expected_rank"])
    place = math.inf if rank is None else rank
    if best is None:
        return (1.0, place)
    return (-best if best >= LEAST_CHANCE else 0.0, place)


def from_the_leader(rows: Iterable[Row], models: Sequence[str]) -> list[Pair]:
    """The pairs with the model that comes first as a, in the order of the models."""
    place = {model: at for at, model in enumerate(models)}
    pairs = []
    for row in rows:
        lead = min(row["a"], row["b"], key=place.__getitem__)
        pairs.append(Pair.of(row).seen_from(lead))
    return sorted(pairs, key=lambda pair: (place[pair.a], place[pair.b]))
