"""Forecasts of one event in bins: mean forecast against mean outcome."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError

BINS = ("uniform", "quantile")


@dataclass(frozen=True, eq=False)
class ForecastBins:
    """The bin of each item, and the weight of each bin; empty bins are left out."""

    place: Int[np.ndarray, " item"]
    weights: Float[np.ndarray, " item"]
    total: Float[np.ndarray, " bin"]

    @classmethod
    def of(
        cls, forecasts: Float[np.ndarray, " item"], weights: np.ndarray | None, n_bins: int, bins: str
    ) -> "ForecastBins":
        """Bins of equal width, or with equal numbers of items; each holds its upper edge (and the first its lower)."""
        if bins == "uniform":
            edges = np.linspace(0, 1, n_bins + 1)
        else:
            edges = np.quantile(forecasts, np.linspace(0, 1, n_bins + 1))
        place = np.unique(np.searchsorted(edges[1:-1], forecasts), return_inverse=True)[1]
        heavy = np.full(len(forecasts), 1 / len(forecasts)) if weights is None else weights / weights.sum()
        return cls(place, heavy, np.bincount(place, heavy))

    def means(self, values: Float[np.ndarray, " item"]) -> Float[np.ndarray, " bin"]:
        """Weighted mean in each bin; NaN if the bin has no weight."""
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = np.bincount(self.place, self.weights * values, len(self.total)) / self.total
        return mean

    def reweighted(self, weights: Float[np.ndarray, " item"]) -> "ForecastBins":
        """The same bins under other weights of the items."""
        heavy = weights / weights.sum()
        return ForecastBins(self.place, heavy, np.bincount(self.place, heavy, len(self.total)))

    def error(self, forecasts: Float[np.ndarray, " item"], outcomes: Float[np.ndarray, " item"]) -> float:
        """Weighted mean over the bins of |mean outcome - mean forecast|."""
        gap = np.abs(np.bincount(self.place, self.weights * (outcomes - forecasts), len(self.total)))
        return float(gap.sum())


def check_bins(n_bins: object, bins: object) -> tuple[int, str]:
    """The number of bins and the way to bin; an error where they are not a count above 0 and a known way."""
    way = check.one_of(bins, BINS, "bins")
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise InputError(f"n_bins {n_bins!r}", "an integer of at least 1", "10 or 15 are usual.")
    return int(n_bins), way
