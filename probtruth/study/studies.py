"""A design of a study, and what studies of one size show: their means, errors and skewness."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, stdtr, stdtrit

ROUGHEST = 0.05
"""The chance of a verdict at one true difference is smoothed over at least so many standard errors."""


@dataclass(frozen=True)
class Study:
    """A design: items, annotators for each item (None: labels add no variance), clusters (None: none), replicates."""

    n_items: float | int
    n_annotators: float | int | None = None
    n_clusters: float | int | None = None
    n_replicates: float | int = 1

    @property
    def n_units(self) -> float | int:
        """Independent units."""
        return self.n_items if self.n_clusters is None else self.n_clusters


@dataclass(frozen=True, eq=False)
class Studies:
    """Studies of one size that are drawn from the pilot's units: mean, standard error and skewness of each.

    Means and errors are in true standard errors; the true difference is 0.
    """

    mean: Float[np.ndarray, " study"]
    error: Float[np.ndarray, " study"]
    skewness: Float[np.ndarray, " study"]
    df: float | Float[np.ndarray, " study"]

    def bars(self, certainty: float) -> tuple[Float[np.ndarray, " study"], Float[np.ndarray, " study"]]:
        """How far below and above 0 each mean has to lie for that certainty; those of `Margin`, all at once."""
        t, g = np.asarray(stdtrit(self.df, certainty)), self.skewness
        bent = np.abs(g) > 1e-6
        safe = np.where(bent, g, 1.0)
        above, below = (np.where(bent, 3 / safe * (np.cbrt(1 + g * (end - g / 6)) - 1), end) for end in (t, -t))
        return self.error * np.maximum(t, -below), self.error * np.maximum(t, above)

    def half_width(self) -> float:
        """The mean half-width of the 95% interval."""
        below, above = self.bars(0.975)
        return float((below + above).mean()) / 2

    def chances(self, certainty: float, difference: float, spread: float, df: float) -> tuple[float, float]:
        """P(a study says a), P(it says b), were the true difference a t with this centre, scale and freedom.

        A scale of 0 is one true difference. The chance is then smoothed: of each mean only what its own standard error
        and skewness explain is taken as it was drawn, the rest as normal. A study without spread does not decide.
        """
        below, above = (np.where(self.error > 0, end, np.inf) for end in self.bars(certainty))
        if spread > 0:
            p_a = stdtr(df, (-below - difference - self.mean) / spread)
            return float(p_a.mean()), float(stdtr(df, (difference + self.mean - above) / spread).mean())
        known = np.stack([np.ones_like(self.error), self.error, self.error**2, self.skewness], axis=1)
        explained = known @ np.linalg.lstsq(known, self.mean)[0]
        rest = math.sqrt(max(1 - float(explained.var()), ROUGHEST**2))
        p_a = ndtr((-below - difference - explained) / rest)
        return float(p_a.mean()), float(ndtr((difference + explained - above) / rest).mean())

    def larger(self, factor: float) -> "Studies":
        """Roughly those of so many times as many units: skewness falls with their root."""
        root = math.sqrt(factor)
        return Studies(self.mean, 1 + (self.error - 1) / root, self.skewness / root, self.df * factor)


def of_uneven(
    totals: Float[np.ndarray, "study unit"], sizes: Float[np.ndarray, "study unit"], spread: float, fewest: int
) -> Studies:
    """Studies of clusters that differ in size, as `compare` judges each: with its leverages and freedom.

    Arguments: `totals` are the clusters' totals, of true mean 0; `spread` is the true standard error; a skewness is
    estimated from the `fewest` clusters on.

    Source: as for `moments_of` and `Structure.df`.
    """
    n = totals.shape[1]
    items = sizes.sum(1, keepdims=True)
    share = sizes / items
    mean = totals.sum(1, keepdims=True) / items
    residual = totals - mean * sizes
    square = residual**2 * (1 - 1 / n) / (1 - share)
    variance = n / (n - 1) * square.sum(1) / items[:, 0] ** 2
    third = n**2 / max((n - 1) * (n - 2), 1) * (square * residual).sum(1) / items[:, 0] ** 3
    pull = share**2 / (1 - share)
    df = 1 / ((share**2).sum(1) + pull.sum(1) ** 2 - (pull**2).sum(1))
    varies = variance > 0
    bent = np.where(varies & (n >= fewest), third / np.where(varies, variance, 1.0) ** 1.5, 0.0)
    centre = mean[:, 0] / spread
    return Studies(centre - centre.mean(), np.sqrt(variance) / spread, bent, np.maximum(df, 1.0))
