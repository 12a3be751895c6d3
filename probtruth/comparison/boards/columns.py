"""Scores with holes in columns that add up over parts of the items.

A column is an item; or many items that the same models were scored on, by the mean, a root of the sums of squares and
products and the sums of products of three of their scores; or such items of one cluster, by their mean alone. An item's
influence on the means is linear in its scores, in one way for all items of a column: these sums give its moments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.estimation.design import totals

Values = Float[np.ndarray, "model column"]


@dataclass(frozen=True, eq=False)
class Many:
    """What many items of a column do about their mean; 0 of a model that they lack."""

    root: Float[np.ndarray, "row model"]
    third: Float[np.ndarray, "model model model"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The (mean) scores of each column, of how many items, and the cell (group or cluster) that these are in."""

    values: Values
    count: Int[np.ndarray, " column"]
    cell: Int[np.ndarray, " column"]
    many: Mapping[int, Many] = field(default_factory=dict)

    @classmethod
    def of_items(cls, values: Values, cell: Int[np.ndarray, " column"]) -> "Columns":
        return cls(values, np.ones(values.shape[1], np.int64), cell)

    def among(self, n_models: int, models: Int[np.ndarray, " model"]) -> "Columns":
        """The same where the models are some of more, which lack all columns."""
        values = np.full((n_models, len(self.count)), np.nan)
        values[models] = self.values
        many = {}
        for at, one in self.many.items():
            root = np.zeros((len(one.root), n_models))
            root[:, models] = one.root
            third = np.zeros((n_models,) * 3)
            third[np.ix_(models, models, models)] = one.third
            many[at] = Many(root, third)
        return Columns(values, self.count, self.cell, many)

    def chosen(self, models: Int[np.ndarray, " model"], columns: Int[np.ndarray, " column"]) -> "Columns":
        """Some models and columns."""
        many = {}
        for place, at in enumerate(columns.tolist()):
            if at in self.many:
                one = self.many[at]
                many[place] = Many(one.root[:, models], one.third[np.ix_(models, models, models)])
        return Columns(self.values[np.ix_(models, columns)], self.count[columns], self.cell[columns], many)

    def __add__(self, other: "Columns") -> "Columns":
        return _side_by_side([self, other])

    def merged(self, clustered: bool) -> "Columns":
        """One column for those of a cell that the same models were scored on, where that has fewer numbers."""
        seen = ~np.isnan(self.values)
        keys, of_column = np.unique(np.vstack([self.cell, seen]), axis=1, return_inverse=True)
        of_column = of_column.ravel()
        if clustered:
            count = np.bincount(of_column, self.count)
            sums = totals(np.where(seen, self.values, 0.0) * self.count, of_column, len(count))
            return Columns(np.where(keys[1:], sums / count, np.nan), count.astype(np.int64), keys[0])
        n_models = len(self.values)
        n_alike = np.bincount(of_column)
        joined = n_alike > 1 + n_models + n_models**2
        joined[of_column[list(self.many)]] = True
        joined &= n_alike > 1
        parts = [self.chosen(np.arange(n_models), np.flatnonzero(~joined[of_column]))]
        for one in np.flatnonzero(joined):
            alike = self.chosen(np.arange(n_models), np.flatnonzero(of_column == one))
            parts.append(alike._joined())
        return _side_by_side(parts)

    def _joined(self) -> "Columns":
        """One column in place of all, which the same models were scored on."""
        # of models with an infinite score nothing else is asked
        infinite = np.isinf(self.values).any(1, keepdims=True)
        values = np.where(infinite, np.inf, self.values)
        n_items = self.count.sum(keepdims=True)
        share = self.count / n_items
        mean = values @ share
        seen = np.isfinite(mean)
        apart = np.zeros(values.shape)
        apart[seen] = values[seen] - mean[seen, None]
        size = np.sqrt(self.count)
        roots = [(size * apart).T]
        counted = self.count * apart
        third: Float[np.ndarray, "model model model"] = np.einsum("ai,bi,ci->abc", counted, apart, apart, optimize=True)
        for at, one in self.many.items():
            roots.append(one.root)
            square = one.root.T @ one.root
            crossed = np.multiply.outer(apart[:, at], square)
            third += one.third
            third += crossed
            third += crossed.transpose(1, 0, 2)
            third += crossed.transpose(1, 2, 0)
        root = np.linalg.qr(np.concatenate(roots), mode="r")
        joined = {0: Many(root, third)}
        return Columns(mean[:, None], n_items, self.cell[:1], joined)


def _side_by_side(parts: Sequence[Columns]) -> Columns:
    many = {}
    start = 0
    for part in parts:
        for at, one in part.many.items():
            many[start + at] = one
        start += len(part.count)
    return Columns(
        np.concatenate([part.values for part in parts], axis=1),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.cell for part in parts]),
        many,
    )
