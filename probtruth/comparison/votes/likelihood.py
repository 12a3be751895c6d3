r"""What a difference of strengths says of a vote: Bradley and Terry's model with Davidson's ties.

With d the strength of the left model minus that of the right one,

    P(left) : P(tie) : P(right) = exp(d/2) : nu : exp(-d/2)

plus, where votes say what stood left, the advantage of that side, which is part of d.

Bradley and Terry 1952, doi:10.2307/2334029; Davidson 1970, doi:10.1080/01621459.1970.10481082.
"""

import math
from dataclasses import dataclass

import numpy as np

STEPS = 60  # Newton's steps, far more than are needed
CLOSE = 1e-8  # The last of them, in standard errors: its error is the square of that
CERTAIN = 1000.0  # A difference at which nothing but the preferred model wins, as far as float64 can say
NEAR = 1e-3  # Standard errors within which the likelihood is a normal's


@dataclass(frozen=True, eq=False)
class Chances:
    """What votes say at differences of strength; an outcome is 1/2 for the left model, 0 for a tie, else -1/2."""

    log_total: np.ndarray  # The logarithm of what the outcomes weigh, whose slope is the mean
    mean: np.ndarray
    variance: np.ndarray
    tie: np.ndarray

    @classmethod
    def of(cls, difference: np.ndarray, tie_weight: np.ndarray | float) -> "Chances":
        # divided by what the likelier model weighs, so that no difference overflows
        size = np.abs(difference)
        root = np.exp(-size / 2)
        smaller = root**2
        tie = tie_weight * root
        total = 1 + smaller + tie
        mean = np.sign(difference) * (1 - smaller) / total / 2
        variance = (4 * smaller + tie * (1 + smaller)) / (2 * total) ** 2
        return cls(size / 2 + np.log(total), mean, variance, tie / total)


@dataclass(frozen=True)
class Preference:
    """How often the first of two models is preferred, ties counted half, as often on the left as on the right.

    It is the curve of a margin too: the likelihood of as many votes between the two models as know their difference
    with the same error. Its signed root is the t (an interval of one's share of independent votes is near Wilson's).
    """

    tie_weight: float
    side: float = 0.0

    def at(self, difference: np.ndarray | float) -> np.ndarray:
        return np.asarray(0.5 + self._curve(difference)[1])

    def slope(self, difference: float) -> float:
        return float(self._curve(difference)[2])

    def difference_at(self, points: float) -> float:
        """The difference at which the preference is one half and so many points."""
        from scipy.optimize import brentq  # takes a sixth of a first comparison, of which only votes need it

        if points >= 0.5:
            return math.inf
        return float(brentq(lambda difference: self.at(difference) - 0.5 - points, -1e-9, CERTAIN))

    def root(self, centre: float, scale: float, value: float) -> float:
        """The t of a value: the signed root of twice the logarithm of the likelihood ratio."""
        least, mean, variance = self._curve(centre)
        ratio = self._curve(value)[0] - least - mean * (value - centre)
        root = math.sqrt(2 * max(ratio, 0.0) / variance) / scale
        return math.copysign(root, centre - value)

    def value(self, centre: float, scale: float, t: np.ndarray) -> np.ndarray:
        """The value of a t, by Newton's steps."""
        least, mean, variance = self._curve(centre)
        far = np.abs(t) >= NEAR
        aim = np.where(far, t, 1.0)
        found = centre - scale * aim
        for _ in range(STEPS):
            log_total, slope, _ = self._curve(found)
            ratio = log_total - least - mean * (found - centre)
            step = (ratio - variance * (scale * aim) ** 2 / 2) / (slope - mean)
            found = found - step
            if not np.abs(step).max(initial=0.0) > CLOSE * scale:
                break
        return np.where(far, found, centre - scale * t)

    def _curve(self, difference: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The logarithm of what the outcomes weigh, the mean outcome and its variance, by turns on either side."""
        found = Chances.of(np.stack([difference + self.side, difference - self.side]), self.tie_weight)
        return np.asarray(found.log_total.mean(0)), np.asarray(found.mean.mean(0)), np.asarray(found.variance.mean(0))
