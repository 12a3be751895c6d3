"""The reported posterior of one pairwise difference: a located and scaled t, or a constant where nothing varies."""

import math
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

from probtruth.comparison.sufficient import Location


@dataclass(frozen=True)
class Margin:
    """A t distribution for the mean difference a minus b: `centre`, `scale` (its standard error), `df`.

    `scale` 0 means that every difference is the same: the posterior is a point at `centre`.
    """

    centre: float
    scale: float
    df: float

    def flipped(self) -> "Margin":
        """The posterior of b minus a."""
        return Margin(-self.centre, self.scale, self.df)

    def below(self, value: float) -> float:
        """P(difference < value) + P(difference = value)/2."""
        if self.scale == 0:
            return 0.5 if self.centre == value else float(self.centre < value)
        return float(stdtr(self.df, (value - self.centre) / self.scale))

    def above(self, value: float) -> float:
        """P(difference > value) + P(difference = value)/2."""
        if self.scale == 0:
            return 1 - self.below(value)
        return float(stdtr(self.df, (self.centre - value) / self.scale))

    def within(self, rope: float) -> float:
        """P(|difference| <= rope)."""
        if self.scale == 0:
            return float(abs(self.centre) <= rope)
        return max(0.0, 1.0 - (self.below(-rope) + self.above(rope)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval."""
        if self.scale == 0:
            return self.centre, self.centre
        half = float(stdtrit(self.df, 0.5 + level / 2)) * self.scale
        return self.centre - half, self.centre + half


def margins(place: Location) -> list[Margin]:
    """The margin of each row of a location."""
    return [
        Margin(float(mean), math.sqrt(variance), float(df))
        for mean, variance, df in zip(place.mean, place.variance, place.df, strict=True)
    ]


def infinite_margin(a: float, b: float) -> tuple[float | None, float | None]:
    """The mean difference and P(a better) where a mean is infinite; None where two infinities of one sign meet."""
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b) and a == b):
        return None, None
    return a - b, float(a < b)
