"""Posteriors of a difference: the outer skew-t, a point where nothing varies, or a finite mixture of normals."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri, stdtr, stdtrit

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


def infinite_margin(a: float, b: float) -> Margin | None:
    """The difference of two means of which one is infinite; None where two infinities of one sign meet."""
    return None if math.isnan(a - b) else Margin(a - b, 0.0, math.inf)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Finite mixtures of normals, the weights shared or each their own; one that has no spread is a constant."""

    weight: Float[np.ndarray, "... part"]
    mean: Float[np.ndarray, "*batch part"]
    sd: Float[np.ndarray, "*batch part"]

    def shifted(self, by: float | Float[np.ndarray, "*batch"]) -> "Mixture":
        """The same, moved."""
        return Mixture(self.weight, self.mean + np.asarray(by)[..., None], self.sd)

    def widened(self, variance: float | Float[np.ndarray, "*batch"]) -> "Mixture":
        """The same with an independent normal error of this variance added."""
        return Mixture(self.weight, self.mean, np.sqrt(self.sd**2 + np.maximum(np.asarray(variance), 0.0)[..., None]))

    def _of_constants(self, constant: Float[np.ndarray, "*batch part"]) -> Float[np.ndarray, "*batch"]:
        """The average over the parts, to the last digit where there is no spread."""
        return np.where(self.sd.any(-1), (constant * self.weight).sum(-1), constant[..., 0])

    def average(self) -> Float[np.ndarray, "*batch"]:
        """Their means."""
        return self._of_constants(self.mean)

    def below(self, value: float | Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
        """P(x < value) + P(x = value)/2."""
        apart = np.asarray(value)[..., None] - self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = ndtr(apart / self.sd)
        mixed = self._of_constants(np.where((self.sd == 0) & (apart == 0), 0.5, chance))
        return np.asarray(np.minimum(mixed, 1.0))  # weights add up to 1 but for rounding

    def within(self, rope: float) -> Float[np.ndarray, "*batch"]:
        """P(|x| <= rope)."""
        spread = np.maximum(0.0, self.below(rope) - self.below(-rope))
        return np.where(self.sd.any(-1), spread, np.abs(self.average()) <= rope)

    def quantile(self, probability: float) -> Float[np.ndarray, "*batch"]:
        """The values that x is below with this probability: by Newton's method, in a bracket that is halved where that
        leaves it."""
        mean, varies = self.average(), self.sd.any(-1)
        low, high = (self.mean - 40 * self.sd).min(-1), (self.mean + 40 * self.sd).max(-1)
        fine = 1e-12 * (high - low)
        sd = np.sqrt(((self.sd**2 + (self.mean - mean[..., None]) ** 2) * self.weight).sum(-1))
        value, open_ = mean + ndtri(probability) * sd, varies
        while open_.any():
            above = self.below(value) - probability
            low, high = np.where(above < 0, value, low), np.where(above < 0, high, value)
            with np.errstate(divide="ignore", invalid="ignore"):
                height = np.exp(-0.5 * ((value[..., None] - self.mean) / self.sd) ** 2) / self.sd
                slope = (height * self.weight).sum(-1)
                new = value - above * np.sqrt(2 * np.pi) / slope
            new = np.where((low < new) & (new < high), new, (low + high) / 2)
            value, open_ = np.where(open_, new, value), open_ & (np.abs(new - value) > fine)
        return np.where(varies, value, mean)
