"""The reported posterior of one pairwise difference: the outer skew-t, or a point where nothing varies."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr, stdtrit

from probtruth.comparison.evidence.moments import Location

FEWEST = 4
"""Independent units from which on a skewness is estimated at all."""
STRAIGHT = 1e-9
"""Skewness of a mean below which the correction is beyond rounding."""


@dataclass(frozen=True)
class Margin:
    r"""The posterior of a mean difference a minus b, a monotone function of one t-distributed variable.

    With T ~ t(df), standard error s (`scale`) and skewness g of the mean (`skewness`: that of the items over root n),
    the difference is `centre` - s max(T, H(T)) for T > 0 and `centre` - s min(T, H(T)) below, where
    H(T) = (3/g) [cbrt(1 + g (T - g/6)) - 1] inverts Hall's transformation: the hull of the t and of the
    skewness-corrected t. Without skewness it is the paired t. `scale` 0 means that every difference is the same.
    `mean` is the plain mean difference (the centre is nearer to 0 where ties are so many that pseudo-items stand in).

    Source: Hall 1992, "On the removal of skewness by transformation", doi:10.1111/j.2517-6161.1992.tb01876.x; Johnson
    1978, "Modified t tests and confidence intervals for asymmetrical populations", doi:10.1080/01621459.1978.10481597.
    """

    centre: float
    scale: float
    df: float
    skewness: float = 0.0
    given_mean: float | None = None

    @property
    def mean(self) -> float:
        """The plain mean difference."""
        return self.centre if self.given_mean is None else self.given_mean

    def flipped(self) -> "Margin":
        """The posterior of b minus a."""
        mean = None if self.given_mean is None else -self.given_mean
        return Margin(-self.centre, self.scale, self.df, -self.skewness, mean)

    @cached_property
    def straight(self) -> bool:
        """Whether it is a t."""
        return abs(self.skewness) < STRAIGHT

    def threshold(self, value: float) -> float:
        """The T above which the difference lies below the value."""
        t, g = (self.centre - value) / self.scale, self.skewness
        if self.straight:
            return t
        hall = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
        return max(0.0, min(t, hall)) if t > 0 else min(0.0, max(t, hall))

    def at(self, t: Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
        """The difference that each value of T stands for."""
        wide = t
        if not self.straight:
            hall = 3 / self.skewness * _cbrt1p(self.skewness * (t - self.skewness / 6))
            wide = np.where(t > 0, np.maximum(t, hall), np.minimum(t, hall))
        return np.asarray(self.centre - self.scale * wide)

    def below(self, value: float) -> float:
        """P(difference < value) + P(difference = value)/2."""
        if self.scale == 0:
            return 0.5 if self.centre == value else float(self.centre < value)
        return float(stdtr(self.df, -self.threshold(value)))

    def above(self, value: float) -> float:
        """P(difference > value) + P(difference = value)/2."""
        if self.scale == 0:
            return 1 - self.below(value)
        return float(stdtr(self.df, self.threshold(value)))

    def within(self, rope: float) -> float:
        """P(|difference| <= rope)."""
        if self.scale == 0:
            return float(abs(self.centre) <= rope)
        return max(0.0, 1.0 - (self.below(-rope) + self.above(rope)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval."""
        if self.scale == 0:
            return self.centre, self.centre
        t = float(stdtrit(self.df, 0.5 + level / 2))
        low, high = self.at(np.array([t, -t])).tolist()
        return low, high


def _cbrt1p(x: Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
    """cbrt(1 + x) - 1, to the last digit where x is small."""
    near = np.abs(x) < 0.5
    return np.where(near, np.expm1(np.log1p(np.where(near, x, 0.0)) / 3), np.cbrt(1 + x) - 1)


def margins(location: Location) -> list[Margin]:
    """The margin of each row of a location."""
    made = []
    for mean, centre, variance, third, df in zip(
        location.mean, location.centre, location.variance, location.third, location.df, strict=True
    ):
        size = variance**1.5  # 0 where one model's scores are tiny beside another's
        skewness = float(third / size) if size > 0 and location.n_units >= FEWEST else 0.0
        centred = None if mean == centre else float(mean)
        made.append(Margin(float(centre), math.sqrt(variance), float(df), skewness, centred))
    return made


def infinite_margin(a: float, b: float) -> tuple[float | None, float | None]:
    """The mean difference and P(a better) where a mean is infinite; None where two infinities of one sign meet."""
    difference = a - b
    return (None, None) if math.isnan(difference) else (difference, float(a < b))
