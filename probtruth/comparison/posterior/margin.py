"""Posteriors of a difference: the outer skew-t, a point where nothing varies, or a finite mixture of normals or t's."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from probtruth.comparison.estimation.estimate import Curve, Estimate
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import Batch, DrawFloats

FEWEST = 4  # Independent units from which on a skewness is estimated at all
STRAIGHT = 1e-6  # Skewness of a mean below which the correction moves nothing that anybody sees
# The skewness of a mean counts up to this over the 97.5% quantile of its t: no end of a 95% interval lies further out
# than 1.45 times the t's. That of a small sample is mostly noise; docs/validity/skewness.csv has the study.
MOST_SKEWED = 0.7

Parts = Float[np.ndarray, " part"]


@dataclass(frozen=True)
class Margin:
    """The posterior of a mean difference a minus b, a monotone function of one t-distributed variable.

    Of one unit nothing tells how much the difference varies: the scale is NaN.
    Where that was drawn, `draws` are the differences, and everything is said by them.
    """

    centre: float
    scale: float
    df: float
    skewness: float = 0.0
    curve: Curve | None = None
    draws: DrawFloats | None = field(default=None, compare=False)

    def drawn(self, t: DrawFloats, df: float) -> "Margin":
        """The same by draws of the t, which has so many degrees of freedom."""
        if not self.scale > 0:
            return self
        return replace(self, draws=self.at(other_df(t, df, self.df)))

    def threshold(self, value: float) -> float:
        """The T above which the difference lies below the value."""
        if self.curve is not None:
            return self.curve.root(self.centre, self.scale, value)
        t = (self.centre - value) / self.scale
        if abs(self.skewness) < STRAIGHT:
            return t
        corrected = hall(t, self.skewness)
        if t > 0:
            return max(0.0, min(t, corrected))
        return min(0.0, max(t, corrected))

    def at(self, t: Batch) -> Batch:
        """The differences at values of T."""
        if self.curve is not None:
            return self.curve.value(self.centre, self.scale, t)
        g = self.skewness
        if abs(g) < STRAIGHT:
            return self.centre - self.scale * t
        x = g * (t - g / 6)
        skewed = 3 / g * (np.cbrt(1 + x) - 1)
        above = np.maximum(t, skewed)
        below = np.minimum(t, skewed)
        outer = np.where(t > 0, above, below)
        return self.centre - self.scale * outer

    def below(self, value: float) -> float:
        """P(difference < value) + P(difference = value)/2."""
        if self.scale == 0:
            return 0.5 - float(np.sign(self.centre - value)) / 2
        if self.draws is not None:
            side = np.sign(self.draws - value)
            return float(0.5 - side.mean() / 2)
        return float(stdtr(self.df, -self.threshold(value)))

    def above(self, value: float) -> float:
        """P(difference > value) + P(difference = value)/2."""
        if self.scale > 0 and self.draws is None:
            return float(stdtr(self.df, self.threshold(value)))
        return 1.0 - self.below(value)

    def within(self, rope: float) -> float:
        if self.scale == 0:
            return float(abs(self.centre) <= rope)
        return max(0.0, 1.0 - (self.below(-rope) + self.above(rope)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        if self.scale == 0:
            return self.centre, self.centre
        if self.draws is not None:
            ends = [0.5 - level / 2, 0.5 + level / 2]
            low, high = np.quantile(self.draws, ends).tolist()
            return low, high
        t = float(stdtrit(self.df, 0.5 + level / 2))
        low, high = self.at(np.array([t, -t])).tolist()
        return low, high


def hall[T: (float, np.ndarray)](t: T, skewness: T) -> T:
    """A t statistic corrected for the skewness of the mean (Hall 1992)."""
    of_square = t + skewness * t**2 / 3
    of_cube = skewness**2 * t**3 / 27
    corrected: T = of_square + of_cube + skewness / 6
    return corrected


LEAST = 1e-300  # Probability that still has a quantile
KNOTS = 401  # Points of the table that takes a t of one number of degrees of freedom to another


def other_df(t: DrawFloats, df: float, wanted: float) -> DrawFloats:
    """The values that a t of `wanted` degrees of freedom has where one of `df` has these, by their ranks."""
    if abs(df - wanted) <= 1e-6 * df:
        return t
    size = np.abs(t)
    knots = np.sinh(np.linspace(0, np.arcsinh(size.max()), KNOTS))
    beyond = np.maximum(stdtr(df, -knots), LEAST)
    at_knots = -ndtri(beyond) if math.isinf(wanted) else -stdtrit(wanted, beyond)
    return np.sign(t) * np.interp(size, knots, at_knots)


def margins(estimate: Estimate) -> list[Margin]:
    """Those of the models' means and of all pairs, over these groups."""
    over_groups = estimate.over_groups()
    total = over_groups.total()
    skewness = np.zeros_like(total.third)
    if (estimate.n_units or estimate.design.n_units) >= FEWEST:
        most = MOST_SKEWED / stdtrit(total.df, 0.975)
        # a variance to this power is 0 where one model's scores are tiny beside another's
        skewness = np.clip(ratio(total.third, total.variance**1.5), -most, most)
    estimated = total.df > 0
    scale = np.where(estimated, np.sqrt(total.variance), np.nan)
    centre = over_groups.mean
    if over_groups.centre is not None:
        centre = np.where(estimated, over_groups.centre, centre)
    columns = np.hstack([centre, scale, total.df, skewness])
    curve = estimate.about.curve
    return [Margin(mean, scale, df, skewed, curve) for mean, scale, df, skewed in columns.tolist()]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A finite mixture of normals, or of t's with so many degrees of freedom."""

    weight: Parts
    mean: Parts
    sd: Parts
    df: float = math.inf

    @property
    def centre(self) -> float:
        return float((self.mean * self.weight).sum())

    def below(self, value: float) -> float:
        z = (value - self.mean) / self.sd
        if math.isfinite(self.df):
            z = other_df(z, self.df, math.inf)
        # no dot product: of more than 10,000 numbers OpenBLAS starts threads, which can take a thousand times as long
        total = float((ndtr(z) * self.weight).sum())
        return min(total, 1.0)  # weights add up to 1 but for rounding

    def above(self, value: float) -> float:
        return 1.0 - self.below(value)

    def within(self, rope: float) -> float:
        return max(0.0, self.below(rope) - self.below(-rope))

    def quantile(self, probability: float) -> float:
        from scipy.optimize import brentq  # only with groups: it takes a tenth of a second to load

        z = ndtri(probability)
        t = stdtrit(self.df, probability) if math.isfinite(self.df) else z
        low = float((self.mean + (t - 0.01) * self.sd).min())
        high = float((self.mean + (t + 0.01) * self.sd).max())
        precision = 1e-12 * (high - low)

        def excess(value: float) -> float:  # in normal scores, in which a mixture is nearly straight
            return float(ndtri(np.clip(self.below(value), LEAST, 1 - 1e-16))) - z

        return float(brentq(excess, low, high, xtol=precision))

    def interval(self) -> tuple[float, float]:
        return self.quantile(0.025), self.quantile(0.975)
