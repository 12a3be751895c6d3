"""What is averaged over the items (rules, powers, counts), and the totals so far, whoever fed them; totals merge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import compensated
from probtruth.kernels.arrays import to_host
from probtruth.kernels.compensated import Total
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.types.arguments import ResponseMode

NO_POSITION = int(np.iinfo(np.int32).max)
"""Stands where there is no item; positions of items are below it."""


class MeanState(NamedTuple):
    """Totals over the items; a column is a quantity that is averaged (see `MeanOptions.columns`).

    `infinite` counts items by sign (plus, minus) and column: they are not in `totals`. `first` are the lowest
    positions of items with an infinite loss, by rule, where they are kept.
    """

    n: Total
    totals: Total
    infinite: Total
    counts: Total
    first: Int[Array | np.ndarray, "rule first"]


def merge(one: MeanState, other: MeanState) -> MeanState:
    """The state of the items of both."""
    n_first = one.first.shape[-1]
    first = jnp.sort(jnp.concatenate([one.first, other.first], -1), -1)[:, :n_first] if n_first else one.first
    return MeanState(
        compensated.merge(one.n, other.n),
        compensated.merge(one.totals, other.totals),
        compensated.merge(one.infinite, other.infinite),
        compensated.merge(one.counts, other.counts),
        first,
    )


def next_position(state: MeanState) -> Int[Array, ""]:
    """The number of items so far as the position of the next one; NO_POSITION where it is beyond."""
    whole = jnp.asarray(state.n.high).astype(jnp.int32) + jnp.asarray(state.n.low).astype(jnp.int32)
    return jnp.where(state.n.high < 2.0**31 - 2.0**8, whole, NO_POSITION)


def exactly(count: Int[Array | np.ndarray, "*sum"], kind: np.dtype) -> Total:
    """A count as a total of this floating type, exact beyond what one float holds."""
    high = count.astype(kind)
    low = (count - high.astype(count.dtype)).astype(kind)
    return Total(high, low, high.__array_namespace__().zeros_like(high))


def whole(count: Total) -> Int[np.ndarray, "*sum"]:
    """Counts as integers (host)."""
    return np.asarray(np.rint(compensated.value(count)), np.int64)


def means(state: MeanState) -> Float[np.ndarray, " column"]:
    """The mean of each column: infinite where a term was, NaN where one was or where infinities of both signs meet."""
    n = whole(state.n)
    up, down = whole(state.infinite) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        finite = compensated.value(state.totals) / n
    signed = np.where(up, np.inf, np.where(down, -np.inf, finite))
    return np.asarray(np.where(np.isnan(finite) | (up & down), np.nan, signed))


def errors(state: MeanState) -> Float[np.ndarray, " column"]:
    """How far summing can have moved each mean."""
    n = whole(state.n)
    with np.errstate(invalid="ignore", divide="ignore"):
        rounded = np.abs(compensated.value(state.totals)) * np.finfo(np.float64).eps
        return np.asarray((to_host(state.totals.error).astype(np.float64) + rounded) / n)


FIRST = 16
"""How many positions of items with an infinite loss are kept: the lowest."""
KINDS = ("expected", "entropy", "divergence")


@dataclass(frozen=True, init=False)
class MeanOptions:
    """Options that two states must share to be merged. They can be static arguments of `jit`."""

    rules: tuple[ScoringRule, ...]
    powers: tuple[float, ...]
    n_labels: int | None
    response: str
    threshold: tuple[float, ...] | None
    parts: bool
    log_probs: bool

    def __init__(
        self,
        rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log",),
        powers: float | Sequence[float | int] = (),
        *,
        n_labels: int | None = None,
        response: str = "sample",
        threshold: float | Sequence[float] | None = None,
        parts: bool = True,
        log_probs: bool = False,
    ) -> None:
        """Checks the options."""
        chosen = tuple(get_rule(rule) for rule in (rules if isinstance(rules, list | tuple) else (rules,)))
        check.unique([rule.name for rule in chosen], "rule")
        listed = powers if isinstance(powers, list | tuple) else (powers,)
        exponents = tuple(check.number(power, "power", "1, 0 and -2/3 are the usual ones.") for power in listed)
        check.literal(response, ResponseMode, "response")
        if n_labels is None and response != "sample":
            raise InputError(f"response {response!r} without n_labels", "the number of labels", "Counts need n_labels.")
        limits = check_threshold(response, threshold, n_labels or 0)
        vars(self).update(rules=chosen, powers=exponents, n_labels=n_labels, response=response)
        vars(self).update(threshold=limits, parts=parts, log_probs=log_probs)

    @property
    def columns(self) -> tuple[tuple[str, ScoringRule | float], ...]:
        """The quantities that are averaged: each kind of loss of every rule, then the powers."""
        kinds = KINDS if self.parts else KINDS[:1]
        of_rules = tuple((kind, rule) for kind in kinds for rule in self.rules)
        return (*of_rules, *(("power", power) for power in self.powers))

    @property
    def n_first(self) -> int:
        """How many positions of items with an infinite loss are kept for each rule."""
        return FIRST if self.parts else 0

    def init(self, dtype: np.dtype | type | None = None) -> MeanState:
        """The state of no items."""
        size, n_labels = len(self.columns), self.n_labels or 0
        return MeanState(
            compensated.zero((), dtype),
            compensated.zero((size,), dtype),
            compensated.zero((2, size), dtype),
            compensated.zero((n_labels, n_labels), dtype),
            jnp.full((len(self.rules), self.n_first), NO_POSITION, jnp.int32),
        )


def check_threshold(response: str, threshold: object, n_labels: int) -> tuple[float, ...] | None:
    """The thresholds: one for two labels, else one for each label; None where the response has none."""
    if response != "threshold":
        if threshold is not None:
            problem = f"threshold {threshold!r} with response {response!r}"
            hint = "Give response='threshold', or leave the threshold out."
            raise InputError(problem, "a threshold only with response 'threshold'", hint)
        return None
    wanted = f"a number above 0 and at most 1, or {n_labels} of them (one for each label)"
    hint = "Thresholds are probabilities; for two labels threshold=0.5 is the usual choice."
    several = isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str)
    listed = list(threshold) if several else [threshold]  # type: ignore[call-overload]
    limits = tuple(check.number(limit, "threshold", hint, above=0, most=1, wanted=wanted) for limit in listed)
    if len(limits) == 1 and n_labels != 2:
        raise InputError(
            f"one threshold for {n_labels} labels",
            f"{n_labels} thresholds, one for each label",
            "The answer is then the label of greatest probability divided by threshold.",
        )
    if len(limits) > 1:
        check.length(len(limits), n_labels, "thresholds")
    return limits
