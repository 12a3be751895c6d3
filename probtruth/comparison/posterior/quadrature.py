"""The exact engine: the same programs by quadrature and independent draws."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, ndtr, ndtri

from probtruth.kernels.exact_sums import exact_totals

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

    def mixture(self, direction: Float[np.ndarray, "*batch direction"], new_group: bool = False) -> "Mixture":
        """The posterior of a contrast of the centre, or of the same contrast in one new group."""
        square = direction**2
        extra = square.sum(-1)[..., None] * self.between**2 if new_group else 0.0
        return Mixture(self.weight, direction @ self.centre.T, np.sqrt(square @ self.variance.T + extra))


@dataclass(frozen=True, eq=False)
class Mixture:
    """Finite mixtures of normals, with the same weights; one that has no spread is a constant."""

    weight: Float[np.ndarray, " part"]
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
        return np.where(self.sd.any(-1), constant @ self.weight, constant[..., 0])

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
        sd = np.sqrt((self.sd**2 + (self.mean - mean[..., None]) ** 2) @ self.weight)
        value, step = mean + ndtri(probability) * sd, np.inf
        while np.any((np.abs(step) > fine) & varies):
            above = self.below(value) - probability
            low, high = np.where(above < 0, value, low), np.where(above < 0, high, value)
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = (np.exp(-0.5 * ((value[..., None] - self.mean) / self.sd) ** 2) / self.sd) @ self.weight
                new = value - above * np.sqrt(2 * np.pi) / slope
            new = np.where((low < new) & (new < high), new, (low + high) / 2)
            value, step = new, new - value
        return np.where(varies, value, mean)


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
