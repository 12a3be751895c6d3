"""The means of a board with holes, by least squares with an effect for each item, and what each item adds to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from probtruth import check
from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.estimation.design import Design, effective, totals
from probtruth.comparison.estimation.estimate import rows_from_models
from probtruth.errors import PosteriorError

MOST_WEIGHTS = 1 << 24  # Numbers from which on effective units are counted over some sets of models, evenly spaced
LEAST_SETS = 500  # So many of them at least


def connected(values: Values) -> list[Int[np.ndarray, " model"]]:
    """Sets of models; between them there is no chain of items that were scored on two models."""
    seen = (~np.isnan(values)).astype(np.float32)
    n_sets, of_model = connected_components(seen @ seen.T > 0, directed=False)
    return [np.flatnonzero(of_model == one) for one in range(n_sets)]


@dataclass(frozen=True, eq=False)
class Fit:
    """The means of least squares of one group's board; its models are connected."""

    columns: Columns
    mean: Float[np.ndarray, " model"]
    solve: Float[np.ndarray, "model model"]  # from sums of residuals to means, without what they have in common
    n_scored: int  # items that some model has

    @classmethod
    def of(cls, columns: Columns) -> "Fit":
        seen = columns.seen
        count = columns.count
        n_models = len(seen)
        average = seen / np.maximum(seen.sum(0), 1)
        item_mean, deviation = _about_items(columns.values)
        # the normal equations have the Laplacian of the graph of models that share items
        laplacian = np.diag(seen @ count) - (seen * count) @ average.T
        constant = count.sum() / n_models**2  # what the means have in common is free
        solve = cho_solve(cho_factor(laplacian + constant), np.eye(n_models))  # alike for models that are
        contrast = solve @ (deviation @ columns.size)
        # the level is that at which the items' worth averages to 0
        n_scored = int(count @ seen.any(0))
        share = average @ count / n_scored
        level = item_mean @ columns.size / n_scored - contrast @ share
        return cls(columns, contrast + level, solve - share @ solve, n_scored)

    @property
    def n_items(self) -> int:
        return int(self.columns.count.sum())

    @cached_property
    def shared(self) -> Float[np.ndarray, "model model"]:
        """On how many items two models were both scored."""
        seen = self.columns.seen.astype(np.float64)
        return np.asarray(seen * self.columns.count @ seen.T)

    def moved(self, about: Values) -> Values:
        """How far scores less the models' means move these, times the number of items; linear in them."""
        item_mean, residual = _about_items(about)
        return np.asarray(self.n_items * (self.solve @ residual + item_mean / self.n_scored))

    @cached_property
    def influence(self) -> Values:
        """How far each column moves the means, times the number of items."""
        return self.moved(self.columns.values - self.mean[:, None] * self.columns.size)

    def filled(self, values: Values) -> Values:
        """Scores without holes in place of those with these: the means, and about them what each item moves."""
        return np.asarray(self.mean[:, None] + self.moved(values - self.mean[:, None]))

    def effective(self, clustered: bool) -> Float[np.ndarray, " row"]:
        """The number of units of like weight, as a share of what there would be without holes (Kish 1965)."""
        n_rows = len(self.mean) * (len(self.mean) + 1) // 2
        sets, set_of = np.unique(self.columns.seen, axis=1, return_inverse=True)
        step = ceil(sets.shape[1] / max(LEAST_SETS, MOST_WEIGHTS // n_rows))
        weights = self._weights(sets[:, ::step])
        chosen = np.flatnonzero(set_of.ravel() % step == 0)
        set_of = set_of.ravel()[chosen] // step
        count = self.columns.count[chosen].astype(np.float64)
        if not clustered:
            of_sets = np.bincount(set_of, count)
            total = weights @ of_sets
            return np.asarray(total**2 / (weights**2 @ of_sets) / count.sum())
        unit = self.columns.cell[chosen]
        without_holes = np.bincount(unit, count)
        of_units = totals(weights[:, set_of] * count, unit, len(without_holes))
        return np.asarray(effective(of_units) / effective(without_holes))

    def _weights(self, seen: Bool[np.ndarray, "model set"]) -> Float[np.ndarray, "row set"]:
        """What an item's errors have of the variance of each row's mean, if all vary alike, and items as errors do."""
        n_seen = np.maximum(seen.sum(0), 1)
        square = np.square(rows_from_models(self.solve)) @ seen - rows_from_models(self.solve @ seen) ** 2 / n_seen
        square[: len(self.mean)] += (1 / n_seen + 1.0) / self.n_items**2
        return np.asarray(square)


def fits_of(columns: Columns, group: Int[np.ndarray, " column"], plan: Design, models: Sequence[str]) -> list[Fit]:
    """The fit of each group, in which a chain of items must connect all models."""
    fits = []
    for at, name in enumerate(plan.group_names):
        of_group = columns.chosen(np.flatnonzero(group == at))
        sets = connected(of_group.values)
        if len(sets) > 1:
            named = [check.shortlist([models[model] for model in one], 3) for one in sets[:3]]
            where = f"in group {check.quote(name)}, " if plan.grouped else ""
            raise PosteriorError(
                f"got models that no chain of shared items connects ({where}{' and '.join(named)}), expected items on "
                "which models of both were scored. Hint: score some items with one model of each, or compare each set "
                "by itself."
            )
        fits.append(Fit.of(of_group))
    return fits


def _about_items(values: Values) -> tuple[np.ndarray, Values]:
    """The mean of each item over the models that were scored on it, and the scores about it."""
    seen = ~np.isnan(values)
    there = np.where(seen, values, 0.0)
    item_mean = there.sum(0) / np.maximum(seen.sum(0), 1)
    return item_mean, np.where(seen, values - item_mean, 0.0)
