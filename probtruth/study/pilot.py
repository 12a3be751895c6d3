"""What a pilot says about the mean difference of two models: its value, and why it varies."""

import math
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from probtruth.comparison.evidence.moments import Location, Moments, combine, means_of
from probtruth.comparison.evidence.structure import Structure
from probtruth.comparison.posterior.margins import FEWEST

RESAMPLED = 2000
"""The width of an interval is simulated up to this many units; beyond, the effect of skewness falls with their
root."""
NUMBERS, RUNS = 100_000, (20, 100)
"""Numbers drawn for one width, and its smallest and largest number of replications."""
GRID = 1.5
"""Widths are simulated at sizes that differ by this factor, and interpolated between them."""


@dataclass(frozen=True)
class Study:
    """A design: items, annotators for each item (None: labels add no variance), clusters (None: none), replicates."""

    n_items: float | int
    n_annotators: float | int | None = None
    n_clusters: float | int | None = None
    n_replicates: float | int = 1

    @property
    def n_units(self) -> float | int:
        """Independent units."""
        return self.n_items if self.n_clusters is None else self.n_clusters


@dataclass(frozen=True, eq=False)
class Pilot:
    """The mean difference a minus b, its standard error, and the parts of the variance of one item's difference.

    `between` is the variance of clusters, `items` that of items within them, `labels` what a single vote adds and
    `replicates` what a single replicate adds (None if unknown); `uneven` is the squared coefficient of variation of
    the clusters' sizes. `totals` are the units' centred totals and `sizes` their items.
    """

    a: str
    b: str
    study: Study
    difference: float
    error: float
    df: float
    between: float
    items: float
    labels: float | None
    replicates: float | None
    uneven: float = 0.0
    totals: Float[np.ndarray, " unit"] | None = None
    sizes: Float[np.ndarray, " unit"] | None = None
    stretch: float = 1.0
    seed: int = 0
    widths: dict[int, float] = field(default_factory=dict)

    def error_of(self, study: Study) -> float:
        """The standard error of the mean difference under a design."""
        each = self.items
        each += 0.0 if self.labels is None else self.labels / (study.n_annotators or 1)
        each += 0.0 if self.replicates is None else self.replicates / study.n_replicates
        shared = 0.0 if study.n_clusters is None else self.between * (1 + self.uneven) / study.n_clusters
        return math.sqrt(shared + each / study.n_items)

    def half_width(self, n_units: float | int) -> float:
        """The expected half-width of the 95% interval, in standard errors."""
        n = max(float(n_units), 2.0)
        if self.totals is None:  # the t, and what skewness added in the pilot
            more = (self.stretch - 1) * math.sqrt(self.study.n_units / n)
            return float(stdtrit(n - 1, 0.975)) * (1 + more)
        if n > RESAMPLED:
            return 1.959964 + (self._simulated(RESAMPLED) - 1.959964) * math.sqrt(RESAMPLED / n)
        step = math.log(n / 2) / math.log(GRID)
        below = math.floor(step)
        ends = [min(round(2 * GRID**at), RESAMPLED) for at in (below, below + 1)]
        low, high = (self._simulated(end) for end in ends)
        return low if ends[0] == ends[1] else low + (high - low) * (n - ends[0]) / (ends[1] - ends[0])

    def _simulated(self, n: int) -> float:
        """That of samples of n of the pilot's units."""
        if n not in self.widths:
            self.widths[n] = self._mean_width(n) / 2
        return self.widths[n]

    def _mean_width(self, n: int) -> float:
        totals, sizes = self.totals, self.sizes
        assert totals is not None
        assert sizes is not None
        spread = float(np.sqrt(np.square(totals).mean() / n)) / float(sizes.mean())
        if spread == 0:
            return 2 * float(stdtrit(n - 1, 0.975))
        rng = np.random.default_rng([self.seed, n])
        runs = int(np.clip(NUMBERS // n, *RUNS))
        rows = totals[rng.integers(len(totals), size=(runs, n))] / sizes.mean()
        within = Structure.of(np.zeros(n, np.int64), None)
        means = means_of(rows, np.abs(rows).max(1), within, None)
        location = combine(Moments(within.n_items, within.n_units, means, means), means, np.ones(1))
        return float(_widths(location).mean()) / spread


def _widths(location: Location) -> Float[np.ndarray, " row"]:
    """The widths of the rows' 95% intervals: those of `Margin.interval`, all at once."""
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.nan_to_num(location.third / location.variance**1.5)
    bent = np.abs(g) > 1e-6
    safe = np.where(bent & (location.n_units >= FEWEST), g, 1.0)
    t = stdtrit(location.df, 0.975)
    ends = [np.where(safe == g, 3 / safe * (np.cbrt(1 + safe * (end - safe / 6)) - 1), end) for end in (t, -t)]
    return np.asarray((np.maximum(t, ends[0]) - np.minimum(-t, ends[1])) * np.sqrt(location.variance))
