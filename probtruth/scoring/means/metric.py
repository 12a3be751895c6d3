"""What a metric over batches is: a state of integers with `init`, `update`, `merge` and `finalize`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from probtruth.errors import InputError
from probtruth.kernels import simplex, sums

NO_POSITION = int(np.iinfo(np.int32).max)
"""Stands where there is no item; positions are kept below it."""

Parts = Any
"""The pytree of one metric, all leaves int32."""


def apart(values: Any) -> Any:
    """The values, kept from being compiled together with what comes before or after."""
    return lax.optimization_barrier(values)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Block:
    """A fixed number of items inside a traced function; rows that are not `present` count for nothing."""

    forecast: Float[Array, "item label"]
    truth: Float[Array, "item label"]
    present: Bool[Array, " item"]
    position: Int[Array, " item"]
    place: Int[Array, ""]
    is_log: bool

    @property
    def probs(self) -> Float[Array, "item label"]:
        """The forecast as probabilities."""
        return jnp.exp(self.forecast) if self.is_log else self.forecast

    @property
    def log_probs(self) -> Float[Array, "item label"]:
        """The forecast as log-probabilities."""
        return self.forecast if self.is_log else simplex.log(self.forecast)


class State(NamedTuple):
    """What is known of the items so far: their number, as digits, and the metric's own parts."""

    n: Int[Array, "*batch count"]
    parts: Parts


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """A metric whose state is a pytree of integers that merges exactly: any batches, order and devices, same bits.

    `log_probs` says that forecasts come as log-probabilities. The state of float32 batches is the same with JAX's x64
    mode on or off; for float64 batches it is switched on here, but for a call inside a traced function.
    """

    log_probs: bool = False

    def init(self) -> State:
        """The state of no items."""
        return State(sums.no_count(), self.blank())

    def update(self, state: State, probs: object, truth: object, start: object = None) -> State:
        """The state after a batch of items.

        Arguments: `probs` and `truth` are arrays (item, label): NumPy or JAX, on one device or sharded over their
        items, or traced; `start` is the position of the first item among all, for batches that do not come in order
        (without it, positions are counted on from the state).

        Errors: `InputError` for shapes that differ, or an array that is sharded over its labels.
        """
        from probtruth.scoring.means import folding  # a metric is folded by functions that take metrics

        forecast, weights = (values if isinstance(values, Array) else np.asarray(values) for values in (probs, truth))
        if forecast.ndim != 2 or forecast.shape != weights.shape:
            raise InputError(
                f"forecasts of shape {forecast.shape} and truth of shape {weights.shape}",
                "the same two axes (item, label) for both",
                "For several models at once use jax.vmap over their states and forecasts.",
            )
        if forecast.shape[0] == 0:
            return state
        return folding.update(self, state, forecast, weights, start)

    def merge(self, one: State, other: State) -> State:
        """The state of the items of both: associative and commutative, bit for bit."""
        both: State = _merge(self, one, other)
        return both

    def finalize(self, state: State) -> Any:
        """The result, on the host, in float64 whatever the batches' type."""
        return self.result(int(sums.whole(state.n)), jax.tree.map(np.asarray, state.parts))

    @abstractmethod
    def blank(self) -> Parts:
        """The parts of no items."""

    @abstractmethod
    def add(self, parts: Parts, block: Block) -> Parts:
        """The parts after a block, carries left open."""

    @abstractmethod
    def settled(self, parts: Parts) -> Parts:
        """The parts in their one form."""

    @abstractmethod
    def merged(self, one: Parts, other: Parts) -> Parts:
        """The parts of both."""

    @abstractmethod
    def result(self, n_items: int, parts: Parts) -> Any:
        """The result, from parts on the host."""


@partial(jax.jit, static_argnums=0)
def _merge(metric: Metric, one: State, other: State) -> State:
    return State(sums.settle(one.n + other.n), metric.merged(one.parts, other.parts))


@dataclass(frozen=True)
class StreamTogether(Metric):
    """Several metrics in one pass over the items; the result is a tuple in their order.

    >>> import numpy as np, probtruth as pt
    >>> both = pt.streaming.StreamTogether((pt.streaming.StreamScores("log"), pt.streaming.StreamCounts(n_labels=2)))
    >>> state = both.update(both.init(), np.array([[0.6, 0.4]]), np.array([[0.7, 0.3]]))
    >>> scores, counts = both.finalize(state)
    >>> counts.counts.round(2).tolist()
    [[0.42, 0.28], [0.18, 0.12]]
    """

    metrics: tuple[Metric, ...]

    def __post_init__(self) -> None:
        """Checks that all take the same kind of forecast."""
        kinds = {metric.log_probs for metric in self.metrics}
        if len(kinds) != 1:
            raise InputError(
                "metrics of probabilities and of log-probabilities" if kinds else "no metric",
                "metrics that take the same forecasts",
                "Give all of them the same log_probs.",
            )
        object.__setattr__(self, "log_probs", kinds.pop())

    def blank(self) -> Parts:
        """The parts of no items."""
        return tuple(metric.blank() for metric in self.metrics)

    def add(self, parts: Parts, block: Block) -> Parts:
        """The parts after a block."""
        return tuple(metric.add(part, block) for metric, part in zip(self.metrics, parts, strict=True))

    def settled(self, parts: Parts) -> Parts:
        """The parts in their one form."""
        return tuple(metric.settled(part) for metric, part in zip(self.metrics, parts, strict=True))

    def merged(self, one: Parts, other: Parts) -> Parts:
        """The parts of both."""
        return tuple(metric.merged(*pair) for metric, *pair in zip(self.metrics, one, other, strict=True))

    def result(self, n_items: int, parts: Parts) -> tuple[Any, ...]:
        """The results of all."""
        return tuple(metric.result(n_items, part) for metric, part in zip(self.metrics, parts, strict=True))
