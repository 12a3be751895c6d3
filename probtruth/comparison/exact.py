"""The exact engine: the same programs by quadrature and independent draws."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr

from probtruth.comparison.sums import exact_totals

GRID = 5.0 * (np.arange(401) / 400) ** 2
"""Values of the between-group sd, in units of the within-group sd; dense near 0, to where HalfNormal(1) ends."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups' means, those of one variance summed up: their number, their mean and the squares about that.

    No more is needed of normal means, so that the cost of a posterior does not depend on the number of groups.
    """

    count: Float[np.ndarray, " size"]
    mean: Float[np.ndarray, "size direction"]
    square: Float[np.ndarray, "size direction"]
    variance: Float[np.ndarray, "size direction"]

    @classmethod
    def of(cls, mean: Float[np.ndarray, "group direction"], variance: Float[np.ndarray, "group direction"]) -> "Groups":
        """From the mean of each group and its variance."""
        sizes, place, count = np.unique(variance, axis=0, return_inverse=True, return_counts=True)
        place = place.ravel()
        average = exact_totals(mean.T, place, len(sizes)).T / count[:, None]
        square = exact_totals(((mean - average[place]) ** 2).T, place, len(sizes)).T
        return cls(count.astype(np.float64), average, square, sizes)

    def summed(
        self, between: Float[np.ndarray, " value"]
    ) -> tuple[Float[np.ndarray, "value direction"], Float[np.ndarray, "value direction"], Float[np.ndarray, " value"]]:
        """The groups' precision and its product with their means, and the log density at a centre of zero, given each
        value of the between-group sd."""
        precision = 1 / (between[:, None, None] ** 2 + self.variance)
        weight = self.count[:, None] * precision
        about_zero = precision * (self.square + self.count[:, None] * self.mean**2)
        log = 0.5 * (self.count[:, None] * np.log(precision) - about_zero).sum((1, 2))
        return weight.sum(1), (weight * self.mean).sum(1), log


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The posterior of the hierarchy on a grid of the between-group sd: a finite mixture of normals for the centre."""

    between: Float[np.ndarray, " grid"]
    weight: Float[np.ndarray, " grid"]
    centre: Float[np.ndarray, "grid direction"]
    variance: Float[np.ndarray, "grid direction"]

    def mixture(self, direction: Float[np.ndarray, " direction"], new_group: bool = False) -> "Mixture":
        """The posterior of a contrast of the centre, or of the same contrast in one new group."""
        extra = self.between**2 * (direction @ direction) if new_group else 0.0
        return Mixture(self.weight, self.centre @ direction, np.sqrt(self.variance @ direction**2 + extra))


@dataclass(frozen=True, eq=False)
class Mixture:
    """A finite mixture of normals."""

    weight: Float[np.ndarray, " part"]
    mean: Float[np.ndarray, " part"]
    sd: Float[np.ndarray, " part"]

    def shifted(self, by: float) -> "Mixture":
        """The same mixture, moved."""
        return Mixture(self.weight, self.mean + by, self.sd)

    def widened(self, variance: float) -> "Mixture":
        """The same mixture with an independent normal error of this variance added."""
        return Mixture(self.weight, self.mean, np.sqrt(self.sd**2 + variance)) if variance > 0 else self

    def average(self) -> float:
        """Its mean."""
        return float(self.weight @ self.mean)

    def below(self, value: float) -> float:
        """P(x < value) + P(x = value)/2."""
        if not self.sd.any():
            return 0.5 if self.average() == value else float(self.average() < value)
        return float(self.weight @ ndtr((value - self.mean) / self.sd))

    def within(self, rope: float) -> float:
        """P(|x| <= rope)."""
        if not self.sd.any():
            return float(abs(self.average()) <= rope)
        return max(0.0, self.below(rope) - self.below(-rope))

    def quantile(self, probability: float) -> float:
        """The value that x is below with this probability."""
        if not self.sd.any():
            return self.average()
        low, high = float((self.mean - 40 * self.sd).min()), float((self.mean + 40 * self.sd).max())
        return float(
            brentq(lambda value: self.below(value) - probability, low, high, xtol=1e-12 * max(high - low, 1e-300))
        )


def hierarchy(groups: Groups, prior: float = 1.0, likelihood: float = 1.0, every: int = 1) -> Hierarchy:
    """Quadrature over the between-group sd; given it, the centre is normal in every direction.

    Arguments: the powers to which prior and likelihood are raised, and of how many points of the grid one is taken.
    """
    between = GRID[every::every] if (groups.variance == 0).any() else GRID[::every]
    precision, product, log = groups.summed(between)
    total = prior + likelihood * precision
    centre = likelihood * product / total
    log = likelihood * log + 0.5 * (total * centre**2 - np.log(total)).sum(1)
    log = log - prior * between**2 / 2 + np.log(np.gradient(between))
    weight = np.exp(log - logsumexp(log))
    return Hierarchy(between, weight / weight.sum(), centre, 1 / total)


def draw_hierarchy(posterior: Hierarchy, shape: tuple[int, int], seed: int) -> dict[str, np.ndarray]:
    """Independent draws of `between` and `centre`."""
    rng = np.random.default_rng(seed)
    part = rng.choice(len(posterior.weight), size=shape, p=posterior.weight)
    noise = rng.standard_normal((*shape, posterior.centre.shape[1]))
    return {
        "between": posterior.between[part],
        "centre": posterior.centre[part] + noise * np.sqrt(posterior.variance[part]),
    }


def draw_location(
    mean: Float[np.ndarray, " model"],
    root: Float[np.ndarray, "model direction"],
    df: float,
    shape: tuple[int, int],
    seed: int,
) -> dict[str, np.ndarray]:
    """Independent draws of the mean contrasts."""
    rng = np.random.default_rng(seed)
    scale = rng.gamma(df / 2, 2 / df, size=shape)
    innovation = rng.standard_normal((*shape, root.shape[1]))
    return {
        "scale": scale,
        "innovation": innovation,
        "contrast": mean + innovation @ root.T / np.sqrt(scale)[..., None],
    }
