"""Scores with holes in columns that add up over parts of the items.

A column is an item; or one row of a triangular root of many items that the same models were scored on: with one row
for each model and one for a constant, its products of two add up as those of the items do. An item's influence on the
means is linear in its scores, in one way for all items of such a set, so that these columns give its squares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

Values = Float[np.ndarray, "model column"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The scores of each column, and the cell (group or cluster) of its items.

    `size` is what the constant has become: 1 of an item; its squares count items. `cubes` has, by the first column of
    a set, what the products of three of its columns lack: of the constant, then of the scores about the set's mean.
    """

    values: Values
    size: Float[np.ndarray, " column"]
    cell: Int[np.ndarray, " column"]
    cubes: Mapping[int, Float[np.ndarray, "row row row"]] = field(default_factory=dict)

    @classmethod
    def of_items(cls, values: Values, cell: Int[np.ndarray, " column"]) -> "Columns":
        return cls(values, np.ones(values.shape[1]), cell)

    @property
    def count(self) -> Int[np.ndarray, " column"]:
        """How many items each column counts for."""
        return np.rint(self.size**2).astype(np.int64)

    def of_models(self, places: Int[np.ndarray, " model"]) -> "Columns":
        """Those of some models; a place after the last is that of a model that lacks all."""
        values = np.pad(self.values, ((0, 1), (0, 0)), constant_values=np.nan)
        row = np.append(0, places + 1)
        cubes = {}
        for at, of_set in self.cubes.items():
            cubes[at] = np.pad(of_set, (0, 1))[np.ix_(row, row, row)]
        return replace(self, values=values[places], cubes=cubes)

    def chosen(self, columns: Int[np.ndarray, " column"]) -> "Columns":
        """Some columns."""
        cubes = {}
        for place, at in enumerate(columns.tolist()):
            if at in self.cubes:
                cubes[place] = self.cubes[at]
        return Columns(self.values[:, columns], self.size[columns], self.cell[columns], cubes)

    def __add__(self, other: "Columns") -> "Columns":
        cubes = dict(self.cubes)
        for at, of_set in other.cubes.items():
            cubes[len(self.size) + at] = of_set
        return Columns(
            np.concatenate([self.values, other.values], axis=1),
            np.concatenate([self.size, other.size]),
            np.concatenate([self.cell, other.cell]),
            cubes,
        )

    def merged(self) -> "Columns":
        """The same with a root for each set of columns, of one cell and the same models, that has more numbers."""
        keys = np.vstack([self.cell, ~np.isnan(self.values)])
        _, set_of, n_columns = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
        set_of = set_of.ravel()
        large = n_columns > (len(self.values) + 1) ** 2
        merged = self.chosen(np.flatnonzero(~large[set_of]))
        for one in np.flatnonzero(large):
            merged += self.chosen(np.flatnonzero(set_of == one))._joined()
        return merged

    def _joined(self) -> "Columns":
        """The root of the columns of one set."""
        # of models with an infinite score nothing else is asked
        rows = np.vstack([self.size, np.nan_to_num(self.values, posinf=0.0, neginf=0.0)])
        mean = rows[1:] @ self.size / (self.size @ self.size)
        about_mean = np.vstack([self.size, rows[1:] - np.outer(mean, self.size)])
        root = np.linalg.qr(about_mean.T, mode="r").T
        before = _cubes(about_mean)
        cubes = before - _cubes(root)
        for at, of_set in self.cubes.items():
            shift = np.eye(len(rows))
            shift[1:, 0] = rows[1:, at] / rows[0, at] - mean
            cubes += np.einsum("abc,ia,jb,kc->ijk", of_set, shift, shift, shift, optimize=True)
        values = root[1:] + np.outer(mean, root[0])
        values[np.isnan(self.values[:, 0])] = np.nan
        return Columns(values, root[0], np.repeat(self.cell[:1], len(root[0])), {0: cubes})


def _cubes(rows: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row row row"]:
    return np.asarray(np.einsum("ai,bi,ci->abc", rows, rows, rows, optimize=True))
