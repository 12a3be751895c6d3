"""Evidence over time and its confidence sequence: the means that were not rejected at any time so far.

Betting against a mean: the capital of a gambler who bets shares of it on larger differences.

If the mean is at most `m` no bet gains on average, so the capital exceeds 1/alpha at any time with probability at most
alpha, however often you look.

Sums against a mean in large samples: anytime-valid in the limit, for differences without bounds.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import log_ndtr

from probtruth.comparison.evidence.sweeps import ROUNDING
from probtruth.study.arrivals import Units

STAKES = 0.95 * 2.0 ** -np.arange(12.0)
"""Shares of the capital that are bet, one for each gambler; small ones are for small effects and long studies."""
SHARES = (1 / np.arange(1.0, 13.0)) / (1 / np.arange(1.0, 13.0)).sum()
"""How the first capital, 1, is split among them."""


def log_capital(units: Units, mean: float, reach: float) -> Float[np.ndarray, " unit"]:
    r"""The log-capital after each unit, of gamblers who bet that the mean difference is above `mean`.

    Formula: K_t = sum_j w_j prod_{i <= t} [1 + c_j (S_i - mean n_i)/(M (mean + reach))], S_i the total of the unit's
    n_i <= M differences, each of which lies in [-reach, reach], so that no factor is below 1 - c_j.

    With one item a unit: Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
    doi:10.1093/jrsssb/qkad009, with a mixture over bets in place of predictable ones.
    """
    gain = np.maximum((units.total - mean * units.size) / (units.largest * (mean + reach)), -1.0)
    top = np.full(len(gain), -np.inf)
    logs = np.empty((len(STAKES), len(gain)))
    for row, (stake, share) in enumerate(zip(STAKES, SHARES, strict=True)):
        logs[row] = np.log(share) + np.cumsum(np.log1p(stake * gain))
        np.maximum(top, logs[row], out=top)
    logs -= top
    return np.asarray(top + np.log(np.exp(logs, out=logs).sum(0)))


START = 100
"""No evidence before this many units, because the result holds only in the limit."""
SPREAD = 0.2
"""Scale of the expected effects, in standard deviations of a unit: limits are tightest near 200 units."""


def log_evidence(units: Units, mean: float) -> Float[np.ndarray, " unit"]:
    r"""The log of the mixture likelihood ratio after each unit, for a mean difference above `mean`.

    Formula: with u_t = sum (S_i - mean n_i)/(s_t sqrt t), s_t the standard deviation of the units so far, effects of a
    half-normal of scale r: 2 Phi(v) exp(v^2/2)/sqrt(1 + t r^2), v = r sqrt(t/(1 + t r^2)) min(u, H(u)). H is Hall's
    transformation, u + g u^2/3 + g^2 u^3/27 + g/6 for a mean of skewness g, as in the intervals of `compare`: what
    skewness alone could cause is not evidence. The ratio is 1 before `START` units, and while units do not vary.

    Source: Robbins 1970, doi:10.1214/aoms/1177696786; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, "Time-
    uniform central limit theory and asymptotic confidence sequences", doi:10.1214/24-AOS2408; Hall 1992,
    doi:10.1111/j.2517-6161.1992.tb01876.x.
    """
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


SKEWED, OF_MEAN = 3.0, 0.1
"""Skewness of the units, and of their mean, from which the limit is far: see `far_from_normal`."""


def far_from_normal(units: Units) -> float | None:
    """The skewness of the units so far where it is so large for their number that more false alarms come; None else.

    With log-normal differences whose logarithm has the sd 1.5 (2), 8 (16) of 100 streams had a false alarm at 0.05;
    what these could cost does not come among a few hundred units. Most of them are named by this rule, and 3 of 100
    decisions with exponential differences, whose false alarms are rarer than 5 of 100.
    """
    if len(units.total) < START:
        return None
    n, ratio = len(units.total), float(units.total.sum() / units.size.sum())
    residual = units.total - ratio * units.size
    spread = float(np.sqrt(np.square(residual).mean()))
    if not spread > float(np.abs(units.total).max()) * ROUNDING:
        return None
    skewness = float(((residual / spread) ** 3).mean())
    return skewness if abs(skewness) > SKEWED and abs(skewness) / math.sqrt(n) > OF_MEAN else None


FINE = 1e-7
"""Precision of the limits, as a fraction of the standard deviation (at least of rounding); they are rounded
outwards."""
DOUBLINGS = 200


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
