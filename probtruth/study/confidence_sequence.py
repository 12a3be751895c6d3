"""Evidence over time: e-processes for bounded scores (betting) and for others (in large samples), and their limits."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import log_ndtr

# Shares of the capital that are bet, one for each gambler; small ones are for small effects and long studies.
STAKES = 0.95 * 2.0 ** -np.arange(12.0)
SHARES = (1 / np.arange(1.0, 13.0)) / (1 / np.arange(1.0, 13.0)).sum()  # How the first capital, 1, is split among them
START = 100  # Without bounds, no evidence before this many units, because the result holds only in the limit
SPREAD = 0.2  # Scale of the expected effects, in standard deviations of a unit: limits are tightest near 200 units
SKEWED, OF_MEAN = 3.0, 0.1  # Skewness of the units, and of their mean, from which the limit is far
ROUNDING = 8 * np.finfo(np.float64).eps
# Precision of the limits, as a fraction of the standard deviation (at least of rounding); they are rounded outwards.
FINE = 1e-7
DOUBLINGS = 200


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units in their order: the total difference and number of items of each, and their largest size."""

    total: Float[np.ndarray, " unit"]
    size: Float[np.ndarray, " unit"]
    largest: int

    def flipped(self) -> "Units":
        """The same of b minus a."""
        return Units(-self.total, self.size, self.largest)

    def first(self, n_units: int) -> "Units":
        """The first of them."""
        return Units(self.total[:n_units], self.size[:n_units], self.largest)


def log_capital(units: Units, mean: float, bound: float) -> Float[np.ndarray, " unit"]:
    """The log-capital after each unit, of gamblers who bet that the mean difference is above `mean`."""
    # If the mean is at most `mean` no bet gains on average, so that the capital exceeds 1/alpha at any time with
    # probability at most alpha (Ville), however often you look.
    gain = np.maximum((units.total - mean * units.size) / (units.largest * (mean + bound)), -1.0)
    top = np.full(len(gain), -np.inf)
    logs = np.empty((len(STAKES), len(gain)))
    for row, (stake, share) in enumerate(zip(STAKES, SHARES, strict=True)):
        logs[row] = np.log(share) + np.cumsum(np.log1p(stake * gain))
        np.maximum(top, logs[row], out=top)
    logs -= top
    return np.asarray(top + np.log(np.exp(logs, out=logs).sum(0)))


def log_evidence(units: Units, mean: float) -> Float[np.ndarray, " unit"]:
    """The log of the mixture likelihood ratio after each unit, for a mean difference above `mean`."""
    total, size = units.total, units.size
    anchor = total[0] / size[0] if len(total) else 0.0
    shifted = total - anchor * size  # powers of what is near 0
    n = np.arange(1.0, len(total) + 1)
    of_total, of_size = np.cumsum(shifted), np.cumsum(size)
    ratio = of_total / of_size
    square = np.cumsum(shifted**2) - 2 * ratio * np.cumsum(shifted * size) + ratio**2 * np.cumsum(size**2)
    cube = (
        np.cumsum(shifted**3)
        - 3 * ratio * np.cumsum(shifted**2 * size)
        + 3 * ratio**2 * np.cumsum(shifted * size**2)
        - ratio**3 * np.cumsum(size**3)
    )
    variance = np.maximum(square, 0.0) / np.maximum(n - 1, 1)
    peak = np.maximum.accumulate(np.abs(total)) * ROUNDING
    known = (n >= START) & (variance > peak**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (of_total - (mean - anchor) * of_size) / np.sqrt(variance * n)
        g = np.sqrt(n) / ((n - 1) * (n - 2)) * cube / variance**1.5
        v = SPREAD * np.sqrt(n / (1 + n * SPREAD**2)) * np.minimum(u, u + g * u**2 / 3 + g**2 * u**3 / 27 + g / 6)
        log = np.log(2) + log_ndtr(v) + v**2 / 2 - np.log1p(n * SPREAD**2) / 2
    return np.where(known, log, 0.0)


def far_from_normal(units: Units) -> float | None:
    """The skewness of the units so far where it is so large for their number that false alarms increase; None else."""
    if len(units.total) < START:
        return None
    n, ratio = len(units.total), float(units.total.sum() / units.size.sum())
    residual = units.total - ratio * units.size
    spread = float(np.sqrt(np.square(residual).mean()))
    if not spread > float(np.abs(units.total).max()) * ROUNDING:
        return None
    skewness = float(((residual / spread) ** 3).mean())
    return skewness if abs(skewness) > SKEWED and abs(skewness) / math.sqrt(n) > OF_MEAN else None


@dataclass(frozen=True, eq=False)
class SequentialEvidence:
    """The evidence in units of a and b; `bound` is the largest possible |difference| of an item, None without one."""

    units: Units
    bound: float | None

    def above(self, mean: float) -> Float[np.ndarray, " unit"]:
        """Log e-process against "the mean difference is at most `mean`"."""
        return _above(self.units, mean, self.bound)

    def below(self, mean: float) -> Float[np.ndarray, " unit"]:
        """Log e-process against "the mean difference is at least `mean`"."""
        return _above(self.units.flipped(), -mean, self.bound)

    def interval(self, n_units: int, alpha: float) -> tuple[float, float]:
        """The means that neither e-process has rejected at level alpha/2 at any time within the first units."""
        units, bar = self.units.first(n_units), math.log(2 / alpha)
        low = _largest_rejected(units, self.bound, bar)
        return low, -_largest_rejected(units.flipped(), self.bound, bar)


def _above(units: Units, mean: float, bound: float | None) -> Float[np.ndarray, " unit"]:
    return log_evidence(units, mean) if bound is None else log_capital(units, mean, bound)


def _largest_rejected(units: Units, bound: float | None, bar: float) -> float:
    """The largest mean that is rejected as too small, rounded down; evidence falls as the mean grows."""

    def excess(mean: float) -> float:
        return float(_above(units, mean, bound).max(initial=0.0)) - bar

    ratio = np.cumsum(units.total) / np.cumsum(units.size)
    floor = -math.inf if bound is None else -bound
    if not len(ratio) or (bound is None and len(ratio) < START):
        return floor
    residual = units.total - ratio[-1] * units.size
    scale = math.sqrt(float(np.square(residual).mean())) / units.largest
    top = float(ratio[START - 1 :].max()) if bound is None else bound
    fine = max(FINE * scale, 4 * np.finfo(np.float64).eps * max(abs(top), abs(float(ratio[-1]))), 1e-300)
    high = top
    low = max(floor * (1 - 1e-12), high - max(scale, fine))
    step = high - low
    for _ in range(DOUBLINGS):
        if excess(low) >= 0:
            return max(floor, float(brentq(excess, low, high, xtol=fine, rtol=8.9e-16)) - fine)
        if low <= floor * (1 - 1e-12):
            return floor
        high, step = low, 2 * step
        low = max(floor * (1 - 1e-12), high - step)
    return floor
