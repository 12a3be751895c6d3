"""What is to be averaged: which rules, powers and counts, and in what form forecasts come."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import compensated, simplex
from probtruth.scoring.means.state import NO_POSITION, MeanState
from probtruth.scoring.rules import ScoringRule, get_rule

RESPONSES = ("sample", "argmax", "threshold")
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
    threshold: tuple[float | int, ...] | None
    parts: bool
    log_probs: bool

    def __init__(
        self,
        rules: str | ScoringRule | Sequence[str | ScoringRule] = ("log",),
        powers: float | Sequence[float | int] = (),
        *,
        n_labels: int | None = None,
        response: str = "sample",
        threshold: tuple[float | int, ...] | None = None,
        parts: bool = True,
        log_probs: bool = False,
    ) -> None:
        """Checks the options."""
        chosen = tuple(get_rule(rule) for rule in (rules if isinstance(rules, list | tuple) else (rules,)))
        check.unique([rule.name for rule in chosen], "rule")
        exponents = tuple(_finite(power) for power in (powers if isinstance(powers, list | tuple) else (powers,)))
        check.one_of(response, RESPONSES, "response")
        _check_threshold(response, threshold, n_labels)
        for name, value in (
            ("rules", chosen),
            ("powers", exponents),
            ("n_labels", n_labels),
            ("response", response),
            ("threshold", threshold),
            ("parts", parts),
            ("log_probs", log_probs),
        ):
            object.__setattr__(self, name, value)

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

    def log_of(self, forecast: Float[Array, "item label"]) -> Float[Array, "item label"]:
        """The forecast as log-probabilities."""
        return forecast if self.log_probs else simplex.log(forecast)


def _finite(power: float | int) -> float:
    if not isinstance(power, int | float | np.floating) or not math.isfinite(power):
        raise InputError(f"power {power!r}", "a finite number", "1, 0 and -2/3 are the usual ones.")
    return float(power)


def _check_threshold(response: str, threshold: tuple[float | int, ...] | None, n_labels: int | None) -> None:
    if (threshold is not None) != (response == "threshold"):
        raise InputError(
            f"threshold {threshold!r} with response {response!r}",
            "a threshold with the response 'threshold', and only there",
            "Give both or neither.",
        )
    if n_labels is None and response != "sample":
        raise InputError(f"response {response!r} without n_labels", "the number of labels", "Counts need n_labels.")
    if threshold is not None:
        sizes = (1, 2) if n_labels == 2 else (n_labels,)
        if len(threshold) not in sizes or not all(0 < limit <= 1 for limit in threshold):
            raise InputError(
                f"threshold {threshold!r}",
                f"a tuple of {' or '.join(map(str, sizes))} numbers above 0 and at most 1",
                "For two labels (0.5,) is the usual choice.",
            )
