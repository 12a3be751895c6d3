"""Posteriors of a difference: the outer skew-t, a point where nothing varies, or a finite mixture of normals."""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from probtruth.comparison.estimate import Estimate

FEWEST = 4  # Independent units from which on a skewness is estimated at all
STRAIGHT = 1e-9  # Skewness of a mean below which the correction is beyond rounding
# The skewness of a mean counts up to this over the 97.5% quantile of its t: no end of a 95% interval lies further out
# than 1.45 times the t's. That of a small sample is mostly noise; docs/validity/skewness.csv has the study.
MOST_SKEWED = 0.7


@dataclass(frozen=True)
class Margin:
    """The posterior of a mean difference a minus b, a monotone function of one t-distributed variable.

    Where that was drawn, `draws` are the differences, and everything is said by them.
    """

    centre: float
    scale: float
    df: float
    skewness: float = 0.0
    draws: Float[np.ndarray, " draw"] | None = field(default=None, compare=False)

    def drawn(self, t: Float[np.ndarray, " draw"], df: float) -> "Margin":
        """The same by draws of the t, which has so many degrees of freedom."""
        return self if self.scale == 0 else replace(self, draws=self.at(other_df(t, df, self.df)))

    def threshold(self, value: float) -> float:
        """The T above which the difference lies below the value."""
        t, g = (self.centre - value) / self.scale, self.skewness
        if abs(g) < STRAIGHT:
            return t
        hall = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
        return max(0.0, min(t, hall)) if t > 0 else min(0.0, max(t, hall))

    def at(self, t: Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
        wide, g = t, self.skewness
        if abs(g) >= STRAIGHT:
            x = g * (t - g / 6)
            near = np.abs(x) < 0.5  # cbrt(1 + x) - 1, to the last digit where x is small
            root = np.where(near, np.expm1(np.log1p(np.where(near, x, 0.0)) / 3), np.cbrt(1 + x) - 1)
            wide = np.where(t > 0, np.maximum(t, 3 / g * root), np.minimum(t, 3 / g * root))
        return np.asarray(self.centre - self.scale * wide)

    def below(self, value: float) -> float:
        """P(difference < value) + P(difference = value)/2."""
        if self.scale == 0:
            return 0.5 if self.centre == value else float(self.centre < value)
        if self.draws is not None:
            return float((self.draws < value).mean() + (self.draws == value).mean() / 2)
        return float(stdtr(self.df, -self.threshold(value)))

    def above(self, value: float) -> float:
        """P(difference > value) + P(difference = value)/2."""
        exact = self.scale > 0 and self.draws is None
        return float(stdtr(self.df, self.threshold(value))) if exact else 1.0 - self.below(value)

    def within(self, rope: float) -> float:
        if self.scale == 0:
            return float(abs(self.centre) <= rope)
        return max(0.0, 1.0 - (self.below(-rope) + self.above(rope)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        if self.scale == 0:
            return self.centre, self.centre
        if self.draws is not None:
            low, high = np.quantile(self.draws, [0.5 - level / 2, 0.5 + level / 2]).tolist()
        else:
            t = float(stdtrit(self.df, 0.5 + level / 2))
            low, high = self.at(np.array([t, -t])).tolist()
        return low, high


STRIDE = 31  # Every so many-th part of a mixture; a prime, so that parts in turns of few take their turn
KNOTS = 401  # Points of the table that takes a t of one number of degrees of freedom to another


def other_df(t: Float[np.ndarray, " draw"], df: float, wanted: float) -> Float[np.ndarray, " draw"]:
    """The values that a t of `wanted` degrees of freedom has where one of `df` has these, by their ranks."""
    if abs(df - wanted) <= 1e-6 * df:
        return t
    knots = np.sinh(np.linspace(0, np.arcsinh(np.abs(t).max()), KNOTS))
    return np.asarray(np.sign(t) * np.interp(np.abs(t), knots, -stdtrit(wanted, stdtr(df, -knots))))


def margins(estimate: Estimate) -> list[Margin]:
    """Those of the models' means and of all pairs, over these groups."""
    whole = estimate.over_groups()
    total = whole.total()
    variance = total.variance[:, 0]
    df = total.df[:, 0]
    skewness = np.zeros(len(variance))
    if estimate.units >= FEWEST:
        size = variance**1.5  # 0 where one model's scores are tiny beside another's
        most = MOST_SKEWED / stdtrit(df, 0.975)
        np.divide(total.third[:, 0], size, out=skewness, where=size > 0)
        skewness = np.clip(skewness, -most, most)
    centre = whole.mean if whole.centre is None else whole.centre
    columns = (centre[:, 0], np.sqrt(variance), df, skewness)
    return [Margin(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Finite mixtures of normals, the weights shared or each their own; one that has no spread is a constant."""

    weight: Float[np.ndarray, "... part"]
    mean: Float[np.ndarray, "*batch part"]
    sd: Float[np.ndarray, "*batch part"]

    def _of_constants(self, constant: Float[np.ndarray, "*batch part"]) -> Float[np.ndarray, "*batch"]:
        """The average over the parts, to the last digit where there is no spread."""
        return np.where(self.sd.any(-1), (constant * self.weight).sum(-1), constant[..., 0])

    def average(self) -> Float[np.ndarray, "*batch"]:
        return self._of_constants(self.mean)

    def below(self, value: float | Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
        """P(x < value) + P(x = value)/2."""
        apart = np.asarray(value)[..., None] - self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = ndtr(apart / self.sd)
        mixed = self._of_constants(np.where((self.sd == 0) & (apart == 0), 0.5, chance))
        return np.asarray(np.minimum(mixed, 1.0))  # weights add up to 1 but for rounding

    def within(self, rope: float) -> Float[np.ndarray, "*batch"]:
        spread = np.maximum(0.0, self.below(rope) - self.below(-rope))
        return np.where(self.sd.any(-1), spread, np.abs(self.average()) <= rope)

    def quantile(self, probability: float) -> Float[np.ndarray, "*batch"]:
        mean, varies = self.average(), self.sd.any(-1)
        low, high = (self.mean - 40 * self.sd).min(-1), (self.mean + 40 * self.sd).max(-1)
        fine = 1e-12 * (high - low)
        if self.mean.shape[-1] > 10 * STRIDE:  # begin where some of the parts have theirs
            some = [np.asarray(part)[..., ::STRIDE] for part in (self.weight, self.mean, self.sd)]
            some[0] = some[0] / some[0].sum(-1, keepdims=True)
            value = Mixture(*some).quantile(probability)
        else:
            sd = np.sqrt(((self.sd**2 + (self.mean - mean[..., None]) ** 2) * self.weight).sum(-1))
            value = mean + ndtri(probability) * sd
        open_ = varies
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
