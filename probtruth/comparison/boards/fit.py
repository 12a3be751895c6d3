"""The means of a board with holes, by least squares with an effect for each item, and what each item adds to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from probtruth import check
from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.estimation.design import effective, totals
from probtruth.comparison.estimation.estimate import rows_from_models
from probtruth.errors import PosteriorError

MOST_WEIGHTS = 1 << 24  # Numbers from which on effective units are counted over some columns, evenly spaced
LEAST_COLUMNS = 500  # So many of them at least

Seen = Bool[np.ndarray, "model column"]


def connected(values: Values) -> Int[np.ndarray, " model"]:
    """The set of each model; between sets there is no chain of items that were scored on two models."""
    seen = (~np.isnan(values)).astype(np.float32)
    _, of_model = connected_components(seen @ seen.T > 0, directed=False)
    return np.asarray(of_model)


def need_connected(values: Values, models: Sequence[str], group: str | None) -> None:
    of_model = connected(values)
    if not of_model.any():
        return
    sets = []
    for one in range(of_model.max() + 1):
        names = [models[at] for at in np.flatnonzero(of_model == one).tolist()]
        sets.append(check.shortlist(names, 3))
    where = "" if group is None else f"in group {check.quote(group)}, "
    raise PosteriorError(
        f"got models that no chain of shared items connects ({where}{' and '.join(sets[:3])}), expected items on which "
        "models of both were scored. Hint: score some items with one model of each, or compare each set by itself."
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """The means of least squares of one group's board; its models are connected."""

    columns: Columns
    seen: Seen
    mean: Float[np.ndarray, " model"]
    solve: Float[np.ndarray, "model model"]  # from sums of residuals to means, without what they have in common

    @classmethod
    def of(cls, columns: Columns) -> "Fit":
        seen = ~np.isnan(columns.values)
        count = columns.count
        n_models = len(seen)
        average = seen / np.maximum(seen.sum(0), 1)
        item_mean, deviation = _about_items(columns.values, seen)
        # the normal equations have the Laplacian of the graph of models that share items
        counted = seen * count
        laplacian = np.diag(counted.sum(1).astype(np.float64)) - counted @ average.T
        constant = np.full((n_models, n_models), count.sum() / n_models**2)  # what the means have in common is free
        solve = np.asarray(cho_solve(cho_factor(laplacian + constant), np.eye(n_models)))
        contrast = solve @ (deviation @ count)
        # the level is that at which the items' worth averages to 0
        share = count * seen.any(0) / count[seen.any(0)].sum()
        level = (item_mean - contrast @ average) @ share
        return cls(columns, seen, contrast + level, solve - (average @ share) @ solve)

    @property
    def n_items(self) -> int:
        return int(self.columns.count.sum())

    def moved(self, about: Values, seen: Seen) -> Values:
        """How far scores less the models' means move these, times the number of items; linear in them."""
        item_mean, residual = _about_items(about, seen)
        scored = self.columns.count[self.seen.any(0)].sum()
        return np.asarray(self.n_items * (self.solve @ residual + item_mean / scored))

    def filled(self, values: Values) -> Values:
        """Scores without holes in place of those with these: the means, and about them what each column moves."""
        return np.asarray(self.mean[:, None] + self.moved(values - self.mean[:, None], self.seen))

    def of_sums(self, level: Float[np.ndarray, " model"]) -> tuple[Values, Values, Float[np.ndarray, " column"]]:
        """Columns whose products add up as those of all items do: scores, what they move about a level, and the size of
        a constant in them."""
        size = np.sqrt(self.columns.count)
        scores = [size * self.columns.values]
        about = self.filled(self.columns.values) - level[:, None]
        moved = [size * about]
        sizes = [size]
        for at, one in self.columns.many.items():
            root = one.root.T
            seen = np.repeat(self.seen[:, [at]], root.shape[1], axis=1)
            scores.append(np.where(seen, root, np.nan))
            moved.append(self.moved(root, seen))
            sizes.append(np.zeros(root.shape[1]))
        return np.concatenate(scores, axis=1), np.concatenate(moved, axis=1), np.concatenate(sizes)

    def effective(self, unit: Int[np.ndarray, " column"] | None) -> Float[np.ndarray, " row"]:
        """The number of units of like weight, as a share of what there would be without holes (Kish 1965)."""
        n_rows = len(self.mean) * (len(self.mean) + 1) // 2
        most = max(LEAST_COLUMNS, MOST_WEIGHTS // n_rows)
        chosen = np.arange(len(self.columns.count))
        patterns, of_column = np.unique(self.seen, axis=1, return_inverse=True)
        if patterns.shape[1] > most:
            chosen = chosen[:: ceil(len(chosen) / most)]
            patterns, of_column = np.unique(self.seen[:, chosen], axis=1, return_inverse=True)
        of_column = of_column.ravel()
        weights = self._weights(patterns)
        count = self.columns.count[chosen].astype(np.float64)
        if unit is None:
            size = np.bincount(of_column, count)
            total = weights @ size
            return np.asarray(total**2 / (weights**2 @ size) / size.sum())
        units, unit = np.unique(unit[chosen], return_inverse=True)
        of_units = totals(weights[:, of_column] * count, unit, len(units))
        without_holes = totals(count[None], unit, len(units))
        return np.asarray(effective(of_units) / effective(without_holes))

    def _weights(self, seen: Seen) -> Float[np.ndarray, "row column"]:
        """What an item's errors have of the variance of each row's mean, if all vary alike, and items as errors do."""
        n_seen = np.maximum(seen.sum(0), 1)
        square = np.square(rows_from_models(self.solve)) @ seen - rows_from_models(self.solve @ seen) ** 2 / n_seen
        square[: len(self.mean)] += (1 / n_seen + 1.0) / self.n_items**2
        return np.asarray(square)


def _about_items(values: Values, seen: Seen) -> tuple[np.ndarray, Values]:
    """The mean of each item over the models that were scored on it, and the scores about it."""
    there = np.where(seen, values, 0.0)
    item_mean = there.sum(0) / np.maximum(seen.sum(0), 1)
    return item_mean, np.where(seen, values - item_mean, 0.0)
