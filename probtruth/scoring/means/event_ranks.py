"""Metrics that need the order of the forecasts, over batches: areas and the isotonic decomposition, between bounds.

Forecasts of an event fall into fixed bins, narrow relative to p and to 1 - p; a bin keeps whole numbers only. Inside a
bin the order is unknown, which bounds every result; a bin in which all forecasts are equal is known exactly.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex, sums
from probtruth.scoring.means.event_bounds import Bins, EventRanks, event_ranks
from probtruth.scoring.means.metric import Block, Metric, Parts, apart
from probtruth.scoring.rules import proper

OCTAVES = 32
"""Halvings of p (and of 1 - p) that have bins of their own, from 1/2 down to 2^-33."""
LANE = 10
"""Bits of a lane: totals of a lane over 2^21 items fit into int32."""
N_FRACTION = 3
"""Lanes below 1: an outcome is rounded to a multiple of 2^-30."""
N_LANES = 7
"""Lanes of a total of outcomes; the number of forecasts has those from 1 up."""
CARRY_EVERY = 256
"""Blocks between carries."""
_BITS_23 = 23
_LOWEST = np.float32(2.0 ** -(OCTAVES + 1)).view(np.int32)
_NOTHING = np.iinfo(np.int32).max


class RankParts(NamedTuple):
    """By event and bin: lanes of outcomes and of the number of forecasts, lowest and highest forecast (its bits).

    `totals` are exact sums by event: of the outcomes, of the squared error and of the log score.
    """

    outcomes: Int[Array, "event bin lane"]
    numbers: Int[Array, "event bin lane"]
    least: Int[Array, "event bin"]
    most: Int[Array, "event bin"]
    totals: sums.ExactSum


@dataclass(frozen=True)
class StreamRanks(Metric):
    """ROC area, average precision, and miscalibration, discrimination and uncertainty, of events, between bounds.

    Formula: an event's forecast is p and its outcome t (soft or not). ROC area: P(p of an outcome > p of a
    non-outcome) + P(equal)/2. CORP: with S the mean score, S_I that of the isotonic fit and S_U that of the constant
    mean(t): miscalibration S - S_I, discrimination S_U - S_I, uncertainty S_U. S and S_U are exact; S_I and the areas
    are bounded over all orders inside the bins. A bin is 2^-`resolution` wide relative to p (below 1/2) or 1 - p.
    Forecasts that agree in float32 are ties.

    Arguments: `events` is `classes` (each label against the rest), `top` (the most probable label is right), or a
    tuple of labels' positions.

    Returns (of `finalize`): `EventRanks`. The width of the bounds is about the share of pairs that fall into one bin:
    with the default resolution 1e-4 for smooth forecasts, 0 where forecasts have up to two decimals.

    Errors: `InputError` for unknown events or a resolution outside 0 to 12.

    Source: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118

    >>> import numpy as np, probtruth as pt
    >>> metric = pt.streaming.StreamRanks(n_labels=2, events=(1,))
    >>> probs, truth = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]), np.array([[1, 0], [1, 0], [0, 1]])
    >>> ranks = metric.finalize(metric.update(metric.init(), probs, truth))
    >>> ranks.roc_area.tolist(), ranks.roc_area_low.tolist()
    ([1.0], [1.0])
    """

    n_labels: int
    events: str | tuple[int, ...] = "classes"
    resolution: int = 9

    def __post_init__(self) -> None:
        """Checks the options."""
        if isinstance(self.events, str):
            check.one_of(self.events, ("classes", "top"), "events")
        elif not self.events or not all(0 <= label < self.n_labels for label in self.events):
            raise InputError(
                f"events {self.events!r}", f"positions of labels from 0 to {self.n_labels - 1}", "Check n_labels."
            )
        if not 0 <= self.resolution <= 12:
            raise InputError(f"resolution {self.resolution}", "a whole number from 0 to 12", "9 is the usual choice.")

    @property
    def n_bins(self) -> int:
        """Bins of an event."""
        return 2 * OCTAVES << self.resolution

    @property
    def labels(self) -> tuple[int, ...] | None:
        """The events' labels; None for the most probable one."""
        if self.events == "top":
            return None
        return tuple(range(self.n_labels)) if isinstance(self.events, str) else self.events

    def blank(self) -> RankParts:
        """The parts of no items."""
        n_events = 1 if self.labels is None else len(self.labels)
        shape = n_events, self.n_bins
        none = jnp.full(shape, _NOTHING, jnp.int32)
        outcomes = jnp.zeros((*shape, N_LANES), jnp.int32)
        numbers = jnp.zeros((*shape, N_LANES - N_FRACTION), jnp.int32)
        return RankParts(outcomes, numbers, none, jnp.full(shape, -1, jnp.int32), sums.zero((n_events, 3)))

    def add(self, parts: RankParts, block: Block) -> RankParts:
        """The parts after a block."""
        forecast, outcome = self._events(block)
        losses = jnp.stack([outcome, _squared(forecast, outcome), _logarithmic(forecast, outcome)], 1)
        totals = sums.add_block(parts.totals, jnp.where(block.present, apart(losses), 0))
        place = jnp.where(block.present, bin_of(forecast, self.resolution), self.n_bins)  # beyond the end: dropped
        event = jnp.arange(place.shape[0], dtype=jnp.int32)[:, None]
        bits = _bits(forecast)
        found = parts._replace(
            outcomes=parts.outcomes.at[event, place, :N_FRACTION].add(_lanes(outcome), mode="drop"),
            numbers=parts.numbers.at[event, place, 0].add(1, mode="drop"),
            least=parts.least.at[event, place].min(bits, mode="drop"),
            most=parts.most.at[event, place].max(bits, mode="drop"),
            totals=totals,
        )
        full = block.place % CARRY_EVERY == CARRY_EVERY - 1
        after: RankParts = lax.cond(full, _carried, lambda same: same, found)
        return after

    def settled(self, parts: RankParts) -> RankParts:
        """The parts in their one form."""
        return parts._replace(
            outcomes=sums.settle(parts.outcomes, LANE),
            numbers=sums.settle(parts.numbers, LANE),
            totals=sums.settled(parts.totals),
        )

    def merged(self, one: RankParts, other: RankParts) -> RankParts:
        """The parts of both."""
        return RankParts(
            sums.settle(one.outcomes + other.outcomes, LANE),
            sums.settle(one.numbers + other.numbers, LANE),
            jnp.minimum(one.least, other.least),
            jnp.maximum(one.most, other.most),
            sums.merge(one.totals, other.totals),
        )

    def result(self, n_items: int, parts: Parts) -> EventRanks:
        """The metrics of every event, with their bounds."""
        means = sums.means(parts.totals, n_items)
        unit = 2.0 ** -(LANE * N_FRACTION)
        bins = [
            Bins(
                sums.whole(parts.numbers[event], LANE).astype(np.float64),
                sums.whole(parts.outcomes[event], LANE) * unit,
                parts.least[event] == parts.most[event],
            )
            for event in range(len(means))
        ]
        return event_ranks(self.labels, n_items, bins, means)

    def _events(self, block: Block) -> tuple[Float[Array, "event item"], Float[Array, "event item"]]:
        probs = block.probs
        if self.labels is None:
            right = (proper.chosen(block.forecast) * block.truth).sum(-1)
            pair = apart((probs.max(-1)[None], right[None]))
        else:
            places = jnp.asarray(self.labels)
            pair = apart((probs[:, places].T, block.truth[:, places].T))
        forecast, outcome = pair
        return forecast, outcome


