"""Isotonic regression with weights, equal forecasts pooled: the calibrated forecast of CORP."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import isotonic_regression


@dataclass(frozen=True, eq=False)
class Isotone:
    """Sorted forecasts, ready to fit to many outcomes.

    `points` are the distinct forecasts and `place` is the position of each item's forecast among them.
    """

    points: Float[np.ndarray, " point"]
    place: Int[np.ndarray, " item"]

    @classmethod
    def of(cls, forecasts: Float[np.ndarray, " item"]) -> "Isotone":
        """From one forecast for each item."""
        points, place = np.unique(forecasts, return_inverse=True)
        return cls(points, place)

    def weights(self, weights: Float[np.ndarray, " item"] | None) -> Float[np.ndarray, " point"]:
        """Total weight of the items at each point."""
        return np.bincount(self.place, weights, len(self.points)).astype(np.float64)

    def means(
        self, outcomes: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"] | None
    ) -> Float[np.ndarray, " point"]:
        """Weighted mean outcome at each point; NaN if no item has weight."""
        total = self.weights(weights)
        summed = np.bincount(self.place, outcomes if weights is None else outcomes * weights, len(self.points))
        return np.where(total > 0, summed / np.where(total > 0, total, 1), np.nan)

    def fit(
        self, outcomes: Float[np.ndarray, " item"], weights: Float[np.ndarray, " item"] | None = None
    ) -> Float[np.ndarray, " point"]:
        """The non-decreasing values with the least weighted squared error, one for each point.

        They also have the least loss under every other proper rule for two labels. Points without weight get a value
        on the line between their neighbours.

        Source: Ayer et al. (1955), doi:10.1214/aoms/1177728423; Dimitriadis, Gneiting and Jordan (2021),
        doi:10.1073/pnas.2016191118
        """
        total, mean = self.weights(weights), self.means(outcomes, weights)
        used = total > 0
        if used.all():
            return np.asarray(isotonic_regression(mean, weights=total).x)
        fitted = isotonic_regression(mean[used], weights=total[used]).x
        between: np.ndarray = np.interp(self.points, self.points[used], fitted)
        return between
