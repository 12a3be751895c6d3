"""How well a method did in many simulated studies: coverage, width, verdicts and calibration, with Monte Carlo
errors."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probtruth.comparison.posterior.margins import margins
from probtruth.study.arrivals import Units
from probtruth.study.confidence_sequence import SequentialEvidence
from probtruth.study.simulated_worlds import World

SURE = 0.975
"""P(a better) or P(b better) above this is a verdict: the 95% interval excludes 0."""
BINS = 10
RESAMPLED = 200
"""Resamples for the Monte Carlo error of a calibration error."""
STREAMS = 64
"""Streams between two reports of progress."""

Tick = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Trials:
    """Simulated studies: the true difference of each, and what the comparison said."""

    truth: Float[np.ndarray, " study"]
    mean: Float[np.ndarray, " study"]
    low: Float[np.ndarray, " study"]
    high: Float[np.ndarray, " study"]
    p: Float[np.ndarray, " study"]

    @classmethod
    def run(cls, world: World, to: float, rng: np.random.Generator, count: int, tick: Tick) -> "Trials":
        """Studies of a world with this true difference, each compared in closed form."""
        trials = []
        for location in world.moved(to).studies(rng, count):
            for margin in margins(location):
                trials.append((margin.mean, *margin.interval(), margin.below(0.0)))
            tick(len(location.mean))
        return cls(np.full(count, to), *np.array(trials, np.float64).reshape(-1, 4).T)

    @classmethod
    def joined(cls, parts: "list[Trials]") -> "Trials":
        """Those of several worlds together."""
        names = ("truth", "mean", "low", "high", "p")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @property
    def decided(self) -> Bool[np.ndarray, " study"]:
        """Which studies gave a verdict."""
        return np.asarray(np.maximum(self.p, 1 - self.p) > SURE)

    def row(self) -> dict[str, float | None]:
        """Coverage, width and verdicts; a type-S error is a verdict for the wrong model, type M is exaggeration.

        None without a verdict or without a true difference.
        """
        decided = self.decided
        wrong = (self.p > 0.5) != (self.truth < 0)
        real = decided & (self.truth != 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch = np.abs(self.mean) / np.abs(self.truth)
        same = len(np.unique(self.truth)) == 1
        return {
            **share("coverage", (self.low <= self.truth) & (self.truth <= self.high)),
            **average("width", self.high - self.low),
            **share("decides", decided),
            **share("wrong_sign", wrong[real]),
            **average("exaggeration", stretch[real] if same else stretch[:0]),
        }

    def calibration(self, seed: int) -> tuple[dict[str, float | None], list[Mapping[str, float | int]]]:
        """Expected calibration error of P(a better) over ten bins, and the bins.

        `by_chance` is the error of perfect probabilities with so few studies.
        """
        better, rng = self.truth < 0, np.random.default_rng(seed)
        again = [rng.integers(len(self.p), size=len(self.p)) for _ in range(RESAMPLED)]
        resampled = [_gap(self.p[rows], better[rows]) for rows in again]
        perfect = [_gap(self.p, rng.random(len(self.p)) < self.p) for _ in range(RESAMPLED)]
        bin_of, bins = _bin(self.p), list[Mapping[str, float | int]]()
        for at in range(BINS):
            rows = bin_of == at
            if rows.any():
                stated, was = float(self.p[rows].mean()), float(better[rows].mean())
                bins.append({"p_a_better": stated, "a_was_better": was, "studies": int(rows.sum())})
        findings = {"error": _gap(self.p, better), "error_error": float(np.std(resampled))}
        sure = share("wrong_when_sure", ((self.p > 0.5) != better)[self.decided])
        return {**findings, "by_chance": float(np.mean(perfect)), **share("sure", self.decided), **sure}, bins


def share(name: str, hits: Bool[np.ndarray, " study"]) -> dict[str, float | None]:
    """A share and its Monte Carlo standard error (Agresti and Coull's, so that it is never 0); None without any."""
    n, k = len(hits), int(hits.sum())
    if not n:
        return {name: None, f"{name}_error": None}
    p = (k + 2) / (n + 4)
    return {name: k / n, f"{name}_error": math.sqrt(p * (1 - p) / (n + 4))}


def average(name: str, values: Float[np.ndarray, " study"]) -> dict[str, float | None]:
    """A mean and its Monte Carlo standard error; None without enough studies."""
    if not len(values):
        return {name: None, f"{name}_error": None}
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return {name: float(values.mean()), f"{name}_error": error}


def _bin(p: Float[np.ndarray, " study"]) -> np.ndarray:
    return np.minimum((p * BINS).astype(np.int64), BINS - 1)


def _gap(p: Float[np.ndarray, " study"], better: Bool[np.ndarray, " study"]) -> float:
    bin_of = _bin(p)
    gap = np.bincount(bin_of, p, BINS) - np.bincount(bin_of, better.astype(np.float64), BINS)
    return float(np.abs(gap).sum() / len(p))


@dataclass(frozen=True, eq=False)
class Streams:
    """Items until a monitor that looks after every unit decided, infinite if it did not; and whether it decided for
    a."""

    items: Float[np.ndarray, " stream"]
    for_a: Bool[np.ndarray, " stream"]

    @classmethod
    def run(
        cls, world: World, reach: float | None, alpha: float, rng: np.random.Generator, count: int, tick: Tick
    ) -> "Streams":
        """Streams of the units of one world."""
        items, for_a = np.full(count, np.inf), np.zeros(count, bool)
        total, size, bar = world.total, world.size.astype(np.float64), math.log(2 / alpha)
        largest, done = int(world.size.max()), 0
        for at in range(count):
            (units,) = world.picks(rng, 1)
            seen = SequentialEvidence(Units(total[units], size[units], largest), reach)
            hits = [np.flatnonzero(path >= bar)[:1] for path in (seen.below(0.0), seen.above(0.0))]
            first = [int(hit[0]) if len(hit) else len(units) for hit in hits]
            if min(first) < len(units):
                items[at] = float(size[units[: min(first) + 1]].sum())
                for_a[at] = first[0] < first[1]
            if (at + 1) % STREAMS == 0 or at + 1 == count:
                tick(at + 1 - done)
                done = at + 1
        return cls(items, for_a)

    def alarms(self) -> dict[str, float | None]:
        """How often there was a decision although there is no difference."""
        return share("false_alarms", np.isfinite(self.items))

    def findings(self, truth: float) -> dict[str, float | None]:
        """How often there was a decision, how often for the wrong model, and the median number of items until one."""
        decided = np.isfinite(self.items)
        wrong = (self.for_a != (truth < 0))[decided & (truth != 0)]
        median = float(np.median(self.items))
        findings = {**share("decides", decided), **share("wrong_sign", wrong)}
        return {**findings, "median_items": median if math.isfinite(median) else None}
