"""Evidence over time: e-processes for bounded scores (betting) and for others (in large samples), and their limits."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from probtruth.comparison.posterior.margin import hall
from probtruth.kernels.shapes import UnitFloats

# Shares of the capital that are bet, one for each gambler; small ones are for small effects and long studies.
STAKES = 0.95 * 2.0 ** -np.arange(12.0)
_HARMONIC = 1 / np.arange(1.0, 13.0)
SHARES = _HARMONIC / _HARMONIC.sum()  # How the first capital, 1, is split among them
START = 100  # Without bounds, no evidence before this many units, because the result holds only in the limit
SPREAD = 0.2  # Scale of the expected effects, in standard deviations of a unit: limits are tightest near 200 units
SKEWED, OF_MEAN = 3.0, 0.1  # Skewness of the units, and of their mean, from which the limit is far
ROUNDING = 8 * np.finfo(np.float64).eps
# Precision of the limits, as a fraction of the standard deviation (at least of rounding); they are rounded outwards.
FINE = 1e-7
LARGEST = 1e60  # First steps beyond which no limit is looked for


@dataclass(frozen=True, eq=False)
class SequentialEvidence:
    """Independent units of a minus b in their order: the total difference and number of items of each.

    `largest` is the most items of a unit, `bound` the largest possible |difference| of an item (None without one).
    """

    total: UnitFloats
    size: UnitFloats
    largest: int
    bound: float | None

    def first(self, n_units: int) -> "SequentialEvidence":
        """The first units."""
        return replace(self, total=self.total[:n_units], size=self.size[:n_units])

    def above(self, mean: float) -> UnitFloats:
        """Log e-process against "the mean difference is at most `mean`", after each unit."""
        return self._log_capital(mean, self.bound) if self.bound is not None else self._log_ratio(mean)

    def below(self, mean: float) -> UnitFloats:
        """Log e-process against "the mean difference is at least `mean`", after each unit."""
        return replace(self, total=-self.total).above(-mean)

    def interval(self, alpha: float) -> tuple[float, float]:
        """The means that neither e-process has rejected at level alpha/2 at any time."""
        bar = math.log(2 / alpha)
        turned = replace(self, total=-self.total)
        return self._largest_rejected(bar), -turned._largest_rejected(bar)

    def _log_capital(self, mean: float, bound: float) -> UnitFloats:
        """The log-capital of gamblers who bet that the mean difference is above `mean`."""
        # If the mean is at most `mean` no bet gains on average, so that the capital exceeds 1/alpha at any time with
        # probability at most alpha (Ville), however often you look.
        above = self.total - mean * self.size
        most = self.largest * (mean + bound)
        gain = np.maximum(above / most, -1.0)
        stakes = STAKES[:, None]
        logs = np.log(SHARES)[:, None] + np.cumsum(np.log1p(stakes * gain), axis=1)
        top = logs.max(0)
        return top + np.log(np.exp(logs - top).sum(0))

    def _log_ratio(self, mean: float) -> UnitFloats:
        """The log of the mixture likelihood ratio for a mean difference above `mean`."""
        total = self.total
        size = self.size
        anchor = 0.0
        if len(total):
            anchor = total[0] / size[0]
        shifted = total - anchor * size  # powers of what is near 0
        n = np.arange(1.0, len(total) + 1)

        def summed(of_total: int, of_size: int) -> UnitFloats:
            return np.cumsum(shifted**of_total * size**of_size)

        items = summed(0, 1)
        ratio = summed(1, 0) / items

        def residual_power(power: int) -> UnitFloats:
            """The sum of a power of the residuals from the mean of the items so far."""
            total = summed(power, 0)
            for of_size in range(1, power + 1):
                factor = math.comb(power, of_size) * (-ratio) ** of_size
                total = total + factor * summed(power - of_size, of_size)
            return total

        square = residual_power(2)
        cube = residual_power(3)
        variance = np.maximum(square, 0.0) / np.maximum(n - 1, 1)
        peak = np.maximum.accumulate(np.abs(total)) * ROUNDING
        enough = (n >= START) & (variance > peak**2)
        of_prior = n * SPREAD**2
        above = summed(1, 0) - (mean - anchor) * items
        with np.errstate(divide="ignore", invalid="ignore"):
            t = above / np.sqrt(variance * n)
            skewness = np.sqrt(n) / ((n - 1) * (n - 2)) * cube / variance**1.5
            corrected = np.minimum(t, hall(t, skewness))
            z = np.sqrt(of_prior / (1 + of_prior)) * corrected
            log = np.log(2) + log_ndtr(z) + z**2 / 2 - np.log1p(of_prior) / 2
        return np.where(enough, log, 0.0)

    def far_from_normal(self) -> float | None:
        """The skewness of the units where it is so large for their number that false alarms increase; None else."""
        n = len(self.total)
        if n < START:
            return None
        mean = self.total.sum() / self.size.sum()
        residual = self.total - mean * self.size
        spread = math.sqrt(float(np.square(residual).mean()))
        largest = float(np.abs(self.total).max())
        if not spread > largest * ROUNDING:
            return None
        standardised = residual / spread
        skewness = float((standardised**3).mean())
        of_mean = abs(skewness) / math.sqrt(n)
        if abs(skewness) > SKEWED and of_mean > OF_MEAN:
            return skewness
        return None

    def _largest_rejected(self, bar: float) -> float:
        """The largest mean that is rejected as too small, rounded down; evidence falls as the mean grows."""

        def excess(mean: float) -> float:
            return float(self.above(mean).max(initial=0.0)) - bar

        mean = np.cumsum(self.total) / np.cumsum(self.size)
        first = START - 1  # unit after which there is evidence
        floor = -math.inf
        if self.bound is not None:
            first = 0
            floor = -self.bound
        if len(mean) <= first:
            return floor
        last = float(mean[-1])
        residual = self.total - last * self.size
        scale = math.sqrt(float(np.square(residual).mean())) / self.largest
        top = float(mean[first:].max()) if self.bound is None else self.bound
        rounding = ROUNDING / 2 * max(abs(top), abs(last))
        fine = max(FINE * scale, rounding, 1e-300)
        lowest = floor * (1 - 1e-12)
        first_step = max(scale, fine)
        step = first_step
        low = max(lowest, top - step)
        while excess(low) < 0:
            if low == lowest or step > LARGEST * first_step:
                return floor
            step *= 2
            low = max(lowest, top - step)
        root = float(brentq(excess, low, top, xtol=fine, rtol=8.9e-16))
        return max(floor, root - fine)
