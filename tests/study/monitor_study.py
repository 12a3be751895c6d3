"""Streams of differences for studies of the monitor: how often it raises a false alarm, how soon it finds an effect.

Means are exact: every stream without an effect has mean 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import nct, t

from probtruth.study.confidence_sequence import SequentialEvidence


@dataclass(frozen=True)
class Stream:
    """Differences of mean 0 and standard deviation `sd`, within `bound`; None: without bounds."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    bound: float | None
    sd: float
    cluster: int = 1


def tied(ties: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.where(rng.random(n) < ties, 0.0, rng.choice([-1.0, 1.0], n))

    return draw


def rare(share: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """A large loss now and then, a small gain else."""
    return lambda rng, n: np.where(rng.random(n) < share, 1 - share, -share)


def brier(rng: np.random.Generator, n: int) -> np.ndarray:
    """Brier scores of two forecasts of a label with two classes, which are given to the models at random."""
    p, chance = rng.beta(2, 2, n), rng.beta(2, 2, n)
    y = rng.random(n) < p
    sign = rng.choice([-1.0, 1.0], n)
    return sign * (2 * (p - y) ** 2 - 2 * (chance - y) ** 2)


def clustered(rng: np.random.Generator, n: int) -> np.ndarray:
    """Four items a cluster, of which most of the difference is shared."""
    shared = np.repeat(rng.beta(0.5, 4.5, n // 4) - 0.1, 4)
    return 0.8 * shared + 0.2 * (rng.beta(0.5, 4.5, n) - 0.1)


BOUNDED = (
    Stream("uniform", lambda rng, n: rng.uniform(-1, 1, n), 1.0, 3**-0.5),
    Stream("skewed (beta .5, 4.5)", lambda rng, n: rng.beta(0.5, 4.5, n) - 0.1, 1.0, (0.5 * 4.5 / 25 / 6) ** 0.5),
    Stream("rare losses, 1 in 10", rare(0.1), 1.0, 0.3),
    Stream("rare losses, 1 in 100", rare(0.01), 1.0, 0.0099**0.5),
    Stream("right or wrong, 60% ties", tied(0.6), 1.0, 0.4**0.5),
    Stream("right or wrong, 95% ties", tied(0.95), 1.0, 0.05**0.5),
    Stream("Brier", brier, 2.0, 0.6132),
    Stream("skewed clusters of 4", clustered, 1.0, 0.0, 4),
)
UNBOUNDED = (
    Stream("normal", lambda rng, n: rng.standard_normal(n), None, 1.0),
    Stream("Student t, 3 df", lambda rng, n: rng.standard_t(3, n), None, 3**0.5),
    Stream("exponential", lambda rng, n: rng.exponential(size=n) - 1, None, 1.0),
    Stream("log-normal", lambda rng, n: rng.lognormal(size=n) - np.exp(0.5), None, 2.16),
)


def evidence(stream: Stream, differences: np.ndarray) -> SequentialEvidence:
    rows = differences.reshape(-1, stream.cluster)
    return SequentialEvidence(rows.sum(1), np.full(len(rows), float(stream.cluster)), stream.cluster, stream.bound)


def alarms(stream: Stream, n_items: int, replications: int, seed: int, alpha: float = 0.05) -> tuple[float, float]:
    """Share of streams without an effect in which a decision fell at some item, to either side."""
    rng = np.random.default_rng(seed)
    low, high = 0, 0
    for _ in range(replications):
        found = evidence(stream, stream.draw(rng, n_items))
        low += float(found.below(0.0).max()) >= np.log(2 / alpha)
        high += float(found.above(0.0).max()) >= np.log(2 / alpha)
    return low / replications, high / replications


def effect_share(stream: Stream, effect: float) -> float:
    """The share of items that must go to the bound for a mean of `effect` standard deviations of what results."""
    far = stream.bound

    def ratio(share: float) -> float:
        mean = share * far
        return mean / np.sqrt((1 - share) * stream.sd**2 + share * far**2 - mean**2)

    return float(brentq(lambda share: ratio(share) - effect, 0.0, 0.9))


def stopping_times(
    stream: Stream, effect: float, n_items: int, replications: int, seed: int, alpha: float = 0.05
) -> np.ndarray:
    """Items until the decision, infinite where none fell, for a mean difference of `effect` standard deviations.

    Without bounds the effect is added; with them, a share of the items goes to the bound.
    """
    rng = np.random.default_rng(seed)
    times = np.full(replications, np.inf)
    for run in range(replications):
        d = stream.draw(rng, n_items)
        if stream.bound is None:
            moved = d + effect * stream.sd
        else:
            moved = np.where(rng.random(n_items) < effect_share(stream, effect), stream.bound, d)
        hit = np.nonzero(evidence(stream, moved).above(0.0) >= np.log(2 / alpha))[0]
        times[run] = (hit[0] + 1) * stream.cluster if len(hit) else np.inf
    return times


def fixed_size(effect: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Items that the paired t needs for a two-sided test, from the noncentral t distribution."""
    n = 2
    while nct.sf(t.ppf(1 - alpha / 2, n - 1), n - 1, effect * np.sqrt(n)) < power:
        n += 1
    return n
