"""Evidence over time and its confidence sequence: the means that were not rejected at any time so far."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from probtruth.study.arrivals import Units
from probtruth.study.betting import log_capital
from probtruth.study.large_samples import START, log_evidence

FINE = 1e-7
"""Precision of the limits, as a fraction of the standard deviation (at least of rounding); they are rounded
outwards."""
DOUBLINGS = 200

Path = Callable[[float], Float[np.ndarray, " unit"]]


@dataclass(frozen=True, eq=False)
class SequentialEvidence:
    """The evidence in units of a and b; `reach` bounds |difference| of an item, None without a bound."""

    units: Units
    reach: float | None

    def above(self, mean: float) -> Float[np.ndarray, " unit"]:
        """Log e-process against "the mean difference is at most `mean`"."""
        return _above(self.units, mean, self.reach)

    def below(self, mean: float) -> Float[np.ndarray, " unit"]:
        """Log e-process against "the mean difference is at least `mean`"."""
        return _above(self.units.flipped(), -mean, self.reach)

    def interval(self, n_units: int, alpha: float) -> tuple[float, float]:
        """The means that neither e-process has rejected at level alpha/2 at any time within the first units."""
        units, bar = self.units.first(n_units), math.log(2 / alpha)
        low = _largest_rejected(units, self.reach, bar)
        return low, -_largest_rejected(units.flipped(), self.reach, bar)


def _above(units: Units, mean: float, reach: float | None) -> Float[np.ndarray, " unit"]:
    return log_evidence(units, mean) if reach is None else log_capital(units, mean, reach)


def _largest_rejected(units: Units, reach: float | None, bar: float) -> float:
    """The largest mean that is rejected as too small, rounded down; evidence falls as the mean grows."""

    def excess(mean: float) -> float:
        return float(_above(units, mean, reach).max(initial=0.0)) - bar

    ratio = np.cumsum(units.total) / np.cumsum(units.size)
    floor = -math.inf if reach is None else -reach
    if not len(ratio) or (reach is None and len(ratio) < START):
        return floor
    residual = units.total - ratio[-1] * units.size
    scale = math.sqrt(float(np.square(residual).mean())) / units.largest
    top = float(ratio[START - 1 :].max()) if reach is None else reach
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
