"""Finite mixtures of normals, and independent draws of the location: what the exact engine answers with.

Models whose difference never varies are one model to the sampler; the others follow at a fixed distance.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr, ndtri

from probtruth.comparison.evidence.moments import square


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


@dataclass(frozen=True, eq=False)
class Collapse:
    """`distinct` are the models that stand for all; model k is `distinct[home[k]]` plus `offset[k]`."""

    distinct: Int[np.ndarray, " distinct"]
    home: Int[np.ndarray, " model"]
    offset: Float[np.ndarray, " model"]

    def expand(self, distinct: Float[np.ndarray, "*batch distinct"]) -> Float[np.ndarray, "*batch model"]:
        """Values of all models from those of the distinct ones, as contrasts that sum to zero."""
        values = distinct[..., self.home] + self.offset
        contrast: np.ndarray = values - values.mean(-1, keepdims=True)
        return contrast


def collapse(constant: Bool[np.ndarray, " pair"], difference: Float[np.ndarray, " pair"], n_models: int) -> Collapse:
    """Each model goes to the first that it differs from by a constant; `difference` are those of the pairs."""
    same = square(constant.astype(np.float64), n_models) + np.eye(n_models) > 0
    first = same.argmax(1)
    distinct, home = np.unique(first, return_inverse=True)
    offset = square(difference, n_models, -1.0)[np.arange(n_models), first]
    return Collapse(distinct, home, offset)
