"""The rows of a comparison as data: a pair of models, from the side of either, and the rank of one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probtruth.check import MaybeNumber, MaybeText

type Row = Mapping[str, Any]

LEAST_CHANCE = 0.001  # Below it, who is likelier to be the best hangs on a few draws


class _Columns:
    """The fields of a row by name, as the tables have them."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def keys(self) -> list[str]:
        return list(vars(self))


@dataclass(frozen=True)
class Rank(_Columns):
    """A row of `ranking()`: one model; None: unknown.

    `entropy` and `divergence` are the parts of a proper score; `expected_rank` and `tier` count from 1;
    `expected_regret` is in units of the score.
    """

    model: str
    score: MaybeNumber = None
    low: MaybeNumber = None
    high: MaybeNumber = None
    entropy: MaybeNumber = None
    divergence: MaybeNumber = None
    p_best: MaybeNumber = None
    expected_rank: MaybeNumber = None
    expected_regret: MaybeNumber = None
    tier: int | None = None


@dataclass(frozen=True)
class Pair(_Columns):
    """A row of `pairwise()` or `by_group()`: a minus b, in the units and with the sign of the scores; None: unknown.

    `low` to `high` is the equal-tailed 95% interval; `p_a_better` and `p_b_better` sum to 1. `p_a_better_rope` and
    `p_b_better_rope` are the chances to be better by more than the ROPE, None without one. `reason` says why a number
    is unknown. The columns of what was not seen say what outcomes that no item showed could change; `shared_items` is
    on how many items both models were scored, where some model lacks scores; `p_a_preferred` is of votes: the
    probability that a's answer is preferred, ties counted half, with its interval. `group` and `n_items` are of a row
    of one group.
    """

    a: str
    b: str
    difference: MaybeNumber = None
    low: MaybeNumber = None
    high: MaybeNumber = None
    p_a_better: MaybeNumber = None
    p_equivalent: MaybeNumber = None
    p_b_better: MaybeNumber = None
    p_a_better_rope: MaybeNumber = None
    p_b_better_rope: MaybeNumber = None
    favours: MaybeText = None  # "a" or "b"
    reason: MaybeText = None
    unseen_rate: MaybeNumber = None
    unseen_difference: MaybeNumber = None
    unseen_p_a_better: MaybeNumber = None
    shared_items: int | None = None
    p_a_preferred: MaybeNumber = None
    p_a_preferred_low: MaybeNumber = None
    p_a_preferred_high: MaybeNumber = None
    group: MaybeText = None
    n_items: int | None = None

    def keys(self) -> list[str]:
        """The columns of `pairwise()`, and of a group."""
        names = list(vars(self))
        return names if self.group is not None else names[:-2]

    @property
    def models(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def p_a_not_worse(self) -> MaybeNumber:
        """P(a is not worse than b by more than the ROPE): non-inferiority; None without one."""
        return None if self.p_b_better_rope is None else 1.0 - self.p_b_better_rope

    @property
    def finite(self) -> bool:
        return self.difference is not None and math.isfinite(self.difference)

    def seen_from(self, model: str) -> "Pair":
        """The pair with that model as a: the difference changes its sign, and each side takes the other's chances."""
        if self.a == model:
            return self
        sides = {"a": "b", "b": "a"}
        unseen = self.unseen_p_a_better
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=minus(self.difference),
            low=minus(self.high),
            high=minus(self.low),
            p_a_better=self.p_b_better,
            p_b_better=self.p_a_better,
            p_a_better_rope=self.p_b_better_rope,
            p_b_better_rope=self.p_a_better_rope,
            unseen_difference=minus(self.unseen_difference),
            unseen_p_a_better=None if unseen is None else 1.0 - unseen,
            favours=sides.get(self.favours or ""),
            p_a_preferred=_other_side(self.p_a_preferred),
            p_a_preferred_low=_other_side(self.p_a_preferred_high),
            p_a_preferred_high=_other_side(self.p_a_preferred_low),
        )


def _other_side(chance: MaybeNumber) -> MaybeNumber:
    return None if chance is None else 1.0 - chance


def minus(value: MaybeNumber) -> MaybeNumber:
    """The number with the other sign; what is unknown stays so, and 0 has no sign."""
    return None if value is None else 0.0 - value


def leaders(ranks: Iterable[Rank]) -> list[Rank]:
    """The models by probability of being the best and, where that is less than 0.001, by expected rank."""
    return sorted(ranks, key=_order)


def _order(row: Rank) -> tuple[float, float]:
    place = math.inf if row.expected_rank is None else row.expected_rank
    if row.p_best is None:
        return (1.0, place)
    return (-row.p_best if row.p_best >= LEAST_CHANCE else 0.0, place)


def from_the_leader(rows: Iterable[Pair], models: Sequence[str]) -> list[Pair]:
    """The pairs with the model that comes first as a, in the order of the models."""
    place = {model: at for at, model in enumerate(models)}
    pairs = [row.seen_from(min(row.models, key=place.__getitem__)) for row in rows]
    return sorted(pairs, key=lambda pair: (place[pair.a], place[pair.b]))
