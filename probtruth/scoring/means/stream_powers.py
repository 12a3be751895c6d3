"""Generalised means of the probability of the label over batches."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth.errors import InputError
from probtruth.kernels import sums
from probtruth.scoring.means.metric import Block, Metric, Parts, apart


@dataclass(frozen=True, eq=False)
class PowerMeans:
    """Generalised means, in the order of `powers`, between 0 and 1, higher is better; NaN where unknown."""

    powers: tuple[float, ...]
    n_items: int
    values: Float[np.ndarray, " power"]
    n_impossible: Int[np.ndarray, " power"]


@dataclass(frozen=True, init=False)
class StreamPowerMeans(Metric):
    """Generalised means of the probability that the forecasts gave the labels: Nelson's risk profile.

    Formula: (1/n sum_i sum_k t_ik p_ik^m)^(1/m); its limit exp(1/n sum_i sum_k t_ik log p_ik) at 0. What is summed,
    exactly, is sum_k t_ik (p_ik^m - 1)/m, which has no trouble near 0.

    Arguments: `powers` are finite numbers: 1 is decisiveness, 0 accuracy, -2/3 robustness.

    Returns (of `finalize`): `PowerMeans`. Where a label of positive weight had probability 0, a power of 0 or below
    gives 0 and `n_impossible` counts the items; where a power of a probability leaves the range of the float type (in
    float32, p^m above 1e38) the value is NaN: give float64.

    Errors: `InputError` for a power that is not finite.

    Source: Nelson (2017), doi:10.3390/e19060286

    >>> import numpy as np, probtruth as pt
    >>> metric = pt.streaming.StreamPowerMeans((1, 0, -1))
    >>> state = metric.update(metric.init(), np.array([[0.2, 0.8], [0.8, 0.2]]), np.array([[1, 0], [1, 0]]))
    >>> metric.finalize(state).values.round(4).tolist()
    [0.5, 0.4, 0.32]
    """

    powers: tuple[float, ...]

    def __init__(self, powers: object = (1.0, 0.0, -2 / 3), log_probs: bool = False) -> None:
        wanted = powers if isinstance(powers, list | tuple) else (powers,)
        for power in wanted:
            if not isinstance(power, int | float) or not math.isfinite(power):
                raise InputError(f"power {power!r}", "a finite number", "1, 0 and -2/3 are the usual ones.")
        object.__setattr__(self, "powers", tuple(map(float, wanted)))
        object.__setattr__(self, "log_probs", log_probs)

    def blank(self) -> sums.ExactSum:
        """The parts of no items."""
        return sums.zero((len(self.powers),))

    def add(self, parts: Parts, block: Block) -> sums.ExactSum:
        """The parts after a block."""
        logs = jnp.where(block.truth != 0, block.log_probs, 0)
        values: Array = apart(jnp.stack([_total(block.truth, logs, power) for power in self.powers]))
        return sums.add_block(parts, jnp.where(block.present, values, 0))

    def settled(self, parts: Parts) -> sums.ExactSum:
        """The parts in their one form."""
        return sums.settled(parts)

    def merged(self, one: Parts, other: Parts) -> sums.ExactSum:
        """The parts of both."""
        return sums.merge(one, other)

    def result(self, n_items: int, parts: Parts) -> PowerMeans:
        """The means."""
        centres = sums.means(parts, n_items)
        pairs = zip(centres, self.powers, strict=True)
        values = np.array([power_mean(float(centre), power) for centre, power in pairs], np.float64)
        return PowerMeans(self.powers, n_items, values, sums.whole(parts.odd)[:, 1])


def power_mean(centre: float, power: float) -> float:
    """The mean of order m from the mean of (p^m - 1)/m (of log p at 0); it is 0 where that is minus infinity."""
    if power == 0 or math.isnan(centre):
        return math.exp(centre)
    inner = power * centre
    if inner <= -1 or math.isinf(inner):
        return 0.0
    return math.exp(math.log1p(inner) / power)


def _total(truth: Float[Array, "item label"], logs: Float[Array, "item label"], power: float) -> Float[Array, " item"]:
    """sum_k t_k (p_k^m - 1)/m; NaN, not infinite, where a power of a positive probability overflows."""
    if power == 0:
        return (truth * logs).sum(-1)
    terms = jnp.expm1(power * logs) / power
    lost = jnp.isinf(terms) & jnp.isfinite(logs)
    return (truth * jnp.where(lost, jnp.nan, terms)).sum(-1)
