"""Mean scores over batches: expected loss, entropy and divergence of any rules in one pass, exactly summed."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from probtruth import check
from probtruth.kernels import sums
from probtruth.scoring.means.metric import NO_POSITION, Block, Metric, Parts, apart
from probtruth.scoring.rules import ScoringRule, get_rule

FIRST = 16
"""How many positions of items with an infinite loss are kept: the lowest."""


class ScoreParts(NamedTuple):
    """Totals by rule and kind (expected, entropy, divergence), and where the loss is not finite."""

    totals: sums.ExactSum
    infinite: Int[Array, "rule first"]


@dataclass(frozen=True, eq=False)
class MeanScores:
    """Means over the items, for each rule: `expected` = `entropy` + `divergence`, lower is better.

    `n_infinite` counts items whose loss is infinite (the mean is then infinite), and `infinite_items` are the lowest
    positions among them, at most 16. A mean of no items is NaN.
    """

    rules: tuple[str, ...]
    n_items: int
    expected: Float[np.ndarray, " rule"]
    entropy: Float[np.ndarray, " rule"]
    divergence: Float[np.ndarray, " rule"]
    n_infinite: Int[np.ndarray, " rule"]
    infinite_items: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, init=False)
class StreamScores(Metric):
    """Mean expected loss, entropy and divergence of several rules.

    Formula: sum_i S(p_i, t_i) / n, the sum exact, rounded once at the end.

    Arguments: `rules` are names or `ScoringRule`s; `log_probs` says that forecasts come as log-probabilities.

    Errors: `InputError` for an unknown or repeated rule.

    Source: Neal (2015), "Fast exact summation using small and large superaccumulators", arXiv:1505.05571

    >>> import numpy as np, probtruth as pt
    >>> metric = pt.streaming.StreamScores(("log", "brier"))
    >>> state = metric.init()
    >>> for batch in range(3):
    ...     state = metric.update(state, np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]]))
    >>> metric.finalize(state).expected.round(4).tolist()
    [0.6325, 0.44]
    """

    rules: tuple[ScoringRule, ...]

    def __init__(self, rules: object = ("log",), log_probs: bool = False) -> None:
        wanted = rules if isinstance(rules, list | tuple) else (rules,)
        chosen = tuple(get_rule(rule) for rule in wanted)
        check.unique([rule.name for rule in chosen], "rule")
        object.__setattr__(self, "rules", chosen)
        object.__setattr__(self, "log_probs", log_probs)

    def blank(self) -> ScoreParts:
        """The parts of no items."""
        n = len(self.rules)
        return ScoreParts(sums.zero((n, 3)), jnp.full((n, FIRST), NO_POSITION, jnp.int32))

    def add(self, parts: ScoreParts, block: Block) -> ScoreParts:
        """The parts after a block."""
        losses: Array = apart(jnp.stack([_losses(rule, block) for rule in self.rules]))
        losses = jnp.where(block.present, losses, 0)
        wrong = ~jnp.isfinite(losses[:, 0])
        infinite = lax.cond(
            wrong.any(), lambda kept: _lowest(kept, wrong, block.position), lambda kept: kept, parts.infinite
        )
        return ScoreParts(sums.add_block(parts.totals, losses), infinite)

    def settled(self, parts: ScoreParts) -> ScoreParts:
        """The parts in their one form."""
        return parts._replace(totals=sums.settled(parts.totals))

    def merged(self, one: ScoreParts, other: ScoreParts) -> ScoreParts:
        """The parts of both."""
        infinite = jnp.sort(jnp.concatenate([one.infinite, other.infinite], -1), -1)[:, :FIRST]
        return ScoreParts(sums.merge(one.totals, other.totals), infinite)

    def result(self, n_items: int, parts: Parts) -> MeanScores:
        """The means, rounded once."""
        means = sums.means(parts.totals, n_items)
        places = tuple(tuple(int(place) for place in row if place < NO_POSITION) for row in parts.infinite)
        n_infinite = sums.whole(parts.totals.odd)[:, 0, :2].sum(-1)
        expected, entropy, divergence = means.T
        names = tuple(rule.name for rule in self.rules)
        return MeanScores(names, n_items, expected, entropy, divergence, n_infinite, places)


def _losses(rule: ScoringRule, block: Block) -> Float[Array, "kind item"]:
    if block.is_log:
        expected = rule.expected_from_log(block.forecast, block.truth)
        divergence = rule.divergence_from_log(block.forecast, block.truth)
    else:
        expected = rule.expected(block.forecast, block.truth)
        divergence = rule.divergence(block.forecast, block.truth)
    return jnp.stack([expected, rule.entropy(block.truth), divergence])


def _lowest(
    kept: Int[Array, "rule first"], wrong: Bool[Array, "rule item"], position: Int[Array, " item"]
) -> Int[Array, "rule first"]:
    found = jnp.where(wrong, position, NO_POSITION)
    return jnp.sort(jnp.concatenate([kept, found], -1), -1)[:, :FIRST]
