"""The means of a board with holes, by least squares with an effect for each item, and what each item adds to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csgraph, csr_array

from probtruth import check
from probtruth.comparison.boards.columns import Columns, Values
from probtruth.comparison.estimation.design import Design, effective
from probtruth.comparison.estimation.estimate import rows_from_models
from probtruth.errors import PosteriorError

MOST_WEIGHTS = 1 << 24  # Numbers from which on effective units are counted over some sets of models, evenly spaced
LEAST_SETS = 500  # So many of them at least


def connected(values: Values) -> list[Int[np.ndarray, " model"]]:
    """Sets of models; between them there is no chain of items that were scored on two models."""
    seen = (~np.isnan(values)).astype(np.float32)
    n_sets, of_model = csgraph.connected_components(seen @ seen.T > 0, directed=False)
    return [np.flatnonzero(of_model == one) for one in range(n_sets)]


@dataclass(frozen=True, eq=False)
class Fit:
    """The means of least squares of one group's board; its models are connected."""

    columns: Columns
    # How far an item moves the means, times the number of items: by its scores about their mean, and by this mean
    solve: Float[np.ndarray, "model model"]
    level: float
    n_items: int

    @classmethod
    def of(cls, columns: Columns) -> "Fit":
        seen = columns.seen
        count = columns.count
        average = seen / np.maximum(seen.sum(0), 1)
        share = average @ count
        n_scored = share.sum()  # items that some model has
        # the normal equations have the Laplacian of the graph of models that share items; a constant is free
        laplacian = csgraph.laplacian((seen * count) @ average.T)
        solve = np.linalg.inv(laplacian + n_scored / len(seen) ** 2)
        # the level is that at which the items' worth averages to 0
        solve -= share @ solve / n_scored
        n_items = int(count.sum())
        return cls(columns, n_items * solve, n_items / n_scored, n_items)

    @cached_property
    def shared(self) -> Float[np.ndarray, "model model"]:
        """On how many items two models were both scored."""
        seen = self.columns.seen.astype(np.float64)
        return np.asarray(seen * self.columns.count @ seen.T)

    def moved(self, values: Values) -> Values:
        """How far scores move the means, times the number of items; linear in them."""
        scores = np.ma.masked_invalid(values)
        item_mean = scores.mean(0).filled(0.0)
        residual = (scores - item_mean).filled(0.0)
        return np.asarray(self.solve @ residual + self.level * item_mean)

    @cached_property
    def mean(self) -> Float[np.ndarray, " model"]:
        columns = self.columns
        return np.asarray(self.moved(columns.values) @ columns.size / self.n_items)

    @cached_property
    def influence(self) -> Values:
        """How far each column's scores less the means move these, times the number of items."""
        return self.moved(self.columns.values - np.outer(self.mean, self.columns.size))

    def effective(self, clustered: bool) -> Float[np.ndarray, " row"]:
        """The number of units of like weight, as a share of what there would be without holes (Kish 1965).

        An item weighs what its errors have of the variance of each row's mean, if all vary alike, and items as errors.
        """
        rows = rows_from_models(self.solve)
        sets, set_of = np.unique(self.columns.seen, axis=1, return_inverse=True)
        step = ceil(sets.shape[1] / max(LEAST_SETS, MOST_WEIGHTS // len(rows)))
        seen = sets[:, ::step]
        n_seen = np.maximum(seen.sum(0), 1)
        weights = rows**2 @ seen - rows_from_models(self.solve @ seen) ** 2 / n_seen
        weights[: len(seen)] += 1 / n_seen + 1.0
        times = csr_array((self.columns.count, (set_of.ravel(), self.columns.cell)))[::step]
        if clustered:
            return np.asarray(effective(weights @ times) / effective(times.sum(0)))
        of_sets = times.sum(1)
        return np.asarray((weights @ of_sets) ** 2 / (weights**2 @ of_sets) / of_sets.sum())


def fits_of(columns: Columns, group: Int[np.ndarray, " column"], plan: Design, models: Sequence[str]) -> list[Fit]:
    """The fit of each group, in which a chain of items must connect all models."""
    fits = []
    for at, name in enumerate(plan.group_names):
        of_group = columns.chosen(group == at)
        sets = connected(of_group.values)
        if len(sets) > 1:
            named = [check.shortlist([models[model] for model in one], 3) for one in sets[:3]]
            where = ""
            hint = "score some items with one model of each, or compare each set by itself"
            if plan.grouped:
                where = f"in group {check.quote(name)}, "
                hint = (
                    "leave the groups out, and what a model scored in the others counts in their place; or leave out "
                    "this group, or the models that it lacks"
                )
            raise PosteriorError(
                f"got models that no chain of shared items connects ({where}{' and '.join(named)}), expected items on "
                f"which models of both were scored. Hint: {hint}."
            )
        fits.append(Fit.of(of_group))
    return fits