def bin_of(forecast: Float[Array, "*batch"], resolution: int) -> Int[Array, "*batch"]:
    """The bin of a probability: in the order of the probabilities, from 0."""
    upper = forecast > 0.5
    size = jnp.where(upper, 1 - forecast, forecast).astype(jnp.float32)
    bits = lax.bitcast_convert_type(size, jnp.int32)
    n_side = OCTAVES << resolution
    place = jnp.clip((bits - _LOWEST) >> (_BITS_23 - resolution), 0, n_side - 1)
    return jnp.where(upper, 2 * n_side - 1 - place, place)


def _bits(forecast: Float[Array, "*batch"]) -> Int[Array, "*batch"]:
    """The bits of a probability in float32, in the order of the probabilities."""
    single = forecast.astype(jnp.float32)
    return lax.bitcast_convert_type(jnp.where(single == 0, 0, single), jnp.int32)


def _lanes(outcome: Float[Array, "event item"]) -> Int[Array, "event item lane"]:
    units = jnp.round(outcome.astype(jnp.float32) * 2.0 ** (LANE * N_FRACTION)).astype(jnp.int32)
    mask = 2**LANE - 1
    return jnp.stack([units & mask, (units >> LANE) & mask, units >> (2 * LANE)], -1)


def _carried(parts: RankParts) -> RankParts:
    return parts._replace(
        outcomes=sums.carried(parts.outcomes, LANE),
        numbers=sums.carried(parts.numbers, LANE),
    )


def _squared(forecast: Float[Array, "*batch"], outcome: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    return (forecast - outcome) ** 2 + outcome * (1 - outcome)


def _logarithmic(forecast: Float[Array, "*batch"], outcome: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    return -(simplex.weighted_log(outcome, forecast) + simplex.weighted_log(1 - outcome, 1 - forecast))
