"""The state of a monitor: evidence that you may look at after every item."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, UInt64

from probtruth import frames
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Moments, combine, means_of
from probtruth.comparison.evidence.unseen import Worst
from probtruth.comparison.posterior.margins import Margin, margins
from probtruth.kernels.exact_sums import exact_sum
from probtruth.study.arrivals import Units
from probtruth.study.confidence_sequence import SequentialEvidence, far_from_normal
from probtruth.types.shown import Shown

if TYPE_CHECKING:
    import polars

LOOKS = 60
"""Times at which `path` gives the confidence sequence."""


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Shown):
    """What is known so far about the mean difference of two models, valid at any time, however often you look.

    Differences are a minus b in units of the score, negative favours a (higher-is-better scores are negated). `bounds`
    are those of a score, None if the method is `asymptotic`. `skipped` counts the items of the last batch that were
    already known, `waiting` those that only one model has.
    """

    a: str
    b: str
    bounds: tuple[float, float] | None
    alpha: float = 0.05
    rope: float | None = None
    higher_is_better: bool = False
    largest_cluster: int = 1
    differences: Float[np.ndarray, " item"] = field(default_factory=lambda: np.zeros(0))
    items: UInt64[np.ndarray, " item"] = field(default_factory=lambda: np.zeros(0, np.uint64))
    clusters: UInt64[np.ndarray, " item"] | None = None
    closed: bool = False
    skipped: int = 0
    waiting: int = 0

    @property
    def method(self) -> str:
        """`betting` if scores are bounded, else `asymptotic`."""
        return "asymptotic" if self.bounds is None else "betting"

    @property
    def reach(self) -> float | None:
        """The largest possible difference; None without a bound."""
        return None if self.bounds is None else self.bounds[1] - self.bounds[0]

    @cached_property
    def _unit(self) -> np.ndarray:
        """The unit of each item that counts; items of a cluster that may still grow do not count."""
        if self.clusters is None or not len(self.clusters):
            return np.arange(len(self.differences))
        unit = np.concatenate([[0], np.cumsum(self.clusters[1:] != self.clusters[:-1])])
        return np.asarray(unit if self.closed else unit[unit < unit[-1]])

    @cached_property
    def units(self) -> Units:
        """The independent units that are complete."""
        unit = self._unit
        counted = self.differences[: len(unit)]
        if self.clusters is None:
            return Units(counted, np.ones(len(counted)), 1)
        return Units(
            np.bincount(unit, counted).astype(np.float64),
            np.bincount(unit).astype(np.float64),
            self.largest_cluster,
        )

    @property
    def n_items(self) -> int:
        """Items that count."""
        return len(self._unit)

    @property
    def n_units(self) -> int:
        """Independent units: items, or clusters that are complete."""
        return len(self.units.total)

    @cached_property
    def evidence(self) -> SequentialEvidence:
        """The e-processes behind the numbers."""
        return SequentialEvidence(self.units, self.reach)

    @property
    def difference(self) -> float | None:
        """The mean difference over the items; None before the first."""
        return float(exact_sum(self.differences[: self.n_items]) / self.n_items) if self.n_items else None

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The confidence sequence now: with probability 1 - alpha it contains the mean difference at all times
        together."""
        return self.evidence.interval(self.n_units, self.alpha)

    @property
    def e_a_better(self) -> float:
        """E-value for "a is better", against a mean difference of 0 or more."""
        return _last(self.evidence.below(0.0))

    @property
    def e_b_better(self) -> float:
        """E-value for "b is better", against a mean difference of 0 or less."""
        return _last(self.evidence.above(0.0))

    @cached_property
    def p_value(self) -> float:
        """Anytime-valid, two-sided, against equal means: twice the inverse of the largest evidence so far."""
        paths = self.evidence.below(0.0), self.evidence.above(0.0)
        return min(1.0, 2 * math.exp(-max(float(path.max(initial=0.0)) for path in paths)))

    @property
    def decision(self) -> str | None:
        """`a`, `b` or `equivalent` (within the ROPE) once the confidence sequence shows it, else None.

        The sequence never widens, so a decision stays right: `equivalent` may only become the more precise `a` or `b`.
        """
        low, high = self.interval
        if high < 0 or low > 0:
            return "a" if high < 0 else "b"
        return "equivalent" if self.rope is not None and -self.rope <= low and high <= self.rope else None

    @property
    def p_a_better(self) -> float | None:
        """The posterior probability of `compare` for these items, as if this were the only look.

        None before there are two units, and where one difference on every item leaves the spread unknown.
        """
        margin = self._margin
        return None if margin is None else margin.below(0.0)

    @cached_property
    def _margin(self) -> Margin | None:
        if self.n_units < 2:
            return None
        counted = self.differences[: self.n_items]
        within = Structure.of(np.zeros(self.n_items, np.int64), None if self.clusters is None else self._unit)
        means = means_of(counted[None], np.abs(counted).max()[None], within, self.reach or 0.0)
        margin = margins(combine(Moments.of(within, means, means), means, np.ones(1)))[0]
        size = abs(float(counted[0]))
        if size == 0 or np.ptp(counted) > 0:
            return margin
        if self.reach is None:
            return None
        worst = Worst.of(-size, self.reach, self.n_units)
        return margin if margin.scale > 0 and worst.difference < 0 else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader."""
        messages = []
        if self.method == "asymptotic":
            messages.append(
                "asymptotic: scores have no bounds, so the false-alarm rate holds in large samples only, for "
                "differences with a finite variance; give bounds for a rate that holds always"
            )
            skewness = far_from_normal(self.units)
            if skewness is not None:
                messages.append(
                    f"differences are far from normal so far (skewness {skewness:+.1f} of {self.n_units} units): with "
                    "such tails false alarms are up to three times as frequent as asked for; give bounds, or decide "
                    "with more units"
                )
        low, high = self.interval
        if low > high:
            messages.append(
                "the limits have crossed: the mean difference has drifted; items do not come from one source"
            )
        return tuple(messages)

    def path(self, looks: int = LOOKS) -> "polars.DataFrame":
        """The state at up to `looks` times, evenly spread on a logarithmic scale, the last of them now.

        Columns: `n_units`, `n_items`, `difference`, the confidence sequence `low` to `high`, and the e-values
        `e_a_better` and `e_b_better`.
        """
        units, n = self.units, self.n_units
        times = np.unique(np.geomspace(1, n, looks).round().astype(int)) if n else np.zeros(0, int)
        below, above = self.evidence.below(0.0), self.evidence.above(0.0)
        counted, total = np.cumsum(units.size), np.cumsum(units.total)
        names = ("n_units", "n_items", "difference", "low", "high", "e_a_better", "e_b_better")
        rows = []
        for time in times.tolist():
            at = time - 1
            e = (_last(path[:time]) for path in (below, above))
            now = self.evidence.interval(time, self.alpha)
            rows.append(
                dict(zip(names, (time, int(counted[at]), float(total[at] / counted[at]), *now, *e), strict=True))
            )
        return frames.from_rows(rows, names)

    def to_dict(self) -> dict[str, object]:
        """The numbers of this moment, as plain values."""
        low, high = self.interval
        return {
            "a": self.a,
            "b": self.b,
            "method": self.method,
            "alpha": self.alpha,
            "bounds": self.bounds,
            "rope": self.rope,
            "higher_is_better": self.higher_is_better,
            "n_items": self.n_items,
            "n_units": self.n_units,
            "clusters": self.clusters is not None,
            "pending": len(self.differences) - self.n_items,
            "skipped": self.skipped,
            "waiting": self.waiting,
            "difference": self.difference,
            "low": low,
            "high": high,
            "e_a_better": self.e_a_better,
            "e_b_better": self.e_b_better,
            "p_value": self.p_value,
            "decision": self.decision,
            "p_a_better": self.p_a_better,
            "warnings": list(self.warnings),
        }


def _last(path: Float[np.ndarray, " unit"]) -> float:
    return math.exp(min(float(path[-1]), 700.0)) if len(path) else 1.0
